// SPDX-License-Identifier: Apache-2.0
// From the records of a results file to a report.
#include "device/record.h"
#include "ptx/ptx.h"
#include "report/host_place.h"
#include "report/misuse_record.h"
#include "report/race_record.h"
#include "report/report_internal.h"
#include "report/suppress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A launch is attributed to a kernel through the logs; more of them than this are not looked at.
enum { MAX_LOG_ENTRIES = 1 << 20 };

typedef struct KernelInfo {
    uint64_t process, index, module, done; // done: launches that did not fail
    const char *name;
} KernelInfo;

typedef struct LaunchLog {
    uint64_t process, first, count;
    const uint32_t *kernels; // of each launch: index of its kernel + 1, 0 when unused
} LaunchLog;

typedef struct Process {
    uint64_t number, unfinished;
    bool ended;
} Process;

static const char *const status_texts[] = {
#define SITE_STATUS(id, text) text,
#include "ptx/site_status.def"
#undef SITE_STATUS
};

// Accesses of one kernel (NULL: of device functions, whose callers are not known here) that the engine left as they were.
typedef struct Unchecked {
    const char *kernel;
    const GrSiteInfo *first;
    uint64_t count;
} Unchecked;

typedef struct Build {
    VEC(Unchecked) not_understood; // only what may have run
    GrReport *report;
    const GrResultsView *view;
    VEC(GrModuleInfo) modules;
    VEC(KernelInfo) kernels;
    VEC(LaunchLog) logs;
    VEC(Process) processes;
    bool nomem;
} Build;

void gr_report_init(GrReport *r) {
    memset(r, 0, sizeof *r);
    gr_arena_init(&r->arena);
    r->engine = r->evidence = r->device = r->reproduce = r->sample = "";
}

void gr_report_free(GrReport *r) {
    gr_vec_free(&r->races);
    gr_vec_free(&r->misuses);
    gr_vec_free(&r->kernels);
    gr_vec_free(&r->functions);
    gr_vec_free(&r->absent);
    gr_vec_free(&r->notes);
    gr_vec_free(&r->remarks);
    gr_vec_free(&r->faults);
    gr_vec_free(&r->reasons);
    gr_arena_free(&r->arena);
}

// `text` lives in the report's arena, or is a constant.
static bool count_text(GrCountedVec *v, const char *text, uint64_t n) {
    for (size_t i = 0; i < v->len; i++)
        if (!strcmp(v->data[i].text, text)) {
            v->data[i].count += n;
            return true;
        }
    GrCounted c = {text, n};
    return gr_vec_push(v, c);
}

#define ADD_TEXT(to)                                                                                         \
    char text[1024];                                                                                         \
    va_list ap;                                                                                              \
    va_start(ap, fmt);                                                                                       \
    vsnprintf(text, sizeof text, fmt, ap);                                                                   \
    va_end(ap);                                                                                              \
    char *copy = gr_arena_strdup(&r->arena, text);                                                           \
    return copy && count_text(to, copy, 1) ? GR_OK : GR_ERR_NOMEM

gr_status gr_report_reason(GrReport *r, const char *fmt, ...) { ADD_TEXT(&r->reasons); }
gr_status gr_report_remark(GrReport *r, const char *fmt, ...) { ADD_TEXT(&r->remarks); }

// ---- records ---------------------------------------------------------------------------------------------

bool gr_report_excludes(const GrReport *r, const char *kernel, const char *file) {
    return (kernel && r->excludes_kernel && r->excludes_kernel(r->excludes_user, kernel)) ||
           (r->excludes_file && r->excludes_file(r->excludes_user, file));
}

static Process *process_of(Build *b, uint64_t number) {
    for (size_t i = 0; i < b->processes.len; i++)
        if (b->processes.data[i].number == number)
            return &b->processes.data[i];
    Process p = {.number = number};
    if (!gr_vec_push(&b->processes, p)) {
        b->nomem = true;
        return NULL;
    }
    return &b->processes.data[b->processes.len - 1];
}

static gr_status take_module(Build *b, const GrRecord *rec, gr_error *err) {
    GrModuleInfo m;
    gr_status st = gr_module_read(rec, &b->report->arena, &m, err);
    if (st != GR_OK)
        return st;
    uint64_t need = ((uint64_t)m.n_sites + 1) * GR_CLASS_COUNT * sizeof(GrSlot);
    if (m.slot_bytes && (m.slot_bytes < need || !gr_results_at(b->view, m.slots, need)))
        m.slot_bytes = 0, b->report->damaged++; // its slots are past the end of the file
    if (!gr_vec_push(&b->modules, m))
        return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    return GR_OK;
}

static const char *module_name(const Build *b, uint64_t process, uint64_t number, const char **unchecked) {
    *unchecked = "its module was not seen";
    for (size_t i = 0; i < b->modules.len; i++) {
        const GrModuleInfo *m = &b->modules.data[i];
        if (m->process == process && m->number == number) {
            *unchecked = m->unchecked;
            return m->name;
        }
    }
    return "";
}

static GrKernelCoverage *coverage_of(Build *b, const char *name, const char *module, const char *unchecked) {
    GrReport *r = b->report;
    const char *option = !unchecked && r->excludes_kernel ? r->excludes_kernel(r->excludes_user, name) : NULL;
    if (option) {
        unchecked = gr_arena_printf(&r->arena, "excluded by %s", option);
        b->nomem |= !unchecked;
    }
    for (size_t i = 0; i < r->kernels.len; i++) {
        GrKernelCoverage *k = &r->kernels.data[i];
        if (!strcmp(k->name, name) && !strcmp(k->module, module) && !k->unchecked == !unchecked)
            return k;
    }
    GrKernelCoverage k = {.name = name, .module = module, .unchecked = unchecked, .excluded = option != NULL};
    if (!gr_vec_push(&r->kernels, k)) {
        b->nomem = true;
        return NULL;
    }
    return &r->kernels.data[r->kernels.len - 1];
}

// {u64 index, u64 module number, str name, u64 offset of its GrKernelCounts}
static void take_kernel(Build *b, const GrRecord *rec) {
    GrCursor c = gr_cursor(rec);
    KernelInfo k = {.process = rec->process, .index = gr_get_u64(&c), .module = gr_get_u64(&c)};
    k.name = gr_get_str(&c, &b->report->arena);
    uint64_t offset = gr_get_u64(&c);
    const void *at = gr_results_at(b->view, offset, sizeof(GrKernelCounts));
    if (c.bad || !at) {
        b->report->damaged++;
        return;
    }
    GrKernelCounts n;
    memcpy(&n, at, sizeof n);
    k.done = n.launches > n.failed ? n.launches - n.failed : 0;
    if (!gr_vec_push(&b->kernels, k)) {
        b->nomem = true;
        return;
    }
    const char *unchecked, *module = module_name(b, k.process, k.module, &unchecked);
    GrKernelCoverage *cov = coverage_of(b, k.name, module, unchecked);
    if (!cov)
        return;
    if (!cov->launches) {
        memcpy(cov->grid, n.grid, sizeof n.grid);
        memcpy(cov->block, n.block, sizeof n.block);
    }
    cov->launches += n.launches;
    cov->failed += n.failed;
    *(cov->unchecked ? &b->report->launches_unchecked : &b->report->launches_checked) += n.launches;
    if (n.failed && gr_report_reason(b->report, "a launch of %s failed with CUDA error %d",
                                     gr_short_name(k.name, &b->report->arena), (int)n.last_error) != GR_OK)
        b->nomem = true;
}

// {u64 first launch, u64 count, u64 offset}
static void take_log(Build *b, const GrRecord *rec) {
    GrCursor c = gr_cursor(rec);
    LaunchLog l = {.process = rec->process, .first = gr_get_u64(&c), .count = gr_get_u64(&c)};
    uint64_t offset = gr_get_u64(&c);
    if (c.bad || l.count > MAX_LOG_ENTRIES || offset % sizeof *l.kernels ||
        !(l.kernels = gr_results_at(b->view, offset, l.count * sizeof *l.kernels)))
        b->report->damaged++;
    else if (!gr_vec_push(&b->logs, l))
        b->nomem = true;
}

static void take_text(Build *b, const GrRecord *rec, GrCountedVec *to) {
    GrCursor c = gr_cursor(rec);
    const char *text = gr_get_str(&c, &b->report->arena);
    if (c.bad)
        b->report->damaged++;
    else if (!count_text(to, text, 1))
        b->nomem = true;
}

// {str kernel, str what happened to it}
static void take_fault(Build *b, const GrRecord *rec) {
    Arena *arena = &b->report->arena;
    GrCursor c = gr_cursor(rec);
    const char *kernel = gr_get_str(&c, arena), *what = gr_get_str(&c, arena);
    char *text = gr_arena_printf(arena, "kernel %s %s", gr_short_name(kernel, arena), what);
    if (c.bad)
        b->report->damaged++;
    else if (!text || !count_text(&b->report->faults, text, 1))
        b->nomem = true;
}

static void take_end(Build *b, const GrRecord *rec) {
    GrCursor c = gr_cursor(rec);
    Process *p = process_of(b, rec->process);
    if (p) {
        p->ended = true;
        p->unfinished = gr_get_u64(&c);
    }
}

static const char *known(const char *s) { return *s ? s : NULL; }

static bool same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

// The same at the same place in several processes is one.
static void take_misuse(Build *b, const GrRecord *rec) {
    GrReport *r = b->report;
    GrMisuseInfo i;
    if (gr_misuse_read(rec, &r->arena, &i, NULL) != GR_OK) {
        r->damaged++;
        return;
    }
    if (gr_report_excludes(r, *i.kernel ? i.kernel : NULL, *i.file ? i.file : NULL))
        return;
    GrMisuse m = {.class = i.class,
                  .meaning = i.meaning,
                  .kernel = known(i.kernel),
                  .detail = i.detail,
                  .at = {known(i.function), known(i.file), i.line, i.column},
                  .outer = {NULL, known(i.outer_file), i.outer_line, 0},
                  .ptx_line = i.ptx_line,
                  .launch = i.launch,
                  .count = 1};
    memcpy(m.thread, i.thread, sizeof m.thread);
    memcpy(m.block, i.block, sizeof m.block);
    const void *count = gr_results_at(b->view, i.count_at, sizeof m.count);
    if (i.count_at && count)
        memcpy(&m.count, count, sizeof m.count);
    for (size_t k = 0; k < r->misuses.len; k++) {
        GrMisuse *o = &r->misuses.data[k];
        if (!strcmp(o->class, m.class) && same_text(o->kernel, m.kernel) &&
            same_text(o->at.file, m.at.file) && o->at.line == m.at.line && o->at.col == m.at.col &&
            o->outer.line == m.outer.line && (m.at.line || o->ptx_line == m.ptx_line)) {
            o->count += m.count;
            return;
        }
    }
    b->nomem |= !gr_vec_push(&r->misuses, m);
}

static gr_status take_records(Build *b, gr_error *err) {
    GrReport *r = b->report;
    // Modules first: kernels refer to them, and another thread may have written its kernel record before.
    for (size_t i = 0; i < b->view->records.len; i++) {
        const GrRecord *rec = &b->view->records.data[i];
        if (rec->kind != GR_RECORD_MODULE)
            continue;
        gr_status st = take_module(b, rec, err);
        if (st == GR_ERR_NOMEM)
            return st;
        if (st != GR_OK)
            r->damaged++;
    }
    for (size_t i = 0; i < b->view->records.len; i++) {
        const GrRecord *rec = &b->view->records.data[i];
        switch (rec->kind) {
        case GR_RECORD_PROCESS_BEGIN: process_of(b, rec->process); break;
        case GR_RECORD_PROCESS_END: take_end(b, rec); break;
        case GR_RECORD_KERNEL: take_kernel(b, rec); break;
        case GR_RECORD_LAUNCH_LOG: take_log(b, rec); break;
        case GR_RECORD_ABSENT: take_text(b, rec, &r->absent); break;
        case GR_RECORD_NOTE: take_text(b, rec, &r->notes); break;
        case GR_RECORD_REMARK: take_text(b, rec, &r->remarks); break;
        case GR_RECORD_FAULT: take_fault(b, rec); break;
        case GR_RECORD_MISUSE: take_misuse(b, rec); break;
        case GR_RECORD_MODULE:
        case GR_RECORD_RACE: // take_races
        case GR_RECORD_AREA: break;
        default: r->damaged++;
        }
    }
    return b->nomem ? gr_fail(err, GR_ERR_NOMEM, "out of memory") : GR_OK;
}

// ---- races -----------------------------------------------------------------------------------------------

static const char *kernel_of_launch(const Build *b, uint64_t process, uint64_t launch) {
    for (size_t i = 0; i < b->logs.len; i++) {
        const LaunchLog *l = &b->logs.data[i];
        if (l->process != process || launch < l->first || launch - l->first >= l->count)
            continue;
        uint64_t index = l->kernels[launch - l->first];
        for (size_t k = 0; index && k < b->kernels.len; k++)
            if (b->kernels.data[k].process == process && b->kernels.data[k].index == index - 1)
                return b->kernels.data[k].name;
    }
    return NULL;
}

const char *gr_report_access_kind(uint32_t access) {
    return access == PTX_ACCESS_READ ? "load" : access == PTX_ACCESS_WRITE ? "store" : "atomic";
}

GrAccess gr_report_access(const GrSiteInfo *site, uint32_t size) {
    return (GrAccess){.kind = gr_report_access_kind(site->access),
                      .at = site->at,
                      .inlined = site->inlined,
                      .n_inlined = site->n_inlined,
                      .ptx_line = site->ptx_line,
                      .kernel = site->kernel,
                      .size = size};
}

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

// ---- races of which both sides are known -------------------------------------------------------------------

static const GrModuleInfo *module_by_number(const Build *b, uint64_t process, uint64_t number) {
    for (size_t i = 0; i < b->modules.len; i++)
        if (b->modules.data[i].process == process && b->modules.data[i].number == number)
            return &b->modules.data[i];
    return NULL;
}

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
        m[k] = module_by_number(b, rec->process, r.side[k].module);
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
        if (s[k] && !out->accesses[k].kernel)
            out->accesses[k].kernel = kernel_of_launch(b, rec->process, r.side[k].launch);
    if (r.count_at && count)
        memcpy(&out->count, count, sizeof out->count);
    return true;
}

static int compare_texts(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : ""); }

static int compare_numbers(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_sides(const GrAccess *x, const GrAccess *y) {
    int d;
    if ((d = compare_texts(x->at.file, y->at.file)) || (d = compare_numbers(x->at.line, y->at.line)) ||
        (d = compare_numbers(x->at.col, y->at.col)) || (d = compare_texts(x->at.function, y->at.function)) ||
        (d = compare_texts(x->kernel, y->kernel)) || (d = compare_texts(x->kind, y->kind)))
        return d;
    return x->at.line ? 0 : compare_numbers(x->ptx_line, y->ptx_line);
}

// Whichever of the two sides noticed, it is one race: there the one that comes first in the source counts as the first.
static bool is_swapped(const GrRace *r) {
    return r->order && compare_sides(&r->accesses[0], &r->accesses[1]) > 0;
}

// By place in the source. 0: one race.
static int compare_races(const GrRace *a, const GrRace *b, bool a_swapped, bool b_swapped) {
    const GrAccess *x = &a->accesses[a_swapped], *y = &b->accesses[b_swapped];
    int d;
    if ((d = compare_texts(x->at.file, y->at.file)) || (d = compare_numbers(x->at.line, y->at.line)) ||
        (d = compare_numbers(x->at.col, y->at.col)) || (d = compare_texts(x->at.function, y->at.function)) ||
        (d = compare_texts(x->kernel, y->kernel)) || (d = compare_numbers(a->class, b->class)) ||
        (d = compare_numbers(a->seen_by, b->seen_by)) || (d = compare_texts(x->kind, y->kind)) ||
        (d = compare_texts(a->space, b->space)))
        return d;
    if (!x->at.line &&
        ((d = compare_numbers(x->ptx_line, y->ptx_line)) || (d = compare_texts(a->module, b->module))))
        return d;
    return a->order && b->order ? compare_sides(&a->accesses[!a_swapped], &b->accesses[!b_swapped]) : 0;
}

static int compare_places(const GrRace *a, const GrRace *b) {
    return compare_races(a, b, is_swapped(a), is_swapped(b));
}

// As they are shown, so that the report reads like the source.
static int compare_shown(const void *a, const void *b) { return compare_races(a, b, false, false); }

typedef struct Found {
    GrRace race;
    size_t order; // of discovery: qsort is not stable
} Found;

static int compare_found(const void *a, const void *b) {
    const Found *x = a, *y = b;
    int d = compare_places(&x->race, &y->race);
    return d ? d : compare_numbers(x->order, y->order);
}

static gr_status take_races(Build *b, gr_error *err) {
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
        if (last && !compare_places(last, &all.data[i].race)) {
            last->count += all.data[i].race.count;
            last->n_sites++;
        } else if (!gr_vec_push(&r->races, all.data[i].race)) {
            st = gr_fail(err, GR_ERR_NOMEM, "out of memory");
            goto done;
        }
    }
    if (r->races.len)
        qsort(r->races.data, r->races.len, sizeof *r->races.data, compare_shown);
done:
    gr_vec_free(&all);
    return st;
}

// ---- coverage and verdict --------------------------------------------------------------------------------

static int compare_kernels(const void *a, const void *b) {
    const GrKernelCoverage *x = a, *y = b;
    int d = strcmp(x->name, y->name);
    return d ? d : strcmp(x->module, y->module);
}

static void add_not_understood(Build *b, const GrModuleInfo *m, const GrSiteInfo *site) {
    if (site->kernel) {
        const GrKernelCoverage *k = coverage_of(b, site->kernel, m->name, m->unchecked);
        if (!k || !k->launches)
            return;
    }
    for (size_t i = 0; i < b->not_understood.len; i++) {
        Unchecked *u = &b->not_understood.data[i];
        if (u->first->status == site->status &&
            (u->kernel == site->kernel || (u->kernel && site->kernel && !strcmp(u->kernel, site->kernel)))) {
            u->count++;
            return;
        }
    }
    if (!gr_vec_push(&b->not_understood, ((Unchecked){site->kernel, site, 1})))
        b->nomem = true;
}

// NULL: any kernel of the module's process.
static bool was_launched(const Build *b, const GrModuleInfo *m, const char *kernel) {
    for (size_t i = 0; i < b->kernels.len; i++) {
        const KernelInfo *k = &b->kernels.data[i];
        if (k->done && k->process == m->process &&
            (!kernel || (k->module == m->number && !strcmp(k->name, kernel))))
            return true;
    }
    return false;
}

static bool may_have_run(const Build *b, const GrModuleInfo *m, const GrFunctionInfo *f) {
    if (f->is_kernel)
        return was_launched(b, m, f->name);
    for (uint32_t i = 0; i < f->n_kernels; i++)
        if (was_launched(b, m, m->kernels[f->kernels[i]]))
            return true;
    return !f->n_kernels && was_launched(b, m, NULL); // kernels of other modules may call it (-rdc=true)
}

// The functions of a module that another process loaded before stand where `first` says.
static void take_functions(Build *b, const GrModuleInfo *m, size_t first, bool again) {
    GrReport *r = b->report;
    for (uint32_t i = 0; i < m->n_functions; i++) {
        const GrFunctionInfo *f = &m->functions[i];
        GrFunctionCoverage c = {.name = f->name,
                                .id = f->id,
                                .is_kernel = f->is_kernel,
                                .sites = &m->sites[f->first_site],
                                .n_sites = f->n_sites};
        if (!again && !gr_vec_push(&r->functions, c)) {
            b->nomem = true;
            return;
        }
        if (first + i < r->functions.len && r->functions.data[first + i].id == f->id)
            r->functions.data[first + i].launched |= may_have_run(b, m, f);
    }
}

static void count_watched(GrReport *r) {
    for (size_t i = 0; i < r->functions.len; i++) {
        const GrFunctionCoverage *f = &r->functions.data[i];
        for (uint32_t s = 0; f->launched && s < f->n_sites; s++)
            r->watched += f->sites[s].status == GR_SITE_CHECKED;
    }
}

// Modules are counted once, however many processes loaded them; kernels that were never launched are listed too.
static void take_coverage(Build *b) {
    GrReport *r = b->report;
    size_t *first = gr_arena_alloc(&r->arena, (b->modules.len + 1) * sizeof *first);
    if (!first) {
        b->nomem = true;
        return;
    }
    for (size_t i = 0; i < b->modules.len; i++) {
        const GrModuleInfo *m = &b->modules.data[i];
        bool again = false;
        first[i] = r->functions.len;
        for (size_t j = 0; j < i && !again; j++) {
            again = m->hash && b->modules.data[j].hash == m->hash && b->modules.data[j].process != m->process;
            if (again)
                first[i] = first[j];
        }
        take_functions(b, m, first[i], again);
        for (uint32_t k = 0; k < m->n_kernels; k++)
            coverage_of(b, m->kernels[k], m->name, m->unchecked);
        if (again)
            continue;
        (*(m->unchecked ? &r->modules_unchecked : &r->modules_checked))++;
        for (uint32_t s = 1; s <= m->n_sites; s++) {
            r->sites[m->sites[s].status < GR_SITE_STATUS_COUNT ? m->sites[s].status : GR_SITE_UNSEEN]++;
            if (m->sites[s].status >= GR_SITE_NOT_UNDERSTOOD && m->sites[s].status < GR_SITE_STATUS_COUNT)
                add_not_understood(b, m, &m->sites[s]);
        }
    }
    count_watched(r);
    if (r->kernels.len)
        qsort(r->kernels.data, r->kernels.len, sizeof *r->kernels.data, compare_kernels);
}

static void add_reason(Build *b, const char *text) {
    char *copy = gr_arena_strdup(&b->report->arena, text);
    if (!copy || !count_text(&b->report->reasons, copy, 1))
        b->nomem = true;
}

static void add_reasonf(Build *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add_reasonf(Build *b, const char *fmt, ...) {
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    add_reason(b, text);
}

static void judge_processes(Build *b) {
    uint64_t unended = 0, unfinished = 0;
    for (size_t i = 0; i < b->processes.len; i++) {
        unended += !b->processes.data[i].ended;
        unfinished += b->processes.data[i].unfinished;
    }
    if (unended)
        add_reasonf(b, "%llu process%s that used CUDA did not end in an orderly way",
                    (unsigned long long)unended, unended == 1 ? "" : "es");
    if (unfinished)
        add_reasonf(b, "%llu launch%s had not finished when the program ended",
                    (unsigned long long)unfinished, unfinished == 1 ? "" : "es");
}

static bool was_remarked(const GrReport *r, const char *text) {
    for (size_t i = 0; i < r->remarks.len; i++)
        if (!strcmp(r->remarks.data[i].text, text))
            return true;
    return false;
}

static void judge(Build *b) {
    GrReport *r = b->report;
    if (!b->processes.len)
        add_reason(b, "the program did not use CUDA");
    else if (!b->modules.len)
        add_reason(b, "no CUDA module was loaded");
    else if (!r->launches_checked && !r->launches_unchecked && !was_remarked(r, GR_REMARK_GRAPH))
        add_reason(b, "no kernel was launched");
    size_t excluded = 0;
    for (size_t i = 0; i < r->kernels.len; i++) {
        const GrKernelCoverage *k = &r->kernels.data[i];
        excluded += k->launches && k->excluded;
        if (k->launches && k->unchecked && !k->excluded)
            add_reasonf(b, "kernel %s was not checked: %s", gr_short_name(k->name, &r->arena), k->unchecked);
    }
    if (excluded && !r->launches_checked)
        add_reason(b, "the options exclude every kernel that was launched: nothing was checked");
    else if (r->launches_checked && r->sites[GR_SITE_FILTERED] && !r->sites[GR_SITE_CHECKED])
        add_reason(b, "the options exclude every access: nothing was checked");
    if (r->sample[0] && r->modules_checked && !r->watched)
        add_reason(b, "--sample chose no access of a kernel that was launched: nothing was watched");
    for (size_t i = 0; i < b->not_understood.len; i++) {
        const Unchecked *u = &b->not_understood.data[i];
        // The outermost place is in the program's own source, the innermost often in a header of CUDA's.
        const GrFrame *at = u->first->n_inlined ? &u->first->inlined[u->first->n_inlined - 1] : &u->first->at;
        bool one = u->count == 1;
        bool known = u->first->status != GR_SITE_NOT_UNDERSTOOD;
        const char *why = known ? status_texts[u->first->status] + strlen("not instrumented: ") : "";
        add_reasonf(b, "%llu memory access%s of %s%s %s not %s%s%s, %s%s%s%s%u", (unsigned long long)u->count,
                    one ? "" : "es", u->kernel ? "kernel " : "device functions",
                    u->kernel ? gr_short_name(u->kernel, &r->arena) : "", one ? "was" : "were",
                    known ? "checked (" : "understood and not checked", why, known ? ")" : "",
                    one ? "" : "the first ", at->file ? "at " : "at PTX line ", at->file ? at->file : "",
                    at->file ? ":" : "", at->file ? at->line : u->first->ptx_line);
    }
    judge_processes(b);
    for (size_t i = 0; i < r->faults.len; i++)
        add_reason(b, r->faults.data[i].text);
    for (size_t i = 0; i < r->notes.len; i++)
        add_reason(b, r->notes.data[i].text);
    for (size_t i = 0; i < r->absent.len; i++)
        add_reasonf(b, "%s is not supported on this device, and the program called it",
                    r->absent.data[i].text);
    if (r->unconfirmed)
        add_reasonf(
            b,
            "%llu race%s of the collider not confirmed by causality in the same execution: a mistake of "
            "one of the two engines, please report it",
            (unsigned long long)r->unconfirmed, r->unconfirmed == 1 ? " is" : "s are");
    if (r->dropped)
        add_reasonf(b, "%llu record%s could not be written", (unsigned long long)r->dropped,
                    r->dropped == 1 ? "" : "s");
    if (r->damaged)
        add_reason(b, "the results file is damaged: something may be missing");
    r->verdict = r->races.len || r->misuses.len ? GR_VERDICT_RACES
                 : r->reasons.len               ? GR_VERDICT_INCONCLUSIVE
                                                : GR_VERDICT_CLEAN;
}

gr_status gr_report_build(GrReport *r, const GrResultsView *view, gr_error *err) {
    Build b = {.report = r, .view = view};
    r->dropped = view->dropped;
    r->damaged = view->damaged;
    gr_status st;
    GR_TRY(take_records(&b, err));
    GR_TRY(take_races(&b, err));
    GR_TRY(gr_report_merge(r, err));
    if (r->causal.engine)
        GR_TRY(gr_report_confirm(r, err));
    gr_suppressions_apply(r);
    take_coverage(&b);
    if (r->so_far.path && r->functions.len && !b.nomem) {
        gr_error why = {0};
        char where[800];
        if (gr_report_cover(r, &why) != GR_OK)
            add_reasonf(&b, "this run is not in the coverage file: %s",
                        gr_error_text(&why, where, sizeof where));
    }
    r->processes = b.processes.len;
    judge(&b);
    if (b.nomem)
        st = gr_fail(err, GR_ERR_NOMEM, "out of memory");
done:
    gr_vec_free(&b.modules);
    gr_vec_free(&b.kernels);
    gr_vec_free(&b.not_understood);
    gr_vec_free(&b.logs);
    gr_vec_free(&b.processes);
    return st;
}

const char *gr_verdict_name(GrVerdict v) {
    return v == GR_VERDICT_CLEAN ? "clean" : v == GR_VERDICT_RACES ? "races" : "inconclusive";
}
