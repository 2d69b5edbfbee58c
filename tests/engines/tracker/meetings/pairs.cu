// SPDX-License-Identifier: Apache-2.0
// Small kernels in which two threads, or a few, meet at one word. ../expected.tsv says what each rule set of the engine tracker calls them.
//
// A comment `// A` names the line of an access that the table speaks of. Names hold from one kernel to the next one.
#include "meet.h"

// ---- one of each rule of table 2 ---------------------------------------------------------------------------

// P1 alone: metadata that nobody has set says block 0 and no fence, which R4 would take for a race with block 1.
__global__ void p1_first(Memory *m)
{
    if (BLOCK == 1)
        m->x = 1; // A
}
// P2 alone: nothing orders the two blocks, and R4 does not ask whether anyone wrote.
__global__ void p2_only_read(Memory *m)
{
    if (BLOCK == 1)
        LATER;
    KEEP(m->x); // A
}
// P3 and P4: the active mask of a thread names the thread itself, so P4 holds wherever P3 does. No kernel tells P3 alone.
__global__ void p3_program_order(Memory *m)
{
    if (THREAD == 1) {
        VOLATILE(m->x) = 1;  // A
        KEEP(VOLATILE(m->x)); // B
        VOLATILE(m->x) = 2;  // C
    }
}
// P4 alone, by its counter: each lane is alone when it accesses, so the active mask does not say it, and R2 sees no fence.
__global__ void p4_syncwarp(Memory *m)
{
    if (THREAD == 0)
        m->x = 1; // A
    __syncwarp();
    if (THREAD == 1)
        KEEP(m->x); // B
}
// P4 alone, by the active mask: nothing was counted between the two stores of one instruction.
__global__ void p4_lockstep(Memory *m)
{
    m->x = THREAD; // A
}
// P5 alone: two warps, so P4 says nothing, and R3 sees no fence.
__global__ void p5_barrier(Memory *m)
{
    if (THREAD == 0)
        m->x = 1; // A
    __syncthreads();
    if (THREAD == 32)
        KEEP(m->x); // B
}
// P6 alone, by the scope: R4 sees two blocks and no fence.
__global__ void p6_device_atomics(Memory *m)
{
    if (BLOCK == 1)
        LATER;
    atomicAdd(&m->x, 1); // A
}
// P6 alone, by the block: the scope is the block's, and R3 sees two warps and no fence.
__global__ void p6_block_atomics(Memory *m)
{
    if (THREAD == 32)
        LATER;
    if (THREAD % 32 == 0)
        atomicAdd_block(&m->x, 1); // A
}
// R1 alone: the fence behind the first atomic makes R4 false, and no lock was taken.
__global__ void r1_block_atomics(Memory *m)
{
    if (BLOCK == 1)
        LATER;
    atomicAdd_block(&m->x, 1); // A
    DEVICE_FENCE;
}
// R2: R3 holds wherever R2 does. So no kernel needs R2 to be a race, but without R2 this one would be of another class.
__global__ void r2_lanes(Memory *m)
{
    if (THREAD == 0) {
        m->x = 1; // A
    } else {
        LATER;
        KEEP(m->x); // B
    }
}
// R3 alone: R2 is for one warp, R4 for two blocks, R5 for locks.
__global__ void r3_warps(Memory *m)
{
    if (THREAD == 0)
        m->x = 1; // A
    if (THREAD == 32) {
        LATER;
        KEEP(m->x); // B
    }
}
// R4 alone: the fence of the block's scope makes R3 false, and no lock was taken.
__global__ void r4_block_fence(Memory *m)
{
    if (BLOCK == 0) {
        m->x = 1; // A
        BLOCK_FENCE;
    } else {
        LATER;
        KEEP(m->x); // B
    }
}
// R5 alone: the fence before the lock is given back makes R3 and R4 false.
__global__ void r5_two_locks(Memory *m)
{
    if (BLOCK == 1)
        LATER;
    TAKE(m->lock[BLOCK * 9]);
    DEVICE_FENCE;
    m->x = BLOCK + 1; // A
    DEVICE_FENCE;
    GIVE(m->lock[BLOCK * 9]);
}

// ---- nothing between the two -------------------------------------------------------------------------------

__global__ void blocks_raw(Memory *m)
{
    if (BLOCK == 0) {
        m->x = 1; // A
    } else {
        LATER;
        KEEP(m->x); // B
    }
}
__global__ void blocks_war(Memory *m)
{
    if (BLOCK == 0) {
        KEEP(m->x); // A
    } else {
        LATER;
        m->x = 1; // B
    }
}
__global__ void blocks_waw(Memory *m)
{
    if (BLOCK == 1)
        LATER;
    m->x = BLOCK + 1; // A
}
__global__ void blocks_same_value(Memory *m)
{
    if (BLOCK == 1)
        LATER;
    m->x = 7; // A
}
__global__ void warps_war(Memory *m)
{
    if (THREAD == 0)
        KEEP(m->x); // A
    if (THREAD == 32) {
        LATER;
        m->x = 1; // B
    }
}
__global__ void warps_waw(Memory *m)
{
    if (THREAD == 32)
        LATER;
    if (THREAD % 32 == 0)
        m->x = THREAD + 1; // A
}
__global__ void lanes_war(Memory *m)
{
    if (THREAD == 0) {
        KEEP(m->x); // A
    } else {
        LATER;
        m->x = 1; // B
    }
}
__global__ void lanes_waw(Memory *m)
{
    if (THREAD == 0)
        m->x = 1; // A
    if (THREAD == 1) {
        LATER;
        m->x = 2; // B
    }
}
__global__ void lanes_after_syncwarp(Memory *m)
{
    __syncwarp();
    if (THREAD == 0) {
        m->x = 1; // A
    } else {
        LATER;
        KEEP(m->x); // B
    }
}
__global__ void lanes_block_fence(Memory *m)
{
    if (THREAD == 0) {
        m->x = 1; // A
        BLOCK_FENCE;
    } else {
        LATER;
        KEEP(m->x); // B
    }
}
__global__ void warps_block_fence(Memory *m)
{
    if (THREAD == 0) {
        m->x = 1; // A
        BLOCK_FENCE;
    }
    if (THREAD == 32) {
        LATER;
        KEEP(m->x); // B
    }
}

// ---- barriers ----------------------------------------------------------------------------------------------

__global__ void barrier_war(Memory *m)
{
    if (THREAD == 0)
        KEEP(m->x); // A
    __syncthreads();
    if (THREAD == 32)
        m->x = 1; // B
}
__global__ void barrier_same_warp(Memory *m)
{
    if (THREAD == 0)
        m->x = 1; // A
    __syncthreads();
    if (THREAD == 1)
        KEEP(m->x); // B
}
__global__ void barrier_too_early(Memory *m)
{
    __syncthreads();
    if (THREAD == 0)
        m->x = 1; // A
    if (THREAD == 32) {
        LATER;
        KEEP(m->x); // B
    }
}
__global__ void barriers_ping_pong(Memory *m)
{
    for (int i = 0; i < 4; i++) {
        if (THREAD == i % 2 * 32)
            m->x = i; // A
        __syncthreads();
    }
}
__global__ void barriers_not_of_blocks(Memory *m)
{
    if (BLOCK == 0)
        m->x = 1; // A
    __syncthreads();
    if (BLOCK == 1) {
        LATER;
        __syncthreads();
        KEEP(m->x); // B
    }
}
__global__ void syncwarp_of_others(Memory *m)
{
    if (THREAD == 2) {
        m->x = 1; // A
    } else {
        LATER;
        __syncwarp(3);
        if (THREAD == 0)
            KEEP(m->x); // B
    }
}
__global__ void syncwarp_not_of_warps(Memory *m)
{
    if (THREAD == 0)
        m->x = 1; // A
    __syncwarp();
    if (THREAD == 32) {
        LATER;
        __syncwarp(1);
        KEEP(m->x); // B
    }
}

// ---- flags -------------------------------------------------------------------------------------------------

__global__ void flag_fences(Memory *m)
{
    if (BLOCK == 0) {
        m->x = 1; // A
        DEVICE_FENCE;
        RAISE(m->flag);
    } else {
        AWAIT(m->flag);
        DEVICE_FENCE;
        KEEP(m->x); // B
    }
}
__global__ void flag_war(Memory *m)
{
    if (BLOCK == 0) {
        KEEP(m->x); // A
        DEVICE_FENCE;
        RAISE(m->flag);
    } else {
        AWAIT(m->flag);
        DEVICE_FENCE;
        m->x = 1; // B
    }
}
__global__ void flag_no_release(Memory *m)
{
    if (BLOCK == 0) {
        m->x = 1; // A
        RAISE(m->flag);
    } else {
        AWAIT(m->flag);
        DEVICE_FENCE;
        KEEP(m->x); // B
    }
}
__global__ void flag_no_acquire(Memory *m)
{
    if (BLOCK == 0) {
        m->x = 1; // A
        DEVICE_FENCE;
        RAISE(m->flag);
    } else {
        AWAIT(m->flag);
        KEEP(m->x); // B
    }
}
__global__ void flag_no_acquire_lanes(Memory *m)
{
    if (THREAD == 0) {
        m->x = 1; // A
        DEVICE_FENCE;
        RAISE(m->flag);
    } else {
        AWAIT(m->flag);
        KEEP(m->x); // B
    }
}
__global__ void flag_narrow_writer(Memory *m)
{
    if (BLOCK == 0) {
        m->x = 1; // A
        BLOCK_FENCE;
        RAISE(m->flag);
    } else {
        AWAIT(m->flag);
        DEVICE_FENCE;
        KEEP(m->x); // B
    }
}
__global__ void flag_narrow_reader(Memory *m)
{
    if (BLOCK == 0) {
        m->x = 1; // A
        DEVICE_FENCE;
        RAISE(m->flag);
    } else {
        AWAIT(m->flag);
        BLOCK_FENCE;
        KEEP(m->x); // B
    }
}
__global__ void flag_of_block(Memory *m)
{
    if (THREAD == 0) {
        m->x = 1; // A
        BLOCK_FENCE;
        atomicExch_block(&m->flag, 1); // C
    }
    if (THREAD == 32) {
        while (!atomicAdd_block(&m->flag, 0)) {} // D
        BLOCK_FENCE;
        KEEP(m->x); // B
    }
}
__global__ void flag_of_block_for_device(Memory *m)
{
    if (BLOCK == 0) {
        m->x = 1; // A
        DEVICE_FENCE;
        atomicExch_block(&m->flag, 1); // C
    } else {
        LATER;
        while (!atomicAdd_block(&m->flag, 0)) {} // D
        DEVICE_FENCE;
        KEEP(m->x); // B
    }
}
__global__ void flag_volatile(Memory *m)
{
    if (BLOCK == 0) {
        m->x = 1; // A
        DEVICE_FENCE;
        VOLATILE(m->flag) = 1; // C
    } else {
        LATER;
        while (!VOLATILE(m->flag)) {} // D
        DEVICE_FENCE;
        KEEP(m->x); // B
    }
}
__global__ void flag_plain_store(Memory *m)
{
    if (BLOCK == 0) {
        m->x = 1; // A
        DEVICE_FENCE;
        m->flag = 1; // C
    } else {
        LATER;
        AWAIT(m->flag); // D
        DEVICE_FENCE;
        KEEP(m->x); // B
    }
}
__global__ void flag_release_acquire(Memory *m)
{
    if (BLOCK == 0) {
        m->x = 1; // A
        asm volatile("st.release.gpu.s32 [%0], 1;" ::"l"(&m->flag) : "memory"); // C
    } else {
        int seen;
        LATER;
        asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(seen) : "l"(&m->flag) : "memory"); // D
        if (seen)
            KEEP(m->x); // B
    }
}
__global__ void flag_not_read(Memory *m)
{
    if (BLOCK == 0) {
        m->x = 1; // A
        DEVICE_FENCE;
    } else {
        LATER;
        DEVICE_FENCE;
        KEEP(m->x); // B
    }
}
__global__ void fences_sc_no_flag(Memory *m)
{
    if (BLOCK == 0) {
        m->x = 1; // A
        __threadfence();
    } else {
        LATER;
        __threadfence();
        KEEP(m->x); // B
    }
}
__global__ void flag_then_write_again(Memory *m)
{
    if (BLOCK == 0) {
        m->x = 1; // A
        DEVICE_FENCE;
        RAISE(m->flag);
        m->x = 2; // C
    } else {
        LATER;
        AWAIT(m->flag);
        DEVICE_FENCE;
        KEEP(m->x); // B
    }
}

// ---- chains ------------------------------------------------------------------------------------------------

__global__ void chain(Memory *m)
{
    if (BLOCK == 0) {
        m->x = 1; // A
        DEVICE_FENCE;
        RAISE(m->flag);
    } else if (BLOCK == 1) {
        AWAIT(m->flag);
        DEVICE_FENCE;
        RAISE(m->flag2);
    } else {
        AWAIT(m->flag2);
        DEVICE_FENCE;
        KEEP(m->x); // B
    }
}
__global__ void chain_relaxed_link(Memory *m)
{
    if (BLOCK == 0) {
        m->x = 1; // A
        DEVICE_FENCE;
        RAISE(m->flag);
    } else if (BLOCK == 1) {
        AWAIT(m->flag);
        RAISE(m->flag2);
    } else {
        AWAIT(m->flag2);
        DEVICE_FENCE;
        KEEP(m->x); // B
    }
}
__global__ void chain_barriers(Memory *m)
{
    if (BLOCK == 0) {
        if (THREAD == 32)
            m->x = 1; // A
        __syncthreads();
        if (THREAD == 0) {
            DEVICE_FENCE;
            RAISE(m->flag);
        }
    } else {
        if (THREAD == 0) {
            AWAIT(m->flag);
            DEVICE_FENCE;
        }
        __syncthreads();
        if (THREAD == 32)
            KEEP(m->x); // B
    }
}
__global__ void chain_leader_no_fence(Memory *m)
{
    if (BLOCK == 0) {
        if (THREAD == 32)
            m->x = 1; // A
        DEVICE_FENCE;
        __syncthreads();
        if (THREAD == 0)
            RAISE(m->flag);
    } else {
        if (THREAD == 0) {
            AWAIT(m->flag);
            DEVICE_FENCE;
        }
        __syncthreads();
        if (THREAD == 32)
            KEEP(m->x); // B
    }
}
__global__ void chain_leader_writes(Memory *m)
{
    if (BLOCK == 0) {
        if (THREAD == 0) {
            m->x = 1; // A
            DEVICE_FENCE;
            RAISE(m->flag);
        }
    } else {
        if (THREAD == 0) {
            AWAIT(m->flag);
            DEVICE_FENCE;
        }
        __syncthreads();
        if (THREAD == 32)
            KEEP(m->x); // B
    }
}
__global__ void chain_no_last_barrier(Memory *m)
{
    if (BLOCK == 0) {
        if (THREAD == 0) {
            m->x = 1; // A
            DEVICE_FENCE;
            RAISE(m->flag);
        }
    } else {
        if (THREAD == 0) {
            AWAIT(m->flag);
            DEVICE_FENCE;
        }
        if (THREAD == 32) {
            LATER;
            KEEP(m->x); // B
        }
    }
}
__global__ void grid_barrier(Memory *m) // figure 10 of the paper, with a fence after the loop as well
{
    if (BLOCK == 0 && THREAD == 32)
        m->x = 1; // A
    __syncthreads();
    if (THREAD == 0) {
        DEVICE_FENCE;
        atomicAdd(&m->flag, 1);
        while (atomicAdd(&m->flag, 0) != 2) {}
        DEVICE_FENCE;
    }
    __syncthreads();
    if (BLOCK == 1 && THREAD == 32)
        KEEP(m->x); // B
}
__global__ void grid_barrier_all_fence(Memory *m) // with the fence that figure 10 leaves out
{
    if (BLOCK == 0 && THREAD == 32)
        m->x = 1; // A
    DEVICE_FENCE;
    __syncthreads();
    if (THREAD == 0) {
        DEVICE_FENCE;
        atomicAdd(&m->flag, 1);
        while (atomicAdd(&m->flag, 0) != 2) {}
        DEVICE_FENCE;
    }
    __syncthreads();
    if (BLOCK == 1 && THREAD == 32)
        KEEP(m->x); // B
}
__global__ void grid_barrier_no_acquire(Memory *m) // with that fence, and none after the loop
{
    if (BLOCK == 0 && THREAD == 32)
        m->x = 1; // A
    DEVICE_FENCE;
    __syncthreads();
    if (THREAD == 0) {
        DEVICE_FENCE;
        atomicAdd(&m->flag, 1);
        while (atomicAdd(&m->flag, 0) != 2) {}
    }
    __syncthreads();
    if (BLOCK == 1 && THREAD == 32)
        KEEP(m->x); // B
}
__global__ void grid_barrier_printed(Memory *m) // as figure 10 has it; the block that writes comes last
{
    if (BLOCK == 0)
        LATER;
    if (BLOCK == 0 && THREAD == 32)
        m->x = 1; // A
    __syncthreads();
    if (THREAD == 0) {
        __threadfence();
        atomicAdd(&m->flag, 1); // C
        while (VOLATILE(m->flag) != 2) {} // D
    }
    __syncthreads();
    if (BLOCK == 1 && THREAD == 32)
        KEEP(m->x); // B
}
__global__ void last_block(Memory *m)
{
    if (BLOCK == 0)
        m->x = 1; // A
    else
        LATER;
    DEVICE_FENCE;
    if (atomicAdd(&m->flag, 1) == 1) {
        DEVICE_FENCE;
        KEEP(m->x); // B
    }
}

// ---- locks -------------------------------------------------------------------------------------------------

__global__ void lock_right(Memory *m)
{
    if (BLOCK == 1)
        LATER;
    TAKE(m->lock[0]);
    DEVICE_FENCE;
    m->x += 1; // A
    DEVICE_FENCE;
    GIVE(m->lock[0]);
}
__global__ void lock_no_acquire(Memory *m)
{
    if (BLOCK == 0) {
        TAKE(m->lock[0]);
        DEVICE_FENCE;
        m->x = 1; // A
        DEVICE_FENCE;
        GIVE(m->lock[0]);
    } else {
        LATER;
        TAKE(m->lock[0]);
        m->x = 2; // B
        DEVICE_FENCE;
        GIVE(m->lock[0]);
    }
}
__global__ void lock_no_acquire_twice(Memory *m)
{
    if (BLOCK == 1)
        LATER;
    TAKE(m->lock[0]);
    m->x = BLOCK + 1; // A
    DEVICE_FENCE;
    GIVE(m->lock[0]);
}
__global__ void lock_first_no_acquire(Memory *m)
{
    if (BLOCK == 0) {
        TAKE(m->lock[0]);
        m->x = 1; // A
        DEVICE_FENCE;
        GIVE(m->lock[0]);
    } else {
        LATER;
        TAKE(m->lock[0]);
        DEVICE_FENCE;
        m->x = 2; // B
        DEVICE_FENCE;
        GIVE(m->lock[0]);
    }
}
__global__ void lock_no_release(Memory *m)
{
    if (BLOCK == 1)
        LATER;
    TAKE(m->lock[0]);
    DEVICE_FENCE;
    m->x = BLOCK + 1; // A
    GIVE(m->lock[0]);
}
__global__ void lock_no_fences(Memory *m)
{
    if (BLOCK == 1)
        LATER;
    TAKE(m->lock[0]);
    m->x = BLOCK + 1; // A
    GIVE(m->lock[0]);
}
__global__ void lock_block_fences(Memory *m)
{
    if (BLOCK == 1)
        LATER;
    TAKE(m->lock[0]);
    BLOCK_FENCE;
    m->x = BLOCK + 1; // A
    BLOCK_FENCE;
    GIVE(m->lock[0]);
}
__global__ void lock_of_block(Memory *m)
{
    if (THREAD == 32)
        LATER;
    if (THREAD % 32 == 0) {
        while (atomicCAS_block(&m->lock[0], 0, 1)) {} // B
        BLOCK_FENCE;
        m->x = THREAD + 1; // A
        BLOCK_FENCE;
        atomicExch_block(&m->lock[0], 0); // C
    }
}
__global__ void lock_reader_outside(Memory *m)
{
    if (BLOCK == 0) {
        TAKE(m->lock[0]);
        DEVICE_FENCE;
        m->x = 1; // A
        DEVICE_FENCE;
        GIVE(m->lock[0]);
    } else {
        LATER;
        KEEP(m->x); // B
    }
}
__global__ void lock_nested(Memory *m)
{
    if (BLOCK == 1)
        LATER;
    if (BLOCK == 1)
        TAKE(m->lock[9]);
    TAKE(m->lock[0]);
    DEVICE_FENCE;
    m->x = BLOCK + 1; // A
    DEVICE_FENCE;
    GIVE(m->lock[0]);
    if (BLOCK == 1)
        GIVE(m->lock[9]);
}
__global__ void lock_then_flag(Memory *m)
{
    if (BLOCK == 0) {
        TAKE(m->lock[0]);
        DEVICE_FENCE;
        m->x = 1; // A
        DEVICE_FENCE;
        GIVE(m->lock[0]);
        RAISE(m->flag);
    } else {
        LATER;
        AWAIT(m->flag);
        DEVICE_FENCE;
        KEEP(m->x); // B
    }
}
__global__ void locks_of_lanes(Memory *m) // as in figure 9 of the paper: each lane takes a lock of its own, both at once
{
    TAKE(m->lock[THREAD * 9]);
    DEVICE_FENCE;
    if (THREAD == 0) {
        m->x = 1; // A
        DEVICE_FENCE;
        GIVE(m->lock[0]);
    }
    if (THREAD == 1) {
        LATER;
        m->x = 2; // B
        DEVICE_FENCE;
        GIVE(m->lock[9]);
    }
}
__global__ void lock_of_warp(Memory *m) // one lane takes the lock for its warp, another lane writes
{
    if (BLOCK == 1)
        LATER;
    if (THREAD == 0)
        TAKE(m->lock[0]);
    DEVICE_FENCE;
    __syncwarp();
    if (THREAD == 1)
        m->x = BLOCK + 1; // A
    DEVICE_FENCE;
    __syncwarp();
    DEVICE_FENCE;
    if (THREAD == 0)
        GIVE(m->lock[0]);
}
__global__ void lock_of_warp_leader_fence(Memory *m)
{
    if (BLOCK == 1)
        LATER;
    if (THREAD == 0) {
        TAKE(m->lock[0]);
        DEVICE_FENCE;
    }
    __syncwarp();
    if (THREAD == 1)
        m->x = BLOCK + 1; // A
    __syncwarp();
    if (THREAD == 0) {
        DEVICE_FENCE;
        GIVE(m->lock[0]);
    }
}
__global__ void ticket_lock(Memory *m)
{
    if (BLOCK == 1)
        LATER;
    int ticket = atomicAdd(&m->flag, 1);
    while (atomicAdd(&m->flag2, 0) != ticket) {}
    DEVICE_FENCE;
    m->x += 1; // A
    DEVICE_FENCE;
    atomicAdd(&m->flag2, 1);
}

// ---- atomics and volatile ----------------------------------------------------------------------------------

__global__ void atomic_plain_read(Memory *m)
{
    if (BLOCK == 0) {
        atomicAdd(&m->x, 1); // A
    } else {
        LATER;
        KEEP(m->x); // B
    }
}
__global__ void atomic_after_plain_write(Memory *m)
{
    if (BLOCK == 0) {
        m->x = 1; // A
    } else {
        LATER;
        atomicAdd(&m->x, 1); // B
    }
}
__global__ void atomic_fence_plain_read(Memory *m)
{
    if (BLOCK == 0) {
        atomicAdd(&m->x, 1); // A
        DEVICE_FENCE;
    } else {
        LATER;
        KEEP(m->x); // B
    }
}
__global__ void atomic_narrow_second(Memory *m)
{
    if (BLOCK == 0) {
        atomicAdd(&m->x, 1); // A
    } else {
        LATER;
        atomicAdd_block(&m->x, 1); // B
    }
}
__global__ void atomic_narrow_first(Memory *m)
{
    if (BLOCK == 0) {
        atomicAdd_block(&m->x, 1); // A
    } else {
        LATER;
        atomicAdd(&m->x, 1); // B
    }
}
__global__ void atomic_narrow_then_flag(Memory *m)
{
    if (BLOCK == 0) {
        atomicAdd_block(&m->x, 1); // A
        DEVICE_FENCE;
        RAISE(m->flag);
    } else {
        AWAIT(m->flag);
        DEVICE_FENCE;
        KEEP(m->x); // B
    }
}
__global__ void atomic_lanes(Memory *m)
{
    if (THREAD == 0)
        atomicAdd_block(&m->x, 1); // A
    if (THREAD == 1) {
        LATER;
        atomicAdd_block(&m->x, 2); // B
    }
}
__global__ void atomic_mixed_sizes(Memory *m)
{
    if (BLOCK == 0) {
        atomicAdd((int *)m->bytes, 1); // A
    } else {
        LATER;
        atomicAdd((unsigned long long *)m->bytes, 1ull); // B
    }
}
__global__ void volatile_pair(Memory *m)
{
    if (BLOCK == 0) {
        VOLATILE(m->x) = 1; // A
    } else {
        LATER;
        KEEP(VOLATILE(m->x)); // B
    }
}
__global__ void volatile_told(Memory *m) // as volatile_pair, run with --volatile yes
{
    if (BLOCK == 0) {
        VOLATILE(m->x) = 1; // A
    } else {
        LATER;
        KEEP(VOLATILE(m->x)); // B
    }
}
__global__ void volatile_and_plain(Memory *m)
{
    if (BLOCK == 0) {
        m->x = 1; // A
    } else {
        LATER;
        KEEP(VOLATILE(m->x)); // B
    }
}

// ---- bytes of one word -------------------------------------------------------------------------------------

__global__ void bytes_apart(Memory *m)
{
    if (BLOCK == 1)
        LATER;
    m->bytes[BLOCK] = BLOCK + 1; // A
}
__global__ void bytes_of_lanes(Memory *m)
{
    if (THREAD == 0)
        m->bytes[0] = 1; // A
    if (THREAD == 1) {
        LATER;
        m->bytes[1] = 2; // B
    }
}
__global__ void bytes_written_and_read(Memory *m)
{
    if (BLOCK == 0) {
        m->bytes[3] = 1; // A
    } else {
        LATER;
        KEEP(m->bytes[2]); // B
    }
}
__global__ void bytes_overlap(Memory *m)
{
    if (BLOCK == 0) {
        *(short *)&m->bytes[2] = 0x101; // A
    } else {
        LATER;
        KEEP(m->bytes[3]); // B
    }
}

// ---- what was remembered of earlier accesses ---------------------------------------------------------------

__global__ void two_readers_one_flag(Memory *m)
{
    if (BLOCK == 0) {
        KEEP(m->x); // A
    } else if (BLOCK == 1) {
        LATER;
        KEEP(m->x); // C
        DEVICE_FENCE;
        RAISE(m->flag);
    } else {
        LAST;
        AWAIT(m->flag);
        DEVICE_FENCE;
        m->x = 1; // B
    }
}
__global__ void two_writers_one_flag(Memory *m)
{
    if (BLOCK == 0) {
        m->x = 1; // A
    } else if (BLOCK == 1) {
        LATER;
        m->x = 2; // C
        DEVICE_FENCE;
        RAISE(m->flag);
    } else {
        LAST;
        AWAIT(m->flag);
        DEVICE_FENCE;
        KEEP(m->x); // B
    }
}
__global__ void own_word_after_barrier(Memory *m)
{
    if (THREAD == 0)
        m->x = 1; // A
    __syncthreads();
    if (THREAD == 32) {
        m->x = 2;            // B
        KEEP(VOLATILE(m->x)); // C
    }
}
__global__ void lanes_after_barrier(Memory *m)
{
    if (THREAD == 0)
        m->x = 1; // A
    __syncthreads();
    if (THREAD == 32)
        m->x = 2; // B
    __syncwarp();
    if (THREAD == 33)
        KEEP(m->x); // C
}
__global__ void warps_after_flag(Memory *m)
{
    if (BLOCK == 0) {
        if (THREAD == 0) {
            m->x = 1; // A
            DEVICE_FENCE;
            RAISE(m->flag);
        }
    } else {
        if (THREAD == 0) {
            AWAIT(m->flag);
            DEVICE_FENCE;
            m->x = 2; // B
        }
        if (THREAD == 32) {
            LAST;
            KEEP(m->x); // C
        }
    }
}

// ---- launches ----------------------------------------------------------------------------------------------

__global__ void launches_in_order(Memory *m, bool second)
{
    if (BLOCK == second)
        m->x += 1; // A
}
__global__ void launches_apart(Memory *m, bool second)
{
    if (BLOCK == second)
        m->x = 1 + second; // A
}

// ---- counters that wrap: 8 bits count barriers in the paper, 6 bits count fences and __syncwarp() --------------------

#define MANY(n, what)                                                                                        \
    for (int i = 0; i < (n); i++)                                                                            \
        what
template <int N> __global__ void barriers(Memory *m)
{
    if (THREAD == 0)
        m->x = 1; // A
    MANY(N, __syncthreads());
    if (THREAD == 32)
        KEEP(m->x); // B
}
template <int N> __global__ void syncwarps(Memory *m)
{
    if (THREAD == 0)
        m->x = 1; // A
    MANY(N, __syncwarp());
    if (THREAD == 1)
        KEEP(m->x); // B
}
template <int N> __global__ void fences(Memory *m)
{
    if (BLOCK == 0) {
        m->x = 1; // A
        MANY(N, DEVICE_FENCE);
        RAISE(m->flag);
    } else {
        AWAIT(m->flag);
        DEVICE_FENCE;
        KEEP(m->x); // B
    }
}
__global__ void barriers_256_before(Memory *m)
{
    MANY(256, __syncthreads());
    if (THREAD == 0)
        m->x = 1; // A
    if (THREAD == 32) {
        LATER;
        KEEP(m->x); // B
    }
}
// ---- main --------------------------------------------------------------------------------------------------

static void run_launches_in_order(Memory *m)
{
    launches_in_order<<<2, 1>>>(m, false);
    launches_in_order<<<2, 1>>>(m, true);
}
static void run_launches_apart(Memory *m)
{
    cudaStream_t stream[2];
    for (int i = 0; i < 2; i++) {
        CHECK(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
        launches_apart<<<2, 1, 0, stream[i]>>>(m, i);
    }
}

#include "pairs_cases.h" // made of ../expected.tsv (make_cases.py)

int main(int argc, char **argv) { return run_kernels(cases, sizeof cases / sizeof *cases, argc, argv); }
