// SPDX-License-Identifier: Apache-2.0
// here — the module's control, and which block and thread of the launch this is. For the one file with the runtime of
// inserted code.
#ifndef GR_ENGINES_PRIVATIZER_DEVICE_HERE_H
#define GR_ENGINES_PRIVATIZER_DEVICE_HERE_H

#include "engines/privatizer/device/rows.h"

extern GR_GLOBAL GrPrivControl __gr_control;
GR_GLOBAL __attribute__((aligned(16))) GrPrivControl __gr_control = {0};
#define CONTROL __gr_control

// What shared memory holds before it is written: nothing that a program is likely to store first.
#define UNWRITTEN 0xcbcbcbcbcbcbcbcb
extern GR_GLOBAL uint64_t __gr_unwritten[GR_LINE / 8];
GR_GLOBAL __attribute__((aligned(GR_LINE))) uint64_t __gr_unwritten[GR_LINE / 8] = {
    UNWRITTEN, UNWRITTEN, UNWRITTEN, UNWRITTEN, UNWRITTEN, UNWRITTEN, UNWRITTEN, UNWRITTEN,
    UNWRITTEN, UNWRITTEN, UNWRITTEN, UNWRITTEN, UNWRITTEN, UNWRITTEN, UNWRITTEN, UNWRITTEN};

GR_SREG32(ntid_x, "ntid.x")
GR_SREG32(ntid_y, "ntid.y")
GR_SREG32(ntid_z, "ntid.z")
GR_SREG32(nctaid_x, "nctaid.x")
GR_SREG32(smid, "smid")
GR_SREG32(nsmid, "nsmid")
GR_SREG32(nctaid_y, "nctaid.y")

static GR_NOINLINE uint64_t gr_priv_block_number(void) {
    return gr_ctaid_x() + (uint64_t)nctaid_x() * (gr_ctaid_y() + (uint64_t)nctaid_y() * gr_ctaid_z());
}

static GR_NOINLINE uint64_t gr_priv_cluster_number(void) {
    GR_GLOBAL const uint32_t *of = __gr_control.cluster;
    return gr_ctaid_x() / of[0] +
           (uint64_t)(nctaid_x() / of[0]) *
               (gr_ctaid_y() / of[1] + (uint64_t)(nctaid_y() / of[1]) * (gr_ctaid_z() / of[2]));
}

GR_INLINE uint32_t thread_of_block(void) {
    return gr_tid_x() + ntid_x() * (gr_tid_y() + ntid_y() * gr_tid_z());
}
static GR_NOINLINE uint32_t gr_priv_thread_number(void) { return thread_of_block(); }

GR_INLINE GR_GLOBAL uint32_t *slot_of_block(void) {
    return (GR_GLOBAL uint32_t *)CONTROL.slot_of + gr_priv_block_number();
}

GR_INLINE uint64_t slot_number(void) { return CONTROL.mode == GR_OF_WARPS ? *slot_of_block() - 1 : 0; }

GR_INLINE GR_GLOBAL GrPrivSlot *slot_head(void) {
    return (GR_GLOBAL GrPrivSlot *)CONTROL.slot + slot_number();
}

GR_INLINE void fence(void) { __asm__ volatile("fence.acq_rel.gpu;" ::: "memory"); }

// Called before units of the slot look for what this thread has written.
GR_INLINE void publish(void) {
    if (CONTROL.mode == GR_OF_WARPS && !CONTROL.once && !CONTROL.exchanges)
        __asm__ volatile("fence.acq_rel.cta;" ::: "memory");
    else
        fence();
}

GR_INLINE Slot overlay(void) {
    Slot s = slot_of_control(&CONTROL, CONTROL.slots);
    s.capacity = CONTROL.overlay_rows;
    s.is_overlay = 1;
    return s;
}

// The row's number as an entry of the overlay: rows of all slots lie one behind the other.
GR_INLINE uint32_t in_overlay(const Slot *s, uint32_t number) {
    return (uint32_t)((CONTROL.slots - slot_number()) * s->capacity) + number;
}

static GR_NOINLINE void gr_priv_slot(Slot *s) { *s = slot_of_control(&CONTROL, slot_number()); }

#endif
