// SPDX-License-Identifier: Apache-2.0
// From the records of a results file to a report.
#include "report/build.h"
#include "base/limits.h"
#include "base/path_map.h"
#include "findings/conflict_record.h"
#include "findings/misuse_record.h"
#include "findings/source_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A launch is attributed to a kernel through the logs; more of them than this are not looked at.
enum { MAX_LOG_ENTRIES = 1 << 20 };

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
    GR_MUST(gr_module_read(rec, b->report->paths, &b->report->arena, &m, err));
    GR_NEED(gr_vec_push(&b->modules, m) &&
                gr_map_put_u64(&b->module_at, gr_build_key(m.process, m.number), (void *)b->modules.len),
            err);
    return GR_OK;
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
    if (!gr_vec_push(&b->kernels, k) ||
        !gr_map_put_u64(&b->kernel_at, gr_build_key(k.process, k.index), (void *)b->kernels.len)) {
        b->nomem = true;
        return;
    }
    if (gr_build_planted(b, k.process, k.module))
        return;
    if (k.done)
        gr_build_launched(b, &k);
    const GrModuleInfo *m = gr_build_module(b, k.process, k.module);
    GrKernelCoverage *cov =
        gr_build_kernel(b, k.name, m ? m->name : "", m ? m->unchecked : "its module was not seen");
    if (!cov)
        return;
    if (!cov->launches) {
        memcpy(cov->grid, n.grid, sizeof n.grid);
        memcpy(cov->block, n.block, sizeof n.block);
    }
    cov->launches += n.launches;
    cov->failed += n.failed;
    uint64_t out = cov->unchecked ? n.launches : n.left_out + n.stopped;
    b->report->launches_unchecked += out < n.launches ? out : n.launches;
    b->report->launches_checked += out < n.launches ? n.launches - out : 0;
    b->report->launches_left_out += cov->unchecked ? 0 : n.left_out;
    b->report->launches_stopped += cov->unchecked ? 0 : n.stopped;
    if (n.failed)
        cov->error = (int)n.last_error;
}

// {u64 first launch, u64 count, u64 offset}
static void take_log(Build *b, const GrRecord *rec) {
    GrCursor c = gr_cursor(rec);
    LaunchLog l = {.process = rec->process, .first = gr_get_u64(&c), .count = gr_get_u64(&c)};
    uint64_t offset = gr_get_u64(&c);
    if (c.bad || l.count > MAX_LOG_ENTRIES || offset % sizeof *l.launches ||
        !(l.launches = gr_results_at(b->view, offset, l.count * sizeof *l.launches)))
        b->report->damaged++;
    else if (!gr_vec_push(&b->logs, l))
        b->nomem = true;
}

static void take_ranges(Build *b, const GrRecord *rec) {
    GrCursor c = gr_cursor(rec);
    RangesFrom r = {.process = rec->process, .launch = gr_get_u64(&c)};
    r.names = gr_get_str(&c, &b->report->arena);
    if (c.bad)
        b->report->damaged++;
    else if (!gr_vec_push(&b->ranges, r))
        b->nomem = true;
}

static void take_text(Build *b, const GrRecord *rec, GrCountedVec *to) {
    GrCursor c = gr_cursor(rec);
    const char *text = gr_get_str(&c, &b->report->arena);
    if (c.bad)
        b->report->damaged++;
    else if (!gr_report_count(to, text))
        b->nomem = true;
}

// {str kernel, "" where it is not known, str what happened to it, u64 launch}
static void take_fault(Build *b, const GrRecord *rec) {
    Arena *arena = &b->report->arena;
    GrCursor c = gr_cursor(rec);
    const char *kernel = gr_get_str(&c, arena), *what = gr_get_str(&c, arena);
    uint64_t launch = gr_get_u64(&c);
    char *text = *kernel ? gr_arena_printf(arena, "kernel %s %s", gr_short_name(kernel, arena), what)
                         : gr_arena_printf(arena, "a kernel %s", what);
    if (c.bad)
        b->report->damaged++;
    else if (!text || !gr_report_count(&b->report->faults, text) || !gr_vec_push(&b->report->faulted, launch))
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

// False when the record makes no sense.
static bool misuse_of_record(const Build *b, const GrRecord *rec, GrFinding *out) {
    GrMisuseInfo i;
    if (gr_misuse_read(rec, &b->report->arena, &i, NULL) != GR_OK)
        return false;
    i.at.file = gr_path_mapped(b->report->paths, i.at.file, &b->report->arena);
    GrFrame *inlined = (GrFrame *)(uintptr_t)i.inlined; // the reader made them
    for (uint32_t k = 0; k < i.n_inlined; k++)
        inlined[k].file = gr_path_mapped(b->report->paths, inlined[k].file, &b->report->arena);
    *out = (GrFinding){.class = i.class,
                       .kernel = known(i.kernel),
                       .detail = i.detail,
                       .launch = i.launch,
                       .count = 1,
                       .accesses = {gr_access_in(&i.at, i.inlined, i.n_inlined)},
                       .n_accesses = 1};
    GrAccess *a = &out->accesses[0];
    a->ptx_line = i.ptx_line;
    a->has_thread = true;
    memcpy(a->thread, i.thread, sizeof a->thread);
    memcpy(a->block, i.block, sizeof a->block);
    const void *count = gr_results_at(b->view, i.count_at, sizeof out->count);
    if (i.count_at && count)
        memcpy(&out->count, count, sizeof out->count);
    return gr_report_class(b->report, i.class)->kind == GR_KIND_MISUSE;
}

static void take_misuse(Build *b, const GrRecord *rec) {
    GrFinding f;
    if (!misuse_of_record(b, rec, &f))
        b->report->damaged++;
    else
        b->nomem |= !gr_build_stacks(b, rec->process, &f) || gr_report_add(b->report, &f, NULL) != GR_OK;
}

static void take_conflict(Build *b, const GrRecord *rec) {
    Conflict c;
    if (gr_conflict_read(rec, &c, NULL) != GR_OK)
        b->report->damaged++;
    else
        b->nomem |= !gr_vec_push(&b->report->conflicts, c);
}

static void take_source(Build *b, const GrRecord *rec) {
    GrSourceInfo s;
    GrSources *to = b->report->sources;
    if (gr_source_read(rec, &b->report->arena, &s, NULL) != GR_OK)
        b->report->damaged++;
    else
        b->nomem |= to && !gr_source_give_file(to, s.path, s.text);
}

static gr_status take_records(Build *b, gr_error *err) {
    GrReport *r = b->report;
    // Modules first: kernels refer to them, and another thread may have written its kernel record before.
    for (size_t i = 0; i < b->view->records.len; i++) {
        const GrRecord *rec = &b->view->records.data[i];
        if (rec->kind == GR_RECORD_PLANTED && r->selftest.wanted)
            gr_build_take_planted(b, rec);
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
        case GR_RECORD_RANGES: take_ranges(b, rec); break;
        case GR_RECORD_ABSENT: take_text(b, rec, &r->absent); break;
        case GR_RECORD_NOTE: take_text(b, rec, &r->notes); break;
        case GR_RECORD_DOUBT: take_text(b, rec, &r->doubts); break;
        case GR_RECORD_REMARK: take_text(b, rec, &r->remarks); break;
        case GR_RECORD_BLIND: take_text(b, rec, &r->blind); break;
        case GR_RECORD_FAULT: take_fault(b, rec); break;
        case GR_RECORD_SOURCE: take_source(b, rec); break;
        case GR_RECORD_CONFLICT: take_conflict(b, rec); break;
        case GR_RECORD_LAUNCH: // for the file of --record-launches
        case GR_RECORD_CAME:   // memory_names.c
        case GR_RECORD_WENT:
        case GR_RECORD_MODULE:
        case GR_RECORD_MISUSE:
        case GR_RECORD_PLANTED:
        case GR_RECORD_STACK: // host_stacks.c
        case GR_RECORD_RACE:  // build_races.c
        case GR_RECORD_AREA: break;
        default: r->damaged++;
        }
    }
    for (size_t i = 0; i < b->view->records.len; i++) // the logs say from where the kernel was launched
        if (b->view->records.data[i].kind == GR_RECORD_MISUSE)
            take_misuse(b, &b->view->records.data[i]);
    return b->nomem ? gr_no_memory(err) : GR_OK;
}

static void take_processes(Build *b) {
    GrReport *r = b->report;
    r->ran = true;
    r->modules = b->modules.len > b->planted.len ? b->modules.len - b->planted.len : 0;
    r->processes = b->processes.len;
    for (size_t i = 0; i < b->processes.len; i++) {
        r->unended += !b->processes.data[i].ended;
        r->unfinished += b->processes.data[i].unfinished;
    }
}

// Why records were dropped, as far as it is known.
static void take_loss(Build *b) {
    int why = (int)b->view->lost_to;
    char text[200];
    snprintf(text, sizeof text, "what was found could not all be kept: %s%s", strerror(why),
             gr_limit_advice(why));
    char *copy = why ? gr_arena_strdup(&b->report->arena, text) : NULL;
    b->nomem |= why && (!copy || !gr_report_count(&b->report->notes, copy));
}

gr_status gr_report_build(GrReport *r, const GrResultsView *view, gr_error *err) {
    Build b = {.report = r, .view = view};
    r->dropped = view->dropped;
    r->damaged = view->damaged;
    take_loss(&b);
    if (view->acquired)
        b.nomem |= gr_report_remark(r, "order that the program declared: %llu (gpurace_acquire)",
                                    (unsigned long long)view->acquired) != GR_OK;
    gr_status st;
    GR_TRY(gr_host_stacks_read(r, view, &b.stacks, err));
    GR_TRY(take_records(&b, err));
    GR_TRY(gr_build_races(&b, err));
    gr_build_coverage(&b);
    take_processes(&b);
    gr_build_selftest(&b);
    st = b.nomem ? gr_no_memory(err) : gr_report_finish(r, err);
done:
    gr_vec_free(&b.modules);
    gr_vec_free(&b.kernels);
    gr_map_free(&b.module_at);
    gr_map_free(&b.kernel_at);
    gr_map_free(&b.coverage_at);
    gr_map_free(&b.launched);
    gr_map_free(&b.not_understood_at);
    gr_vec_free(&b.logs);
    gr_vec_free(&b.ranges);
    gr_vec_free(&b.processes);
    gr_vec_free(&b.planted);
    gr_host_stacks_free(&b.stacks);
    return st;
}
