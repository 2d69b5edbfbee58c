// SPDX-License-Identifier: Apache-2.0
// near — regions of shared memory whose rows lie in shared memory, too (control.h): the steps of merge.h, word by word. For the one file that has the runtime of inserted code.
//
// What an owner stored stands where the program has it. So behind pass 1 what stands there becomes the union, and what was there before comes back; behind pass 2 it has to be
// the union. Lines of which units have private copies are done as all others are.
#ifndef GR_PRIVATIZER_NEAR_H
#define GR_PRIVATIZER_NEAR_H

#include "engines/privatizer/device/grid.h"

GR_INLINE void barrier(void) { __asm__ volatile("barrier.sync 0;" ::: "memory"); }

// A thread that has begun none takes another one's.
GR_INLINE uint32_t region_that_began(uint32_t region) {
    uint32_t some = region >= GR_NO_BEGIN ? gr_load32(&slot_head()->region) : 0;
    return some ? some - 1 : region;
}

// Until a thread gives up that waits for the others of its block, some 80 ms; and until it asks whether threads of another block have.
enum { MOST_PAUSES = 1 << 12, SOME_PAUSES = 8 };

// Where things are, of the block.
typedef struct Near {
    uint32_t first, size, owners, heads, says, shift, entry;
    uint32_t thread, threads;
} Near;

GR_INLINE Near near_of_block(void) {
    GrPrivNear of;
    GR_GLOBAL const void *at = &CONTROL.near;
    __asm__("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
            : "=r"(of.first), "=r"(of.size), "=r"(of.shift), "=r"(of.entry)
            : "l"(at));
    return (Near){.first = of.first,
                  .size = of.size,
                  .owners = GR_NEAR_OWNERS(&of),
                  .heads = GR_NEAR_HEADS(&of),
                  .says = GR_NEAR_SAYS(&of),
                  .shift = of.shift,
                  .entry = of.entry,
                  .thread = gr_priv_thread_number(),
                  .threads = threads_of_block()};
}

// Where the line of the byte `k`, from the first one on, says that units have private copies of it.
GR_INLINE uint32_t numbered_at(const Near *n, uint32_t k) {
    return n->heads + k / GR_LINE * (uint32_t)sizeof(GrPrivRow) +
           (uint32_t) __builtin_offsetof(GrPrivRow, numbered);
}

// No unit has written, and there are no private copies.
static GR_NOINLINE void gr_priv_near_begin(void) {
    Near n = near_of_block();
    GR_ROLLED for (uint32_t k = 4 * n.thread; k < n.size; k += 4 * n.threads) {
        put_shared(n.first + k, (uint32_t)UNWRITTEN);
        put_shared(n.first + n.size + k, (uint32_t)UNWRITTEN);
        put_shared(n.first + 2 * n.size + k, (uint32_t)UNWRITTEN);
    }
    GR_ROLLED for (uint32_t k = n.owners + 4 * n.thread; k < n.says + GR_NEAR_SAID; k += 4 * n.threads)
        put_shared(k, 0);
}

static GR_NOINLINE void gr_priv_near_tell(uint32_t region, uint32_t sequence, uint32_t at) {
    Slot s;
    gr_priv_slot(&s);
    s.region = region_that_began(region);
    s.block = gr_priv_block_number();
    s.sequence = sequence;
    gr_priv_tell_owner(&s, near_row(&s, at / GR_LINE), at % GR_LINE / 4, at);
}

static GR_NOINLINE void gr_priv_near_lines(uint32_t region, uint32_t sequence, int merges) {
    Slot s;
    uint32_t thread = gr_priv_thread_number(), threads = threads_of_block(), lanes = 32;
    gr_priv_slot(&s);
    s.region = region_that_began(region);
    s.block = gr_priv_block_number();
    s.sequence = sequence;
    s.commits = 1;
    while (lanes > threads - thread / 32 * 32)
        lanes /= 2;
    Lanes l = {thread % 32, lanes};
    GR_ROLLED for (uint32_t k = thread / 32; k < s.near.size / GR_LINE && l.lane < lanes;
                   k += (threads + 31) / 32) {
        uint64_t row = near_row(&s, s.near.first / GR_LINE + k);
        if (is_numbered(&s, row))
            gr_priv_one_row(&s, row, &l, merges);
    }
}

// Behind pass 1.
static GR_NOINLINE void gr_priv_near_merge(uint32_t region, uint32_t sequence) {
    Near n = near_of_block();
    uint32_t numbered = shared_at(n.says + GR_NEAR_NUMBERED + 4 * (sequence & 1));
    GR_ROLLED for (uint32_t k = 4 * n.thread; k < n.size; k += 4 * n.threads) {
        uint32_t at = n.first + k, own = shared_at(at), was = shared_at(at + n.size);
        if (own != was && !(numbered && shared_at(numbered_at(&n, k)))) {
            put_shared(at + 2 * n.size, own);
            put_shared(at, was);
        }
    }
    if (numbered)
        gr_priv_near_lines(region, sequence, 1);
}

// Behind pass 2. Then nobody owns anything.
static GR_NOINLINE void gr_priv_near_check(uint32_t region, uint32_t sequence) {
    Near n = near_of_block();
    uint32_t numbered = shared_at(n.says + GR_NEAR_NUMBERED + 4 * (sequence & 1)),
             at_once = !numbered && n.shift <= 2; // no other thread asks for the owners of this one's word
    if (n.thread == 0)                            // the next region's: all have read them in the last one
        put_shared(n.says + GR_NEAR_NUMBERED + 4 * (1 - (sequence & 1)), 0);
    GR_ROLLED for (uint32_t k = 4 * n.thread; k < n.size; k += 4 * n.threads) {
        uint32_t at = n.first + k, own = shared_at(at), was = shared_at(at + n.size),
                 all = shared_at(at + 2 * n.size), owners = n.owners + (k >> n.shift) * n.entry;
        if (numbered && shared_at(numbered_at(&n, k)))
            continue;
        if (own != all) {
            gr_priv_near_tell(region, sequence, at);
            put_shared(at, all);
        }
        if (was != all)
            put_shared(at + n.size, all);
        if (at_once)
            put_shared(owners, 0);
        if (at_once && n.shift == 0)
            put_shared(owners + 4, 0);
    }
    if (at_once)
        return;
    barrier();
    if (numbered) {
        gr_priv_near_lines(region, sequence, 0);
        barrier();
    }
    GR_ROLLED for (uint32_t k = 4 * n.thread; k < (n.size >> n.shift) * n.entry; k += 4 * n.threads)
        put_shared(n.owners + k, 0);
}

// As __gr_gather(), counted in shared memory, which is not far: most threads need not wait for memory of the GPU.
static GR_NOINLINE uint32_t gr_priv_near_gather(uint32_t all) {
    Near n = near_of_block();
    GR_GLOBAL uint32_t *apart = &((GR_GLOBAL GrPrivLog *)CONTROL.log)->head.apart;
    __asm__ volatile("red.shared.add.u32 [%0], 1;" ::"r"(n.says + GR_NEAR_ARRIVED) : "memory");
    uint32_t pause = 32;
    GR_ROLLED for (uint32_t k = 0; k < MOST_PAUSES; k++) {
        if (shared_now(n.says + GR_NEAR_APART))
            return 0;
        if (shared_now(n.says + GR_NEAR_ARRIVED) >= all)
            return 1;
        if (k >= SOME_PAUSES && gr_load32(apart)) // another block has given up
            break;
        gr_sleep(pause);
        pause = pause < 16384 ? pause * 2 : 20000;
    }
    put_shared(n.says + GR_NEAR_APART, 1);
    gr_store32(apart, 1);
    return 0;
}

// Whether the slot's list has rows.
GR_INLINE int near_lists(uint32_t sequence) {
    return (int)shared_at(near_of_block().says + GR_NEAR_COUNT + 4 * (sequence & 1));
}

#endif
