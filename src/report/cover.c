// SPDX-License-Identifier: Apache-2.0
// cover — adds a run to the file of --coverage, and says how much all runs have watched of what this one loaded.
#include "ptx/ptx.h"
#include "report/aims.h"
#include "report/coverage.h"
#include "report/report_internal.h"

static const char *site_kind(const GrSiteInfo *s) {
    return s->access == PTX_ACCESS_READ ? "load" : s->access == PTX_ACCESS_WRITE ? "store" : "atomic";
}

// One function as this run saw it; several modules may have it.
static bool note_function(const GrFunctionCoverage *f, GrCoverage *c) {
    GrCoveredFunction *to = gr_coverage_function(c, f->id, NULL);
    for (uint32_t i = 0; i < f->n_sites; i++) {
        const GrSiteInfo *s = &f->sites[i];
        if (s->status != GR_SITE_CHECKED && s->status != GR_SITE_SAMPLED_OUT)
            continue;
        if (!to && !(to = gr_coverage_function(c, f->id, f->name)))
            return false;
        GrCoveredSite *site = gr_coverage_add_site(to, i + 1);
        if (!site)
            return false;
        site->kind = site_kind(s);
        site->size = s->size;
        site->file = s->at.file; // it moves when code before it does
        site->line = s->at.line;
        site->col = s->at.col;
        site->chosen_now |= s->status == GR_SITE_CHECKED;
        site->watched_now |= s->status == GR_SITE_CHECKED && f->launched;
    }
    if (to) {
        to->is_kernel = f->is_kernel;
        to->last = c->runs;
        to->launched_now |= f->launched;
    }
    return true;
}

static gr_status note_run(void *user, GrCoverage *c, gr_error *err) {
    GrReport *r = user;
    for (size_t i = 0; i < r->functions.len; i++)
        if (!note_function(&r->functions.data[i], c))
            return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < r->conflicts.len; i++)
        if (!gr_aims_note(c, &r->conflicts.data[i]))
            return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    if (r->aim)
        gr_aims_count(c, r->aim);
    r->so_far.runs = c->runs;
    r->so_far.conflicts = c->conflicts.len;
    for (size_t i = 0; i < c->conflicts.len; i++)
        r->so_far.met += c->conflicts.data[i].met;
    for (size_t i = 0; i < c->functions.len; i++) {
        GrCoveredFunction *f = c->functions.data[i];
        if (f->last != c->runs)
            continue;
        f->launched += f->launched_now;
        for (size_t k = 0; k < f->sites.len; k++) {
            GrCoveredSite *s = &f->sites.data[k];
            s->chosen += s->chosen_now;
            s->watched += s->watched_now;
            r->so_far.watched += s->watched != 0;
        }
        r->so_far.accesses += f->sites.len;
    }
    return GR_OK;
}

gr_status gr_report_cover(GrReport *r, gr_error *err) {
    gr_status st = gr_coverage_update(r->so_far.path, note_run, r, err);
    if (st != GR_OK)
        r->so_far.runs = 0;
    return st;
}
