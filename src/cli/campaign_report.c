// SPDX-License-Identifier: Apache-2.0
#include "cli/campaign_report.h"

#include "base/own.h"
#include "campaign/growth.h"
#include "cli/strict.h"
#include "cli/write_report.h"
#include "report/read/read_report.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static gr_status write_growth(const GrCampaignReport *c, StrBuf *svg, gr_error *err) {
    StrBuf path = {0};
    gr_str_addf(&path, "%s/growth.svg", c->folder->path);
    gr_status st = path.oom ? gr_no_memory(err) : gr_growth_svg(c->known, svg, err);
    if (st == GR_OK)
        st = gr_own_write(path.data, GR_OWN_DRAWING, svg->data, svg->len, err);
    gr_str_free(&path);
    return st;
}

static gr_status add_report(const GrCampaignReport *c, uint64_t number, GrReport *r, gr_error *err) {
    char *text = NULL, name[64];
    snprintf(name, sizeof name, "the report of run %llu", (unsigned long long)number);
    GrCampaignRun run = gr_plan_run(c->plan, number);
    gr_status st = gr_store_report(c->folder->store, &run, &text, err);
    if (st == GR_OK && text)
        st = gr_report_add_text(r, name, text, strlen(text), err);
    free(text);
    return st;
}

// What the runs did not say, because they left no report or never were.
static gr_status add_what_is_missing(const GrCampaignReport *c, GrCampaignVerdict v, GrReport *r,
                                     gr_error *err) {
    const GrKnown *k = c->known;
    gr_status st = GR_OK;
    uint64_t open = k->plan->n - k->done - k->failed;
    if (v != GR_CAMPAIGN_INCONCLUSIVE)
        return GR_OK;
    r->verdict = GR_VERDICT_INCONCLUSIVE;
    if (!k->done) {
        r->is_void = true;
        r->engine = c->options->engine;
        r->device = "none";
        st = gr_report_reason(r, "no run of the campaign left a report: nothing was checked");
    }
    if (st == GR_OK && k->failed)
        st = gr_report_reason(r, "%llu run%s of the campaign left no report", (unsigned long long)k->failed,
                              k->failed == 1 ? "" : "s");
    if (st == GR_OK && open)
        st = gr_report_reason(r, "%llu run%s of the campaign %s not done", (unsigned long long)open,
                              open == 1 ? "" : "s", open == 1 ? "was" : "were");
    return st == GR_OK ? st : gr_fail(err, st, "out of memory");
}

// Reports are merged into small ones, and those into the whole: each merge looks at all runs of the target again.
typedef struct Merging {
    GrReport all, few;
    uint64_t n_few; // runs in `few`
} Merging;

static gr_status add_few(Merging *m, gr_error *err) {
    StrBuf text = {0};
    gr_status st = GR_OK;
    if (!m->n_few)
        return GR_OK;
    GR_TRY(gr_report_json(&m->few, &text, err));
    GR_TRY(gr_report_add_text(&m->all, "the report of some runs", text.data, text.len, err));
    m->n_few = 0;
    gr_report_free(&m->few);
    gr_report_init(&m->few);
done:
    gr_str_free(&text);
    return st;
}

static gr_status merge_all(const GrCampaignReport *c, Merging *m, gr_error *err) {
    enum { FEW = 100 };
    bool small = c->known->done <= FEW;
    for (uint64_t n = 1; n <= c->plan->n; n++) {
        if (c->known->runs[n].state != GR_RUN_DONE)
            continue;
        GR_MUST(add_report(c, n, small ? &m->all : &m->few, err));
        m->n_few += !small;
        if (m->n_few == FEW)
            GR_MUST(add_few(m, err));
    }
    return add_few(m, err);
}

// How the merged report ends the campaign.
typedef struct Ending {
    bool fails; // by its races
    bool open;  // it has reasons against clean
} Ending;

// The reports of all runs, as one.
static gr_status write_merged(const GrCampaignReport *c, GrCampaignVerdict v, const char *growth,
                              Ending *ending, gr_error *err) {
    Merging m = {.n_few = 0};
    char folder[PATH_MAX];
    bool lost = false;
    gr_status st;
    gr_report_init(&m.all);
    gr_report_init(&m.few);
    GR_TRY(merge_all(c, &m, err));
    m.all.folder = getcwd(folder, sizeof folder);
    m.all.max_reports = c->options->max_reports;
    m.all.drawing = growth;
    GR_TRY(gr_report_added(&m.all, err));
    GR_TRY(add_what_is_missing(c, v, &m.all, err));
    GR_TRY(gr_baseline_apply(c->baseline, &m.all, err));
    GR_TRY(gr_write_report(&m.all, c->options, stderr, &lost, err));
    *ending = (Ending){gr_report_fails(&m.all), m.all.reasons.len != 0};
    if (lost)
        st = gr_fail(err, GR_ERR_IO, "the report could not be written");
done:
    gr_report_free(&m.all);
    gr_report_free(&m.few);
    return st;
}

static int status_of(const GrCampaignReport *c, GrCampaignVerdict v, const Ending *ending) {
    bool open = v == GR_CAMPAIGN_INCONCLUSIVE || ending->open;
    if (ending->fails)
        return (int)c->options->error_exitcode;
    return gr_strictly_fails(c->options->strict, open, gr_campaign_is_void(c->known))
               ? EXIT_INCONCLUSIVE
               : gr_campaign_status(c->known);
}

gr_status gr_campaign_report(const GrCampaignReport *c, int *status, gr_error *err) {
    GrCampaignVerdict v = gr_campaign_verdict(c->known, &c->end);
    StrBuf text = {0}, growth = {0};
    gr_status st = GR_OK;
    Ending ending = {.fails = v == GR_CAMPAIGN_RACES};
    if (!c->end.partial)
        GR_TRY(write_growth(c, &growth, err));
    if (!c->end.partial && (c->known->done || !c->waits))
        GR_TRY(write_merged(c, v, growth.data, &ending, err));
    *status = status_of(c, v, &ending);
    GR_TRY(gr_campaign_summary(c->known, &c->end, &text, err));
    gr_str_addf(&text, "  results   %s\n", c->folder->path);
    fputs(text.data, stderr);
done:
    gr_str_free(&text);
    gr_str_free(&growth);
    return st;
}
