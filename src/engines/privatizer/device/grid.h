// SPDX-License-Identifier: Apache-2.0
// grid — GR_OF_BLOCKS with barriers of the grid: all blocks of a cooperative launch run at once, and end regions
// together. For the one file that has the runtime of inserted code.
#ifndef GR_ENGINES_PRIVATIZER_DEVICE_GRID_H
#define GR_ENGINES_PRIVATIZER_DEVICE_GRID_H

#include "engines/privatizer/device/making.h"

GR_SREG32(nctaid_z, "nctaid.z")

GR_INLINE uint32_t threads_of_block(void) { return ntid_x() * ntid_y() * ntid_z(); }
GR_INLINE uint32_t blocks_of_grid(void) { return nctaid_x() * nctaid_y() * nctaid_z(); }

// The threads that do the rows: the block's, or the grid's warps. Of a block with a part of a warp that part is left
// out, unless the block has no more.
GR_INLINE Team team(void) {
    uint32_t threads = threads_of_block(), thread = gr_priv_thread_number();
    if (CONTROL.mode != GR_OF_BLOCKS)
        return (Team){thread, threads, 32};
    uint32_t lanes = threads < 32 ? 31 - (uint32_t)__builtin_clz(threads) : 5,
             of_block = threads < 32 ? 32 : threads / 32 * 32,
             all = blocks_of_grid() * of_block; // a cooperative launch has few blocks
    uint32_t number = thread < of_block ? (uint32_t)gr_priv_block_number() * of_block + thread : all;
    return (Team){number, all, 1u << lanes};
}

// The part of the control that all blocks share.
GR_INLINE GR_GLOBAL GrPrivSlot *head_of_grid(void) {
    return (GR_GLOBAL GrPrivSlot *)CONTROL.slot + (CONTROL.mode == GR_OF_WARPS ? CONTROL.slots : 0);
}

uint32_t __gr_meets(void) {
    GR_GLOBAL GrPrivSlot *of = head_of_grid();
    GR_GLOBAL uint32_t *apart = &((GR_GLOBAL GrPrivLog *)CONTROL.log)->head.apart;
    if (gr_priv_thread_number())
        return 1;
    uint64_t blocks = blocks_of_grid(), before;
    fence();
    __asm__ volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], 1;"
                     : "=l"(before)
                     : "l"(&of->met)
                     : "memory");
    uint64_t all = (before / blocks + 1) * blocks;
    uint32_t pause = 32;
    GR_ROLLED while (gr_load64(&of->met) < all) {
        if (gr_load32(apart) || gr_load32(&of->ends))
            return 0;
        gr_sleep(pause);
        pause = pause < 1024 ? pause * 2 : pause;
    }
    fence();
    return 1;
}

void __gr_goes_on(uint32_t sequence) {
    if (!gr_priv_thread_number())
        gr_store32(&head_of_grid()->goes_on, sequence + 1);
}

// Another block may be at the end of the next region already, so goes_on may be later than `sequence`.
uint32_t __gr_all_end(uint32_t sequence) { return gr_load32(&head_of_grid()->goes_on) <= sequence; }

// A block that waits for the grid only has to leave.
void __gr_waits(void) { gr_store32(&slot_head()->ends, 1); }

// ---- Shared memory, which is the launch's own -----------------------------------------------------------------------

GR_INLINE uint64_t kept_of_block(void) {
    return CONTROL.shared_kept + gr_priv_block_number() * 2 * CONTROL.block_shared;
}

#define EACH_SHARED(at)                                                                                      \
    GR_ROLLED for (uint32_t at = CONTROL.block_reserved + 4 * gr_priv_thread_number();                       \
                   at < CONTROL.block_shared; at += 4 * threads_of_block())

void __gr_keep_shared(void) {
    uint64_t kept = kept_of_block();
    EACH_SHARED(at) put_word(kept + at, shared_at(at));
}

void __gr_again_shared(void) {
    uint64_t kept = kept_of_block(), noted = kept + CONTROL.block_shared;
    EACH_SHARED(at) {
        put_word(noted + at, shared_at(at));
        put_shared(at, word_at(kept + at));
    }
}

void __gr_differs(uint32_t region, uint32_t copy, uint32_t sequence);

// What the block has in shared memory is a result of the region, as registers are.
void __gr_check_shared(uint32_t region, uint32_t copy, uint32_t sequence) {
    uint64_t kept = kept_of_block(), noted = kept + CONTROL.block_shared;
    int differs = 0;
    EACH_SHARED(at) {
        uint32_t was = word_at(noted + at);
        differs |= shared_at(at) != was;
        put_shared(at, was);
        put_word(kept + at, was);
    }
    if (differs)
        __gr_differs(region, copy, sequence);
}

#endif
