// SPDX-License-Identifier: Apache-2.0
#include "ptx/cfg.h"

#include "base/map.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

typedef VEC(uint32_t) Edges;

typedef struct Builder {
    Cfg *g;
    Arena *arena;
    Map of_stmt;  // PtxStmt * of a leader -> block + 1
    Edges *succs; // per block
    gr_error *err;
} Builder;

static const uint32_t NONE = UINT32_MAX;

static bool is_instr(const PtxStmt *s) { return s->kind == PTX_INSTR; }

// Control never falls out of the bottom of such a statement.
static bool never_falls_through(const PtxStmt *s) {
    if (!is_instr(s) || s->instr->guard)
        return false;
    const PtxInstr *i = s->instr;
    return (gr_ptx_op_flags(i->op) & (PTX_F_EXIT | PTX_F_BRANCH)) ||
           (i->op == PTX_OP_CALL && i->callee && i->callee->noreturn);
}

static bool ends_block(const PtxStmt *s) {
    return is_instr(s) &&
           ((gr_ptx_op_flags(s->instr->op) & (PTX_F_EXIT | PTX_F_BRANCH)) || never_falls_through(s));
}

enum { EVERY = 64 }; // statements of a block: one of so many is marked

static int by_address(const void *a, const void *b) {
    uintptr_t x = (uintptr_t)((const CfgMark *)a)->stmt, y = (uintptr_t)((const CfgMark *)b)->stmt;
    return (x > y) - (x < y);
}

// Marks the first statement of each of the `n` blocks and more of long ones, sorted by address.
static gr_status mark_statements(Builder *b, const PtxFunc *f, uint32_t n) {
    Cfg *g = b->g;
    uint32_t all = 0, of_block = 0, block = 0;
    for (const PtxStmt *s = f->first; s; s = s->next)
        all++;
    GR_NEED((g->marks = GR_NEW_ARRAY(b->arena, CfgMark, (size_t)n + all / EVERY + 1)), b->err);
    for (const PtxStmt *s = f->first; s && n; s = s->next) {
        if (block + 1 < n && s == g->blocks[block + 1].first) {
            block++;
            of_block = 0;
        }
        if (of_block++ % EVERY == 0)
            g->marks[g->n_marks++] = (CfgMark){s, block};
    }
    qsort(g->marks, g->n_marks, sizeof *g->marks, by_address);
    return GR_OK;
}

// Blocks lie one behind another: each ends where the next one begins.
static gr_status place_blocks(Builder *b, const PtxFunc *f, uint32_t n) {
    CfgBlock *cur = NULL;
    for (PtxStmt *s = f->first; s; s = s->next) {
        uintptr_t id = (uintptr_t)gr_map_get_u64(&b->of_stmt, (uintptr_t)s);
        if (id) {
            cur = &b->g->blocks[id - 1];
            cur->first = s;
        }
        cur->last = s;
    }
    for (uint32_t k = 0; k <= n; k++)
        b->g->blocks[k].id = k;
    return mark_statements(b, f, n);
}

static gr_status find_blocks(Builder *b, const PtxFunc *f) {
    uint32_t n = 0;
    bool leader = true, had_instr = false;
    for (PtxStmt *s = f->first; s; s = s->next) {
        // Labels in a row start one block; so does a label behind anything that runs.
        if (s->kind == PTX_LABEL_DEF && had_instr)
            leader = true;
        if (leader) {
            GR_NEED(gr_map_put_u64(&b->of_stmt, (uintptr_t)s, (void *)(uintptr_t)++n), b->err);
            leader = had_instr = false;
        }
        had_instr |= is_instr(s);
        if (ends_block(s))
            leader = true;
    }
    b->g->n_blocks = n + 1;
    b->g->blocks = GR_NEW_ARRAY(b->arena, CfgBlock, n + 1);
    b->succs = calloc(n + 1, sizeof *b->succs);
    GR_NEED(b->g->blocks && b->succs, b->err);
    return place_blocks(b, f, n);
}

static gr_status add_edge(Builder *b, uint32_t from, uint32_t to) {
    Edges *e = &b->succs[from];
    for (size_t k = 0; k < e->len && k < 8; k++) // a full search would be quadratic for large brx tables
        if (e->data[k] == to)
            return GR_OK;
    return gr_vec_push(e, to) ? GR_OK : gr_no_memory(b->err);
}

// The block that starts at a label: its own statement, or that of the first of the labels in a row with it.
static uint32_t block_of_label(const Builder *b, const PtxLabel *l) {
    for (PtxStmt *s = l->stmt; s; s = s->prev) {
        uintptr_t id = (uintptr_t)gr_map_get_u64(&b->of_stmt, (uintptr_t)s);
        if (id)
            return (uint32_t)id - 1;
    }
    return NONE;
}

static gr_status branch_to(Builder *b, uint32_t from, const PtxStmt *s, const PtxLabel *l) {
    uint32_t to = l ? block_of_label(b, l) : NONE;
    if (to == NONE)
        return gr_fail_at(b->err, GR_ERR_SYNTAX, b->g->func->module->name, s->line, s->col,
                          "branch to '%s', which is not in function '%s'", l ? l->name : "?",
                          b->g->func->name);
    return add_edge(b, from, to);
}

static gr_status find_edges(Builder *b) {
    uint32_t exit = b->g->n_blocks - 1;
    gr_status st = GR_OK;
    for (uint32_t k = 0; k < exit && st == GR_OK; k++) {
        const PtxStmt *s = b->g->blocks[k].last;
        const PtxInstr *i = is_instr(s) ? s->instr : NULL;
        unsigned flags = i ? gr_ptx_op_flags(i->op) : 0;
        // Fall-through comes first, so that reverse post-order keeps the text's order where it can.
        if (!never_falls_through(s))
            st = add_edge(b, k, k + 1); // off the end is a return (9.7.12.4): the exit is next
        else if (!(flags & PTX_F_BRANCH))
            st = add_edge(b, k, exit);
        if (st != GR_OK || !i)
            continue;
        if (i->guard && (flags & PTX_F_EXIT))
            st = add_edge(b, k, exit);
        if (!(flags & PTX_F_BRANCH) || !i->n_operands)
            continue;
        const PtxLabel *target = i->operands[i->n_operands - 1].label;
        if (i->op == PTX_OP_BRX && target && target->stmt && target->stmt->targets) {
            for (uint32_t t = 0; t < target->stmt->n_targets && st == GR_OK; t++)
                st = branch_to(b, k, s, target->stmt->targets[t]);
        } else {
            st = branch_to(b, k, s, target);
        }
    }
    return st;
}

// Copies the edges into the arena and inverts them. `count` is used as a scratch array of n_blocks.
static gr_status freeze_edges(Builder *b, uint32_t *count) {
    Cfg *g = b->g;
    memset(count, 0, g->n_blocks * sizeof *count);
    for (uint32_t k = 0; k < g->n_blocks; k++) {
        CfgBlock *blk = &g->blocks[k];
        blk->n_succs = (uint32_t)b->succs[k].len;
        GR_NEED((blk->succs = GR_NEW_ARRAY(b->arena, uint32_t, blk->n_succs + 1)), b->err);
        if (blk->n_succs)
            memcpy(blk->succs, b->succs[k].data, blk->n_succs * sizeof(uint32_t));
        for (uint32_t e = 0; e < blk->n_succs; e++)
            count[blk->succs[e]]++;
    }
    for (uint32_t k = 0; k < g->n_blocks; k++)
        GR_NEED((g->blocks[k].preds = GR_NEW_ARRAY(b->arena, uint32_t, count[k] + 1)), b->err);
    for (uint32_t k = 0; k < g->n_blocks; k++)
        for (uint32_t e = 0; e < g->blocks[k].n_succs; e++) {
            CfgBlock *to = &g->blocks[g->blocks[k].succs[e]];
            to->preds[to->n_preds++] = k;
        }
    return GR_OK;
}

// ---- Orders and dominators -------------------------------------------------------------------------------

// One direction of the graph. Backwards, blocks with to_exit have the exit as one more successor.
typedef struct View {
    const Cfg *g;
    bool backwards;
    uint32_t root;
    uint32_t *rpo, *order; // position by block, block by position
    uint32_t n_order;
} View;

static const uint32_t *edges(const View *v, uint32_t k, uint32_t *n) {
    const CfgBlock *b = &v->g->blocks[k];
    *n = v->backwards ? b->n_preds : b->n_succs;
    return v->backwards ? b->preds : b->succs;
}

// Depth-first from `from`, appending to order in post-order. `stack` holds 2 * n_blocks words.
static void visit(View *v, uint32_t from, uint32_t *stack, uint32_t *post, uint32_t *n_post) {
    uint32_t sp = 0;
    stack[0] = from;
    stack[1] = 0;
    v->rpo[from] = 0;
    for (;;) {
        uint32_t n, blk = stack[2 * sp];
        const uint32_t *e = edges(v, blk, &n);
        uint32_t next = stack[2 * sp + 1];
        while (next < n && v->rpo[e[next]] != NONE)
            next++;
        if (next < n) {
            stack[2 * sp + 1] = next + 1;
            sp++;
            stack[2 * sp] = e[next];
            stack[2 * sp + 1] = 0;
            v->rpo[e[next]] = 0;
            continue;
        }
        post[(*n_post)++] = blk;
        if (!sp--)
            return;
    }
}

static void reverse_order(View *v, const uint32_t *post, uint32_t n_post) {
    v->n_order = n_post;
    for (uint32_t k = 0; k < n_post; k++) {
        v->order[k] = post[n_post - 1 - k];
        v->rpo[v->order[k]] = k;
    }
}

// The tree of dominators so far. Code that many blocks of a long chain branch to has all of them as predecessors, so
// the nearest common ancestor is not searched step by step. Each node knows one far above it, at a depth that only its
// own depth decides (Myers' skip lists); so the way up takes a logarithm of steps.
typedef struct Tree {
    uint32_t *idom, *depth, *jump;
    bool jumps; // they are those of this tree
} Tree;

static void hang(Tree *t, uint32_t node, uint32_t below) {
    uint32_t j = t->jump[below];
    t->idom[node] = below;
    t->depth[node] = t->depth[below] + 1;
    t->jump[node] = t->depth[below] - t->depth[j] == t->depth[j] - t->depth[t->jump[j]] ? t->jump[j] : below;
}

static uint32_t climb(const Tree *t, uint32_t a, uint32_t depth) {
    while (t->depth[a] > depth)
        a = t->depth[t->jump[a]] >= depth ? t->jump[a] : t->idom[a];
    return a;
}

static uint32_t intersect(const uint32_t *rpo, const Tree *t, uint32_t a, uint32_t b) {
    if (t->jumps) {
        a = climb(t, a, t->depth[b]);
        b = climb(t, b, t->depth[a]);
    }
    while (a != b && t->jumps) {
        bool far = t->jump[a] != t->jump[b];
        a = far ? t->jump[a] : t->idom[a];
        b = far ? t->jump[b] : t->idom[b];
    }
    while (a != b) {
        while (rpo[a] > rpo[b])
            a = t->idom[a];
        while (rpo[b] > rpo[a])
            b = t->idom[b];
    }
    return a;
}

// The nearest dominator that all edges into the block allow.
static uint32_t nearest(const View *v, const Tree *t, uint32_t blk) {
    View against = *v; // edges against the view's direction
    against.backwards = !v->backwards;
    uint32_t n, best = NONE;
    const uint32_t *e = edges(&against, blk, &n);
    for (uint32_t x = 0; x < n; x++)
        if (v->rpo[e[x]] != NONE && t->idom[e[x]] != NONE)
            best = best == NONE ? e[x] : intersect(v->rpo, t, e[x], best);
    if (v->backwards && v->g->blocks[blk].to_exit)
        best = best == NONE ? v->root : intersect(v->rpo, t, v->root, best);
    return best;
}

// A node that moves takes all below it along: until the next pass their jumps lead elsewhere.
static void move(Tree *t, uint32_t blk, uint32_t to) {
    bool is_new = t->idom[blk] == NONE;
    if (is_new && t->jumps) {
        hang(t, blk, to);
        return;
    }
    t->jumps = false;
    t->idom[blk] = to;
}

// Cooper, Harvey and Kennedy's iteration, figure 3.
static void dominators(const View *v, Tree *t) {
    for (uint32_t k = 0; k < v->g->n_blocks; k++)
        t->idom[k] = NONE;
    t->idom[v->root] = t->jump[v->root] = v->root;
    t->depth[v->root] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        t->jumps = true;
        for (uint32_t k = 1; k < v->n_order; k++)
            if (t->idom[v->order[k]] != NONE)
                hang(t, v->order[k], t->idom[v->order[k]]);
        for (uint32_t k = 1; k < v->n_order; k++) {
            uint32_t blk = v->order[k], best = nearest(v, t, blk);
            if (best != t->idom[blk]) {
                move(t, blk, best);
                changed = true;
            }
        }
    }
    t->idom[v->root] = NONE;
}

// Orders blocks backwards from the exit. While blocks are left that never reach it, one of each infinite loop gets an
// edge there: the latest in forward order, which is in the innermost part of the loop's text.
static void backwards_order(View *v, uint32_t *stack, uint32_t *post, uint32_t *pieces) {
    Cfg *g = (Cfg *)v->g;
    // Each piece is a post-order of its own; a later piece hangs below the exit, so in post-order it precedes it.
    uint32_t n_pieces = 0, n_post = 0;
    pieces[n_pieces++] = 0;
    visit(v, v->root, stack, post, &n_post);
    for (uint32_t k = g->n_order + g->n_blocks; k-- > 0;) { // unreachable blocks come last
        uint32_t blk = k >= g->n_blocks ? g->order[k - g->n_blocks] : k;
        if (v->rpo[blk] != NONE)
            continue;
        g->blocks[blk].to_exit = true;
        pieces[n_pieces++] = n_post;
        visit(v, blk, stack, post, &n_post);
    }
    // Reverse post-order of the whole with the extra edges: the exit's piece comes first, and the others in any order.
    // (Only the new edges, from the exit itself, lead from the exit's piece into the others.)
    uint32_t n = 0;
    for (uint32_t piece = 0; piece < n_pieces; piece++) {
        uint32_t lo = pieces[piece], hi = piece + 1 < n_pieces ? pieces[piece + 1] : n_post;
        for (uint32_t k = hi; k-- > lo;) {
            v->order[n] = post[k];
            v->rpo[post[k]] = n++;
        }
    }
    v->n_order = n;
}

gr_status gr_cfg_build(const PtxFunc *f, Arena *arena, Cfg *out, gr_error *err) {
    *out = (Cfg){.func = f};
    Builder b = {.g = out, .arena = arena, .err = err};
    uint32_t *mem = NULL;
    gr_status st = GR_OK;
    GR_TRY(find_blocks(&b, f));
    size_t n = out->n_blocks;
    GR_TRY((mem = malloc(n * 10 * sizeof *mem)) && (out->order = GR_NEW_ARRAY(arena, uint32_t, n))
               ? GR_OK
               : gr_no_memory(b.err));
    if (n > 1) {
        GR_TRY(find_edges(&b));
    }
    GR_TRY(freeze_edges(&b, mem));
    uint32_t *rpo = mem, *order = mem + n, *idom = mem + 2 * n, *post = mem + 3 * n, *stack = mem + 4 * n,
             *pieces = mem + 6 * n, n_post = 0;
    Tree tree = {.idom = idom, .depth = mem + 8 * n, .jump = mem + 9 * n};
    memset(rpo, 0xff, n * sizeof *rpo);
    View fwd = {.g = out, .root = 0, .rpo = rpo, .order = out->order};
    visit(&fwd, 0, stack, post, &n_post);
    reverse_order(&fwd, post, n_post);
    out->n_order = fwd.n_order;
    dominators(&fwd, &tree);
    for (uint32_t k = 0; k < n; k++) {
        out->blocks[k].rpo = rpo[k];
        out->blocks[k].idom = idom[k];
    }
    memset(rpo, 0xff, n * sizeof *rpo);
    View back = {.g = out, .backwards = true, .root = (uint32_t)n - 1, .rpo = rpo, .order = order};
    backwards_order(&back, stack, post, pieces);
    dominators(&back, &tree);
    for (uint32_t k = 0; k < n; k++)
        out->blocks[k].ipdom = k == n - 1 ? NONE : idom[k];
done:
    if (b.succs)
        for (uint32_t k = 0; k < out->n_blocks; k++)
            gr_vec_free(&b.succs[k]);
    free(b.succs);
    free(mem);
    gr_map_free(&b.of_stmt);
    return st;
}

uint32_t gr_cfg_block_of(const Cfg *g, const PtxStmt *s) {
    for (; s; s = s->prev) {
        size_t lo = 0, hi = g->n_marks;
        while (lo < hi) {
            size_t mid = (lo + hi) / 2;
            if ((uintptr_t)g->marks[mid].stmt < (uintptr_t)s)
                lo = mid + 1;
            else
                hi = mid;
        }
        if (lo < g->n_marks && g->marks[lo].stmt == s)
            return g->marks[lo].block;
    }
    return NONE;
}

bool gr_cfg_dominates(const Cfg *g, uint32_t a, uint32_t b) {
    while (b != NONE && b != a)
        b = g->blocks[b].idom;
    return b == a;
}

bool gr_cfg_postdominates(const Cfg *g, uint32_t a, uint32_t b) {
    while (b != NONE && b != a)
        b = g->blocks[b].ipdom;
    return b == a;
}
