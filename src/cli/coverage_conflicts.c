// SPDX-License-Identifier: Apache-2.0
// coverage_conflicts — the last part of `gpurace coverage`: pairs of accesses that touched the same bytes
// (findings/conflict.h), first of all those that no run has seen overlap.
//
// In the text, pairs of one line and another (copies made by unrolling) are one: not in the list as soon as some copies
// met. Shown of them is the one that was aimed at most. A pair is left out when the code of one of its functions has
// changed since.
#include "base/demangle.h"
#include "base/escape.h"
#include "cli/coverage_list.h"
#include "report/report.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Side {
    const ConflictSide *is;
    const GrCoveredFunction *function; // NULL: not known
    const GrCoveredSite *site;         // NULL: not known
} Side;

typedef struct Pair {
    Side side[2];
    const Conflict *is;
} Pair;
typedef VEC(Pair) Pairs;

static Side side_of(const GrCoverage *c, const ConflictSide *is) {
    Side s = {.is = is, .function = gr_map_get_u64(&c->by_id, is->function)};
    s.site = s.function ? gr_coverage_site(s.function, is->nth) : NULL;
    if (s.function && !s.site)
        s.site = gr_coverage_other(s.function, is->nth);
    return s;
}

static bool outdated(const GrCoverage *c, const Conflict *f) {
    for (unsigned k = 0; k < 2; k++) {
        const GrCoveredFunction *g = gr_map_get_u64(&c->by_id, f->side[k].function);
        if (g && gr_coverage_outdated(c, g))
            return true;
    }
    return false;
}

// ---- Text ----------------------------------------------------------------------------------------------------------

static int compare_texts(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : ""); }

int gr_covered_compare(const GrCoveredSite *a, const GrCoveredSite *b) {
    int d = compare_texts(a->file, b->file);
    d = d ? d : (a->line > b->line) - (a->line < b->line);
    d = d ? d : (a->col > b->col) - (a->col < b->col);
    d = d ? d : strcmp(a->kind, b->kind);
    return d ? d : (a->size > b->size) - (a->size < b->size);
}

static int compare_u64(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

// Copies of one access are equal. Those without a place come last.
static int compare_sides(const Side *a, const Side *b) {
    bool x = a->site && a->site->line, y = b->site && b->site->line;
    int d = y - x;
    d = d || !x ? d : gr_covered_compare(a->site, b->site);
    d = d ? d : compare_u64(a->is->function, b->is->function);
    return d || x ? d : compare_u64(a->is->nth, b->is->nth);
}

static int compare_lines(const Pair *a, const Pair *b) {
    int d = compare_sides(&a->side[0], &b->side[0]);
    return d ? d : compare_sides(&a->side[1], &b->side[1]);
}

static uint32_t aimed(const Pair *p) {
    return p->side[0].is->aimed > p->side[1].is->aimed ? p->side[0].is->aimed : p->side[1].is->aimed;
}

static int compare_pairs(const void *x, const void *y) {
    const Pair *a = x, *b = y;
    int d = compare_lines(a, b);
    d = d ? d : compare_u64(aimed(b), aimed(a));
    d = d ? d : compare_u64(a->side[0].is->nth, b->side[0].is->nth);
    return d ? d : compare_u64(a->side[1].is->nth, b->side[1].is->nth);
}

// Files below the current folder are named relative to it, as in reports.
static const char *shown(const char *file) {
    char folder[PATH_MAX];
    size_t n = getcwd(folder, sizeof folder) ? strlen(folder) : 0;
    return n && !strncmp(file, folder, n) && file[n] == '/' ? file + n + 1 : file;
}

void gr_covered_print(const GrCoveredFunction *f, const GrCoveredSite *s, Arena *arena) {
    StrBuf text = {0};
    if (s->file && s->line)
        gr_escaped_addf(&text, "%s:%u:%u: ", shown(s->file), s->line, s->col);
    else
        gr_escaped_addf(&text, "access %u: ", s->nth);
    gr_escaped_addf(&text, "%s of %u byte%s in %s", s->kind, s->size, s->size == 1 ? "" : "s",
                    gr_short_name(f->name, arena));
    fputs(text.data ? text.data : "", stdout);
    gr_str_free(&text);
}

static void print_side(const Side *s, Arena *arena) {
    if (s->site)
        gr_covered_print(s->function, s->site, arena);
    else
        printf("access %u of a function that no run has checked", s->is->nth);
    if (s->is->aimed)
        printf(", aimed at in %u run%s", s->is->aimed, s->is->aimed == 1 ? "" : "s");
    printf("  [%016llx:%u]\n", (unsigned long long)s->is->function, s->is->nth);
}

// The first of `n` copies stands for them.
static void print_pair(const Pair *p, size_t n, Arena *arena) {
    bool likely = false, waits = false;
    for (size_t k = 0; k < n; k++) {
        likely |= p[k].is->likely;
        waits |= p[k].is->side[0].waits || p[k].is->side[1].waits;
    }
    printf("  ");
    print_side(&p->side[0], arena);
    printf("    and ");
    if (p->is->side[0].function == p->is->side[1].function && p->is->side[0].nth == p->is->side[1].nth)
        puts("the same access by another thread");
    else
        print_side(&p->side[1], arena);
    printf("    %s", likely ? "likely: no atomics or fences of both were between"
                            : "atomics or fences of both were between");
    if (!waits)
        printf("; none of them can be made to wait");
    if (n > 1)
        printf("; %zu pairs of instructions", n);
    putchar('\n');
}

// How many pairs from the first on are of its lines; *met: whether any of these met.
static size_t copies(const Pair *p, size_t most, size_t *met) {
    size_t n = 0;
    for (*met = 0; n < most && !compare_lines(p, &p[n]); n++)
        *met += p[n].is->met;
    return n;
}

static void print_counts(size_t met, size_t spared, size_t old) {
    if (met || spared)
        printf("touched the same bytes and overlapped: %zu pair%s", met, met == 1 ? "" : "s");
    if (spared)
        printf(" (and %zu more of the same lines did not)", spared);
    if (met || spared)
        putchar('\n');
    if (old)
        printf("(and %zu pair%s of functions whose code has changed since)\n", old, old == 1 ? "" : "s");
}

bool gr_coverage_print_conflicts(const GrCoverage *c, Arena *arena) {
    Pairs pairs = {0};
    bool ok = true;
    size_t met = 0, spared = 0, old = 0, shown = 0, here;
    for (size_t i = 0; ok && i < c->conflicts.len; i++) {
        const Conflict *f = &c->conflicts.data[i];
        if (outdated(c, f)) {
            old++;
            continue;
        }
        Pair p = {.side = {side_of(c, &f->side[0]), side_of(c, &f->side[1])}, .is = f};
        if (compare_sides(&p.side[0], &p.side[1]) > 0) {
            Side s = p.side[0];
            p.side[0] = p.side[1];
            p.side[1] = s;
        }
        ok = gr_vec_push(&pairs, p);
    }
    if (pairs.len)
        qsort(pairs.data, pairs.len, sizeof *pairs.data, compare_pairs);
    for (size_t i = 0, n; ok && i < pairs.len; i += n) {
        n = copies(&pairs.data[i], pairs.len - i, &here);
        met += here;
        spared += here ? n - here : 0;
        if (here)
            continue;
        if (!shown++)
            puts("touched the same bytes, never seen to overlap:");
        print_pair(&pairs.data[i], n, arena);
    }
    print_counts(met, spared, old);
    gr_vec_free(&pairs);
    return ok;
}

// ---- JSON ----------------------------------------------------------------------------------------------------------

json_t *gr_covered_text(const char *s) {
    json_t *j = s ? json_string(s) : json_null();
    return j ? j : json_string("?"); // a name that is no UTF-8
}

static json_t *side_json(const Side *s, Arena *arena) {
    char id[32];
    snprintf(id, sizeof id, "%016llx", (unsigned long long)s->is->function);
    json_t *o = json_pack("{s:s,s:o,s:I,s:b,s:b,s:I}", "function", id, "name",
                          gr_covered_text(s->function ? gr_demangle(s->function->name, arena) : NULL),
                          "number", (json_int_t)s->is->nth, "waits", (int)s->is->waits, "first",
                          (int)s->is->first, "aimed", (json_int_t)s->is->aimed);
    if (!o || !s->site)
        return o;
    json_t *where = json_pack("{s:s,s:I,s:o,s:I,s:I}", "kind", s->site->kind, "size",
                              (json_int_t)s->site->size, "file", gr_covered_text(s->site->file), "line",
                              (json_int_t)s->site->line, "column", (json_int_t)s->site->col);
    json_object_update(o, where);
    json_decref(where);
    return o;
}

json_t *gr_coverage_conflicts_json(const GrCoverage *c, Arena *arena) {
    json_t *all = json_array();
    for (size_t i = 0; i < c->conflicts.len; i++) {
        const Conflict *f = &c->conflicts.data[i];
        Side side[2] = {side_of(c, &f->side[0]), side_of(c, &f->side[1])};
        json_array_append_new(all, json_pack("{s:b,s:b,s:b,s:[o,o]}", "met", (int)f->met, "likely",
                                             (int)f->likely, "outdated", (int)outdated(c, f), "sides",
                                             side_json(&side[0], arena), side_json(&side[1], arena)));
    }
    return all;
}
