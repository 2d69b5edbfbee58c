// SPDX-License-Identifier: Apache-2.0
#include "repair/holds.h"

#include <string.h>

// Functions that call functions; and how many of a file are looked at.
enum { DEEPEST = 4, MANY = 300 };

static const GrToken *token(const GrHolds *h, uint32_t k) { return &h->code->tokens.data[k]; }

static bool is(const GrHolds *h, uint32_t k, const char *word) {
    return k < h->code->tokens.len && gr_token_is(token(h, k), word);
}

// ---- Groups ------------------------------------------------------------------------------------------------

static bool has_word(const GrHolds *h, uint32_t from, uint32_t to, const char *const words[]) {
    for (uint32_t k = from; k < to; k++)
        for (size_t i = 0; words[i]; i++)
            if (is(h, k, words[i]))
                return true;
    return false;
}

static bool ends_part(const GrHolds *h, uint32_t k, bool in_head) {
    return is(h, k, ";") || is(h, k, "{") || is(h, k, "}") || (in_head && (is(h, k, ",") || is(h, k, "(")));
}

// How wide the words of [from, to) say that a group is: GR_HELD_BY_GAPS: they do not.
static GrHeldBy width_in(const GrHolds *h, uint32_t from, uint32_t to) {
    static const char *const cluster[] = {"this_cluster", "cluster_group", "this_grid", "grid_group", NULL};
    static const char *const block[] = {"this_thread_block", "thread_block", "barrier", NULL};
    static const char *const warp[] = {"tiled_partition", "thread_block_tile", "coalesced_threads", NULL};
    return has_word(h, from, to, warp)      ? GR_HELD_BY_WARP
           : has_word(h, from, to, block)   ? GR_HELD_BY_BLOCK
           : has_word(h, from, to, cluster) ? GR_HELD_BY_CLUSTER
                                            : GR_HELD_BY_GAPS;
}

// How wide the group is, as what names it in the function says: its declaration. Not known: as a warp.
static GrHeldBy width_of(const GrHolds *h, uint32_t name) {
    const GrFunctionCode *f = h->function;
    GrHeldBy own = width_in(h, name, name + 1); // this_thread_block()
    for (uint32_t k = f->head + 1; own == GR_HELD_BY_GAPS && k < f->body->to; k++) {
        if (!gr_token_same(token(h, k), token(h, name)) || is(h, k + 1, ".") || is(h, k + 1, "->"))
            continue;
        bool in_head = k < f->body->from;
        uint32_t from = k, to = k;
        while (from > f->head && !ends_part(h, from - 1, in_head))
            from--;
        while (to < f->body->to && !ends_part(h, to, in_head))
            to++;
        own = width_in(h, from, to);
    }
    return own == GR_HELD_BY_GAPS ? GR_HELD_BY_WARP : own;
}

static bool is_group_sync(const GrHolds *h, uint32_t k) {
    bool sync = is(h, k, "sync") && is(h, k + 1, "(") && k > 1, waits = is(h, k, "arrive_and_wait") && k;
    if (!sync)
        return waits && h->by <= GR_HELD_BY_BLOCK;
    uint32_t name = 0; // of group.sync(, this_cluster().sync(, cg::sync(group
    if (is(h, k - 1, ".") || is(h, k - 1, "->"))
        name = k > 4 && is(h, k - 2, ")") && is(h, k - 3, "(") ? k - 4 : k - 2;
    else if (is(h, k - 1, "::"))
        name = k + 2;
    return name && gr_token_is_name(token(h, name)) && width_of(h, name) >= h->by;
}

// ---- Calls and words ---------------------------------------------------------------------------------------

static bool in_text(const GrToken *t, const char *words) {
    return memmem(t->text, t->len, words, strlen(words)) != NULL;
}

// A barrier in a text of PTX.
static bool is_ptx(const GrHolds *h, const GrToken *t) {
    if (t->text[0] != '"' && t->text[0] != 'R')
        return false;
    if (in_text(t, "barrier.cluster.wait"))
        return true;
    return (h->by <= GR_HELD_BY_BLOCK &&
            (in_text(t, "bar.sync") || in_text(t, "barrier.sync") || in_text(t, "bar.red"))) ||
           (h->by == GR_HELD_BY_WARP && in_text(t, "bar.warp.sync"));
}

// A call of a function of the file whose body holds one.
static bool is_call(const GrHolds *h, uint32_t k) {
    const GrCode *c = h->code;
    uint32_t open = k + 1;
    if (!gr_token_is_name(token(h, k)))
        return false;
    if (is(h, open, "<")) // f<4>(…)
        while (open < c->tokens.len && !is(h, open, "(") && !is(h, open, ";"))
            open++;
    for (size_t i = 0; is(h, open, "(") && i < c->functions.len; i++) {
        const GrFunctionCode *f = &c->functions.data[i];
        if (f->holds[h->by] && f->name && gr_token_same(f->name, token(h, k)))
            return true;
    }
    return false;
}

static bool words_hold(const GrHolds *h, uint32_t from, uint32_t to) {
    for (uint32_t k = from; k < to && h->by != GR_HELD_BY_GAPS; k++) {
        const GrToken *t = token(h, k);
        if ((h->by <= GR_HELD_BY_BLOCK &&
             (gr_token_starts(t, "__syncthreads") || gr_token_is(t, "__barrier_sync"))) ||
            (h->by == GR_HELD_BY_WARP && gr_token_is(t, "__syncwarp")) || is_ptx(h, t) ||
            is_group_sync(h, k) || is_call(h, k))
            return true;
    }
    return false;
}

// ---- Statements --------------------------------------------------------------------------------------------

bool gr_holds_gap(const GrHolds *h, const GrStatement *block, const GrStatement *before) {
    for (unsigned k = 0; k < h->n_gaps; k++)
        if (h->gaps[k].block == block && h->gaps[k].before == before)
            return true;
    return false;
}

bool gr_holds(const GrHolds *h, const GrStatement *s) {
    const GrStatement *c = s->child;
    if (s->kind == GR_STMT_SIMPLE)
        return words_hold(h, s->from, s->to);
    if (s->kind == GR_STMT_BLOCK) {
        for (; c; c = c->next)
            if (gr_holds_gap(h, s, c) || gr_holds(h, c))
                return true;
        return gr_holds_gap(h, s, NULL);
    }
    if (words_hold(h, s->decides, s->decided))
        return true;
    if (s->kind == GR_STMT_IF)
        return c && c->next && gr_holds(h, c) && gr_holds(h, c->next);
    return s->kind == GR_STMT_LOOP && c && gr_holds(h, c);
}

void gr_holds_functions(GrCode *c) {
    bool news = c->functions.len <= MANY;
    for (unsigned depth = 0; news && depth < DEEPEST; depth++) {
        news = false;
        for (size_t i = 0; i < c->functions.len; i++) {
            GrFunctionCode *f = &c->functions.data[i];
            for (GrHeldBy by = GR_HELD_BY_WARP; f->device && by < GR_HELD_BY_GAPS; by++) {
                bool holds = gr_holds(&(GrHolds){.code = c, .function = f, .by = by}, f->body);
                news |= holds != f->holds[by];
                f->holds[by] = holds;
            }
        }
    }
}

bool gr_holds_behind(const GrHolds *h, const GrStatement *s, const GrStatement *stop) {
    for (; s && s != stop && s->parent; s = s->parent) {
        if (s->parent->kind != GR_STMT_BLOCK || s->parent == stop)
            continue;
        for (const GrStatement *q = s->next; q; q = q->next)
            if (gr_holds_gap(h, s->parent, q) || gr_holds(h, q))
                return true;
        if (gr_holds_gap(h, s->parent, NULL))
            return true;
    }
    return false;
}

bool gr_holds_before(const GrHolds *h, const GrStatement *s, const GrStatement *stop) {
    for (; s && s != stop && s->parent; s = s->parent) {
        if (s->parent->kind != GR_STMT_BLOCK || s->parent == stop)
            continue;
        for (const GrStatement *q = s->parent->child; q && q != s; q = q->next)
            if (gr_holds_gap(h, s->parent, q) || gr_holds(h, q))
                return true;
        if (gr_holds_gap(h, s->parent, s))
            return true;
    }
    return false;
}
