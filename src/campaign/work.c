// SPDX-License-Identifier: Apache-2.0
#include "campaign/work.h"

#include "base/own.h"
#include "base/str.h"
#include "campaign/outcome.h"
#include "campaign/pool.h"
#include "options/exits.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_MS = 500 };

// ---- Files ---------------------------------------------------------------------------------------------------------

// Where the run's output is kept if it left no report or an inconclusive one.
static void log_path(const char *folder, const GrCampaignPlan *p, const GrCampaignRun *run, StrBuf *out) {
    gr_str_addf(out, "%s/seed%llu-%s-%s", folder, (unsigned long long)run->seed, run->engine, run->schedule);
    if (p->inputs.len > 1)
        gr_str_addf(out, "-input%zu", (size_t)(run->input - p->inputs.data) + 1);
    gr_str_add(out, ".log");
}

// A name of this process's own: a child of a campaign that was killed may still be writing its report.
static void report_path(const GrCampaignWork *w, uint64_t number, StrBuf *out) {
    gr_str_addf(out, "%s/report-%s-%ld-%llu.json", w->folder, w->scope, (long)getpid(),
                (unsigned long long)number);
}

// ---- A run ---------------------------------------------------------------------------------------------------------

typedef VEC(const char *) Words;

static bool add_words(Words *v, const char *const *words) {
    bool ok = true;
    for (; ok && *words; words++)
        ok = gr_vec_push(v, *words);
    return ok;
}

static gr_status begin_run(const GrCampaignWork *w, GrPool *pool, const GrCampaignRun *run, gr_error *err) {
    Words argv = {0};
    StrBuf report = {0}, log = {0};
    char seed[24], head[160];
    gr_status st;
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->seed);
    snprintf(head, sizeof head, "run with seed %s, engine %.40s, schedule %.40s", seed, run->engine,
             run->schedule);
    report_path(w, run->number, &report);
    log_path(w->folder, w->plan, run, &log);
    bool covers = w->coverage[0] && w->samples(run->engine);
    const char *coverage[] = {covers ? "--coverage" : NULL, w->coverage, NULL};
    const char *words[] = {w->self,         "run",    "--engine", run->engine, "--schedule",
                           run->schedule,   "--seed", seed,       "--format",  "json",
                           "--max-reports", "0",      "--output", NULL};
    bool ok = !report.oom && !log.oom && add_words(&argv, words) && gr_vec_push(&argv, report.data) &&
              add_words(&argv, coverage) && gr_vec_push(&argv, "--") &&
              add_words(&argv, (const char *const *)w->program) &&
              add_words(&argv, (const char *const *)run->input->words) && gr_vec_push(&argv, NULL);
    const char *environment[] = {"GPURACE_OPTIONS", w->options, NULL};
    GrPoolJob job = {.argv = (char *const *)argv.data,
                     .environment = environment,
                     .log = log.data,
                     .head = head,
                     .number = run->number,
                     .seconds = w->seconds};
    st = ok ? gr_own_check(log.data, GR_OWN_LOG, err) : gr_no_memory(err);
    if (st == GR_OK)
        st = gr_pool_start(pool, &job, err);
    if (st == GR_OK)
        w->known->runs[run->number].state = GR_RUN_UNDER_WAY;
    gr_vec_free(&argv);
    gr_str_free(&report);
    gr_str_free(&log);
    return st;
}

static gr_status note_limits(const GrCampaignWork *w, const GrPoolEvent *e, GrCampaignOutcome *o,
                             Arena *arena, gr_error *err) {
    const char *text =
        e->over_memory ? gr_arena_printf(arena, "the run was killed over %llu MB of memory (--memory)",
                                         (unsigned long long)(w->memory >> 20))
        : e->overdue   ? gr_arena_printf(arena, "the run was killed: no end after %llu seconds",
                                         (unsigned long long)w->seconds)
        : !o->report   ? gr_arena_printf(arena, "the run left no report: exit status %d", e->status)
                       : NULL;
    if (!text && (e->over_memory || e->overdue || !o->report))
        return gr_no_memory(err);
    return !text || gr_vec_push(&o->reasons, text) ? GR_OK : gr_no_memory(err);
}

// Nothing has come of any run so far, and this one says that nothing can.
static bool is_hopeless(const GrKnown *k, const GrCampaignOutcome *o) {
    return !o->report && !k->done &&
           (o->status == EXIT_OURS || o->status == EXIT_USAGE || o->status == EXIT_NOT_RUN ||
            o->status == EXIT_NOT_FOUND);
}

static gr_status end_run(const GrCampaignWork *w, const GrPoolEvent *e, gr_error *err) {
    GrKnown *k = w->known;
    GrCampaignRun run = gr_plan_run(w->plan, e->number);
    GrCampaignOutcome o = {.status = e->status, .seconds = e->seconds};
    StrBuf report = {0}, log = {0};
    Arena arena;
    gr_status st;
    gr_arena_init(&arena);
    report_path(w, e->number, &report);
    log_path(w->folder, w->plan, &run, &log);
    GR_TRY(!report.oom && !log.oom ? GR_OK : gr_no_memory(err));
    GR_TRY(gr_outcome_read(report.data, &arena, &o, err));
    (void)gr_own_remove(report.data, GR_OWN_REPORT);
    if (is_hopeless(k, &o))
        GR_TRY(gr_fail_at(err, GR_ERR_ARGUMENT, log.data, 0, 0, "the first run could not be done"));
    GR_TRY(note_limits(w, e, &o, &arena, err));
    if (!o.reasons.len)
        (void)gr_own_remove(log.data, GR_OWN_LOG);
    GR_TRY(gr_store_add(w->store, &run, &o, err));
    size_t before = k->races.len;
    GR_TRY(gr_known_add(k, e->number, &o, err));
    for (size_t r = before; r < k->races.len; r++)
        w->found(w->user, &k->races.data[r], &run);
    gr_known_settle(k);
done:
    gr_vec_free(&o.reasons);
    gr_vec_free(&o.races);
    gr_str_free(&report);
    gr_str_free(&log);
    gr_arena_free(&arena);
    return st;
}

// ---- All of them ---------------------------------------------------------------------------------------------------

static bool is_enough(const GrCampaignWork *w) {
    return w->stop_after && w->known->settled - w->known->last_new >= w->stop_after;
}

// The next open run of this share from `from` on; 0: there is none.
static uint64_t next_open(const GrCampaignWork *w, uint64_t from) {
    for (; from <= w->plan->n; from++)
        if (from % w->shares == w->share % w->shares && w->known->runs[from].state == GR_RUN_OPEN)
            return from;
    return 0;
}

static gr_status fill(GrCampaignWork *w, GrPool *pool, uint64_t *next, gr_error *err) {
    gr_status st = GR_OK;
    while (st == GR_OK && pool->children.len < w->jobs && !is_enough(w) && (*next = next_open(w, *next))) {
        GrCampaignRun run = gr_plan_run(w->plan, *next);
        st = begin_run(w, pool, &run, err);
        w->progress(w->user, pool->children.len);
    }
    return st;
}

// Runs that are under way when enough is known are waited for. What they see counts, and may be a reason to go on.
gr_status gr_campaign_work(GrCampaignWork *w, gr_error *err) {
    GrPool pool;
    gr_status st = GR_OK;
    uint64_t next = 1;
    gr_pool_open(&pool, w->memory);
    for (;;) {
        if (next)
            GR_TRY(fill(w, &pool, &next, err));
        if (!pool.children.len)
            break;
        GrPoolEvent e = gr_pool_wait(&pool, PATIENCE_MS);
        w->signal = e.what == GR_POOL_SIGNAL ? e.signal : 0;
        if (w->signal)
            break;
        if (e.what == GR_POOL_ENDED)
            GR_TRY(end_run(w, &e, err));
        w->progress(w->user, pool.children.len);
    }
    w->stopped = is_enough(w);
done:
    gr_pool_close(&pool);
    return st;
}
