// SPDX-License-Identifier: Apache-2.0
#include "campaign/summary.h"

#include "base/escape.h"

#include <stdlib.h>
#include <string.h>

enum { LISTED_RUNS = 5 };

static uint64_t open_runs(const GrKnown *k) { return k->plan->n - k->done - k->failed; }

static bool any(const GrKnown *k, bool (*is)(const GrKnownRun *r)) {
    for (uint64_t n = 1; n <= k->plan->n; n++)
        if (is(&k->runs[n]))
            return true;
    return false;
}

static bool has_races(const GrKnownRun *r) { return r->races; }
static bool is_open_ended(const GrKnownRun *r) { return r->state >= GR_RUN_DONE && !r->races && !r->clean; }

GrCampaignVerdict gr_campaign_verdict(const GrKnown *k, const GrCampaignEnd *end) {
    if (any(k, has_races))
        return GR_CAMPAIGN_RACES;
    bool missing = open_runs(k) && !end->stop_after && !end->partial;
    return missing || !k->done || any(k, is_open_ended) ? GR_CAMPAIGN_INCONCLUSIVE : GR_CAMPAIGN_CLEAN;
}

static bool is_void(const GrKnownRun *r) { return r->is_void; }

bool gr_campaign_is_void(const GrKnown *k) { return !k->done || any(k, is_void); }

int gr_campaign_status(const GrKnown *k) {
    for (uint64_t n = 1; n <= k->plan->n; n++)
        if (k->runs[n].status && !k->runs[n].races)
            return k->runs[n].status;
    return 0;
}

// "seed 4", and what else tells the run from others of the plan.
static void add_run(const GrCampaignPlan *p, uint64_t number, StrBuf *out) {
    GrCampaignRun r = gr_plan_run(p, number);
    gr_str_addf(out, "seed %llu", (unsigned long long)r.seed);
    if (p->engines.len > 1)
        gr_str_addf(out, ", %s", r.engine);
    if (p->schedules.len > 1)
        gr_str_addf(out, ", %s", r.schedule);
    if (p->inputs.len > 1)
        gr_escaped_addf(out, ", input %s", r.input->text);
}

// ---- Reasons -------------------------------------------------------------------------------------------------------

// Why runs came to nothing: one text, and the runs that gave it.
typedef struct Reason {
    const char *text;
    uint64_t runs, first[LISTED_RUNS];
} Reason;
typedef VEC(Reason) Reasons;

static bool count_reason(Reasons *all, Map *by_text, const char *text, uint64_t number) {
    size_t at = (size_t)(uintptr_t)gr_map_get(by_text, text);
    if (!at) {
        if (!gr_vec_push(all, (Reason){.text = text}))
            return false;
        at = all->len;
        if (!gr_map_put(by_text, text, (void *)(uintptr_t)at))
            return false;
    }
    Reason *r = &all->data[at - 1];
    if (r->runs < LISTED_RUNS)
        r->first[r->runs] = number;
    r->runs++;
    return true;
}

static bool add_reasons(const GrKnown *k, StrBuf *out) {
    Reasons all = {0};
    Map by_text = {0};
    bool ok = true;
    for (uint64_t n = 1; n <= k->plan->n; n++)
        for (size_t i = 0; ok && i < k->runs[n].reasons.len; i++)
            ok = count_reason(&all, &by_text, k->runs[n].reasons.data[i], n);
    for (size_t i = 0; i < all.len; i++) {
        const Reason *r = &all.data[i];
        gr_escaped_addf(out, "%s%llu run%s: %s (", i ? "            " : "  because   ",
                        (unsigned long long)r->runs, r->runs == 1 ? "" : "s", r->text);
        for (uint64_t j = 0; j < r->runs && j < LISTED_RUNS; j++) {
            gr_str_add(out, j ? "; " : "");
            add_run(k->plan, r->first[j], out);
        }
        gr_str_add(out, r->runs > LISTED_RUNS ? "; …)\n" : ")\n");
    }
    gr_vec_free(&all);
    gr_map_free(&by_text);
    return ok;
}

// ---- The text ------------------------------------------------------------------------------------------------------

static void add_races(const GrKnown *k, StrBuf *out) {
    for (size_t i = 0; i < k->races.len; i++) {
        const GrKnownRace *r = &k->races.data[i];
        gr_escaped_addf(out, "  %s  %s\n                    first seen in run %llu (", r->id, r->title,
                        (unsigned long long)r->first);
        add_run(k->plan, r->first, out);
        gr_str_addf(out, "); in %llu run%s, %llu time%s\n", (unsigned long long)r->runs,
                    r->runs == 1 ? "" : "s", (unsigned long long)r->count, r->count == 1 ? "" : "s");
    }
}

static void add_counts(const GrKnown *k, const GrCampaignEnd *end, StrBuf *out) {
    uint64_t races = 0, clean = 0, open_ended = 0, open = open_runs(k);
    for (uint64_t n = 1; n <= k->plan->n; n++) {
        races += k->runs[n].races;
        clean += k->runs[n].clean;
        open_ended += k->runs[n].state == GR_RUN_DONE && !k->runs[n].races && !k->runs[n].clean;
    }
    gr_str_addf(
        out, "  runs      %llu of %llu: %llu with races, %llu clean, %llu inconclusive, %llu failed\n",
        (unsigned long long)(k->done + k->failed), (unsigned long long)k->plan->n, (unsigned long long)races,
        (unsigned long long)clean, (unsigned long long)open_ended, (unsigned long long)k->failed);
    if (end->stop_after)
        gr_str_addf(out, "  stopped   no run after number %llu saw a new race (--stop-after %llu)\n",
                    (unsigned long long)k->last_new, (unsigned long long)end->stop_after);
    else if (open && !end->partial)
        gr_str_addf(out, "  missing   %llu run%s; the same command does them\n", (unsigned long long)open,
                    open == 1 ? " was not done" : "s were not done");
    if (k->races.len)
        gr_str_addf(out, "  last new  race in run %llu\n",
                    (unsigned long long)k->races.data[k->races.len - 1].first);
}

gr_status gr_campaign_summary(GrKnown *k, const GrCampaignEnd *end, StrBuf *out, gr_error *err) {
    static const char *const names[] = {"clean", "races", "inconclusive"};
    gr_known_sort(k);
    GrCampaignVerdict v = gr_campaign_verdict(k, end);
    gr_str_addf(out, "gpurace: campaign: verdict: %s", names[v]);
    if (k->races.len)
        gr_str_addf(out, " (%zu)", k->races.len);
    gr_str_addc(out, '\n');
    add_races(k, out);
    add_counts(k, end, out);
    bool ok = add_reasons(k, out);
    return ok && !out->oom ? GR_OK : gr_no_memory(err);
}
