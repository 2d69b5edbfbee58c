// SPDX-License-Identifier: Apache-2.0
#include "coverage/aims.h"

#include "base/rng.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATIENCE = 4,   // runs that aim at likely ones before others: something may order them after all
    NEW_ONE_IN = 4, // runs that try something new although likely ones are left, of which no side can wait
    MOST_WORDS = 64 // of an aim: they stand in the command that repeats the run
};

// An access that is a side of conflicts that have not met.
typedef struct Candidate {
    uint64_t function, lot;
    uint32_t nth, aimed, seen; // seen: conflicts that it comes first in
    bool likely, first, waits;
    const ConflictSide *at; // one of them
} Candidate;
typedef VEC(Candidate) Candidates;

static bool is_side(const Candidate *k, const ConflictSide *s) {
    return k->function == s->function && k->nth == s->nth;
}

static Candidate *candidate(Candidates *all, const ConflictSide *s) {
    for (size_t k = 0; k < all->len; k++)
        if (is_side(&all->data[k], s))
            return &all->data[k];
    return gr_vec_push(all, ((Candidate){.function = s->function, .nth = s->nth})) ? &all->data[all->len - 1]
                                                                                   : NULL;
}

static bool is_open(const Conflict *f) { return !f->met && (f->side[0].waits || f->side[1].waits); }

// A thread that waits does so in a window that the collider may open there.
static bool exists(const GrCoverage *c, const ConflictSide *s) {
    const GrCoveredFunction *f = gr_map_get_u64(&c->by_id, s->function);
    return f && !gr_coverage_outdated(c, f) && (!s->waits || gr_coverage_site(f, s->nth));
}

// Whether a likely one is left at which no run can aim: it meets by chance if at all, and best when it is undisturbed.
static bool is_left_to_chance(const GrCoverage *c) {
    for (size_t i = 0; i < c->conflicts.len; i++) {
        const Conflict *f = &c->conflicts.data[i];
        if (f->likely && !f->met && !is_open(f) && exists(c, &f->side[0]) && exists(c, &f->side[1]))
            return true;
    }
    return false;
}

// The side that waits must come before the other side does; if only one of the two can wait, it has to be that side.
static bool may_wait(const Conflict *f, unsigned k) {
    return f->side[k].waits && (f->side[k].first || !f->side[!k].waits);
}

static bool collect(const GrCoverage *c, Rng *rng, Candidates *all) {
    for (size_t i = 0; i < c->conflicts.len; i++) {
        const Conflict *f = &c->conflicts.data[i];
        for (unsigned k = 0; k < 2 && is_open(f); k++) {
            const ConflictSide *s = &f->side[k];
            if (!exists(c, s))
                continue;
            Candidate *to = candidate(all, s);
            if (!to)
                return false;
            to->waits |= s->waits;
            to->likely |= f->likely;
            to->aimed = s->aimed > to->aimed ? s->aimed : to->aimed;
            if (!may_wait(f, k))
                continue;
            to->first = true;
            if (gr_rng_below(rng, ++to->seen) == 0)
                to->at = s;
        }
    }
    return true;
}

static int compare(const void *x, const void *y) {
    const Candidate *a = x, *b = y;
    int d = b->first - a->first;
    d = d ? d : b->likely - a->likely;
    d = d ? d : (a->aimed > b->aimed) - (a->aimed < b->aimed);
    return d ? d : (a->lot > b->lot) - (a->lot < b->lot);
}

// The other side of what waits comes first, and cannot wait behind its access: its kernel begins late.
static uint64_t late_kernel(const GrCoverage *c, const Candidate *waits) {
    for (size_t i = 0; i < c->conflicts.len; i++)
        for (unsigned k = 0; k < 2; k++) {
            const ConflictSide *s = &c->conflicts.data[i].side[k], *o = &c->conflicts.data[i].side[!k];
            if (is_open(&c->conflicts.data[i]) && is_side(waits, s) && !o->waits && o->first && !s->first)
                return o->function;
        }
    return 0;
}

static void word(StrBuf *out, size_t start, uint64_t function, uint32_t nth) {
    gr_str_addf(out, "%s%016" PRIx64 ":%u", out->len > start ? "," : "", function, nth);
}

gr_status gr_aims_choose(const GrCoverage *c, uint64_t seed, StrBuf *out, gr_error *err) {
    Candidates all = {0};
    VEC(uint64_t) late = {0};
    Rng rng = gr_rng_fork(seed, RNG_AIMS, c->runs);
    size_t start = out->len, n = 0, likely = 0, words = 0;
    bool ok = collect(c, &rng, &all);
    for (size_t k = 0; k < all.len; k++) {
        all.data[k].lot = gr_rng_next(&rng);
        all.data[k].likely &= all.data[k].aimed < PATIENCE;
        n += all.data[k].first;
        likely += all.data[k].first && all.data[k].likely;
    }
    n = ((likely ? likely : n) + 1) / 2;
    if (ok && !n && c->conflicts.len && (!is_left_to_chance(c) || gr_rng_below(&rng, NEW_ONE_IN) == 0))
        gr_str_add(out, "new");
    if (n)
        qsort(all.data, all.len, sizeof *all.data, compare);
    for (size_t k = 0; n && k < all.len && words < MOST_WORDS; k++) {
        Candidate *a = &all.data[k];
        if (!a->waits)
            continue;
        word(out, start, a->function, a->nth);
        words++;
        if (k >= n)
            continue;
        gr_str_addf(out, "@%" PRIu64 ".%" PRIu64 ".%u", a->at->launch, a->at->block, a->at->warp);
        uint64_t kernel = late_kernel(c, a);
        bool told = !kernel || words == MOST_WORDS;
        for (size_t i = 0; i < late.len; i++)
            told |= late.data[i] == kernel;
        if (told)
            continue;
        word(out, start, kernel, 0);
        words++;
        ok &= gr_vec_push(&late, kernel);
    }
    gr_vec_free(&late);
    gr_vec_free(&all);
    return ok && !out->oom ? GR_OK : gr_no_memory(err);
}

static bool is_outdated(const GrCoverage *c, const ConflictSide *s) {
    const GrCoveredFunction *f = gr_map_get_u64(&c->by_id, s->function);
    return f && gr_coverage_outdated(c, f);
}

void gr_aims_make_room(GrCoverage *c) {
    size_t n = 0;
    if (c->conflicts.len < GR_CONFLICTS)
        return;
    for (size_t i = 0; i < c->conflicts.len; i++) {
        Conflict f = c->conflicts.data[i];
        if (!is_outdated(c, &f.side[0]) && !is_outdated(c, &f.side[1]))
            c->conflicts.data[n++] = f;
    }
    c->conflicts.len = n;
}

bool gr_aims_note(GrCoverage *c, const Conflict *seen) {
    for (size_t i = 0; i < c->conflicts.len; i++) {
        Conflict *f = &c->conflicts.data[i];
        if (f->side[0].function == seen->side[0].function && f->side[0].nth == seen->side[0].nth &&
            f->side[1].function == seen->side[1].function && f->side[1].nth == seen->side[1].nth) {
            gr_conflict_add(f, seen);
            return true;
        }
    }
    return c->conflicts.len >= GR_CONFLICTS || gr_vec_push(&c->conflicts, *seen);
}

bool gr_aims_waits_at(const char *aim, uint64_t function, uint32_t nth) {
    char text[48];
    snprintf(text, sizeof text, "%016" PRIx64 ":%u@", function, nth);
    return strstr(aim, text) != NULL;
}

void gr_aims_count(GrCoverage *c, const char *aim) {
    for (size_t i = 0; i < c->conflicts.len; i++)
        for (unsigned k = 0; k < 2; k++) {
            ConflictSide *s = &c->conflicts.data[i].side[k];
            s->aimed += gr_aims_waits_at(aim, s->function, s->nth) && s->aimed < UINT32_MAX;
        }
}

uint64_t gr_aims_waiting(const char *aim) {
    uint64_t n = 0;
    for (const char *p = aim; *p; p++)
        n += *p == '@';
    return n;
}
