// SPDX-License-Identifier: Apache-2.0
// near — regions of shared memory whose rows lie in shared memory, too (control.h): the steps of merge.h, word by word.
// For the one file with the runtime of inserted code.
//
// What an owner stored stands where the program has it. Behind pass 1 the union gets that, and the old bytes come back;
// behind pass 2 it has to be the union. Lines of which units have private copies take the steps of all other lines.
#ifndef GR_ENGINES_PRIVATIZER_DEVICE_NEAR_H
#define GR_ENGINES_PRIVATIZER_DEVICE_NEAR_H

#include "engines/privatizer/device/grid.h"

GR_INLINE void barrier(void) { __asm__ volatile("barrier.sync 0;" ::: "memory"); }

// The region that the thread has begun; a thread that has begun none takes another thread's.
GR_INLINE uint32_t region_that_began(uint32_t region) {
    uint32_t some = region >= GR_NO_BEGIN ? gr_load32(&slot_head()->region) : 0;
    return some ? some - 1 : region;
}

// Pauses, some 80 ms, until a thread gives up waiting for the others of its block; so many until it asks
// whether threads of another block have.
enum { MOST_PAUSES = 1 << 12, SOME_PAUSES = 8 };

// Where things are, of the block.
typedef struct Near {
    uint32_t first, size, owners, heads, says, shift, entry;
    uint32_t units, stride; // as in GrPrivNear
    uint32_t thread, threads;
} Near;

GR_INLINE Near near_of_block(void) {
    GrPrivNear of;
    GR_GLOBAL const void *at = &CONTROL.near;
    __asm__("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
            : "=r"(of.first), "=r"(of.size), "=r"(of.shift), "=r"(of.entry)
            : "l"(at));
    __asm__("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4+16];"
            : "=r"(of.says), "=r"(of.units), "=r"(of.stride), "=r"(of.pad)
            : "l"(at));
    return (Near){.first = of.first,
                  .size = of.size,
                  .owners = GR_NEAR_OWNERS(&of),
                  .heads = GR_NEAR_HEADS(&of),
                  .says = of.says,
                  .units = of.units,
                  .stride = of.stride,
                  .shift = of.shift,
                  .entry = of.entry,
                  .thread = thread_of_block(),
                  .threads = threads_of_block()};
}

// Where the line of byte `k`, from the first one on, says that units have private copies of it.
GR_INLINE uint32_t numbered_at(const Near *n, uint32_t k) {
    return n->heads + k / GR_LINE * (uint32_t)sizeof(GrPrivRow) +
           (uint32_t) __builtin_offsetof(GrPrivRow, numbered);
}

// Sets near memory so that no unit has written, and no private copies exist; or so that all copies are the program's
// memory.
static GR_NOINLINE void gr_priv_near_begin(void) {
    Near n = near_of_block();
    uint32_t stride = n.units ? n.stride : n.size, end = n.first + (n.units ? n.units + 1 : 3) * stride;
    GR_ROLLED for (uint32_t k = 4 * n.thread; k < stride; k += 4 * n.threads) {
        uint32_t v = k < n.size ? (uint32_t)UNWRITTEN : word_at(CONTROL.window.at + (k - n.size));
        GR_ROLLED for (uint32_t at = n.first + k; at < end; at += stride) put_shared(at, v);
    }
    GR_ROLLED for (uint32_t k = (n.units ? n.says : n.owners) + 4 * n.thread; k < n.says + GR_NEAR_SAID;
                   k += 4 * n.threads) put_shared(k, 0);
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

// Merges the thread's words behind pass 1. gr_priv_near_lines() does lines with private copies.
GR_INLINE void near_merge(const Near *n, uint32_t numbered) {
    GR_ROLLED for (uint32_t k = 4 * n->thread; k < n->size; k += 4 * n->threads) {
        uint32_t at = n->first + k, own = shared_at(at), was = shared_at(at + n->size);
        if (own != was && !(numbered && shared_at(numbered_at(n, k)))) {
            put_shared(at + 2 * n->size, own);
            put_shared(at, was);
        }
    }
}

// Checks near memory behind pass 2, in a region of the launch without private copies of lines: each thread takes all
// words that one owner is asked for. Then nobody owns anything. True: some word is not what it has to be. The word
// stays as it is, with its owners, for gr_priv_near_tells().
GR_INLINE uint32_t near_check(const Near *n) {
    uint32_t unit = n->shift > 2 ? 1u << n->shift : 4, differs = 0;
    GR_ROLLED for (uint32_t k = unit * n->thread; k < n->size; k += unit * n->threads) {
        uint32_t owners = n->owners + (k >> n->shift) * n->entry, differ = 0;
        GR_ROLLED for (uint32_t at = n->first + k; at < n->first + k + unit; at += 4) {
            uint32_t own = shared_at(at), was = shared_at(at + n->size), all = shared_at(at + 2 * n->size);
            differ |= own != all;
            if (was != all)
                put_shared(at + n->size, all);
        }
        differs |= differ;
        if (!differ)
            put_shared(owners, 0);
        if (!differ && n->shift == 0)
            put_shared(owners + 4, 0);
    }
    return differs;
}

static GR_NOINLINE void gr_priv_near_tells(uint32_t region, uint32_t sequence) {
    Near n = near_of_block();
    uint32_t unit = n.shift > 2 ? 1u << n.shift : 4;
    GR_ROLLED for (uint32_t k = unit * n.thread; k < n.size; k += unit * n.threads) {
        uint32_t owners = n.owners + (k >> n.shift) * n.entry;
        GR_ROLLED for (uint32_t at = n.first + k; at < n.first + k + unit; at += 4) {
            uint32_t all = shared_at(at + 2 * n.size);
            if (shared_at(at) == all)
                continue;
            gr_priv_near_tell(region, sequence, at);
            put_shared(at, all);
        }
        put_shared(owners, 0);
        if (n.shift == 0)
            put_shared(owners + 4, 0);
    }
}

// Checks near memory behind pass 2, in a region in which units have private copies of lines.
static GR_NOINLINE void gr_priv_near_check(uint32_t region, uint32_t sequence) {
    Near n = near_of_block();
    GR_ROLLED for (uint32_t k = 4 * n.thread; k < n.size; k += 4 * n.threads) {
        uint32_t at = n.first + k, own = shared_at(at), was = shared_at(at + n.size),
                 all = shared_at(at + 2 * n.size);
        if (shared_at(numbered_at(&n, k)))
            continue;
        if (own != all) {
            gr_priv_near_tell(region, sequence, at);
            put_shared(at, all);
        }
        if (was != all)
            put_shared(at + n.size, all);
    }
    barrier();
    gr_priv_near_lines(region, sequence, 0);
    barrier();
    GR_ROLLED for (uint32_t k = 4 * n.thread; k < (n.size >> n.shift) * n.entry; k += 4 * n.threads)
        put_shared(n.owners + k, 0);
}

// Some line of near memory has private copies.
GR_INLINE uint32_t near_numbered(const Near *n, uint32_t sequence) {
    return shared_at(n->says + GR_NEAR_NUMBERED + 4 * (sequence & 1));
}
// How many rows the slot's list has.
GR_INLINE uint32_t near_lists(const Near *n, uint32_t sequence) {
    return shared_at(n->says + GR_NEAR_COUNT + 4 * (sequence & 1));
}

uint32_t __gr_merges(uint32_t sequence) {
    Near n = near_of_block();
    if (!n.size || CONTROL.spent)
        return GR_REST_ALL;
    uint32_t numbered = near_numbered(&n, sequence);
    near_merge(&n, numbered);
    return (near_lists(&n, sequence) ? GR_REST_ROWS : 0) | (numbered ? GR_REST_LINES : 0);
}

uint32_t __gr_checks(uint32_t sequence) {
    Near n = near_of_block();
    if (!n.size || CONTROL.spent || near_numbered(&n, sequence))
        return GR_REST_ALL;
    uint32_t lists = near_lists(&n, sequence), differs = near_check(&n);
    if (n.thread == 0 && !lists) { // next_list() of a region without private copies
        put_shared(n.says + GR_NEAR_COUNT + 4 * (1 - (sequence & 1)), 0);
        put_shared(n.says + GR_NEAR_NOW, 1 - (sequence & 1));
    }
    if (n.thread == 0)
        put_shared(n.says + GR_NEAR_NUMBERED + 4 * (1 - (sequence & 1)), 0);
    return (lists ? GR_REST_ROWS : 0) | (differs ? GR_REST_TELL : 0);
}

// __gr_gather(), with counts in shared memory: most threads need not wait for the GPU's memory, which is far.
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

#endif
