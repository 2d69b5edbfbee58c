// SPDX-License-Identifier: Apache-2.0
#include "report/replay.h"
#include "device_api/shared_window.h"

#include "engines/collider/device/meet.h"
#include "engines/collider/device/record.h"
#include "ptx/ptx.h"
#include "report/report_internal.h"

#include <stdlib.h>
#include <string.h>

typedef VEC(GrModuleInfo) Modules;

static bool lacks_a_side(const GrRace *race) {
    return (race->class == GR_CLASS_CLOBBERED_READ || race->class == GR_CLASS_LOST_UPDATE) &&
           race->n_accesses == 1 && !race->watched && !race->met && !race->witness;
}

static bool same_text(const char *a, const char *b) { return !strcmp(a ? a : "", b ? b : ""); }

static bool is_in_kernel_of(const GrRace *race, const char *kernel) {
    for (uint32_t k = 0; k < race->n_kernels; k++)
        if (!strcmp(race->kernels[k], kernel))
            return true;
    return race->n_kernels == 0 && race->kernel && !strcmp(race->kernel, kernel);
}

// Whether the site is one of those that were merged into the race (group.c, compare_groups).
static bool is_site_of(const GrRace *race, const GrModuleInfo *m, const GrSiteInfo *s) {
    const GrAccess *a = &race->accesses[0];
    if (strcmp(a->kind, gr_report_access_kind(s->access)) || a->at.line != s->at.line ||
        (s->kernel && race->kernel && !is_in_kernel_of(race, s->kernel)))
        return false;
    if (!a->at.line)
        return a->ptx_line == s->ptx_line && same_text(race->module, m->name);
    return a->at.col == s->at.col && same_text(a->at.file, s->at.file);
}

static uint64_t slots_of(const GrModuleInfo *m) {
    return ((uint64_t)m->n_sites + 1) * GR_CLASS_COUNT * sizeof(GrSlot);
}

// The modules of a run whose slots are all in the file. Texts live in `arena`.
static gr_status read_modules(const GrResultsView *view, Arena *arena, Modules *out, gr_error *err) {
    for (size_t i = 0; i < view->records.len; i++) {
        const GrRecord *rec = &view->records.data[i];
        GrModuleInfo m;
        if (rec->kind != GR_RECORD_MODULE || gr_module_read(rec, arena, &m, NULL) != GR_OK ||
            m.slot_bytes < slots_of(&m) || !gr_results_at(view, m.slots, m.slot_bytes))
            continue;
        if (!gr_vec_push(out, m))
            return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    }
    return GR_OK;
}

static bool has_raced(const GrResultsView *view, const GrModuleInfo *m, uint32_t site) {
    static const unsigned classes[] = {GR_CLASS_CLOBBERED_READ, GR_CLASS_LOST_UPDATE};
    for (unsigned k = 0; k < 2; k++) {
        GrSlot slot;
        memcpy(&slot, view->data + m->slots + ((uint64_t)site * GR_CLASS_COUNT + classes[k]) * sizeof slot,
               sizeof slot);
        if (slot.count)
            return true;
    }
    return false;
}

size_t gr_replay_targets(const GrReport *r, const GrResultsView *view, StrBuf *out) {
    Arena arena;
    Modules modules = {0};
    size_t races = 0, sites = 0;
    gr_arena_init(&arena);
    read_modules(view, &arena, &modules, NULL);
    for (size_t i = 0; i < r->races.len; i++) {
        if (!lacks_a_side(&r->races.data[i]))
            continue;
        races++;
        for (size_t k = 0; k < modules.len; k++) {
            const GrModuleInfo *m = &modules.data[k];
            for (uint32_t s = 1; s <= m->n_sites && sites < GR_MEET_TARGETS; s++)
                if (has_raced(view, m, s) && is_site_of(&r->races.data[i], m, &m->sites[s]))
                    gr_str_addf(out, "%s%llx.%u", sites++ ? " " : "", (unsigned long long)m->hash, s);
        }
    }
    gr_vec_free(&modules);
    gr_arena_free(&arena);
    return races;
}

// ---- Meetings ------------------------------------------------------------------------------------------------

static const GrModuleInfo *module_of(const Modules *all, uint64_t process, const GrMeetSide *s) {
    for (size_t k = 0; k < all->len; k++) {
        const GrModuleInfo *m = &all->data[k];
        if (m->process == process && m->number == s->module && s->site && s->site <= m->n_sites)
            return m;
    }
    return NULL;
}

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

static GrAccess access_of(const GrReport *r, const GrModuleInfo *m, const GrMeetSide *s, bool shared) {
    const GrSiteInfo *site = &m->sites[s->site];
    GrAccess a = gr_report_access(site, s->size);
    a.has_thread = true;
    a.address = s->address;
    a.launch = strcmp(r->device, "cpu") ? 0 : s->launch; // a GPU may number its grids otherwise
    memcpy(a.thread, s->thread, sizeof a.thread);
    memcpy(a.block, s->block, sizeof a.block);
    if (shared) {
        a.rank = (uint32_t)(s->address >> GR_CPU_SHARED_SHIFT) & (GR_CPU_SHARED_RANKS - 1);
        a.has_rank = a.rank != 0; // block 0 of a cluster and one that is in none look alike
        a.address &= (1u << GR_CPU_SHARED_SHIFT) - 1;
    }
    return a;
}

static gr_status take_meeting(GrReport *r, const Modules *all, uint64_t process, const GrMeeting *m,
                              GrMet met, gr_error *err) {
    const GrModuleInfo *first = module_of(all, process, &m->first),
                       *other = module_of(all, process, &m->other);
    if (!makes_sense(m) || !first || !other)
        return GR_OK;
    for (size_t i = 0; i < r->races.len; i++) {
        GrRace *race = &r->races.data[i];
        if (!lacks_a_side(race) || !is_site_of(race, first, &first->sites[m->first.site]) ||
            !strcmp(race->space, "shared") != (m->space == 1))
            continue;
        met.first = access_of(r, first, &m->first, m->space == 1);
        met.other = access_of(r, other, &m->other, m->space == 1);
        GrMet *kept = gr_arena_alloc(&r->arena, sizeof *kept);
        if (!kept)
            return gr_fail(err, GR_ERR_NOMEM, "out of memory");
        *kept = met;
        race->met = kept;
    }
    return GR_OK;
}

gr_status gr_replay_take(GrReport *r, const GrResultsView *view, unsigned number, uint64_t seed,
                         gr_error *err) {
    gr_status st = GR_OK;
    Modules modules = {0};
    GR_TRY(read_modules(view, &r->arena, &modules, err));
    for (size_t k = 0; k < modules.len; k++) {
        const GrModuleInfo *m = &modules.data[k];
        for (uint64_t at = slots_of(m); m->slot_bytes - at >= sizeof(GrMeeting); at += sizeof(GrMeeting)) {
            GrMeeting meeting;
            memcpy(&meeting, view->data + m->slots + at, sizeof meeting);
            GrMet met = {.replay = number, .seed = seed};
            GR_TRY(take_meeting(r, &modules, m->process, &meeting, met, err));
        }
    }
done:
    gr_vec_free(&modules);
    return st;
}
