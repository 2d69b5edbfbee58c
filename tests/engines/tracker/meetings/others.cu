// SPDX-License-Identifier: Apache-2.0
// Small kernels as in pairs.cu, with accesses that the iGUARD paper does not know. ../others.tsv says what PTX calls them.
#include "meet.h"

#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

#define SHARED(pointer) static_cast<unsigned>(__cvta_generic_to_shared(pointer))
#define COPY(to, from)                                                                                       \
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(SHARED(to)), "l"(from) : "memory")
#define COMMIT       asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(groups) asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory")
#define BULK_STORE(to, from)                                                                                 \
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;" ::"l"(to), "r"(SHARED(from))  \
                 : "memory")
#define BULK_ADD(to, from)                                                                                   \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 16;" ::"l"(to),     \
                 "r"(SHARED(from))                                                                           \
                 : "memory")
#define BULK_COMMIT          asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define BULK_WAIT(groups)    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(groups) : "memory")
#define BULK_WAIT_READ(groups) asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(groups) : "memory")
#define ASYNC_FENCE          asm volatile("fence.proxy.async;" ::: "memory")

// ---- volatile ----------------------------------------------------------------------------------------------

__global__ void volatile_lanes(Memory *m)
{
    __shared__ volatile int word[2];
    if (THREAD == 0) {
        word[0] = 1; // A
    } else {
        LATER;
        KEEP(word[0]); // B
    }
}
__global__ void volatile_lanes_hidden(Memory *m) // as volatile_lanes, run with --volatile no
{
    __shared__ volatile int word[2];
    if (THREAD == 0) {
        word[0] = 1; // A
    } else {
        LATER;
        KEEP(word[0]); // B
    }
}
__global__ void volatile_lanes_war(Memory *m)
{
    __shared__ volatile int word[2];
    if (THREAD == 0) {
        KEEP(word[0]); // A
    } else {
        LATER;
        word[0] = 1; // B
    }
}
__global__ void volatile_lanes_syncwarp(Memory *m)
{
    __shared__ volatile int word[2];
    if (THREAD == 0)
        word[0] = 1; // A
    __syncwarp(3);
    if (THREAD == 1)
        KEEP(word[0]); // B
}
__global__ void volatile_lanes_poll(Memory *m)
{
    __shared__ volatile int word[2];
    if (THREAD == 0)
        word[0] = 0;
    __syncthreads();
    if (THREAD == 0) {
        word[0] = 1; // A
    } else {
        while (!word[0]) {} // B
    }
}
__global__ void volatile_lanes_poll_told(Memory *m) // as volatile_lanes_poll, run with --volatile yes
{
    __shared__ volatile int word[2];
    if (THREAD == 0)
        word[0] = 0;
    __syncthreads();
    if (THREAD == 0) {
        word[0] = 1; // A
    } else {
        while (!word[0]) {} // B
    }
}
__global__ void volatile_lanes_global(Memory *m)
{
    if (THREAD == 0) {
        VOLATILE(m->x) = 1; // A
    } else {
        LATER;
        KEEP(VOLATILE(m->x)); // B
    }
}
__global__ void volatile_warps(Memory *m)
{
    __shared__ volatile int word[2];
    if (THREAD == 0)
        word[0] = 1; // A
    if (THREAD == 32) {
        LATER;
        KEEP(word[0]); // B
    }
}
__global__ void volatile_warps_told(Memory *m) // as volatile_warps, run with --volatile yes
{
    __shared__ volatile int word[2];
    if (THREAD == 0)
        word[0] = 1; // A
    if (THREAD == 32) {
        LATER;
        KEEP(word[0]); // B
    }
}
__global__ void volatile_and_atomic_told(Memory *m) // run with --volatile yes
{
    if (BLOCK == 0) {
        VOLATILE(m->x) = 1; // A
    } else {
        LATER;
        atomicAdd(&m->x, 1); // B
    }
}

// ---- groups of asynchronous copies -------------------------------------------------------------------------

__global__ void groups_wait_all(Memory *m)
{
    __shared__ int word[4];
    COPY(&word[0], &m->pad[0]); // A
    COMMIT;
    COPY(&word[1], &m->pad[1]); // C
    COMMIT;
    WAIT(0);
    KEEP(word[0]); // B
    KEEP(word[1]); // D
}
__global__ void groups_wait_one(Memory *m)
{
    __shared__ int word[4];
    COPY(&word[0], &m->pad[0]); // A
    COMMIT;
    COPY(&word[1], &m->pad[1]); // C
    COMMIT;
    WAIT(1);
    KEEP(word[0]); // B
    KEEP(word[1]); // D
}
__global__ void groups_wait_two(Memory *m)
{
    __shared__ int word[4];
    COPY(&word[0], &m->pad[0]); // A
    COMMIT;
    COPY(&word[1], &m->pad[1]); // C
    COMMIT;
    COMMIT;
    WAIT(2);
    KEEP(word[0]); // B
    KEEP(word[1]); // D
}
__global__ void groups_wait_many(Memory *m)
{
    __shared__ int word[4];
    COPY(&word[0], &m->pad[0]); // A
    COMMIT;
    COPY(&word[1], &m->pad[1]); // C
    COMMIT;
    COMMIT;
    COMMIT;
    WAIT(3);
    KEEP(word[0]); // B
    KEEP(word[1]); // D
}
__global__ void group_not_committed(Memory *m)
{
    __shared__ int word[4];
    COPY(&word[0], &m->pad[0]); // A
    COMMIT;
    COPY(&word[1], &m->pad[1]); // C
    WAIT(0);
    KEEP(word[0]); // B
    KEEP(word[1]); // D
}
__global__ void group_none_committed(Memory *m)
{
    __shared__ int word[4];
    COPY(&word[0], &m->pad[0]); // A
    WAIT(0);
    KEEP(word[0]); // B
}
__global__ void groups_of_others(Memory *m)
{
    __shared__ int word[4];
    COPY(&word[0], &m->pad[0]); // A
    COMMIT;
    BULK_COMMIT;
    BULK_WAIT(0);
    KEEP(word[0]); // B
}
__global__ void bulk_wait_read(Memory *m)
{
    __shared__ alignas(16) int word[4];
    word[0] = 1;
    ASYNC_FENCE;
    BULK_STORE(m->lock, word); // A
    BULK_COMMIT;
    BULK_WAIT_READ(0);
    word[0] = 2;       // B
    KEEP(m->lock[0]); // C
}
__global__ void bulk_wait(Memory *m)
{
    __shared__ alignas(16) int word[4];
    word[0] = 1;
    ASYNC_FENCE;
    BULK_STORE(m->lock, word); // A
    BULK_COMMIT;
    BULK_WAIT(0);
    word[0] = 2;       // B
    KEEP(m->lock[0]); // C
}
__global__ void bulk_wait_one(Memory *m)
{
    __shared__ alignas(16) int word[4];
    word[0] = 1;
    ASYNC_FENCE;
    BULK_STORE(m->lock, word); // A
    BULK_COMMIT;
    BULK_STORE(m->lock + 4, word); // B
    BULK_COMMIT;
    BULK_WAIT(1);
    KEEP(m->lock[0]); // C
    KEEP(m->lock[4]); // D
}

__global__ void bulk_add_both(Memory *m)
{
    __shared__ alignas(16) int word[4];
    word[0] = word[1] = word[2] = word[3] = 1;
    ASYNC_FENCE;
    BULK_ADD(m->lock, word); // A
    BULK_COMMIT;
    BULK_WAIT(0);
}
__global__ void bulk_add_and_store(Memory *m)
{
    __shared__ alignas(16) int word[4];
    word[0] = word[1] = word[2] = word[3] = 1;
    ASYNC_FENCE;
    if (BLOCK == 0) {
        BULK_ADD(m->lock, word); // A
        BULK_COMMIT;
        BULK_WAIT(0);
    } else {
        LATER;
        m->lock[2] = 7; // B
    }
}

// ---- matrices of a warp ------------------------------------------------------------------------------------

using Sum = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

__global__ void wmma_store_then_load(Memory *m)
{
    __shared__ alignas(32) float tile[256];
    Sum sum;
    wmma::fill_fragment(sum, 1.0f);
    wmma::store_matrix_sync(tile, sum, 16, wmma::mem_row_major); // A
    KEEP(tile[255 - 8 * THREAD]);                                // B
}
__global__ void wmma_store_syncwarp(Memory *m)
{
    __shared__ alignas(32) float tile[256];
    Sum sum;
    wmma::fill_fragment(sum, 1.0f);
    wmma::store_matrix_sync(tile, sum, 16, wmma::mem_row_major); // A
    __syncwarp();
    KEEP(tile[255 - 8 * THREAD]); // B
}
__global__ void wmma_rows_of_lanes(Memory *m) // as the CPU device gives them to lanes
{
    __shared__ alignas(32) float tile[256];
    Sum sum;
    wmma::fill_fragment(sum, 1.0f);
    wmma::store_matrix_sync(tile, sum, 16, wmma::mem_row_major); // A
    for (int i = 0; i < 8; i++)
        KEEP(tile[8 * THREAD + i]); // B
}
__global__ void wmma_columns_of_lanes(Memory *m) // likewise
{
    __shared__ alignas(32) float tile[256];
    Sum sum;
    wmma::fill_fragment(sum, 1.0f);
    wmma::store_matrix_sync(tile, sum, 16, wmma::mem_col_major); // A
    for (int i = 0; i < 8; i++)
        KEEP(tile[(THREAD % 2 * 8 + i) * 16 + THREAD / 2]); // B
}
__global__ void wmma_stride(Memory *m) // the last column of each line is no part of the matrix
{
    __shared__ alignas(32) float tile[16 * 20];
    Sum sum;
    if (THREAD < 32) {
        wmma::fill_fragment(sum, 1.0f);
        wmma::store_matrix_sync(tile, sum, 20, wmma::mem_row_major); // A
    } else {
        LATER;
        tile[20 * (THREAD % 16) + 16 + THREAD % 32 / 16] = 1; // B
        if (THREAD < 48)
            tile[20 * (THREAD % 16) + 15] = 2; // C
    }
}
__global__ void wmma_load_overwritten(Memory *m)
{
    __shared__ alignas(32) half tile[256];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::col_major> a;
    if (THREAD < 32) {
        wmma::load_matrix_sync(a, tile, 16); // A
        KEEP(static_cast<int>(__half2float(a.x[0])));
    } else {
        LATER;
        tile[THREAD] = __float2half(1.0f); // B
    }
}
// ---- what orders nothing -----------------------------------------------------------------------------------

__global__ void ended_before_barrier(Memory *m)
{
    __shared__ int word[64];
    if (THREAD >= 32) {
        word[THREAD] = THREAD; // A
        return;
    }
    LATER;
    __syncthreads();
    KEEP(word[THREAD + 32]); // B
}
__global__ void ended_after_barrier(Memory *m)
{
    __shared__ int word[64];
    if (THREAD >= 32)
        word[THREAD] = THREAD; // A
    LATER;
    __syncthreads();
    if (THREAD >= 32)
        return;
    KEEP(word[THREAD + 32]); // B
    __syncthreads();
}
__global__ void ended_after_release(Memory *m) // to a thread that comes to the barrier
{
    __shared__ int flag, word[64];
    if (THREAD == 0)
        flag = 0;
    __syncthreads();
    if (THREAD >= 32) {
        word[THREAD] = THREAD; // A
        BLOCK_FENCE;
        atomicAdd_block(&flag, 1);
        return;
    }
    while (atomicAdd_block(&flag, 0) < 32) {}
    BLOCK_FENCE;
    __syncthreads();
    KEEP(word[THREAD + 32]); // B
}
__global__ void lanes_met_before(Memory *m)
{
    __syncwarp(3);
    if (THREAD == 0) {
        m->x = 1; // A
    } else {
        LATER;
        KEEP(m->x); // B
    }
    __syncwarp(3);
}
__global__ void lanes_met_between(Memory *m)
{
    __syncwarp(3);
    if (THREAD == 0)
        m->x = 1; // A
    __syncwarp(3);
    if (THREAD == 1)
        KEEP(m->x); // B
    __syncwarp(3);
}
__global__ void lanes_met_by_others(Memory *m) // the masks differ: lane 1 hears of the store from lane 2
{
    __syncwarp(7);
    if (THREAD == 0)
        m->x = 1; // A
    if (THREAD != 1)
        __syncwarp(5);
    if (THREAD != 0)
        __syncwarp(6);
    if (THREAD == 1)
        KEEP(m->x); // B
}
__global__ void fence_behind_unlock(Memory *m)
{
    if (BLOCK == 1)
        LATER;
    TAKE(m->lock[0]);
    DEVICE_FENCE;
    m->x = BLOCK + 1; // A
    GIVE(m->lock[0]);
    DEVICE_FENCE;
}
__global__ void fence_before_unlock(Memory *m)
{
    if (BLOCK == 1)
        LATER;
    TAKE(m->lock[0]);
    DEVICE_FENCE;
    m->x = BLOCK + 1; // A
    DEVICE_FENCE;
    GIVE(m->lock[0]);
}
__global__ void fences_alone(Memory *m)
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

// ---- loads that the compiler hoists out of their guard -----------------------------------------------------

__global__ void hoisted_used(Memory *m)
{
    __shared__ int word[64];
    int v = THREAD;
    word[THREAD] = m->pad[0] - THREAD;
    __syncthreads();
    for (int i = m->pad[1]; i < 2; i++) {
        if (THREAD == 2)
            word[40] = v + 50; // A
        if (THREAD == 33)
            v = max(v, word[40]); // B
        __syncthreads();
    }
    KEEP(v);
}
__global__ void hoisted_not_used(Memory *m)
{
    __shared__ int word[64];
    int v = THREAD;
    word[THREAD] = m->pad[0] - THREAD;
    __syncthreads();
    for (int i = m->pad[1]; i < 2; i++) {
        if (THREAD == 2)
            word[40] = v + 50; // A
        if (THREAD == 2)
            v = max(v, word[40]); // B
        __syncthreads();
    }
    KEEP(v);
}
__global__ void hoisted_barrier(Memory *m)
{
    __shared__ int word[64];
    int v = THREAD;
    word[THREAD] = m->pad[0] - THREAD;
    __syncthreads();
    for (int i = m->pad[1]; i < 2; i++) {
        if (THREAD == 2)
            word[40] = v + 50; // A
        __syncthreads();
        if (THREAD == 33)
            v = max(v, word[40]); // B
        __syncthreads();
    }
    KEEP(v);
}

// ---- A load and a store of the same bytes in one line, which one call tells -------------------------------------

__global__ void update_lanes(Memory *m) { m->x += 1; } // A
__global__ void update_blocks(Memory *m) { m->x += 1; } // A
__global__ void update_apart(Memory *m) { m->own[BLOCK * 128 + THREAD] += 1; } // A
__global__ void update_then_store(Memory *m)
{
    if (BLOCK == 0)
        m->x += 1; // A
    else {
        LATER;
        m->x = 7; // B
    }
}
__global__ void store_then_update(Memory *m)
{
    if (BLOCK == 0)
        m->x = 7; // A
    else {
        LATER;
        m->x += 1; // B
    }
}
__global__ void load_then_update(Memory *m)
{
    if (BLOCK == 0)
        KEEP(m->x); // A
    else {
        LATER;
        m->x += 1; // B
    }
}
__global__ void update_of_bytes(Memory *m)
{
    if (THREAD < 8)
        m->bytes[THREAD] += 1; // A
}

// ---- Barriers that all threads of a block surely pass, and ends that not all come to -----------------------------

__global__ void loop_of_barriers(Memory *m)
{
    for (int i = 0; i < (int)gridDim.x + 2; i++) {
        if (THREAD == 0)
            m->x = i; // A
        __syncthreads();
        if (THREAD == 33)
            KEEP(m->x); // B
        __syncthreads();
    }
}
__global__ void loop_of_few_barriers(Memory *m)
{
    for (int i = 0; i < (int)gridDim.x + 1; i++) {
        if (THREAD == 0)
            m->x = i; // A
        __syncthreads();
        if (THREAD == 33)
            KEEP(m->x); // B
    }
}

// ---- A strong write that was seen --------------------------------------------------------------------------

#define LOOK_GLOBAL(to, at, scope)                                                                           \
    asm volatile("ld.relaxed." scope ".global.s32 %0, [%1];"                                                 \
                 : "=r"(to)                                                                                  \
                 : "l"(__cvta_generic_to_global(at))                                                         \
                 : "memory")
#define LOOK_SHARED(to, at)                                                                                  \
    asm volatile("ld.relaxed.cta.shared.s32 %0, [%1];" : "=r"(to) : "r"(SHARED(at)) : "memory")

__global__ void seen_blocks(Memory *m)
{
    if (BLOCK == 0) {
        RAISE(m->x); // A
    } else {
        for (int seen = 0; !seen;)
            LOOK_GLOBAL(seen, &m->x, "gpu");
        KEEP(m->x); // B
    }
}
__global__ void seen_in_block(Memory *m) // as seen_blocks, and the load sees no other block's write
{
    if (BLOCK == 0) {
        RAISE(m->x); // A
    } else {
        int seen;
        LATER;
        LOOK_GLOBAL(seen, &m->x, "cta"); // C
        KEEP(m->x + seen); // B
    }
}
__global__ void seen_not(Memory *m)
{
    if (BLOCK == 0) {
        RAISE(m->x); // A
    } else {
        LATER;
        KEEP(m->x); // B
    }
}
__global__ void seen_warps(Memory *m)
{
    __shared__ int word;
    if (THREAD == 0)
        word = 0;
    __syncthreads();
    if (THREAD == 0)
        RAISE(word); // A
    if (THREAD == 32) {
        for (int seen = 0; !seen;)
            LOOK_SHARED(seen, &word);
        KEEP(word); // B
    }
}
__global__ void seen_not_by_warps(Memory *m)
{
    __shared__ int word;
    if (THREAD == 0)
        word = 0;
    __syncthreads();
    if (THREAD == 0)
        RAISE(word); // A
    if (THREAD == 32) {
        LATER;
        KEEP(word); // B
    }
}

// ---- main --------------------------------------------------------------------------------------------------

#include "others_cases.h" // made of ../others.tsv (make_cases.py)

int main(int argc, char **argv) { return run_kernels(cases, sizeof cases / sizeof *cases, argc, argv); }
