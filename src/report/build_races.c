// SPDX-License-Identifier: Apache-2.0
// What raced, by modules' areas (the decoders of the engines that wrote them) and by records of races with both sides.
#include "base/path_map.h"
#include "findings/race_record.h"
#include "ptx/ptx.h"
#include "report/build.h"
#include "report/lines/host_place.h"
#include "report/memory_names.h"

#include <stdlib.h>
#include <string.h>

// NULL: it is not known.
static const GrLogged *logged(const Build *b, uint64_t process, uint64_t launch) {
    for (size_t i = 0; i < b->logs.len; i++) {
        const LaunchLog *l = &b->logs.data[i];
        if (l->process == process && launch >= l->first && launch - l->first < l->count &&
            l->launches[launch - l->first].kernel)
            return &l->launches[launch - l->first];
    }
    return NULL;
}

static const char *kernel_of_launch(const Build *b, uint64_t process, uint64_t launch) {
    const GrLogged *l = logged(b, process, launch);
    size_t at = l ? (size_t)gr_map_get_u64(&b->kernel_at, gr_build_key(process, l->kernel - UINT64_C(1))) : 0;
    return at ? b->kernels.data[at - 1].name : NULL;
}

// From where the program asked for the access's launch, or for what the API did.
static const GrStack *stack_of(Build *b, uint64_t process, const GrFinding *f, const GrAccess *a) {
    uint64_t launch = a->launch ? a->launch : f->launch;
    const GrLogged *l = !a->call && (a->has_thread || a->lanes) ? logged(b, process, launch) : NULL;
    return gr_host_stack_of_launch(&b->stacks, process, l ? l->stack : a->call,
                                   a->kernel ? a->kernel : f->kernel);
}

bool gr_build_stacks(Build *b, uint64_t process, GrFinding *f) {
    for (unsigned k = 0; k < f->n_accesses; k++)
        f->accesses[k].stack = stack_of(b, process, f, &f->accesses[k]);
    return !b->stacks.nomem;
}

// ---- Records --------------------------------------------------------

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
        GrAccess a = {.kind = s->marks & GR_SIDE_NODE ? "free node" : "free",
                      .at = {.file = *s->object ? s->object : NULL,
                             .function = *s->symbol ? s->symbol : NULL,
                             .line = (uint32_t)s->at},
                      .ptx_line = s->site,
                      .size = s->size,
                      .has_thread = s->launch != 0,
                      .address = s->address,
                      .did = "freed the memory",
                      .call = s->stack,
                      .launch = s->launch};
        memcpy(a.thread, s->thread, sizeof a.thread);
        memcpy(a.block, s->block, sizeof a.block);
        return a;
    }
    if (s->by == GR_SIDE_ALLOC)
        return (GrAccess){.kind = s->marks & GR_SIDE_NODE ? "allocation node" : "allocation",
                          .size = s->size,
                          .address = s->address,
                          .did = "allocated the memory",
                          .call = s->stack};
    if (!site)
        return (GrAccess){.kind = s->by == GR_SIDE_FILL ? "memset" : "copy",
                          .address = s->address,
                          .did = did_text(s->access),
                          .call = s->stack};
    GrAccess a = gr_access_at(site, s->size);
    a.kind = gr_access_kind(s->access); // a copy reads here and writes there
    a.has_thread = true;
    a.address = s->address;
    a.strong = scope_name(s->scope);
    a.async = s->by == GR_SIDE_ASYNC;
    a.is_volatile = s->marks & GR_SIDE_VOLATILE;
    a.discarded = s->marks & GR_SIDE_DISCARDED;
    a.did = did_text(s->access);
    a.launch = s->launch;
    a.call = s->stack;
    memcpy(a.thread, s->thread, sizeof a.thread);
    memcpy(a.block, s->block, sizeof a.block);
    return a;
}

// False when the record makes no sense. *planted: the module with the planted race, whose race it is; NULL: none.
static bool race_of_record(Build *b, const GrRecord *rec, GrFinding *out, Planted **planted) {
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
        *planted = *planted ? *planted : gr_build_planted(b, rec->process, r.side[k].module);
    }
    const void *count = gr_results_at(b->view, r.count_at, sizeof out->count);
    *out = (GrFinding){.class = r.class,
                       .seen_by = (GrSeenBy)r.seen_by,
                       .kernel = s[0] && s[0]->kernel ? s[0]->kernel
                                 : s[0]               ? kernel_of_launch(b, rec->process, r.side[0].launch)
                                                      : NULL,
                       .module = m[0] ? m[0]->name : NULL,
                       .count = 1,
                       .accesses = {side_of(b, &r.side[0], s[0]), side_of(b, &r.side[1], s[1])},
                       .n_accesses = 2,
                       .launch = r.side[0].launch,
                       .space = r.space ? "shared" : "global",
                       .order = r.order,
                       .overlap = r.overlap,
                       .overlap_bytes = r.overlap_bytes};
    for (unsigned k = 0; k < 2; k++) {
        GrAccess *a = &out->accesses[k];
        if (a->has_thread && !a->kernel)
            a->kernel = kernel_of_launch(b, rec->process, r.side[k].launch);
        if (!s[k]) // the host's; modules are read with their files' new places
            a->at.file = gr_path_mapped(b->report->paths, a->at.file, &b->report->arena);
    }
    if (r.count_at && count)
        memcpy(&out->count, count, sizeof out->count);
    const void *tally = r.tally_at ? gr_results_at(b->view, r.tally_at, sizeof out->tally_count) : NULL;
    if (tally) {
        out->tally = r.tally_at;
        memcpy(&out->tally_count, tally, sizeof out->tally_count);
    }
    return r.seen_by < GR_SEEN_BY_MEETING && gr_report_class(b->report, r.class)->number != 0;
}

// ---- Areas -------------------------------------------------------------------------------------------------

typedef struct AreaOf {
    Build *build;
    uint64_t process;
    GrMemoryNames *memory;
    Planted *planted; // NULL: the area is of a module of the program
} AreaOf;

static const char *area_kernel(const void *user, uint64_t launch) {
    const AreaOf *a = user;
    return kernel_of_launch(a->build, a->process, launch);
}

static const GrModuleInfo *area_module(const void *user, uint64_t number) {
    const AreaOf *a = user;
    return gr_build_module(a->build, a->process, number);
}

// Says which memory both sides are in. False: out of memory.
static bool name_memory(GrMemoryNames *memory, uint64_t process, GrFinding *f) {
    bool ok = true;
    for (unsigned k = 0; k < f->n_accesses && ok; k++)
        ok = gr_memory_name(memory, process, f->space, &f->accesses[k]);
    return ok;
}

// In which ranges of NVTX a launch stands; NULL: in none.
static const char *ranges_of(const Build *b, uint64_t process, uint64_t launch) {
    for (size_t k = b->ranges.len; k-- > 0;) {
        const RangesFrom *r = &b->ranges.data[k];
        if (r->process == process && r->launch <= launch)
            return *r->names ? r->names : NULL;
    }
    return NULL;
}

static void name_ranges(const Build *b, uint64_t process, GrFinding *f) {
    for (unsigned k = 0; k < f->n_accesses; k++) {
        uint64_t launch = f->accesses[k].launch ? f->accesses[k].launch : k ? 0 : f->launch;
        f->accesses[k].range = launch ? ranges_of(b, process, launch) : NULL;
    }
}

// Meetings are no races: replay.c takes them.
static bool take_finding(void *area_of, const GrFinding *f) {
    AreaOf *a = area_of;
    GrFinding named = *f;
    if (f->seen_by == GR_SEEN_BY_MEETING)
        return true;
    if (a->planted) {
        a->planted->found = true;
        return true;
    }
    name_ranges(a->build, a->process, &named);
    return gr_build_stacks(a->build, a->process, &named) && name_memory(a->memory, a->process, &named) &&
           gr_report_add(a->build->report, &named, NULL) == GR_OK;
}

static gr_status take_areas(Build *b, GrMemoryNames *memory, gr_error *err) {
    gr_status st = GR_OK;
    for (size_t i = 0; i < b->modules.len && st == GR_OK; i++) {
        const GrModuleInfo *m = &b->modules.data[i];
        AreaOf of = {b, m->process, memory, gr_build_planted(b, m->process, m->number)};
        GrSink sink = {&of, take_finding};
        GrArea area = {.module = m, .user = &of, .kernel_of = area_kernel, .module_of = area_module};
        st = gr_report_decode(b->report, b->view, area, &sink, err);
    }
    return st;
}

// ---- All of them -------------------------------------------------------------------------------------------

gr_status gr_build_races(Build *b, gr_error *err) {
    GrMemoryNames memory = {.n = 0};
    gr_status st;
    GR_TRY(gr_memory_names_read(b->report, b->view, &b->stacks, &memory, err));
    GR_TRY(take_areas(b, &memory, err));
    for (size_t i = 0; i < b->view->records.len && st == GR_OK; i++) {
        const GrRecord *rec = &b->view->records.data[i];
        GrFinding f;
        Planted *planted = NULL;
        if (rec->kind != GR_RECORD_RACE)
            continue;
        if (!race_of_record(b, rec, &f, &planted))
            b->report->damaged++;
        else if (planted)
            planted->found = true;
        else if (name_ranges(b, rec->process, &f),
                 !gr_build_stacks(b, rec->process, &f) || !name_memory(&memory, rec->process, &f))
            st = gr_no_memory(err);
        else
            st = gr_report_add(b->report, &f, err);
    }
done:
    gr_memory_names_free(&memory);
    return st;
}
