// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/decode.h"

#include "device_api/shared_window.h"
#include "engines/collider/device/meet.h"
#include "engines/collider/device/record.h"
#include "engines/collider/options.h"
#include "ptx/ptx.h"

#include <string.h>

uint64_t gr_collider_slot_bytes(uint32_t n_sites) {
    return ((uint64_t)n_sites + 1) * GR_CLASS_COUNT * sizeof(GrSlot);
}

// ---- Slots: one side is known ------------------------------------------------------------------------------

// Only small numbers and the kernel's own can be %gridid as launches are numbered here: a GPU may count otherwise.
static uint64_t launch_number(const GrArea *area, const GrSlot *slot, const char *kernel) {
    const char *logged = area->kernel_of(area->user, slot->launch);
    return logged && kernel && !strcmp(logged, kernel) ? slot->launch : 0;
}

// False: out of memory.
static bool take_values(const GrArea *area, const GrSlot *slot, GrFinding *f) {
    if (!slot->size || slot->size > GR_VALUE_BYTES)
        return true;
    uint8_t *values = gr_arena_alloc(area->arena, 2 * (size_t)GR_VALUE_BYTES);
    if (!values)
        return false;
    memcpy(values, slot->expected, GR_VALUE_BYTES);
    memcpy(values + GR_VALUE_BYTES, slot->seen, GR_VALUE_BYTES);
    f->expected = values;
    f->seen = values + GR_VALUE_BYTES;
    f->size = slot->size;
    return true;
}

// A generic address of another block's shared memory is no global address.
static void place_address(const GrSlot *slot, GrFinding *f) {
    GrAccess *a = &f->accesses[0];
    uint64_t at = slot->space ? slot->address : slot->address - GR_CPU_SHARED_WINDOW;
    a->address = slot->address;
    if (at >= (uint64_t)GR_CPU_SHARED_RANKS << GR_CPU_SHARED_SHIFT || slot->space == GR_META_TENSOR)
        return;
    f->space = "shared";
    a->rank = (uint32_t)(at >> GR_CPU_SHARED_SHIFT);
    if (a->rank >= GR_CLUSTER_MOST) { // a wild address, of no block's memory
        a->rank = 0;
        a->address = at;
        return;
    }
    a->has_rank = !slot->space || a->rank; // block 0 of a cluster and one that is in none look alike
    a->address = at & ((1u << GR_CPU_SHARED_SHIFT) - 1);
}

static gr_status decode_slot(const GrArea *area, uint32_t site, GrRaceClass class, const GrSlot *slot,
                             const GrSink *to) {
    const GrSiteInfo *s = &area->module->sites[site];
    const char *kernel = s->kernel ? s->kernel : area->kernel_of(area->user, slot->launch);
    GrFinding f = {.class = gr_collider_classes[class].number,
                   .seen_by = GR_SEEN_BY_VALUE,
                   .kernel = kernel,
                   .module = area->module->name,
                   .count = slot->count,
                   .accesses = {gr_access_at(s, s->size)},
                   .n_accesses = 1,
                   .stored_first = class != GR_CLASS_CLOBBERED_READ,
                   .launch = launch_number(area, slot, kernel),
                   .space = slot->space == GR_META_TENSOR   ? "tensor"
                            : slot->space == GR_META_SHARED ? "shared"
                                                            : "global"};
    GrAccess *first = &f.accesses[0];
    first->kernel = kernel;
    first->site = site;
    // The source of an asynchronous copy; or the place of st.async.
    if (class == GR_CLASS_CLOBBERED_READ && s->access != PTX_ACCESS_READ) {
        first->kind = s->before ? "store" : "load";
        first->async = true;
    }
    // Otherwise it is counted, but its first thread was stopped before it could say more.
    bool ready = slot->state == GR_SLOT_READY;
    if (ready) {
        first->has_thread = true;
        memcpy(first->thread, slot->thread, sizeof first->thread);
        memcpy(first->block, slot->block, sizeof first->block);
        place_address(slot, &f);
        GR_NEED_OR(take_values(area, slot, &f), GR_ERR_NOMEM);
    }
    if (class == GR_CLASS_INTRA_WARP || class == GR_CLASS_INTRA_WARP_SAME) {
        // The instruction races with itself: both sides are known.
        first->lanes = ready ? slot->lanes : 0;
        f.accesses[1] = *first;
        f.accesses[1].has_thread = false;
        f.n_accesses = 2;
        f.lanes = first->lanes;
        for (unsigned k = 0; k < 2; k++)
            f.stored[k] = slot->stored[k] & f.lanes;
    }
    return to->take(to->user, &f) ? GR_OK : GR_ERR_NOMEM;
}

// ---- Meetings: both sides, of a replay ---------------------------------------------------------------------

static bool same_thread(const GrMeetSide *a, const GrMeetSide *b) {
    return a->launch == b->launch && !memcmp(a->thread, b->thread, sizeof a->thread) &&
           !memcmp(a->block, b->block, sizeof a->block);
}

// The hash of the table is not the address, so both are compared here.
static bool makes_sense(const GrMeeting *m) {
    const GrMeetSide *a = &m->first, *b = &m->other;
    return m->state == GR_SLOT_CLAIMED && a->ready && b->ready && !same_thread(a, b) &&
           a->address < b->address + b->size && b->address < a->address + a->size &&
           (!m->space || a->launch == b->launch);
}

static GrAccess access_of(const GrModuleInfo *m, const GrMeetSide *s, bool shared) {
    GrAccess a = gr_access_at(&m->sites[s->site], s->size);
    a.site = s->site;
    a.has_thread = true;
    a.address = s->address;
    a.launch = s->launch;
    memcpy(a.thread, s->thread, sizeof a.thread);
    memcpy(a.block, s->block, sizeof a.block);
    if (shared) {
        a.rank = (uint32_t)(s->address >> GR_CPU_SHARED_SHIFT) & (GR_CPU_SHARED_RANKS - 1);
        a.has_rank = a.rank != 0; // block 0 of a cluster and one that is in none look alike
        a.address &= (1u << GR_CPU_SHARED_SHIFT) - 1;
    }
    return a;
}

static gr_status decode_meeting(const GrArea *area, const GrMeeting *m, const GrSink *to) {
    const GrModuleInfo *mine = area->module, *other = area->module_of(area->user, m->other.module);
    if (!makes_sense(m) || m->first.module != mine->number || !m->first.site ||
        m->first.site > mine->n_sites || !other || !m->other.site || m->other.site > other->n_sites)
        return GR_OK;
    bool shared = m->space == 1;
    GrFinding f = {.class = gr_collider_classes[GR_CLASS_CLOBBERED_READ].number,
                   .seen_by = GR_SEEN_BY_MEETING,
                   .module = mine->name,
                   .space = shared ? "shared" : "global",
                   .count = 1,
                   .accesses = {access_of(mine, &m->first, shared), access_of(other, &m->other, shared)},
                   .n_accesses = 2};
    return to->take(to->user, &f) ? GR_OK : GR_ERR_NOMEM;
}

static gr_status decode(const GrArea *area, const GrSink *to, gr_error *err) {
    const GrModuleInfo *m = area->module;
    uint64_t slots = gr_collider_slot_bytes(m->n_sites);
    gr_status st = GR_OK;
    if (m->area_bytes < slots)
        return gr_fail(err, GR_ERR_FORMAT, "the collider's slots are cut short");
    for (uint32_t site = 1; site <= m->n_sites; site++)
        for (unsigned class = 0; class < GR_CLASS_COUNT && st == GR_OK; class ++) {
            GrSlot slot;
            memcpy(&slot, area->bytes + ((uint64_t)site * GR_CLASS_COUNT + class) * sizeof slot, sizeof slot);
            if (slot.count)
                st = decode_slot(area, site, (GrRaceClass) class, &slot, to);
        }
    for (uint64_t at = slots; st == GR_OK && m->area_bytes - at >= sizeof(GrMeeting);
         at += sizeof(GrMeeting)) {
        GrMeeting meeting;
        memcpy(&meeting, area->bytes + at, sizeof meeting);
        st = decode_meeting(area, &meeting, to);
    }
    return st == GR_OK ? GR_OK : gr_fail(err, st, "out of memory");
}

const GrDecoder gr_collider_decoder = {.tag = {"collider", 1, 1}, .decode = decode};
