// SPDX-License-Identifier: Apache-2.0
// cond — when a block is reached, as terms.
//
// The condition of a block says how it is reached from its immediate dominator: nothing, if it post-dominates it. So
// what joins again leaves no trace, and conditions stay as small as the nesting of the source.
#include "engines/verifier/kernel/values.h"

#include <stdlib.h>

const GrTerm *gr_bool_not(GrTerms *t, const GrTerm *a) { return a ? gr_term_1(t, GR_TERM_NOT, 1, a) : NULL; }

static bool opposite(const GrTerm *a, const GrTerm *b) {
    return (a->op == GR_TERM_NOT && a->arg[0] == b) || (b->op == GR_TERM_NOT && b->arg[0] == a);
}

static bool has(const GrTerm *a, const GrTerm *part) {
    return a == part || (a->op == GR_TERM_AND && (a->arg[0] == part || a->arg[1] == part));
}

const GrTerm *gr_bool_and(GrTerms *t, const GrTerm *a, const GrTerm *b) {
    if (!a || !b)
        return NULL;
    if (opposite(a, b))
        return gr_term_false(t);
    if (has(a, b))
        return a;
    return has(b, a) ? b : gr_term_2(t, GR_TERM_AND, a, b);
}

// x and y without a factor that both have; NULL: they have none.
static const GrTerm *common(GrTerms *t, const GrTerm *a, const GrTerm *b) {
    if (a->op != GR_TERM_AND || b->op != GR_TERM_AND)
        return NULL;
    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < 2; k++)
            if (a->arg[i] == b->arg[k])
                return gr_bool_and(t, a->arg[i], gr_bool_or(t, a->arg[1 - i], b->arg[1 - k]));
    return NULL;
}

const GrTerm *gr_bool_or(GrTerms *t, const GrTerm *a, const GrTerm *b) {
    if (!a || !b)
        return NULL;
    if (opposite(a, b))
        return gr_term_true(t);
    if (has(a, b)) // a says more
        return b;
    if (has(b, a))
        return a;
    // (p and q) or not p is q or not p.
    for (unsigned i = 0; i < 2; i++) {
        if (a->op == GR_TERM_AND && opposite(a->arg[i], b))
            return gr_bool_or(t, a->arg[1 - i], b);
        if (b->op == GR_TERM_AND && opposite(b->arg[i], a))
            return gr_bool_or(t, b->arg[1 - i], a);
    }
    const GrTerm *c = common(t, a, b);
    return c ? c : gr_term_2(t, GR_TERM_OR, a, b);
}

const GrTerm *gr_bool_ite(GrTerms *t, const GrTerm *c, const GrTerm *a, const GrTerm *b) {
    if (!c || !a || !b || a->bits != 1)
        return gr_term_ite(t, c, a, b);
    if (a->op == GR_TERM_CONST)
        return a->value ? gr_bool_or(t, c, b) : gr_bool_and(t, gr_bool_not(t, c), b);
    if (b->op == GR_TERM_CONST)
        return b->value ? gr_bool_or(t, gr_bool_not(t, c), a) : gr_bool_and(t, c, a);
    return gr_term_ite(t, c, a, b);
}

// A boolean that was made a number is compared with a number.
const GrTerm *gr_bool_equal(GrTerms *t, const GrTerm *a, const GrTerm *b) {
    if (a && b && a->op == GR_TERM_CONST) {
        const GrTerm *swap = a;
        a = b;
        b = swap;
    }
    if (a && b && b->op == GR_TERM_CONST && a->op == GR_TERM_ITE &&
        (a->arg[1]->op == GR_TERM_CONST || a->arg[2]->op == GR_TERM_CONST))
        return gr_bool_ite(t, a->arg[0], gr_bool_equal(t, a->arg[1], b), gr_bool_equal(t, a->arg[2], b));
    if (a && b && b->op == GR_TERM_CONST && a->op == GR_TERM_ZEXT)
        return b->value & ~((a->arg[0]->bits >= 64 ? 0 : UINT64_C(1) << a->arg[0]->bits) - 1)
                   ? gr_term_false(t)
                   : gr_bool_equal(t, a->arg[0], gr_term_const(t, a->arg[0]->bits, b->value));
    if (a && b && b->op == GR_TERM_CONST && a->bits == 1)
        return b->value ? a : gr_bool_not(t, a);
    return gr_term_2(t, GR_TERM_EQ, a, b);
}

// The target of a block's last statement, of which there may be a table.
static const GrTerm *by_table(KWalk *w, uint32_t from, const PtxStmt *s, uint32_t to) {
    const GrTerm *index = w->branch[from], *out = gr_term_false(w->t);
    const PtxLabel *l = s->instr->operands[s->instr->n_operands - 1].label;
    if (!index || !l || !l->stmt || !l->stmt->targets || s->instr->guard)
        return gr_walk_free_value(w, (const KStmt *)s, 100 + to, 1, "a jump through a table");
    for (uint32_t k = 0; k < l->stmt->n_targets; k++)
        if (((KStmt *)l->stmt->targets[k]->stmt)->block == to)
            out = gr_bool_or(w->t, out,
                             gr_term_2(w->t, GR_TERM_EQ, index, gr_term_const(w->t, index->bits, k)));
    return out;
}

const GrTerm *gr_walk_edge(KWalk *w, uint32_t from, uint32_t to) {
    const CfgBlock *b = &w->f->cfg.blocks[from];
    if (b->n_succs < 2)
        return gr_term_true(w->t);
    const PtxStmt *s = b->last;
    if (s->kind == PTX_INSTR && s->instr->op == PTX_OP_BRX)
        return by_table(w, from, s, to);
    const GrTerm *taken = w->branch[from];
    if (!taken)
        return gr_walk_free_value(w, (const KStmt *)s, 100 + to, 1, "a branch");
    return b->succs[0] == to ? gr_bool_not(w->t, taken) : taken; // falling through comes first
}

const GrTerm *gr_walk_reached(KWalk *w, uint32_t dominator, uint32_t block) {
    if (dominator == block)
        return gr_term_true(w->t);
    if (dominator == w->f->cfg.order[0] && w->guard[block])
        return w->guard[block];
    uint32_t n = 0, few[64], *list = few, cap = 64;
    for (uint32_t b = block; b != dominator && b != UINT32_MAX; b = w->f->cfg.blocks[b].idom) {
        if (n == cap) {
            uint32_t *more = malloc((size_t)cap * 2 * sizeof *more);
            if (!more)
                break;
            memcpy(more, list, n * sizeof *list);
            if (list != few)
                free(list);
            list = more;
            cap *= 2;
        }
        list[n++] = b;
    }
    const GrTerm *out = gr_term_true(w->t);
    while (n && out) {
        const GrTerm *c = w->cond[list[--n]];
        out = c ? gr_bool_and(w->t, out, c) : out; // not walked yet: anything
    }
    if (list != few)
        free(list);
    return out;
}

bool gr_walk_never_takes(const KWalk *w, uint32_t from, uint32_t to) {
    const CfgBlock *b = &w->f->cfg.blocks[from];
    const GrTerm *taken = w->branch[from];
    if (b->n_succs != 2 || b->succs[0] == b->succs[1] || !taken || taken->op != GR_TERM_CONST ||
        b->last->kind != PTX_INSTR || b->last->instr->op == PTX_OP_BRX)
        return false;
    return (b->succs[0] == to) == (taken->value != 0); // falling through comes first
}

// Every thread that comes to `from` comes to `block`. The graph alone does not say so if branches that are never taken
// lead elsewhere (to a trap). Looks no further than a few blocks.
static bool all_come(KWalk *w, uint32_t from, uint32_t block) {
    enum { MOST = 512 };
    const Cfg *g = &w->f->cfg;
    uint32_t list[MOST] = {from}, n = 1, now = ++w->marks;
    if (gr_cfg_postdominates(g, block, from))
        return true;
    for (uint32_t done = 0; done < n; done++)
        for (uint32_t k = 0; k < g->blocks[list[done]].n_succs; k++) {
            uint32_t to = g->blocks[list[done]].succs[k];
            if (to == block || w->mark[to] == now || gr_walk_never_takes(w, list[done], to))
                continue;
            if (n == MOST || to == g->n_blocks - 1)
                return false;
            w->mark[to] = now;
            list[n++] = to;
        }
    return true;
}

void gr_walk_enter(KWalk *w, uint32_t block) {
    const Cfg *g = &w->f->cfg;
    const CfgBlock *b = &g->blocks[block];
    const GrTerm *out = NULL;
    if (block == g->order[0]) {
        w->cond[block] = w->guard[block] = gr_term_true(w->t);
        return;
    }
    bool all = all_come(w, b->idom, block);
    for (uint32_t k = 0; !all && k < b->n_preds; k++) {
        uint32_t p = b->preds[k];
        if (!gr_walk_is_forward(w, p, block))
            continue;
        const GrTerm *c = gr_bool_and(w->t, gr_walk_reached(w, b->idom, p), gr_walk_edge(w, p, block));
        out = out ? gr_bool_or(w->t, out, c) : c;
    }
    if (all)
        out = gr_term_true(w->t);
    const KLoop *l = w->f->loop_of[block];
    bool tested_below = l && l->header == block && l->again; // else the header's own test says more
    for (uint32_t k = 0; tested_below && k < b->n_succs; k++)
        tested_below = gr_flat_in_loop(w->f, l, b->succs[k]);
    if (tested_below)
        out = gr_bool_and(w->t, out ? out : gr_term_true(w->t), l->again);
    w->cond[block] = out ? out : gr_term_true(w->t);
    w->guard[block] = gr_bool_and(w->t, w->guard[b->idom], w->cond[block]);
    if (!w->guard[block])
        w->nomem = true;
}

// A thread that comes to the block goes straight to a trap, which ends the whole kernel.
static bool traps(const Cfg *g, uint32_t block) {
    const CfgBlock *b = &g->blocks[block];
    while (b->n_succs == 1) {
        const PtxInstr *i = b->last && b->last->kind == PTX_INSTR ? b->last->instr : NULL;
        const CfgBlock *next = &g->blocks[b->succs[0]];
        if (i && i->op == PTX_OP_TRAP)
            return true;
        if (next->rpo <= b->rpo)
            return false;
        b = next;
    }
    return false;
}

const GrTerm *gr_walk_left(KWalk *w, const KLoop *l) {
    const Cfg *g = &w->f->cfg;
    const GrTerm *out = NULL;
    for (uint32_t k = g->blocks[l->header].rpo; k < g->n_order; k++) {
        uint32_t b = g->order[k];
        if (!gr_flat_dominates(w->f, l->header, b) || !gr_flat_in_loop(w->f, l, b))
            continue;
        for (uint32_t e = 0; e < g->blocks[b].n_succs; e++) {
            uint32_t to = g->blocks[b].succs[e];
            if (gr_flat_in_loop(w->f, l, to) || traps(g, to))
                continue;
            const GrTerm *c = gr_bool_and(w->t, gr_walk_reached(w, l->header, b), gr_walk_edge(w, b, to));
            out = out ? gr_bool_or(w->t, out, c) : c;
        }
    }
    out = out ? out : gr_term_true(w->t);
    return l->again ? gr_bool_and(w->t, out, l->again) : out;
}
