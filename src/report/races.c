// SPDX-License-Identifier: Apache-2.0
// Races in the order of the sources, and those that are one.
#include "findings/missing.h"
#include "report/report_internal.h"

#include <stdlib.h>
#include <string.h>

int gr_compare_texts(const char *a, const char *b) { return a == b ? 0 : strcmp(a ? a : "", b ? b : ""); }

static int compare_numbers(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_frames(const GrFrame *a, const GrFrame *b) {
    int d;
    if ((d = gr_compare_texts(a->file, b->file)) || (d = compare_numbers(a->line, b->line)) ||
        (d = compare_numbers(a->col, b->col)))
        return d;
    return gr_compare_texts(a->function, b->function);
}

int gr_compare_sides(const GrAccess *x, const GrAccess *y) {
    int d = compare_frames(&x->at, &y->at);
    for (uint32_t k = 0; !d && k < x->n_inlined && k < y->n_inlined; k++)
        d = compare_frames(&x->inlined[k], &y->inlined[k]);
    if (d || (d = compare_numbers(x->n_inlined, y->n_inlined)) ||
        (d = gr_compare_texts(x->kernel, y->kernel)) || (d = gr_compare_texts(x->kind, y->kind)))
        return d;
    return x->at.line ? 0 : compare_numbers(x->ptx_line, y->ptx_line);
}

// One race, whichever side noticed it: the side that comes first in the source counts as the first.
static bool is_swapped(const GrRace *r) {
    return r->found.order && gr_compare_sides(&r->found.accesses[0], &r->found.accesses[1]) > 0;
}

// Compares by place in the source. 0: one race.
static int compare_races(const GrRace *a, const GrRace *b, bool a_swapped, bool b_swapped) {
    const GrAccess *x = &a->found.accesses[a_swapped], *y = &b->found.accesses[b_swapped];
    int d;
    if ((d = gr_compare_sides(x, y)) || (d = compare_numbers(a->found.class, b->found.class)) ||
        (d = compare_numbers(a->found.seen_by, b->found.seen_by)) ||
        (d = gr_compare_texts(a->found.space, b->found.space)) ||
        (!x->at.line && (d = gr_compare_texts(a->found.module, b->found.module))))
        return d;
    return a->found.order && b->found.order
               ? gr_compare_sides(&a->found.accesses[!a_swapped], &b->found.accesses[!b_swapped])
               : 0;
}

// 0: one race, whose accesses were counted together.
static int compare_merged(const GrRace *a, const GrRace *b) {
    int d = compare_races(a, b, is_swapped(a), is_swapped(b));
    return d ? d : compare_numbers(a->found.tally, b->found.tally);
}

int gr_compare_widths(const GrRace *a, const GrRace *b) {
    return (int)gr_missing_width(b->found.order) - (int)gr_missing_width(a->found.order);
}

// By the pair of instructions, in either order. 0: one pair.
static int compare_pairs(const GrRace *a, const GrRace *b) {
    const GrAccess *x = a->found.accesses, *y = b->found.accesses;
    bool x_swapped = x[0].ptx_line > x[1].ptx_line, y_swapped = y[0].ptx_line > y[1].ptx_line;
    int d;
    if ((d = gr_compare_texts(a->found.module, b->found.module)) ||
        (d = compare_numbers(x[x_swapped].ptx_line, y[y_swapped].ptx_line)))
        return d;
    return compare_numbers(x[!x_swapped].ptx_line, y[!y_swapped].ptx_line);
}

static int compare_found(const void *a, const void *b) {
    const GrRace *x = a, *y = b;
    int d;
    if ((d = compare_merged(x, y)) || (d = compare_pairs(x, y)))
        return d;
    return compare_numbers(x->number, y->number); // qsort is not stable
}

// Adds a race of the same places to *to, which shows the one whose threads are furthest apart, and of these the first.
static void merge(GrRace *to, const GrRace *race, bool same_pair) {
    int d = gr_compare_widths(race, to);
    uint64_t count = to->found.count + race->found.count;
    uint32_t sites = to->n_sites + !same_pair;
    if (d < 0 || (!d && race->number < to->number))
        *to = *race;
    to->found.count = count;
    to->n_sites = sites;
}

// Whether both are of one pair of instructions, at two widths.
static bool is_one_pair(const GrRace *a, const GrRace *b) {
    return a->found.n_accesses == 2 && b->found.n_accesses == 2 && !compare_pairs(a, b) &&
           gr_missing_width(a->found.order) != gr_missing_width(b->found.order);
}

void gr_report_sort(GrReport *r) {
    size_t kept = 0;
    GrRace before = {.number = 0};
    if (r->races.len)
        qsort(r->races.data, r->races.len, sizeof *r->races.data, compare_found);
    for (size_t i = 0; i < r->races.len; i++) {
        GrRace race = r->races.data[i], *last = kept ? &r->races.data[kept - 1] : NULL;
        if (last && !compare_merged(last, &race))
            merge(last, &race, is_one_pair(&before, &race));
        else
            r->races.data[kept++] = race;
        before = race;
    }
    r->races.len = kept;
}
