// SPDX-License-Identifier: Apache-2.0
#include "report/write/cause_words.h"

#include "base/escape.h"
#include "findings/missing.h"
#include "report/write/text_internal.h"

#include <stdlib.h>
#include <string.h>

static const struct Why {
    const char *begins, *text, *fix;
} whys[] = {
#define WHY(begins, text, fix) {begins, text, fix},
#include "report/write/why.def"
#undef WHY
};

// NULL: nothing is known of that order.
static const struct Why *why_of(const char *order) {
    for (size_t k = 0; k < sizeof whys / sizeof *whys; k++)
        if (!strncmp(order, whys[k].begins, strlen(whys[k].begins)))
            return &whys[k];
    return NULL;
}

static bool is_update(const GrCauseRaces *c) { return c->cause && c->cause->update; }

const char *gr_cause_meaning(const GrReport *r, const GrCauseRaces *c) {
    return is_update(c) ? "several threads read, change and write back the same memory, so updates get lost"
                        : gr_report_class(r, c->shown->found.class)->meaning;
}

const char *gr_cause_why(const GrCauseRaces *c) {
    const GrRace *pair = gr_race_pair(c->shown);
    if (!pair)
        return NULL;
    const struct Why *why = why_of(pair->found.order);
    return is_update(c) ? "the read, the change and the write are three steps. Another thread comes between "
                          "them, and one of the two updates is lost; an atomic operation is one step"
           : why        ? why->text
                        : pair->found.order;
}

// What to do where all sides store: no barrier makes two stores to one place right.
static const char *fix_of_stores(const GrReport *r, const GrCauseRaces *c) {
    bool reads = false, alike = true;
    for (uint32_t k = 0; k < c->n; k++) {
        const GrRace *pair = gr_race_pair(c->races[k]);
        for (unsigned s = 0; pair && s < pair->found.n_accesses; s++)
            reads |= !pair->found.accesses[s].did || strcmp(pair->found.accesses[s].did, "wrote") != 0;
        alike &= !strcmp(gr_report_class(r, c->races[k]->found.class)->name, "same-value write");
    }
    return reads ? NULL
           : alike
               ? "let one thread do the store (if (threadIdx.x == 0), for example), or make it atomic"
               : "give each thread an element of its own (is the index right?), let one thread do the store, "
                 "or make it atomic";
}

bool gr_cause_fix(const GrReport *r, const GrCauseRaces *c, bool file, StrBuf *out) {
    const GrRepair *repair = c->cause ? c->cause->repair : NULL;
    const GrRace *pair = c->cause ? gr_race_pair(c->shown) : NULL;
    const struct Why *why = pair && !c->cause->follows ? why_of(pair->found.order) : NULL;
    const char *stores = why ? fix_of_stores(r, c) : NULL;
    if (repair)
        gr_escaped_addf(out, "%s%s%s", repair->what, file ? " in " : "",
                        file ? gr_report_file(r, repair->file) : "");
    else if (is_update(c))
        gr_escaped_addf(out,
                        "make the update of %s an atomic operation (atomicAdd(), atomicMax(), … or "
                        "atomicCAS())",
                        *c->cause->update ? c->cause->update : "this place");
    else if (why)
        gr_str_add(out, stores ? stores : why->fix);
    else
        return false;
    return true;
}

void gr_cause_object(const GrReport *r, const GrFinding *f, Arena *arena, StrBuf *out) {
    const GrAccess *a = &f->accesses[0], *b = &f->accesses[1];
    const GrHeld *m = a->memory ? a->memory : b->memory;
    const char *variable = a->variable ? a->variable : b->variable ? b->variable : m ? m->name : NULL;
    if (variable)
        gr_escaped_addf(out, " on %s", gr_variable_name(variable, arena));
    else if (m && m->place.file && m->place.line) {
        gr_str_add(out, " on memory allocated at ");
        gr_report_place(r, &m->place, out);
    } else if (a->argument || b->argument)
        gr_escaped_addf(out, " through argument %u", a->argument ? a->argument : b->argument);
}

uint32_t gr_cause_known(const GrCauseRaces *c) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < c->n; k++)
        n += c->races[k]->known;
    return n;
}

void gr_cause_line(const GrReport *r, const GrCauseRaces *c, Arena *arena, StrBuf *out) {
    const GrFrame *f = gr_race_place(c->shown);
    const GrRace *pair = gr_race_pair(c->shown);
    if (f->file && f->line) {
        gr_report_place(r, f, out);
        gr_str_add(out, ": ");
    }
    gr_escaped_addf(out, "data race: %s", gr_cause_name(r, c));
    gr_cause_object(r, pair ? &pair->found : &c->shown->found, arena, out);
    if (c->shown->found.kernel)
        gr_escaped_addf(out, " in kernel %s", gr_text_function(r, c->shown->found.kernel, arena));
    if (c->n > 1)
        gr_escaped_addf(out, ", %u races", c->n);
    gr_escaped_addf(out, ", %llu time%s, id %s\n", (unsigned long long)c->count, c->count == 1 ? "" : "s",
                    c->cause ? c->cause->id : c->shown->id);
}

static int compare_seen(const void *a, const void *b) {
    const GrRunOf *x = ((const GrSeenIn *)a)->run, *y = ((const GrSeenIn *)b)->run;
    return x->seed != y->seed ? (x->seed > y->seed) - (x->seed < y->seed) : strcmp(x->id, y->id);
}

const GrSeenIn *gr_cause_seen(const GrCauseRaces *c, Arena *arena, uint32_t *n) {
    size_t all = 0, at = 0;
    for (uint32_t k = 0; k < c->n; k++)
        all += c->races[k]->n_seen;
    GrSeenIn *seen = GR_NEW_ARRAY(arena, GrSeenIn, all + 1);
    *n = 0;
    if (!seen)
        return NULL;
    for (uint32_t k = 0; k < c->n; k++)
        for (uint32_t i = 0; i < c->races[k]->n_seen; i++)
            seen[at++] = c->races[k]->seen[i];
    qsort(seen, all, sizeof *seen, compare_seen);
    for (size_t k = 0; k < all; k++)
        if (*n && !compare_seen(&seen[*n - 1], &seen[k]))
            seen[*n - 1].count += seen[k].count;
        else
            seen[(*n)++] = seen[k];
    return seen;
}
