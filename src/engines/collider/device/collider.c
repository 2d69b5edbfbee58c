// SPDX-License-Identifier: Apache-2.0
// collider's device runtime — what the inserted checks call when they have caught a race.
//
// Compiled to PTX by clang and linked into every module that the collider rewrites; runs on a GPU and on the CPU device
// alike. Never on the fast path: a thread that gets here has seen a race. The slot of (site, class) is claimed by the
// first thread that reports it, which writes the details; all threads count.
#include "device_api/device.h"
#include "engines/collider/device/record.h"

// Filled by the injection after loading. Volatile: a debugger or the host may change it at any time.
GR_GLOBAL volatile GrControl __gr_control;

#include "engines/collider/device/hold.h"

typedef struct Lanes {
    uint32_t all, stored[2]; // as GrSlot has them
} Lanes;

static void record(uint32_t site, uint32_t class, uint32_t meta, uint64_t address, uint64_t expected,
                   uint64_t seen, Lanes lanes, uint32_t occurrences) {
    uint64_t slots = __gr_control.slots;
    if (!slots) {
        // Figure 7 of the SuperCollider paper: without the runtime attached, stop where a debugger can look.
        gr_breakpoint();
        return;
    }
    if (site == 0 || site > __gr_control.n_sites)
        return;
    GR_GLOBAL GrSlot *s = (GR_GLOBAL GrSlot *)slots + ((uint64_t)site * GR_CLASS_COUNT + class);
    gr_count(&s->count, occurrences);
    if (gr_load32(&s->state) != GR_SLOT_EMPTY ||
        gr_compare_swap(&s->state, GR_SLOT_EMPTY, GR_SLOT_CLAIMED) != GR_SLOT_EMPTY)
        goto stop;
    uint32_t space = meta >> GR_META_SPACE & 0xff;
    if (space == GR_META_GENERIC)
        space = gr_is_shared(address, &address) ? GR_META_SHARED : 0;
    gr_store32(&s->lanes, lanes.all);
    gr_store32(&s->stored[0], lanes.stored[0]);
    gr_store32(&s->stored[1], lanes.stored[1]);
    gr_store64(&s->launch, gr_grid_id());
    gr_store64(&s->address, address);
    gr_store32(&s->thread[0], gr_tid_x());
    gr_store32(&s->thread[1], gr_tid_y());
    gr_store32(&s->thread[2], gr_tid_z());
    gr_store32(&s->block[0], gr_ctaid_x());
    gr_store32(&s->block[1], gr_ctaid_y());
    gr_store32(&s->block[2], gr_ctaid_z());
    gr_store32(&s->space, space);
    gr_store32(&s->size, meta >> GR_META_SIZE & 0xff);
    gr_store64((GR_GLOBAL uint64_t *)s->expected, expected);
    gr_store64((GR_GLOBAL uint64_t *)s->seen, seen);
    gr_store32(&s->state, GR_SLOT_READY);
stop:
    if (__gr_control.stop)
        gr_trap();
}

// A repeated access of this lane saw `seen` where `expected` was. Of lanes that arrive together one reports for all.
#ifdef GR_COPIES // which call it, too
GR_NOINLINE
#endif
void __gr_report(uint32_t site, uint32_t meta, uint64_t address, uint64_t expected, uint64_t seen) {
    uint32_t active = gr_active_mask();
    if (gr_lane() == (uint32_t)__builtin_ctz(active))
        record(site, meta & 0xff, meta, address, expected, seen, (Lanes){0},
               (uint32_t)__builtin_popcount(active));
}

// The lanes `peers` (this one among them) are about to store to one address; `lo` and `hi` are what this lane stores.
void __gr_report_warp(uint32_t site, uint32_t meta, uint64_t address, uint32_t peers, uint64_t lo,
                      uint64_t hi) {
    uint32_t first = (uint32_t)__builtin_ctz(peers);
    uint32_t alike = gr_match_any(peers, lo) & gr_match_any(peers, hi);
    // By the first lane's view: which lanes disagree with it, and with what.
    Lanes lanes = {.all = peers};
    lanes.stored[0] = gr_shuffle32(peers, alike, first);
    uint32_t others = peers & ~lanes.stored[0];
    uint32_t odd = others ? (uint32_t)__builtin_ctz(others) : first;
    lanes.stored[1] = gr_shuffle32(peers, alike, odd);
    uint64_t odd_lo = gr_shuffle64(peers, lo, odd), odd_hi = gr_shuffle64(peers, hi, odd);
    if (gr_lane() != first)
        return;
    uint32_t class = others ? GR_CLASS_INTRA_WARP : GR_CLASS_INTRA_WARP_SAME;
    if (!others && !(meta & GR_META_WANT_SAME))
        return;
    if (lo == odd_lo && hi != odd_hi) { // of a wide value, show the half that differs
        address += 8;
        lo = hi;
        odd_lo = odd_hi;
    }
    record(site, class, meta, address, lo, odd_lo, lanes, 1);
}
