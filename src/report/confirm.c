// SPDX-License-Identifier: Apache-2.0
// What one engine saw, held against what the causality engine saw of the same execution.
//
// A race of the collider is confirmed by a race in causality of which the noticing access is one side: that one is its
// witness and gives it its other side. Witnesses are not listed a second time; what only causality saw is.
#include "device/record.h"
#include "exact/exact.h"
#include "report/report_internal.h"

#include <string.h>

static bool is_causal(const GrRace *r) { return r->class >= GR_CLASS_COUNT; }

// Such are only looked for as witnesses.
static bool is_speculated(const GrRace *r) { return r->class == GR_CLASS_COUNT + EXACT_SPECULATED; }

static bool same_place(const GrRace *r, const GrAccess *a, const GrRace *s, const GrAccess *b) {
    if (strcmp(a->kind, b->kind) || !a->at.line != !b->at.line)
        return false;
    if (!a->at.line)
        return a->ptx_line == b->ptx_line && r->module && s->module && !strcmp(r->module, s->module);
    return a->at.line == b->at.line && a->at.col == b->at.col && a->at.file && b->at.file &&
           !strcmp(a->at.file, b->at.file);
}

static bool is_witness(const GrRace *of, const GrRace *w) {
    const GrAccess *a = &of->accesses[0];
    return is_causal(w) && !strcmp(of->space, w->space) &&
           (same_place(of, a, w, &w->accesses[0]) || same_place(of, a, w, &w->accesses[1]));
}

// Causality was followed everywhere, so that there would be witnesses.
static bool is_excluded(const GrReport *r, const GrRace *race) {
    for (unsigned k = 0; is_causal(race) && k < race->n_accesses; k++) {
        const GrAccess *a = &race->accesses[k];
        if (a->ptx_line && gr_report_excludes(r, a->kernel, a->at.file))
            return true;
    }
    return false;
}

gr_status gr_report_confirm(GrReport *r, gr_error *err) {
    size_t n = r->races.len, kept = 0;
    bool *used = gr_arena_alloc(&r->arena, n + 1);
    if (!used)
        return gr_fail(err, GR_ERR_NOMEM, "out of memory");
    memset(used, 0, n + 1);
    for (size_t i = 0; i < n; i++) {
        GrRace *race = &r->races.data[i];
        if (is_causal(race)) {
            race->engine = r->causal.engine;
            race->evidence = r->causal.evidence;
            continue;
        }
        race->engine = r->first.engine;
        race->evidence = r->first.evidence;
        race->judged = true;
        for (size_t k = 0; k < n; k++) {
            if (!is_witness(race, &r->races.data[k]))
                continue;
            used[k] = true;
            if (race->witness && !(is_speculated(race->witness) && !is_speculated(&r->races.data[k])))
                continue;
            GrRace *w = gr_arena_alloc(&r->arena, sizeof *w);
            if (!w)
                return gr_fail(err, GR_ERR_NOMEM, "out of memory");
            *w = r->races.data[k];
            w->engine = r->causal.engine;
            w->evidence = r->causal.evidence;
            race->witness = w;
        }
        r->unconfirmed += !race->witness;
    }
    for (size_t i = 0; i < n; i++)
        if (!used[i] && !is_speculated(&r->races.data[i]) && !is_excluded(r, &r->races.data[i]))
            r->races.data[kept++] = r->races.data[i];
    r->races.len = kept;
    return GR_OK;
}
