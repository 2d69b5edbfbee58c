// SPDX-License-Identifier: Apache-2.0
#include "report/title.h"

#include "base/escape.h"
#include "report/report_internal.h"

#include <string.h>

static void add_side(const GrReport *r, const GrFinding *f, const GrAccess *a, StrBuf *out) {
    const GrFrame *at = gr_access_frame(a, a->headline);
    if (at->file && at->line)
        gr_report_place(r, at, out);
    else if (a->host || !a->ptx_line)
        gr_escaped_addf(out, "a %s", a->kind);
    else
        gr_escaped_addf(out, "%s, PTX line %u", f->module ? f->module : "a module", a->ptx_line);
}

void gr_race_title(GrReport *r, const GrRace *race, StrBuf *out) {
    const GrRace *pair = gr_race_pair(race), *shown = pair ? pair : race;
    const GrFinding *f = &shown->found;
    StrBuf sides[2] = {{0}, {0}};
    unsigned n = pair && f->n_accesses > 1 ? 2 : 1;
    for (unsigned k = 0; k < n; k++)
        add_side(r, f, &f->accesses[k], &sides[k]);
    // In one order, whichever side came first.
    bool swapped = n > 1 && gr_compare_sides(&f->accesses[0], &f->accesses[1]) > 0;
    gr_add_escaped(sides[swapped].data ? sides[swapped].data : "?", out);
    if (n > 1 && gr_compare_texts(sides[0].data, sides[1].data))
        gr_escaped_addf(out, " and %s", sides[!swapped].data ? sides[!swapped].data : "?");
    gr_escaped_addf(out, ": %s", gr_report_class(r, race->found.class)->name);
    if (f->kernel)
        gr_escaped_addf(out, " in kernel %s", gr_short_name(f->kernel, &r->arena));
    out->oom |= sides[0].oom || sides[1].oom;
    gr_str_free(&sides[0]);
    gr_str_free(&sides[1]);
}
