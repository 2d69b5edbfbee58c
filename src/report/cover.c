// SPDX-License-Identifier: Apache-2.0
// cover — adds a run to the file of --coverage, and says how much all runs have watched of what this one loaded.
#include "coverage/aims.h"
#include "coverage/coverage.h"
#include "ptx/ptx.h"
#include "report/report_internal.h"

#include <string.h>

static void place(GrCoveredSite *to, const GrSiteInfo *s) {
    GrAccess a = gr_access_at(s, s->size);
    const GrFrame *at = gr_access_frame(&a, a.headline);
    to->kind = a.kind;
    to->size = s->size;
    to->file = at->file; // it moves when code before it does
    to->line = at->line;
    to->col = at->col;
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
        place(site, s);
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

static const GrFunctionCoverage *function_of(const GrReport *r, const ConflictSide *s) {
    for (size_t i = 0; i < r->functions.len; i++)
        if (r->functions.data[i].id == s->function)
            return &r->functions.data[i];
    return NULL;
}

// Notes where a conflict's side is that cannot be watched, such as an atomic access. Does nothing for other sides.
static bool note_side(const GrReport *r, GrCoverage *c, const ConflictSide *s) {
    const GrFunctionCoverage *f = function_of(r, s);
    if (!f || s->nth > f->n_sites)
        return true;
    GrCoveredFunction *to = gr_coverage_function(c, f->id, f->name);
    if (!to)
        return false;
    if (gr_coverage_site(to, s->nth))
        return true;
    GrCoveredSite *other = gr_coverage_other(to, s->nth);
    if (!other && gr_vec_push(&to->others, ((GrCoveredSite){.nth = s->nth})))
        other = &to->others.data[to->others.len - 1];
    if (!other)
        return false;
    place(other, &f->sites[s->nth - 1]);
    to->is_kernel = f->is_kernel;
    to->last = c->runs;
    to->launched_now |= f->launched;
    return true;
}

static gr_status note_run(void *user, GrCoverage *c, gr_error *err) {
    GrReport *r = user;
    for (size_t i = 0; i < r->functions.len; i++)
        GR_NEED(note_function(&r->functions.data[i], c), err);
    gr_aims_make_room(c);
    for (size_t i = 0; i < r->conflicts.len; i++)
        GR_NEED(gr_aims_note(c, &r->conflicts.data[i]), err);
    for (size_t i = 0; i < 2 * c->conflicts.len; i++)
        GR_NEED(note_side(r, c, &c->conflicts.data[i / 2].side[i % 2]), err);
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
