// SPDX-License-Identifier: Apache-2.0
// merge — reports that were read become one (read_report.h), whatever their order: runs stand in the order of their
// seeds, races are those of all runs, and of what has no runs of its own the most, or the union, is taken.
#include "report/read/merge_internal.h"
#include "report/read/read_report.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// ---- Runs -----------------------------------------------------------------------------------------------------------

static int compare_runs(const GrRunOf *a, const GrRunOf *b) {
    return a->seed != b->seed ? (a->seed > b->seed) - (a->seed < b->seed) : strcmp(a->id, b->id);
}

static int compare_run_pointers(const void *a, const void *b) {
    return compare_runs(*(const GrRunOf *const *)a, *(const GrRunOf *const *)b);
}

static int compare_seen(const void *a, const void *b) {
    return compare_runs(((const GrSeenIn *)a)->run, ((const GrSeenIn *)b)->run);
}

// The run that a report of one run is. NULL: out of memory.
static const GrRunOf *run_of(GrMerge *m, const GrReport *r) {
    GrRunOf *run = GR_NEW(&m->to->arena, GrRunOf);
    gr_merge_check(run != NULL, m);
    if (run)
        *run = (GrRunOf){.id = r->content,
                         .tool = r->tool,
                         .engine = r->engine,
                         .evidence = r->evidence,
                         .device = r->device,
                         .reproduce = r->reproduce,
                         .seed = r->seed,
                         .verdict = r->verdict,
                         .races = r->races.len + r->unlisted + r->misuses.len};
    return run;
}

// The run of m->to that `one` is, or becomes. NULL: out of memory.
static const GrRunOf *add_run(GrMerge *m, const GrRunOf *one) {
    const GrRunOf *same = one ? gr_map_get(&m->runs, one->id) : NULL;
    GrRunOf *run = one && !same ? GR_NEW(&m->to->arena, GrRunOf) : NULL;
    if (same)
        return same;
    gr_merge_check(run != NULL, m);
    if (!run)
        return NULL;
    *run = (GrRunOf){.id = gr_merge_text(m, one->id),
                     .tool = gr_merge_text(m, one->tool),
                     .engine = gr_merge_text(m, one->engine),
                     .evidence = gr_merge_text(m, one->evidence),
                     .device = gr_merge_text(m, one->device),
                     .reproduce = gr_merge_text(m, one->reproduce),
                     .seed = one->seed,
                     .verdict = one->verdict,
                     .races = one->races};
    gr_merge_check(!m->nomem && gr_map_put(&m->runs, run->id, run) && gr_vec_push(&m->to->runs, run), m);
    return run;
}

// ---- Races ----------------------------------------------------------------------------------------------------------

static void mark_all(GrMerge *m, const GrRaceVec *races, const GrRunOf *run) {
    for (size_t k = 0; k < races->len; k++) {
        GrSeenIn *seen = GR_NEW(&m->to->arena, GrSeenIn);
        gr_merge_check(seen != NULL, m);
        if (!seen)
            return;
        *seen = (GrSeenIn){run, races->data[k].found.count};
        races->data[k].seen = seen;
        races->data[k].n_seen = 1;
    }
}

// The runs of both, each once.
static void join_seen(GrMerge *m, GrRace *race, const GrRace *other) {
    GrSeenIn *all = GR_NEW_ARRAY(&m->to->arena, GrSeenIn, (size_t)race->n_seen + other->n_seen);
    uint32_t kept = 0;
    uint64_t count = 0;
    gr_merge_check(all != NULL, m);
    if (!all)
        return;
    memcpy(all, race->seen, race->n_seen * sizeof *all);
    memcpy(all + race->n_seen, other->seen, other->n_seen * sizeof *all);
    qsort(all, race->n_seen + other->n_seen, sizeof *all, compare_seen);
    for (uint32_t k = 0; k < race->n_seen + other->n_seen; k++)
        if (!kept || compare_seen(&all[kept - 1], &all[k])) {
            all[kept++] = all[k];
            count += all[k].count;
        }
    int wider = gr_compare_widths(gr_race_pair(other) ? gr_race_pair(other) : other,
                                  gr_race_pair(race) ? gr_race_pair(race) : race);
    if (wider < 0 || (!wider && compare_runs(other->seen[0].run, race->seen[0].run) < 0))
        *race = *other; // it is shown as the first run saw it, of those that saw it widest
    race->seen = all;
    race->n_seen = kept;
    race->found.count = count;
}

// A race of `from` as a race of m->to, with its runs.
static GrRace adopt(GrMerge *m, const GrReport *from, const GrRace *race, const GrRunOf *run) {
    GrRace out = gr_merge_copy(m, from, race);
    out.cause = 0;
    uint32_t n = run ? 1 : race->n_seen;
    GrSeenIn *seen = GR_NEW_ARRAY(&m->to->arena, GrSeenIn, n + 1);
    gr_merge_check(seen != NULL, m);
    for (uint32_t k = 0; seen && k < n; k++)
        seen[k] = run ? (GrSeenIn){run, race->found.count}
                      : (GrSeenIn){gr_map_get(&m->runs, race->seen[k].run->id), race->seen[k].count};
    out.seen = seen;
    out.n_seen = seen ? n : 0;
    return out;
}

static void add_races(GrMerge *m, GrRaceVec *to, const GrReport *from, const GrRaceVec *races,
                      const GrRunOf *run) {
    Map at = {0};
    for (size_t k = 0; k < to->len; k++)
        gr_merge_check(gr_map_put(&at, to->data[k].id, (void *)(k + 1)), m);
    for (size_t k = 0; k < races->len && !m->nomem; k++) {
        GrRace race = adopt(m, from, &races->data[k], run);
        size_t place = race.id ? (size_t)gr_map_get(&at, race.id) : 0; // no id: memory is out
        if (place && !m->nomem)
            join_seen(m, &to->data[place - 1], &race);
        else
            gr_merge_check(gr_vec_push(to, race), m);
    }
    gr_map_free(&at);
}

// ---- The head of the report -----------------------------------------------------------------------------------------

static int compare_text_pointers(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// What the runs say, each text once: "collider, exact".
static const char *join_texts(GrMerge *m, size_t offset) {
    const GrReport *r = m->to;
    StrBuf all = {0};
    const char **texts = GR_NEW_ARRAY(&m->to->arena, const char *, r->runs.len + 1), *joined = NULL;
    for (size_t k = 0; texts && k < r->runs.len; k++)
        memcpy(&texts[k], (const char *)r->runs.data[k] + offset, sizeof texts[k]);
    if (texts) {
        qsort(texts, r->runs.len, sizeof *texts, compare_text_pointers);
        for (size_t k = 0; k < r->runs.len; k++)
            if (!k || strcmp(texts[k - 1], texts[k]))
                gr_str_addf(&all, "%s%s", k ? ", " : "", texts[k]);
        joined = all.oom ? NULL : gr_arena_strdup(&m->to->arena, all.data ? all.data : "");
    }
    gr_str_free(&all);
    gr_merge_check(joined != NULL, m);
    return joined ? joined : "";
}

static void add_head(GrMerge *m) {
    GrReport *r = m->to;
    size_t races = 0, clean = 0, shows = 0; // shows: the first of the runs that saw most
    qsort(r->runs.data, r->runs.len, sizeof *r->runs.data, compare_run_pointers);
    for (size_t k = 0; k < r->runs.len; k++) {
        shows = r->runs.data[k]->races > r->runs.data[shows]->races ? k : shows;
        races += r->runs.data[k]->verdict == GR_VERDICT_RACES;
        clean += r->runs.data[k]->verdict == GR_VERDICT_CLEAN;
    }
    r->verdict = races ? GR_VERDICT_RACES : clean == r->runs.len ? GR_VERDICT_CLEAN : GR_VERDICT_INCONCLUSIVE;
    r->tool = join_texts(m, offsetof(GrRunOf, tool));
    r->engine = join_texts(m, offsetof(GrRunOf, engine));
    r->evidence = join_texts(m, offsetof(GrRunOf, evidence));
    r->device = join_texts(m, offsetof(GrRunOf, device));
    r->seed = r->runs.data[0]->seed;
    r->reproduce = r->runs.data[shows]->reproduce;
    r->content = NULL;
}

// ---- All of it ------------------------------------------------------------------------------------------------------

// Notes for everything in `r`, of one run, that it is of that run.
static void part(GrMerge *m) {
    GrReport *r = m->to;
    const GrRunOf *mine = run_of(m, r);
    if (!mine)
        return;
    gr_merge_check(gr_vec_push(&r->runs, mine), m);
    mark_all(m, &r->races, mine);
    mark_all(m, &r->misuses, mine);
    mark_all(m, &r->hidden, mine);
}

// A merged report has no baseline until it is held against one.
static void forget_baseline(GrReport *r) {
    r->baseline.name = NULL;
    for (size_t k = 0; k < r->races.len; k++)
        r->races.data[k].known = false;
    for (size_t k = 0; k < r->misuses.len; k++)
        r->misuses.data[k].known = false;
}

static gr_status merge(GrReport *r, const GrReport *from, gr_error *err) {
    GrMerge merge = {.to = r}, *m = &merge;
    if (r->content && from->content && !strcmp(r->content, from->content))
        return GR_OK; // the same report
    gr_intern_init(&m->texts, &r->arena);
    if (r->content)
        part(m);
    for (size_t k = 0; k < r->runs.len; k++)
        gr_merge_check(gr_map_put(&m->runs, r->runs.data[k]->id, (void *)(uintptr_t)r->runs.data[k]), m);
    for (size_t k = 0; k < from->runs.len; k++)
        add_run(m, from->runs.data[k]);
    const GrRunOf *theirs = from->content ? add_run(m, run_of(m, from)) : NULL;
    if (!m->nomem)
        add_races(m, &r->races, from, &from->races, theirs);
    if (!m->nomem)
        add_races(m, &r->misuses, from, &from->misuses, theirs);
    if (!m->nomem)
        add_races(m, &r->hidden, from, &from->hidden, theirs);
    if (!m->nomem) {
        gr_merge_coverage(m, from);
        gr_merge_check(gr_source_give_all(r->sources, from->sources, &m->texts), m);
        add_head(m);
    }
    gr_map_free(&m->runs);
    gr_intern_free(&m->texts);
    GR_NEED(!m->nomem, err);
    forget_baseline(r);
    gr_report_order(r);
    r->causes.len = 0; // gr_report_added finds those of all
    for (size_t k = 0; k < r->races.len; k++)
        r->races.data[k].cause = 0;
    return GR_OK;
}

gr_status gr_report_added(GrReport *r, gr_error *err) {
    return r->causes.len ? GR_OK : gr_report_find_causes(r, err);
}

gr_status gr_report_add_text(GrReport *r, const char *path, const char *text, size_t len, gr_error *err) {
    GrReport one;
    gr_report_init(&one);
    one.paths = r->paths;
    gr_status st = gr_report_parse(path, text, len, &one, err);
    if (st == GR_OK && !r->content && !r->runs.len) { // the first one
        one.folder = r->folder;
        one.max_reports = r->max_reports;
        gr_report_free(r);
        *r = one;
        return GR_OK;
    }
    if (st == GR_OK)
        st = merge(r, &one, err);
    gr_report_free(&one);
    return st;
}

gr_status gr_report_add_file(GrReport *r, const char *path, gr_error *err) {
    char *text;
    size_t len;
    GR_MUST(gr_file_read(path, &text, &len, err));
    gr_status st = gr_report_add_text(r, path, text, len, err);
    free(text);
    return st;
}
