// SPDX-License-Identifier: Apache-2.0
#include "campaign/known.h"

#include <stdlib.h>
#include <string.h>

gr_status gr_known_init(GrKnown *k, const GrCampaignPlan *plan, gr_error *err) {
    *k = (GrKnown){.plan = plan};
    gr_arena_init(&k->arena);
    k->runs = calloc(plan->n + 1, sizeof *k->runs);
    return k->runs ? GR_OK : gr_no_memory(err);
}

void gr_known_free(GrKnown *k) {
    for (uint64_t n = 0; k->runs && n <= k->plan->n; n++) {
        gr_vec_free(&k->runs[n].seen);
        gr_vec_free(&k->runs[n].reasons);
    }
    free(k->runs);
    gr_vec_free(&k->races);
    gr_vec_free(&k->seen_before);
    gr_map_free(&k->by_id);
    gr_map_free(&k->numbers);
    gr_arena_free(&k->arena);
}

// ---- A run ---------------------------------------------------------------------------------------------------------

static void end_run(GrKnown *k, uint64_t number, const char *verdict, int status, bool is_void) {
    GrKnownRun *r = &k->runs[number];
    bool failed = !strcmp(verdict, GR_CAMPAIGN_FAILED);
    r->state = failed ? GR_RUN_FAILED : GR_RUN_DONE;
    r->clean = !strcmp(verdict, "clean");
    r->races = !strcmp(verdict, "races");
    r->status = status;
    r->is_void = is_void;
    k->done += !failed;
    k->failed += failed;
}

static bool add_race(GrKnown *k, uint64_t number, const GrCampaignRace *race) {
    size_t at = (size_t)(uintptr_t)gr_map_get(&k->by_id, race->id);
    if (!at) {
        GrKnownRace fresh = {.id = gr_arena_strdup(&k->arena, race->id),
                             .title = gr_arena_strdup(&k->arena, race->title),
                             .first = number};
        if (!fresh.id || !fresh.title || !gr_vec_push(&k->races, fresh) ||
            !gr_vec_push(&k->seen_before, false))
            return false;
        at = k->races.len;
        if (!gr_map_put(&k->by_id, fresh.id, (void *)(uintptr_t)at))
            return false;
    }
    GrKnownRace *known = &k->races.data[at - 1];
    if (strcmp(race->title, known->title) < 0) { // as the store has it
        const char *title = gr_arena_strdup(&k->arena, race->title);
        if (!title)
            return false;
        known->title = title;
    }
    known->first = number < known->first ? number : known->first;
    known->runs++;
    known->count += race->count;
    return gr_vec_push(&k->runs[number].seen, ((GrSighting){(uint32_t)(at - 1), race->count}));
}

static bool add_reason(GrKnown *k, uint64_t number, const char *text) {
    const char *copy = gr_arena_strdup(&k->arena, text);
    return copy && gr_vec_push(&k->runs[number].reasons, copy);
}

gr_status gr_known_add(GrKnown *k, uint64_t number, const GrCampaignOutcome *o, gr_error *err) {
    end_run(k, number, o->verdict, o->status, o->is_void);
    bool ok = true;
    for (size_t i = 0; ok && i < o->races.len; i++)
        ok = add_race(k, number, &o->races.data[i]);
    for (size_t i = 0; ok && i < o->reasons.len; i++)
        ok = add_reason(k, number, o->reasons.data[i]);
    return ok ? GR_OK : gr_no_memory(err);
}

// ---- From the store ------------------------------------------------------------------------------------------------

typedef struct Loading {
    GrKnown *known;
    bool again;
} Loading;

static gr_status load_run(void *user, const GrStoredRun *run, gr_error *err) {
    const Loading *l = user;
    GrKnown *k = l->known;
    uint64_t number = gr_plan_number(k->plan, run->seed, run->engine, run->schedule, run->input);
    if (!number || k->runs[number].state == GR_RUN_DONE ||
        (l->again && !strcmp(run->verdict, GR_CAMPAIGN_FAILED)))
        return GR_OK;
    end_run(k, number, run->verdict, run->status, run->is_void);
    return gr_map_put_u64(&k->numbers, (uint64_t)run->id, (void *)(uintptr_t)number) ? GR_OK
                                                                                     : gr_no_memory(err);
}

static gr_status load_race(void *user, int64_t run, const GrCampaignRace *race, gr_error *err) {
    GrKnown *k = ((Loading *)user)->known;
    uint64_t number = (uintptr_t)gr_map_get_u64(&k->numbers, (uint64_t)run);
    return !number || add_race(k, number, race) ? GR_OK : gr_no_memory(err);
}

static gr_status load_reason(void *user, int64_t run, const char *text, gr_error *err) {
    GrKnown *k = ((Loading *)user)->known;
    uint64_t number = (uintptr_t)gr_map_get_u64(&k->numbers, (uint64_t)run);
    return !number || add_reason(k, number, text) ? GR_OK : gr_no_memory(err);
}

gr_status gr_known_load(GrKnown *k, GrStore *s, bool again, gr_error *err) {
    Loading l = {k, again};
    gr_map_free(&k->numbers);
    GR_MUST(gr_store_runs(s, load_run, &l, err));
    GR_MUST(gr_store_races(s, load_race, &l, err));
    GR_MUST(gr_store_reasons(s, load_reason, &l, err));
    gr_known_settle(k);
    return GR_OK;
}

// ---- In order ------------------------------------------------------------------------------------------------------

void gr_known_settle(GrKnown *k) {
    for (; k->settled < k->plan->n && k->runs[k->settled + 1].state >= GR_RUN_DONE; k->settled++) {
        const GrKnownRun *r = &k->runs[k->settled + 1];
        for (size_t i = 0; i < r->seen.len; i++)
            if (!k->seen_before.data[r->seen.data[i].race]) {
                k->seen_before.data[r->seen.data[i].race] = true;
                k->last_new = k->settled + 1;
            }
    }
}

static int compare_races(const void *a, const void *b) {
    const GrKnownRace *x = a, *y = b;
    int d = (x->first > y->first) - (x->first < y->first);
    return d ? d : strcmp(x->id, y->id);
}

void gr_known_sort(GrKnown *k) {
    if (k->races.len)
        qsort(k->races.data, k->races.len, sizeof *k->races.data, compare_races);
}
