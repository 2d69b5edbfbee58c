// SPDX-License-Identifier: Apache-2.0
// The report in its plainest form, for when the full report could not be written. Each race and misuse has a line that
// is written at once, so that the lines stay whatever happens next. Nothing is looked up, read from elsewhere or
// gathered in memory.
#include "base/escape.h"
#include "report/report_internal.h"

#include <string.h>

static const char * or (const char *text, const char *other) { return text && *text ? text : other; }

// Escaped as in the text report.
static void put(const char *text, FILE *out) {
    char as[GR_ESCAPED_ROOM];
    for (size_t left = strlen(text), n; left; text += n, left -= n) {
        n = gr_escape_char(text, left, as);
        fputs(as, out);
    }
}

static void put_place(const GrAccess *a, FILE *out) {
    const GrFrame *f = gr_access_frame(a, a->headline);
    if (f->file && f->line) {
        put(f->file, out);
        fprintf(out, ":%u", f->line);
    } else {
        fprintf(out, "PTX line %u", a->ptx_line);
    }
}

static void put_race(const GrReport *r, const GrRace *race, FILE *out) {
    put_place(&race->found.accesses[0], out);
    fputs(": data race: ", out);
    put(gr_report_class(r, race->found.class)->name, out);
    fputs(" in kernel ", out);
    put(or (race->found.kernel, "?"), out);
    if (race->found.n_accesses > 1) {
        fputs(", other side ", out);
        put_place(&race->found.accesses[1], out);
    }
    fprintf(out, ", occurred %llu times\n", (unsigned long long)race->found.count);
    fflush(out);
}

bool gr_report_brief(const GrReport *r, const char *why, FILE *out) {
    for (size_t i = 0; i < r->races.len; i++)
        put_race(r, &r->races.data[i], out);
    for (size_t i = 0; i < r->misuses.len; i++) {
        const GrFinding *m = &r->misuses.data[i].found;
        put_place(&m->accesses[0], out);
        const GrClass *class = gr_report_class(r, m->class);
        fprintf(out, ": %s: ", gr_misuse_title(class));
        put(class->name, out);
        fputs(" in kernel ", out);
        put(or (m->kernel, "?"), out);
        fputc('\n', out);
        fflush(out);
    }
    bool races = r->verdict == GR_VERDICT_RACES;
    fprintf(out, "gpurace: verdict: %s", gr_verdict_name(races ? GR_VERDICT_RACES : GR_VERDICT_INCONCLUSIVE));
    if (r->races.len)
        fprintf(out, " (%zu)", r->races.len);
    fprintf(out, "\n  %s   the full report could not be written (%s); this is a short one\n",
            races ? "besides" : "because", why);
    for (size_t i = 0; i < r->reasons.len; i++) {
        fprintf(out, "  %s   ", races ? "besides" : "because");
        put(r->reasons.data[i].text, out);
        fputc('\n', out);
    }
    return fflush(out) == 0 && !ferror(out);
}
