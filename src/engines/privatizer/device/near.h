// SPDX-License-Identifier: Apache-2.0
// near — regions of shared memory whose rows lie in shared memory, too (control.h): the steps of merge.h, word by word. For the one file that has the runtime of inserted code.
//
// What an owner stored stands where the program has it. So behind pass 1 what stands there becomes the union, and what was there before comes back; behind pass 2 it has to be
// the union. Lines of which units have private copies are done as all others are.
#ifndef GR_PRIVATIZER_NEAR_H
#define GR_PRIVATIZER_NEAR_H

#include "engines/privatizer/device/grid.h"

GR_INLINE void barrier(void) { __asm__ volatile("barrier.sync 0;" ::: "memory"); }

// All threads of the block meet. Gives whether one of them has said so.
GR_INLINE int barrier_any(int says) {
    uint32_t v;
    __asm__ volatile(
        "{ .reg .pred p; setp.ne.u32 p, %1, 0; barrier.red.or.pred p, 0, p; selp.u32 %0, 1, 0, p; }"
        : "=r"(v)
        : "r"(says)
        : "memory");
    return (int)v;
}

// Where things are, of the block.
typedef struct Near {
    uint32_t first, size, owners, heads, shift, entry;
    uint32_t thread, threads;
} Near;

GR_INLINE Near near_of_block(void) {
    GrPrivNear of = CONTROL.near;
    return (Near){.first = of.first,
                  .size = of.size,
                  .owners = GR_NEAR_OWNERS(&of),
                  .heads = GR_NEAR_HEADS(&of),
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
    uint32_t owners = (n.size >> n.shift) * n.entry, heads = n.size / GR_LINE * (uint32_t)sizeof(GrPrivRow);
    GR_ROLLED for (uint32_t k = 4 * n.thread; k < owners + heads; k += 4 * n.threads)
        put_shared(n.owners + k, 0);
}

static GR_NOINLINE void gr_priv_near_tell(uint32_t region, uint32_t sequence, uint32_t at) {
    Slot s;
    gr_priv_slot(&s);
    s.region = region;
    s.block = gr_priv_block_number();
    s.sequence = sequence;
    gr_priv_tell_owner(&s, near_row(&s, at / GR_LINE), at % GR_LINE / 4, at);
}

static GR_NOINLINE void gr_priv_near_lines(uint32_t region, uint32_t sequence, int merges) {
    Slot s;
    uint32_t thread = gr_priv_thread_number(), threads = threads_of_block(), lanes = 32;
    gr_priv_slot(&s);
    s.region = region;
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
    int any = 0;
    GR_ROLLED for (uint32_t k = 4 * n.thread; k < n.size; k += 4 * n.threads) {
        uint32_t at = n.first + k, own = shared_at(at), was = shared_at(at + n.size);
        if (shared_at(numbered_at(&n, k)))
            any = 1;
        else if (own != was) {
            put_shared(at + 2 * n.size, own);
            put_shared(at, was);
        }
    }
    if (barrier_any(any))
        gr_priv_near_lines(region, sequence, 1);
}

// Behind pass 2. Then nobody owns anything.
static GR_NOINLINE void gr_priv_near_check(uint32_t region, uint32_t sequence) {
    Near n = near_of_block();
    int any = 0;
    GR_ROLLED for (uint32_t k = 4 * n.thread; k < n.size; k += 4 * n.threads) {
        uint32_t at = n.first + k, own = shared_at(at), was = shared_at(at + n.size),
                 all = shared_at(at + 2 * n.size);
        if (shared_at(numbered_at(&n, k))) {
            any = 1;
            continue;
        }
        if (own != all) {
            gr_priv_near_tell(region, sequence, at);
            put_shared(at, all);
        }
        if (was != all)
            put_shared(at + n.size, all);
    }
    if (barrier_any(any)) { // of the other lines somebody may have asked for owners until now
        gr_priv_near_lines(region, sequence, 0);
        barrier();
    }
    GR_ROLLED for (uint32_t k = 4 * n.thread; k < (n.size >> n.shift) * n.entry; k += 4 * n.threads)
        put_shared(n.owners + k, 0);
}

#endif
