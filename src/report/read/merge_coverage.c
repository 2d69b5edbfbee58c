// SPDX-License-Identifier: Apache-2.0
// What has no runs of its own in a merged report: the most coverage of any report; each text and rule once.
#include "report/read/merge_internal.h"
#include "report/suppress.h"

#include <stdlib.h>
#include <string.h>

static void most(uint64_t *to, uint64_t from) {
    if (*to < from)
        *to = from;
}

static int compare_counted(const void *a, const void *b) {
    return strcmp(((const GrCounted *)a)->text, ((const GrCounted *)b)->text);
}

static void add_texts(GrMerge *m, GrCountedVec *to, const GrCountedVec *from) {
    size_t had = to->len;
    for (size_t k = 0; k < from->len; k++) {
        GrCounted *same = NULL;
        for (size_t i = 0; i < had && !same; i++)
            same = strcmp(to->data[i].text, from->data[k].text) ? NULL : &to->data[i];
        if (same)
            most(&same->count, from->data[k].count);
        else
            gr_merge_check(
                gr_vec_push(to, ((GrCounted){gr_merge_text(m, from->data[k].text), from->data[k].count})), m);
    }
    if (to->len && !m->nomem)
        qsort(to->data, to->len, sizeof *to->data, compare_counted);
}

static int compare_kernels(const void *a, const void *b) {
    const GrKernelCoverage *x = a, *y = b;
    int d;
    if ((d = gr_compare_texts(x->name, y->name)) || (d = gr_compare_texts(x->module, y->module)))
        return d;
    return gr_compare_texts(x->unchecked, y->unchecked);
}

// Two entries become one: its grid is that of the more frequent launches, or comes first.
static void join_kernels(GrKernelCoverage *to, const GrKernelCoverage *from) {
    int d = (to->launches > from->launches) - (to->launches < from->launches);
    for (unsigned k = 0; k < 3 && !d; k++)
        d = (from->grid[k] > to->grid[k]) - (from->grid[k] < to->grid[k]);
    for (unsigned k = 0; k < 3 && !d; k++)
        d = (from->block[k] > to->block[k]) - (from->block[k] < to->block[k]);
    if (d < 0) {
        memcpy(to->grid, from->grid, sizeof to->grid);
        memcpy(to->block, from->block, sizeof to->block);
    }
    most(&to->launches, from->launches);
    most(&to->failed, from->failed);
}

static void add_kernels(GrMerge *m, const GrReport *from) {
    GrReport *to = m->to;
    for (size_t k = 0; k < from->kernels.len; k++) {
        GrKernelCoverage copy = from->kernels.data[k];
        copy.name = gr_merge_text(m, copy.name);
        copy.module = gr_merge_text(m, copy.module);
        copy.unchecked = gr_merge_text(m, copy.unchecked);
        gr_merge_check(gr_vec_push(&to->kernels, copy), m);
    }
    size_t kept = 0;
    if (to->kernels.len && !m->nomem)
        qsort(to->kernels.data, to->kernels.len, sizeof *to->kernels.data, compare_kernels);
    for (size_t k = 0; k < to->kernels.len; k++)
        if (kept && !compare_kernels(&to->kernels.data[kept - 1], &to->kernels.data[k]))
            join_kernels(&to->kernels.data[kept - 1], &to->kernels.data[k]);
        else
            to->kernels.data[kept++] = to->kernels.data[k];
    to->kernels.len = kept;
}

static int compare_rules(const void *a, const void *b) {
    const GrRule *x = a, *y = b;
    int d;
    if ((d = strcmp(x->path, y->path)) || (d = (x->line > y->line) - (x->line < y->line)))
        return d;
    return strcmp(x->text, y->text);
}

static void add_rules(GrMerge *m, struct GrSuppressions **to, const struct GrSuppressions *from) {
    if (!from)
        return;
    if (!*to)
        *to = gr_suppressions_new(&m->to->arena);
    gr_merge_check(*to != NULL, m);
    if (!*to)
        return;
    m->to->owns_rules = true;
    size_t had = (*to)->rules.len;
    for (size_t k = 0; k < from->rules.len; k++) {
        GrRule *same = NULL;
        for (size_t i = 0; i < had && !same; i++)
            same = compare_rules(&(*to)->rules.data[i], &from->rules.data[k]) ? NULL : &(*to)->rules.data[i];
        if (same) {
            most(&same->races, from->rules.data[k].races);
            most(&same->count, from->rules.data[k].count);
        } else {
            GrRule copy = from->rules.data[k];
            copy.text = gr_merge_text(m, copy.text);
            copy.path = gr_merge_text(m, copy.path);
            copy.why = gr_merge_text(m, copy.why);
            gr_merge_check(gr_vec_push(&(*to)->rules, copy), m);
        }
    }
    if ((*to)->rules.len && !m->nomem)
        qsort((*to)->rules.data, (*to)->rules.len, sizeof *(*to)->rules.data, compare_rules);
}

static int compare_possible(const void *a, const void *b) {
    return strcmp(((const GrPossibleRace *)a)->pair.text, ((const GrPossibleRace *)b)->pair.text);
}

static void add_possible(GrMerge *m, const GrReport *from) {
    Map had = {0};
    gr_merge_check(gr_possible_by_text(m->to, &had), m);
    for (size_t k = 0; k < from->possible.len; k++) {
        GrPossible copy = from->possible.data[k].pair;
        if (gr_map_get(&had, copy.text))
            continue;
        copy.text = gr_merge_text(m, copy.text);
        copy.kernel = gr_merge_text(m, copy.kernel);
        for (unsigned side = 0; side < 2; side++) {
            copy.sides[side].function = gr_merge_text(m, copy.sides[side].function);
            copy.sides[side].file = gr_merge_text(m, copy.sides[side].file);
        }
        gr_merge_check(gr_vec_push(&m->to->possible, ((GrPossibleRace){.pair = copy})), m);
    }
    if (m->to->possible.len && !m->nomem)
        qsort(m->to->possible.data, m->to->possible.len, sizeof *m->to->possible.data, compare_possible);
    gr_map_free(&had);
}

void gr_merge_coverage(GrMerge *m, const GrReport *from) {
    GrReport *to = m->to;
    most(&to->modules_checked, from->modules_checked);
    most(&to->modules_unchecked, from->modules_unchecked);
    most(&to->launches_checked, from->launches_checked);
    most(&to->launches_unchecked, from->launches_unchecked);
    most(&to->launches_left_out, from->launches_left_out);
    most(&to->launches_stopped, from->launches_stopped);
    for (unsigned k = 0; k < GR_SITE_STATUS_COUNT; k++)
        most(&to->sites[k], from->sites[k]);
    most(&to->dropped, from->dropped);
    most(&to->aimed_at, from->aimed_at);
    most(&to->watched, from->watched);
    most(&to->replays, from->replays);
    most(&to->unlisted, from->unlisted);
    if (from->so_far.runs > to->so_far.runs) {
        to->so_far = from->so_far;
        to->so_far.name = gr_merge_text(m, from->so_far.name);
    }
    if (gr_compare_texts(to->sample, from->sample) < 0)
        to->sample = gr_merge_text(m, from->sample);
    to->ran |= from->ran;
    to->poisoned |= from->poisoned;
    to->is_void |= from->is_void;
    add_kernels(m, from);
    add_texts(m, &to->absent, &from->absent);
    add_texts(m, &to->notes, &from->notes);
    add_texts(m, &to->remarks, &from->remarks);
    add_texts(m, &to->faults, &from->faults);
    add_texts(m, &to->blind, &from->blind);
    add_texts(m, &to->reasons, &from->reasons);
    add_possible(m, from);
    add_rules(m, &to->suppressions, from->suppressions);
    add_rules(m, &to->bundled, from->bundled);
    add_rules(m, &to->comments, from->comments);
}
