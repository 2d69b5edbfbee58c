// SPDX-License-Identifier: Apache-2.0
// What raced, by place in the source: the collider's slots, of which one side is known, and the records of races of which both are.
#include "device_api/shared_window.h"
#include "engines/collider/device/record.h"
#include "findings/headline.h"
#include "findings/race_record.h"
#include "ptx/ptx.h"
#include "report/build.h"
#include "report/host_place.h"

#include <stdlib.h>
#include <string.h>

static const char *kernel_of_launch(const Build *b, uint64_t process, uint64_t launch) {
    for (size_t i = 0; i < b->logs.len; i++) {
        const LaunchLog *l = &b->logs.data[i];
        if (l->process != process || launch < l->first || launch - l->first >= l->count)
            continue;
        uint64_t index = l->kernels[launch - l->first];
        size_t at = index ? (size_t)gr_map_get_u64(&b->kernel_at, gr_build_key(process, index - 1)) : 0;
        if (at)
            return b->kernels.data[at - 1].name;
    }
    return NULL;
}

const char *gr_report_access_kind(uint32_t access) {
    return access == PTX_ACCESS_READ ? "load" : access == PTX_ACCESS_WRITE ? "store" : "atomic";
}

static bool is_own(void *site, uint32_t k) {
    const GrSiteInfo *s = site;
    const char *file = k ? s->inlined[k - 1].file : s->at.file;
    return file && !gr_is_toolkit_file(file);
}

GrAccess gr_report_access(const GrSiteInfo *site, uint32_t size) {
    return (GrAccess){.headline = gr_headline(is_own, (void *)site, site->n_inlined + 1),
                      .kind = gr_report_access_kind(site->access),
                      .at = site->at,
                      .inlined = site->inlined,
                      .n_inlined = site->n_inlined,
                      .near = !site->at.line && site->near.line ? &site->near : NULL,
                      .ptx_line = site->ptx_line,
                      .kernel = site->kernel,
                      .size = size};
}

// ---- races of which one side is known: the collider's slots ----------------------------------------------

// Only small numbers and the kernel's own can be %gridid as launches are numbered here: a GPU may count otherwise.
static uint64_t launch_number(const Build *b, const GrModuleInfo *m, const GrSlot *slot, const char *kernel) {
    const char *logged = kernel_of_launch(b, m->process, slot->launch);
    return logged && kernel && !strcmp(logged, kernel) ? slot->launch : 0;
}

static void take_values(Build *b, const GrSlot *slot, GrRace *race) {
    if (!slot->size || slot->size > GR_VALUE_BYTES)
        return;
    uint8_t *values = gr_arena_alloc(&b->report->arena, 2 * (size_t)GR_VALUE_BYTES);
    if (!values) {
        b->nomem = true;
        return;
    }
    memcpy(values, slot->expected, GR_VALUE_BYTES);
    memcpy(values + GR_VALUE_BYTES, slot->seen, GR_VALUE_BYTES);
    race->expected = values;
    race->seen = values + GR_VALUE_BYTES;
    race->size = slot->size;
}

// A generic address of another block's shared memory is no global address.
static void place_address(const GrSlot *slot, GrRace *race) {
    GrAccess *a = &race->accesses[0];
    uint64_t at = slot->space ? slot->address : slot->address - GR_CPU_SHARED_WINDOW;
    a->address = slot->address;
    if (at >= (uint64_t)GR_CPU_SHARED_RANKS << GR_CPU_SHARED_SHIFT || slot->space == GR_META_TENSOR)
        return;
    race->space = "shared";
    a->rank = (uint32_t)(at >> GR_CPU_SHARED_SHIFT);
    if (a->rank >= GR_CLUSTER_MOST) { // a wild address, of no block's memory
        a->rank = 0;
        a->address = at;
        return;
    }
    a->has_rank = !slot->space || a->rank; // block 0 of a cluster and one that is in none look alike
    a->address = at & ((1u << GR_CPU_SHARED_SHIFT) - 1);
}

static GrRace race_of(Build *b, const GrModuleInfo *m, const GrSiteInfo *s, unsigned class,
                      const GrSlot *slot) {
    const char *kernel = s->kernel ? s->kernel : kernel_of_launch(b, m->process, slot->launch);
    GrAccess a = gr_report_access(s, s->size);
    a.kernel = kernel;
    GrRace race = {.class = class,
                   .kernel = kernel,
                   .module = m->name,
                   .count = slot->count,
                   .n_sites = 1,
                   .accesses = {a},
                   .n_accesses = 1,
                   .launch = launch_number(b, m, slot, kernel),
                   .space = slot->space == GR_META_TENSOR   ? "tensor"
                            : slot->space == GR_META_SHARED ? "shared"
                                                            : "global"};
    if (class == GR_CLASS_CLOBBERED_READ &&
        s->access != PTX_ACCESS_READ) { // the source of an asynchronous copy; or the place of st.async
        race.accesses[0].kind = s->before ? "store" : "load";
        race.accesses[0].async = true;
    }
    bool ready = slot->state ==
                 GR_SLOT_READY; // else counted, but its first thread was stopped before it could say more
    if (ready) {
        GrAccess *first = &race.accesses[0];
        first->has_thread = true;
        memcpy(first->thread, slot->thread, sizeof first->thread);
        memcpy(first->block, slot->block, sizeof first->block);
        place_address(slot, &race);
        take_values(b, slot, &race);
    }
    if (class == GR_CLASS_INTRA_WARP || class == GR_CLASS_INTRA_WARP_SAME) {
        // The instruction races with itself: both sides are known.
        race.accesses[1] = race.accesses[0];
        race.accesses[1].has_thread = false;
        race.accesses[0].lanes = race.accesses[1].lanes = ready ? slot->lanes : 0;
        race.n_accesses = 2;
        race.lanes = race.accesses[0].lanes;
        for (unsigned k = 0; k < 2; k++)
            race.stored[k] = slot->stored[k] & race.lanes;
    }
    return race;
}

// ---- races of which both sides are known: records --------------------------------------------------------

static const char *scope_name(uint32_t scope) {
    static const char *const names[] = {NULL, "cta", "cluster", "gpu", "sys"};
    return scope < sizeof names / sizeof *names ? names[scope] : NULL;
}

static const char *did_text(uint32_t access) {
    return access == PTX_ACCESS_READ ? "read" : access == PTX_ACCESS_WRITE ? "wrote" : "updated";
}

static GrAccess side_of(Build *b, const GrRaceSide *s, const GrSiteInfo *site) {
    if (s->by == GR_SIDE_HOST)
        return (GrAccess){.kind = s->access == PTX_ACCESS_READ ? "host read" : "host write",
                          .at = gr_host_place(s->object, s->at, s->symbol, &b->report->arena),
                          .size = s->size,
                          .address = s->address,
                          .did = did_text(s->access),
                          .host = true};
    if (s->by == GR_SIDE_FREE) {
        GrAccess a = {.kind = "free",
                      .at = {.file = *s->object ? s->object : NULL,
                             .function = *s->symbol ? s->symbol : NULL,
                             .line = (uint32_t)s->at},
                      .ptx_line = s->site,
                      .size = s->size,
                      .has_thread = s->launch != 0,
                      .address = s->address,
                      .did = "freed the memory",
                      .launch = s->launch};
        memcpy(a.thread, s->thread, sizeof a.thread);
        memcpy(a.block, s->block, sizeof a.block);
        return a;
    }
    if (!site)
        return (GrAccess){.kind = s->by == GR_SIDE_FILL ? "memset" : "copy",
                          .address = s->address,
                          .did = did_text(s->access)};
    GrAccess a = gr_report_access(site, s->size);
    a.kind = gr_report_access_kind(s->access); // a copy reads here and writes there
    a.has_thread = true;
    a.address = s->address;
    a.strong = scope_name(s->scope);
    a.async = s->by == GR_SIDE_ASYNC;
    a.is_volatile = s->marks & GR_SIDE_VOLATILE;
    a.discarded = s->marks & GR_SIDE_DISCARDED;
    a.did = did_text(s->access);
    a.launch = s->launch;
    memcpy(a.thread, s->thread, sizeof a.thread);
    memcpy(a.block, s->block, sizeof a.block);
    return a;
}

// False when the record makes no sense.
static bool race_of_record(Build *b, const GrRecord *rec, GrRace *out) {
    GrRaceInfo r;
    if (gr_race_read(rec, &b->report->arena, &r, NULL) != GR_OK)
        return false;
    const GrModuleInfo *m[2] = {NULL, NULL};
    const GrSiteInfo *s[2] = {NULL, NULL};
    if (r.side[0].by >= GR_SIDE_COPY && (r.side[1].by < GR_SIDE_COPY || r.side[1].by == GR_SIDE_HOST)) {
        // what has a place in the source comes first
        GrRaceSide host = r.side[0];
        r.side[0] = r.side[1];
        r.side[1] = host;
    }
    for (unsigned k = 0; k < 2; k++) {
        if (r.side[k].by >= GR_SIDE_COPY)
            continue;
        m[k] = gr_build_module(b, rec->process, r.side[k].module);
        if (!m[k] || !r.side[k].site || r.side[k].site > m[k]->n_sites)
            return false;
        s[k] = &m[k]->sites[r.side[k].site];
    }
    const void *count = gr_results_at(b->view, r.count_at, sizeof out->count);
    *out = (GrRace){.class = GR_CLASS_COUNT + r.class,
                    .seen_by = r.seen_by,
                    .kernel = s[0] && s[0]->kernel ? s[0]->kernel
                              : s[0]               ? kernel_of_launch(b, rec->process, r.side[0].launch)
                                                   : NULL,
                    .module = m[0] ? m[0]->name : NULL,
                    .count = 1,
                    .n_sites = 1,
                    .accesses = {side_of(b, &r.side[0], s[0]), side_of(b, &r.side[1], s[1])},
                    .n_accesses = 2,
                    .launch = r.side[0].launch,
                    .space = r.space ? "shared" : "global",
                    .order = r.order,
                    .overlap = r.overlap,
                    .overlap_bytes = r.overlap_bytes};
    for (unsigned k = 0; k < 2; k++)
        if (out->accesses[k].has_thread && !out->accesses[k].kernel)
            out->accesses[k].kernel = kernel_of_launch(b, rec->process, r.side[k].launch);
    if (r.count_at && count)
        memcpy(&out->count, count, sizeof out->count);
    const void *tally = r.tally_at ? gr_results_at(b->view, r.tally_at, sizeof out->tally_count) : NULL;
    if (tally) {
        out->tally = r.tally_at;
        memcpy(&out->tally_count, tally, sizeof out->tally_count);
    }
    return true;
}

// ---- order -----------------------------------------------------------------------------------------------

int gr_compare_texts(const char *a, const char *b) { return a == b ? 0 : strcmp(a ? a : "", b ? b : ""); }

static int compare_numbers(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_frames(const GrFrame *a, const GrFrame *b) {
    int d;
    if ((d = gr_compare_texts(a->file, b->file)) || (d = compare_numbers(a->line, b->line)) ||
        (d = compare_numbers(a->col, b->col)))
        return d;
    return gr_compare_texts(a->function, b->function);
}

int gr_compare_sides(const GrAccess *x, const GrAccess *y) {
    int d = compare_frames(&x->at, &y->at);
    for (uint32_t k = 0; !d && k < x->n_inlined && k < y->n_inlined; k++)
        d = compare_frames(&x->inlined[k], &y->inlined[k]);
    if (d || (d = compare_numbers(x->n_inlined, y->n_inlined)) ||
        (d = gr_compare_texts(x->kernel, y->kernel)) || (d = gr_compare_texts(x->kind, y->kind)))
        return d;
    return x->at.line ? 0 : compare_numbers(x->ptx_line, y->ptx_line);
}

// Whichever of the two sides noticed, it is one race: there the one that comes first in the source counts as the first.
static bool is_swapped(const GrRace *r) {
    return r->order && gr_compare_sides(&r->accesses[0], &r->accesses[1]) > 0;
}

// By place in the source. 0: one race.
static int compare_races(const GrRace *a, const GrRace *b, bool a_swapped, bool b_swapped) {
    const GrAccess *x = &a->accesses[a_swapped], *y = &b->accesses[b_swapped];
    int d;
    if ((d = gr_compare_sides(x, y)) || (d = compare_numbers(a->class, b->class)) ||
        (d = compare_numbers(a->seen_by, b->seen_by)) || (d = gr_compare_texts(a->space, b->space)) ||
        (!x->at.line && (d = gr_compare_texts(a->module, b->module))))
        return d;
    return a->order && b->order ? gr_compare_sides(&a->accesses[!a_swapped], &b->accesses[!b_swapped]) : 0;
}

// 0: one race, whose accesses were counted together.
static int compare_merged(const GrRace *a, const GrRace *b) {
    int d = compare_races(a, b, is_swapped(a), is_swapped(b));
    return d ? d : compare_numbers(a->tally, b->tally);
}

typedef struct Found {
    GrRace race;
    size_t order; // of discovery: qsort is not stable
} Found;

static int compare_found(const void *a, const void *b) {
    const Found *x = a, *y = b;
    int d = compare_merged(&x->race, &y->race);
    return d ? d : compare_numbers(x->order, y->order);
}

// ---- all of them -----------------------------------------------------------------------------------------

gr_status gr_build_races(Build *b, gr_error *err) {
    VEC(Found) all = {0};
    gr_status st = GR_OK;
    for (size_t i = 0; i < b->modules.len; i++) {
        const GrModuleInfo *m = &b->modules.data[i];
        for (uint64_t site = 1; m->slot_bytes && site <= m->n_sites; site++)
            for (unsigned class = 0; class < GR_CLASS_COUNT; class ++) {
                GrSlot slot;
                memcpy(&slot, b->view->data + m->slots + (site * GR_CLASS_COUNT + class) * sizeof slot,
                       sizeof slot);
                if (!slot.count)
                    continue;
                Found f = {race_of(b, m, &m->sites[site], class, &slot), all.len};
                if (!gr_vec_push(&all, f)) {
                    st = gr_fail(err, GR_ERR_NOMEM, "out of memory");
                    goto done;
                }
            }
    }
    for (size_t i = 0; i < b->view->records.len; i++) {
        const GrRecord *rec = &b->view->records.data[i];
        if (rec->kind != GR_RECORD_RACE)
            continue;
        Found f = {.order = all.len};
        if (!race_of_record(b, rec, &f.race))
            b->report->damaged++;
        else if (!gr_vec_push(&all, f)) {
            st = gr_fail(err, GR_ERR_NOMEM, "out of memory");
            goto done;
        }
    }
    if (all.len)
        qsort(all.data, all.len, sizeof *all.data, compare_found);
    GrReport *r = b->report;
    for (size_t i = 0; i < all.len; i++) {
        GrRace *last = r->races.len ? &r->races.data[r->races.len - 1] : NULL;
        if (last && !compare_merged(last, &all.data[i].race)) {
            last->count += all.data[i].race.count;
            last->n_sites++;
        } else if (!gr_vec_push(&r->races, all.data[i].race)) {
            st = gr_fail(err, GR_ERR_NOMEM, "out of memory");
            goto done;
        }
    }
done:
    gr_vec_free(&all);
    return st;
}
