// SPDX-License-Identifier: Apache-2.0
#include "report/replay.h"

#include "report/report_internal.h"

#include <stdlib.h>
#include <string.h>

// The most targets: one variable of the environment holds them, which a system bounds at 128 KiB.
enum { MOST_TARGETS = 1024 };

typedef VEC(GrModuleInfo) Modules;

static bool lacks_a_side(const GrRace *race) {
    return race->found.seen_by == GR_SEEN_BY_VALUE && race->found.n_accesses == 1 && !race->watched &&
           !race->met && !race->witness;
}

static bool same_text(const char *a, const char *b) { return !strcmp(a ? a : "", b ? b : ""); }

static bool is_in_kernel_of(const GrRace *race, const char *kernel) {
    for (uint32_t k = 0; k < race->n_kernels; k++)
        if (!strcmp(race->kernels[k], kernel))
            return true;
    return race->n_kernels == 0 && race->found.kernel && !strcmp(race->found.kernel, kernel);
}

// Whether the site is one of those that were merged into the race (group.c, compare_groups).
static bool is_site_of(const GrRace *race, const GrModuleInfo *m, const GrSiteInfo *s) {
    const GrAccess *a = &race->found.accesses[0];
    if (strcmp(a->kind, gr_access_kind(s->access)) || a->at.line != s->at.line ||
        (s->kernel && race->found.kernel && !is_in_kernel_of(race, s->kernel)))
        return false;
    if (!a->at.line)
        return a->ptx_line == s->ptx_line && same_text(race->found.module, m->name);
    return a->at.col == s->at.col && same_text(a->at.file, s->at.file);
}

// ---- The findings of a run, module by module ---------------------------------------------------------------

static gr_status read_modules(const GrResultsView *view, GrReport *holder, Modules *out, gr_error *err) {
    for (size_t i = 0; i < view->records.len; i++) {
        const GrRecord *rec = &view->records.data[i];
        GrModuleInfo m;
        if (rec->kind != GR_RECORD_MODULE ||
            gr_module_read(rec, holder->paths, &holder->arena, &m, NULL) != GR_OK)
            continue;
        GR_NEED(gr_vec_push(out, m), err);
    }
    return GR_OK;
}

typedef struct Reading {
    Modules modules;
    const GrModuleInfo *module; // whose findings come
    GrReport *report;           // of meetings: it takes them
    GrMet met;                  // of meetings: number and seed of the replay
    VEC(struct Target {
        const GrModuleInfo *module;
        uint32_t site;
    })
    raced; // sites of findings with one side
} Reading;

static const char *no_kernel(const void *user, uint64_t launch) {
    (void)user, (void)launch;
    return NULL;
}

static const GrModuleInfo *module_of(const void *user, uint64_t number) {
    const Reading *x = user;
    for (size_t k = 0; k < x->modules.len; k++)
        if (x->modules.data[k].process == x->module->process && x->modules.data[k].number == number)
            return &x->modules.data[k];
    return NULL;
}

// What they need of memory is taken from `holder`, which also counts areas that cannot be read. It may be the report.
static gr_status read_findings(Reading *x, GrReport *holder, const GrResultsView *view,
                               bool (*take)(void *user, const GrFinding *f), gr_error *err) {
    GrSink sink = {x, take};
    GR_MUST(read_modules(view, holder, &x->modules, err));
    for (size_t k = 0; k < x->modules.len; k++) {
        x->module = &x->modules.data[k];
        GrArea area = {.module = x->module, .user = x, .kernel_of = no_kernel, .module_of = module_of};
        GR_MUST(gr_report_decode(holder, view, area, &sink, err));
    }
    return GR_OK;
}

// ---- Targets -----------------------------------------------------------------------------------------------

static bool take_target(void *user, const GrFinding *f) {
    Reading *x = user;
    const GrAccess *a = &f->accesses[0];
    struct Target t = {x->module, a->site};
    const struct Target *last = x->raced.len ? &x->raced.data[x->raced.len - 1] : NULL;
    bool again = last && last->module == t.module && last->site == t.site; // in another class
    if (f->seen_by != GR_SEEN_BY_VALUE || f->n_accesses != 1 || !a->site || again)
        return true;
    return gr_vec_push(&x->raced, t);
}

size_t gr_replay_targets(const GrReport *r, const GrResultsView *view, StrBuf *out) {
    GrReport holder;
    Reading x = {.report = NULL};
    size_t races = 0, sites = 0;
    gr_report_init(&holder);
    holder.find_decoder = r->find_decoder;
    holder.paths = r->paths;
    // An area that cannot be read has no reported race either.
    (void)read_findings(&x, &holder, view, take_target, NULL);
    for (size_t i = 0; i < r->races.len; i++) {
        if (!lacks_a_side(&r->races.data[i]))
            continue;
        races++;
        for (size_t k = 0; k < x.raced.len && sites < MOST_TARGETS; k++) {
            const struct Target *t = &x.raced.data[k];
            if (is_site_of(&r->races.data[i], t->module, &t->module->sites[t->site]))
                gr_str_addf(out, "%s%llx.%u", sites++ ? " " : "", (unsigned long long)t->module->hash,
                            t->site);
        }
    }
    gr_vec_free(&x.raced);
    gr_vec_free(&x.modules);
    gr_report_free(&holder);
    return races;
}

// ---- Meetings ----------------------------------------------------------------------------------------------

static bool take_meeting(void *user, const GrFinding *f) {
    Reading *x = user;
    GrReport *r = x->report;
    GrMet met = x->met;
    if (f->seen_by != GR_SEEN_BY_MEETING)
        return true;
    met.first = f->accesses[0];
    met.other = f->accesses[1];
    if (strcmp(r->device, "cpu")) // a GPU may number its grids otherwise
        met.first.launch = met.other.launch = 0;
    for (size_t i = 0; i < r->races.len; i++) {
        GrRace *race = &r->races.data[i];
        if (!lacks_a_side(race) || !is_site_of(race, x->module, &x->module->sites[met.first.site]) ||
            !strcmp(race->found.space, "shared") != !strcmp(f->space, "shared"))
            continue;
        GrMet *kept = gr_arena_alloc(&r->arena, sizeof *kept);
        if (!kept)
            return false;
        *kept = met;
        race->met = kept;
    }
    return true;
}

gr_status gr_replay_take(GrReport *r, const GrResultsView *view, unsigned number, uint64_t seed,
                         gr_error *err) {
    Reading x = {.report = r, .met = {.replay = number, .seed = seed}};
    gr_status st = read_findings(&x, r, view, take_meeting, err);
    gr_vec_free(&x.modules);
    return st;
}
