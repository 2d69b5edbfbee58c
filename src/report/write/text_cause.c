// SPDX-License-Identifier: Apache-2.0
// A cause as text, for those who want to mend it: what it is and where, what to do, the two sides, why.
#include "base/escape.h"
#include "report/write/cause_words.h"
#include "report/write/text_internal.h"

#include <stdlib.h>
#include <string.h>

// ---- The edit ------------------------------------------------------------------------------------------------------

typedef struct Hunks {
    const char *at; // the line
    size_t len;
    uint32_t number; // in the file as it is; of an added line: of the next one
} Hunks;

// Goes on to the next line of the hunks. False: there is none.
static bool next_line(Hunks *h, const char **rest) {
    bool was_there = h->at && *h->at != '+' && *h->at != '@';
    if (!**rest)
        return false;
    h->at = *rest;
    h->len = strcspn(h->at, "\n");
    *rest += h->len + (h->at[h->len] != 0);
    h->number += was_there;
    if (*h->at == '@' && !strncmp(h->at, "@@ -", 4))
        h->number = (uint32_t)strtoul(h->at + 4, NULL, 10);
    return true;
}

static bool is_change(const char *line) { return *line == '+' || *line == '-'; }

static void add_edit_line(const Hunks *h, StrBuf *out) {
    char as[GR_ESCAPED_ROOM];
    if (*h->at == '+')
        gr_str_add(out, "        + | ");
    else
        gr_escaped_addf(out, "  %c %5u | ", *h->at == '-' ? '-' : ' ', h->number);
    for (size_t k = 1, taken; k < h->len; k += taken) {
        taken = gr_escape_char(h->at + k, h->len - k, as);
        gr_str_add(out, h->at[k] == '\t' ? "\t" : as);
    }
    gr_str_addc(out, '\n');
}

// The lines that change; where a line comes in, the one behind it, too.
static void add_edit(const GrReport *r, const GrRepair *repair, StrBuf *out) {
    const char *rest = repair->hunks;
    Hunks h = {.at = NULL};
    gr_str_add(out, "    ");
    gr_text_paint(r, GR_PAINT_GOOD, out);
    gr_escaped_addf(out, "Fix: %s in %s", repair->what, gr_report_file(r, repair->file));
    gr_text_paint(r, GR_PAINT_OFF, out);
    gr_str_addc(out, '\n');
    for (char last = ' '; next_line(&h, &rest); last = last == '-' && *h.at == '+' ? '-' : *h.at)
        if (is_change(h.at) || (*h.at == ' ' && last == '+'))
            add_edit_line(&h, out);
}

// ---- The sides -----------------------------------------------------------------------------------------------------

static bool has_line(const GrAccess *a) {
    const GrFrame *f = gr_access_frame(a, a->headline);
    return f->file && f->line;
}

static bool same_line(const GrAccess *a, const GrAccess *b) {
    const GrFrame *f = gr_access_frame(a, a->headline), *g = gr_access_frame(b, b->headline);
    return has_line(a) && has_line(b) && f->line == g->line && !strcmp(f->file, g->file);
}

// The edit takes this line away, and so has shown it.
static bool is_edited(const GrRepair *repair, const GrFrame *f) {
    const char *rest = repair && f->file && !strcmp(repair->file, f->file) ? repair->hunks : "";
    Hunks h = {.at = NULL};
    while (next_line(&h, &rest))
        if (*h.at == '-' && h.number == f->line)
            return true;
    return false;
}

// The source line of a side, beneath where that is; `headed`: the headline has said that.
static void add_place(const GrReport *r, const GrCauseRaces *c, const GrRace *race, const GrAccess *a,
                      bool headed, Arena *arena, StrBuf *out) {
    const GrFrame *f = gr_access_frame(a, a->headline);
    bool shown = has_line(a) && is_edited(c->cause->repair, f);
    if (headed && has_line(a) && a->headline == a->n_inlined) {
        if (!shown && r->sources)
            gr_source_line_excerpt(r->sources, f->file, f->line, out);
        return;
    }
    gr_str_add(out, "    ");
    gr_text_where(r, race, a, out);
    if (!has_line(a) && f->function && gr_compare_texts(f->function, race->found.kernel))
        gr_escaped_addf(out, " in %s", gr_text_function(r, f->function, arena));
    for (uint32_t k = a->headline; k < a->n_inlined && k < a->headline + 2; k++) {
        gr_str_add(out, ", inlined at ");
        gr_text_place(r, &a->inlined[k], out);
        if (a->inlined[k].function)
            gr_escaped_addf(out, " in %s", gr_text_function(r, a->inlined[k].function, arena));
    }
    gr_str_addc(out, '\n');
    const GrFrame *call = !a->ptx_line && !a->host && a->stack && a->stack->n ? a->stack->frames : NULL;
    f = has_line(a) ? f : call;
    if (f && !shown && r->sources)
        gr_source_line_excerpt(r->sources, f->file, f->line, out);
}

// From where the program launched the kernel, or called the API through functions of its own.
static void add_stack(const GrReport *r, const GrAccess *a, Arena *arena, StrBuf *out) {
    if (a->ptx_line || (a->stack && a->stack->n > 1))
        gr_text_stack(r, a->ptx_line ? "launched from" : "called from", a->stack, arena, out);
}

// "thread (1,0,0) of block (0,0,0) wrote 4 bytes".
static void add_deed(const GrReport *r, const GrRace *race, const GrAccess *a, const GrAccess *other,
                     bool second, StrBuf *out) {
    gr_str_add(out, "          ");
    if (a->has_thread || a->host)
        gr_race_who(r, a, other, out);
    else
        gr_escaped_addf(out, "the %s", a->kind);
    gr_escaped_addf(out, " %s", a->did ? a->did : "accessed");
    if (!strncmp(a->did ? a->did : "", "freed", 5) || !strncmp(a->did ? a->did : "", "alloc", 5))
        gr_str_add(out, "");
    else if (second)
        gr_str_add(out, race->found.overlap_bytes == 1 ? " that byte" : " those bytes");
    else
        gr_escaped_addf(out, " %u byte%s", race->found.overlap_bytes,
                        race->found.overlap_bytes == 1 ? "" : "s");
    if (a->strong)
        gr_escaped_addf(out, ", %sscope .%s", a->is_volatile ? "volatile, " : "atomic, ", a->strong);
    if (a->discarded)
        gr_str_add(out, ", and did not use the value");
    gr_str_addc(out, '\n');
}

static void add_sides(const GrReport *r, const GrCauseRaces *c, const GrRace *pair, Arena *arena,
                      StrBuf *out) {
    const GrAccess *later = &pair->found.accesses[0], *earlier = &pair->found.accesses[1];
    bool one = same_line(earlier, later);
    add_place(r, c, pair, earlier, one, arena, out);
    add_deed(r, pair, earlier, later, false, out);
    if (!earlier->launch || earlier->launch != later->launch)
        add_stack(r, earlier, arena, out);
    if (!one)
        add_place(r, c, pair, later, true, arena, out);
    add_deed(r, pair, later, earlier, true, out);
    add_stack(r, later, arena, out);
}

// ---- All -----------------------------------------------------------------------------------------------------------

// What a report says once: no cause before the k-th says the same.
static bool is_first(const GrCauseRaces *all, size_t k, const char *says(const GrCauseRaces *c)) {
    const char *text = says(&all[k]), *other;
    for (size_t i = 0; i < k; i++)
        if (!all[i].known && (other = says(&all[i])) && !strcmp(other, text))
            return false;
    return true;
}

static void add_evidence(const GrReport *r, const GrCauseRaces *c, const GrRace *pair, StrBuf *out) {
    const GrRace *race = c->shown;
    if (race->found.detail)
        gr_escaped_addf(out, "    %s: %s\n", race->found.launch ? "outcome" : "with", race->found.detail);
    gr_escaped_addf(out, r->ran ? "    seen %llu time%s" : "    found %llu time%s",
                    (unsigned long long)c->count, c->count == 1 ? "" : "s");
    if (c->n > 1) {
        const char *last = NULL;
        gr_escaped_addf(out, " as %u races (", c->n);
        for (uint32_t k = 0, n = 0; k < c->n && n < 3; k++) {
            const char *name = gr_report_class(r, c->races[k]->found.class)->name;
            if (last && !strcmp(last, name))
                continue;
            gr_escaped_addf(out, "%s%s", n++ ? ", " : "", name);
            last = name;
        }
        gr_str_addc(out, ')');
    }
    if (pair->found.launch)
        gr_escaped_addf(out, "; shown: launch %llu%s%s, %s%s 0x%llx", (unsigned long long)pair->found.launch,
                        pair->found.accesses[0].range ? " in " : "",
                        pair->found.accesses[0].range ? pair->found.accesses[0].range : "",
                        pair->found.space ? pair->found.space : "",
                        strcmp(pair->found.space ? pair->found.space : "", "shared") ? " address" : " offset",
                        (unsigned long long)pair->found.overlap);
    gr_escaped_addf(out, "; %s (%s); id %s\n", race->found.evidence ? race->found.evidence : r->evidence,
                    race->found.engine ? race->found.engine : r->engine,
                    c->cause   ? c->cause->id
                    : race->id ? race->id
                               : "?");
}

void gr_text_cause(const GrReport *r, const GrCauseRaces *all, size_t k, Arena *arena, StrBuf *out) {
    const GrCauseRaces *c = &all[k];
    const GrRace *pair = gr_race_pair(c->shown);
    if (r->look.verbose || !pair || c->shown->judged || !c->cause) {
        for (uint32_t i = 0; i < c->n; i++)
            gr_text_race(r, c->races[i], arena, out);
        return;
    }
    gr_str_add(out, GR_TEXT_RULE);
    gr_text_paint(r, GR_PAINT_HEAD, out);
    gr_text_where(r, c->shown, &pair->found.accesses[0], out);
    gr_escaped_addf(out, ": data race: %s", gr_cause_name(r, c));
    gr_cause_object(r, &pair->found, arena, out);
    if (c->shown->n_kernels > 1)
        gr_escaped_addf(out, " in %u kernels", c->shown->n_kernels);
    else if (pair->found.kernel)
        gr_escaped_addf(out, " in kernel %s", gr_text_function(r, pair->found.kernel, arena));
    gr_text_paint(r, GR_PAINT_OFF, out);
    gr_str_addc(out, '\n');
    bool told = false; // what a class means is said once
    for (size_t i = 0; i < k; i++)
        told |= !all[i].known && !strcmp(gr_cause_meaning(r, &all[i]), gr_cause_meaning(r, c));
    if (!told)
        gr_escaped_addf(out, "    %s\n", gr_cause_meaning(r, c));
    StrBuf fix = {0};
    if (c->cause->follows)
        gr_str_add(out, "    This may follow from a race above: mend that first.\n");
    else if (c->cause->repair)
        add_edit(r, c->cause->repair, out);
    else if (gr_cause_fix(r, c, true, &fix))
        gr_str_addf(out, "    Fix: %s\n", fix.data);
    out->oom |= fix.oom;
    gr_str_free(&fix);
    add_sides(r, c, pair, arena, out);
    if (c->shown->watched)
        gr_text_values(r, c->shown, arena, out);
    if (is_first(all, k, gr_cause_why))
        gr_escaped_addf(out, "    Why: %s\n", gr_cause_why(c));
    if (c->cause->repair && c->cause->repair->loop)
        gr_escaped_addf(
            out,
            "    Turns of the loop at line %u overlap: nothing keeps a thread from its next turn while "
            "others are in this one\n",
            c->cause->repair->loop);
    uint32_t runs = 0;
    const GrSeenIn *seen = gr_cause_seen(c, arena, &runs);
    out->oom |= !seen;
    gr_text_runs(r, seen, runs, c->shown, out);
    add_evidence(r, c, pair, out);
}
