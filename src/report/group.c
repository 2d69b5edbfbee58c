// SPDX-License-Identifier: Apache-2.0
// group — one cause, one report: races between the same two lines of the user's become one.
//
// One mistake makes many pairs of instructions race: unrolled copies, instances of a template, the places of a
// toolkit's header that one call runs through. Races are grouped by the headlines of both sides (headline.h), whichever
// of the two noticed, by class and by space. Where only one side is known its place as a whole counts. What is shown is
// one that knows values, or one whose threads are furthest apart: what orders these orders the others. The others are
// counted.
#include "report/report_internal.h"
#include "report/suppress.h"

#include <stdlib.h>
#include <string.h>

// ---- Keys ----------------------------------------------------------------------------------------------------------

typedef struct Key {
    const GrRace *race, *pair; // pair: the race of which both sides are known, or NULL
    GrSpot spots[2];
    size_t number;
} Key;

static int compare_numbers(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static Key key_of(const GrRace *r, size_t number) {
    Key k = {.race = r, .number = number, .pair = gr_race_pair(r)};
    gr_race_spots(k.pair ? k.pair : r, k.spots);
    return k;
}

// What two rules hide is not mixed. NULL: it is not hidden.
static int compare_rules(const GrRule *a, const GrRule *b) {
    int d = compare_numbers(a != NULL, b != NULL);
    if (d || !a)
        return d;
    d = gr_compare_texts(a->path, b->path);
    return d ? d : compare_numbers(a->line, b->line);
}

// 0: one cause.
static int compare_groups(const Key *x, const Key *y) {
    int d;
    if ((d = gr_compare_spots(&x->spots[0], &y->spots[0])) ||
        (d = gr_compare_spots(&x->spots[1], &y->spots[1])) || (d = compare_numbers(!x->pair, !y->pair)))
        return d;
    const GrRace *a = x->pair ? x->pair : x->race, *b = y->pair ? y->pair : y->race;
    if ((d = compare_numbers(a->found.class, b->found.class)) ||
        (d = gr_compare_texts(a->found.space, b->found.space)) ||
        (d = gr_compare_texts(x->race->found.engine, y->race->found.engine)) ||
        (d = compare_numbers(gr_race_is_unconfirmed(x->race), gr_race_is_unconfirmed(y->race))) ||
        (d = compare_rules(x->race->hidden_by, y->race->hidden_by)))
        return d;
    if (x->pair)
        return 0;
    // Functions are instances of templates, and do not count.
    const GrAccess *one = &a->found.accesses[0], *other = &b->found.accesses[0];
    if ((d = gr_compare_texts(one->at.file, other->at.file)) ||
        (d = compare_numbers(one->at.line, other->at.line)) ||
        (d = compare_numbers(one->at.col, other->at.col)))
        return d;
    return gr_compare_texts(one->kind, other->kind);
}

// What is shown of a group comes first.
static int compare_keys(const void *a, const void *b) {
    const Key *x = a, *y = b;
    int d = compare_groups(x, y);
    if (!d)
        d = compare_numbers(!x->race->found.size, !y->race->found.size);
    if (!d)
        d = gr_compare_widths(x->pair ? x->pair : x->race, y->pair ? y->pair : y->race);
    if (!d)
        d = gr_compare_sides(&x->race->found.accesses[0], &y->race->found.accesses[0]);
    return d ? d : compare_numbers(x->number, y->number);
}

// ---- Groups --------------------------------------------------------------------------------------------------------

static int compare_names(const void *a, const void *b) {
    return gr_compare_texts(*(const char *const *)a, *(const char *const *)b);
}

static bool add_kernels(GrReport *r, GrRace *out, const Key *keys, size_t n) {
    const char **names = GR_NEW_ARRAY(&r->arena, const char *, 3 * n + 1);
    size_t all = 0, kept = 0;
    for (size_t k = 0; names && k < n; k++) {
        const GrRace *race = keys[k].race;
        names[all++] = race->found.kernel;
        for (unsigned s = 0; s < race->found.n_accesses; s++)
            names[all++] = race->found.accesses[s].kernel;
    }
    if (!names)
        return false;
    qsort(names, all, sizeof *names, compare_names);
    for (size_t k = 0; k < all; k++)
        if (names[k] && (!kept || strcmp(names[kept - 1], names[k])))
            names[kept++] = names[k];
    out->kernels = names;
    out->n_kernels = (uint32_t)kept;
    return true;
}

static int compare_tallies(const void *a, const void *b) {
    const Key *x = a, *y = b;
    return compare_numbers(x->race->found.tally, y->race->found.tally);
}

// Every access once, as far as is known: those of a tally have been counted together.
static uint64_t count_of(Key *keys, size_t n) {
    uint64_t count = 0;
    qsort(keys, n, sizeof *keys, compare_tallies);
    for (size_t k = 0; k < n; k++)
        if (!keys[k].race->found.tally)
            count += keys[k].race->found.count;
        else if (!k || keys[k].race->found.tally != keys[k - 1].race->found.tally)
            count += keys[k].race->found.tally_count;
    return count;
}

static bool group(GrReport *r, Key *keys, size_t n, GrRace *out) {
    *out = *keys[0].race;
    if (n == 1 && !out->found.tally)
        return true;
    uint32_t sites = 0;
    for (size_t k = 0; k < n; k++)
        sites += keys[k].race->n_sites;
    if (!add_kernels(r, out, keys, n))
        return false;
    out->n_sites = sites;
    out->n_places = (uint32_t)n;
    out->found.count = count_of(keys, n);
    return true;
}

// Seen in two ways: 2; what another engine did not confirm, or a load whose value nobody used: 0.
static int sureness(const GrRace *r) {
    bool idle = false;
    for (unsigned k = 0; k < r->found.n_accesses; k++)
        idle |= r->found.accesses[k].discarded;
    return idle || gr_race_is_unconfirmed(r) ? 0 : r->watched || r->witness || r->met ? 2 : 1;
}

// In the order in which reports show races: equals stand as in the source.
static int compare_shown(const void *a, const void *b) {
    const GrRace *x = a, *y = b;
    const GrAccess *p = &x->found.accesses[0], *q = &y->found.accesses[0];
    const GrFrame *f = gr_access_frame(p, p->headline), *g = gr_access_frame(q, q->headline);
    int d;
    if ((d = x->known - y->known) || (d = sureness(y) - sureness(x)) ||
        (d = compare_numbers(y->found.count, x->found.count)) || (d = gr_compare_texts(f->file, g->file)) ||
        (d = compare_numbers(f->line, g->line)) || (d = gr_compare_sides(p, q)) ||
        (d = gr_compare_texts(x->id, y->id)) || (d = compare_numbers(x->found.class, y->found.class)) ||
        (d = compare_numbers(x->found.seen_by, y->found.seen_by)) ||
        (d = gr_compare_texts(x->found.space, y->found.space)))
        return d;
    return x->found.n_accesses > 1 && y->found.n_accesses > 1
               ? gr_compare_sides(&x->found.accesses[1], &y->found.accesses[1])
               : 0;
}

static void order(GrRaceVec *races) {
    if (races->len)
        qsort(races->data, races->len, sizeof *races->data, compare_shown);
}

void gr_report_order(GrReport *r) {
    order(&r->races);
    order(&r->misuses);
    order(&r->hidden);
}

static gr_status group_all(GrReport *r, GrRaceVec *races, gr_error *err) {
    size_t n = races->len, kept = 0;
    Key *keys = malloc((n + 1) * sizeof *keys);
    GrRace *out = malloc((n + 1) * sizeof *out);
    bool ok = keys && out;
    for (size_t k = 0; ok && k < n; k++)
        keys[k] = key_of(&races->data[k], k);
    if (ok)
        qsort(keys, n, sizeof *keys, compare_keys);
    for (size_t k = 0, end; ok && k < n; k = end) {
        for (end = k + 1; end < n && !compare_groups(&keys[k], &keys[end]); end++) {
        }
        ok = group(r, keys + k, end - k, &out[kept++]);
    }
    if (ok && n) {
        memcpy(races->data, out, kept * sizeof *out);
        races->len = kept;
    }
    free(keys);
    free(out);
    return ok ? GR_OK : gr_no_memory(err);
}

gr_status gr_report_group(GrReport *r, gr_error *err) {
    gr_status st = group_all(r, &r->races, err);
    if (st == GR_OK)
        st = group_all(r, &r->hidden, err);
    gr_report_order(r);
    return st;
}
