// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_together.h"

#include "base/str.h"
#include "ptx/cfg.h"

#include <string.h>

enum { BLOCKS_MOST = 4096 }; // between a branch and its end; lanes behind more are left as they are

typedef struct Together {
    const ColliderWork *w;
    const TogetherModule *module;
    const DefUse *uses;
    PtxFunc *func;
    Cfg cfg;
    Arena arena;
    bool *in;        // by block: it lies between
    uint32_t *queue; // the blocks that lie between
    uint32_t n;
} Together;

static bool asks(const PtxFunc *f) {
    for (const PtxStmt *s = f->first; s; s = s->next)
        if (s->kind == PTX_INSTR && !s->tag.inserted && s->instr->op == PTX_OP_ACTIVEMASK)
            return true;
    return false;
}

// ---- What may lie between ----------------------------------------------------------------------------------------

// Loads past the first cache count as well: programs poll by these, too.
static bool is_strong(const PtxInstr *i) {
    return gr_ptx_instr_flags(i) & PTX_F_ATOMIC || (i->sem != PTX_SEM_NONE && i->sem != PTX_WEAK) ||
           i->op == PTX_OP_MBARRIER || i->op == PTX_OP_UNKNOWN ||
           (i->op == PTX_OP_LD && (gr_ptx_instr_has(i, PTX_MOD_cg) || gr_ptx_instr_has(i, PTX_MOD_cv)));
}

static bool is_block_barrier(const PtxInstr *i) {
    return gr_ptx_instr_flags(i) & PTX_F_BARRIER && !gr_ptx_instr_has(i, PTX_MOD_warp);
}

// Waits for nobody.
static bool is_quiet(const PtxFunc *f) {
    for (const PtxStmt *s = f->first; s; s = s->next)
        if (s->kind == PTX_INSTR && (is_strong(s->instr) || is_block_barrier(s->instr) ||
                                     gr_ptx_instr_flags(s->instr) & (PTX_F_CALL | PTX_F_COLLECTIVE)))
            return false;
    return f->has_body;
}

bool gr_together_module(PtxModule *m, TogetherModule *t) {
    *t = (TogetherModule){.quiet = GR_NEW_ARRAY(&m->arena, bool, (size_t)m->n_funcs + 1)};
    for (uint32_t k = 0; t->quiet && k < m->n_funcs; k++) {
        const PtxFunc *f = m->funcs[k];
        t->quiet[f->index] = !f->is_entry && is_quiet(f);
        t->called = t->called || (!f->is_entry && asks(f));
    }
    return t->quiet != NULL;
}

static const PtxStmt *last_instr(const CfgBlock *b) {
    const PtxStmt *s = b->last;
    while (s && s != b->first && s->kind != PTX_INSTR)
        s = s->prev;
    return s && s->kind == PTX_INSTR ? s : NULL;
}

static bool is_mask_of(const Together *t, const PtxOperand *o, unsigned depth);

// Whether the instruction's result names only lanes that lie between. (The masks of votes and matches are looked at as
// well.)
static bool gives_lanes(const Together *t, const PtxInstr *i, unsigned depth) {
    bool asks = i->op == PTX_OP_ACTIVEMASK || i->op == PTX_OP_VOTE || i->op == PTX_OP_MATCH;
    if (asks || i->n_operands < (i->op == PTX_OP_MOV ? 2 : 3))
        return asks;
    switch (i->op) {
    case PTX_OP_MOV: return is_mask_of(t, &i->operands[1], depth);
    case PTX_OP_AND: return is_mask_of(t, &i->operands[1], depth) || is_mask_of(t, &i->operands[2], depth);
    case PTX_OP_OR: return is_mask_of(t, &i->operands[1], depth) && is_mask_of(t, &i->operands[2], depth);
    default: return false;
    }
}

// Whether the operand has no lanes but those that lie between: all that sets it lies between, and has asked there.
static bool is_mask_of(const Together *t, const PtxOperand *o, unsigned depth) {
    uint32_t found = 0;
    if (o->kind != PTX_O_REG || !depth)
        return false;
    for (uint32_t k = 0; k < t->n; k++) {
        const CfgBlock *b = &t->cfg.blocks[t->queue[k]];
        for (const PtxStmt *s = b->first; s; s = s == b->last ? NULL : s->next) {
            if (s->kind != PTX_INSTR || !s->instr->n_operands || gr_ptx_op_flags(s->instr->op) & PTX_F_NO_DST)
                continue;
            const PtxOperand *to = &s->instr->operands[0];
            if (to->kind != PTX_O_REG && to->n_sub)
                to = &to->sub[0];
            if (to->kind != PTX_O_REG || to->reg != o->reg)
                continue;
            found++;
            if (!gives_lanes(t, s->instr, depth - 1))
                return false;
        }
    }
    return found && found == t->uses->regs[o->reg->index].defs;
}

// Whether lanes that are elsewhere may belong to it: a lane that shuffles, votes or waits for the warp here may need
// one that does so behind the end.
static bool needs_others(const Together *t, const PtxInstr *i) {
    enum { DEPTH = 4 };
    bool masked = i->op == PTX_OP_SHFL || i->op == PTX_OP_VOTE || i->op == PTX_OP_MATCH ||
                  i->op == PTX_OP_REDUX || i->op == PTX_OP_ELECT ||
                  (gr_ptx_instr_flags(i) & PTX_F_BARRIER && gr_ptx_instr_has(i, PTX_MOD_warp));
    return masked && i->n_operands && !is_mask_of(t, &i->operands[i->n_operands - 1], DEPTH);
}

// Whether lanes between may wait for others than those that are there, too. A loop has a jump back in the text.
static bool may_wait(const Together *t) {
    bool loops = false, strong = false;
    for (uint32_t k = 0; k < t->n; k++) {
        const CfgBlock *b = &t->cfg.blocks[t->queue[k]];
        for (uint32_t j = 0; j < b->n_succs; j++)
            loops = loops || (t->in[b->succs[j]] && b->succs[j] <= b->id);
        for (const PtxStmt *s = b->first; s; s = s == b->last ? NULL : s->next) {
            if (s->kind != PTX_INSTR)
                continue;
            strong = strong || is_strong(s->instr);
            if (is_block_barrier(s->instr) || needs_others(t, s->instr) ||
                (gr_ptx_instr_flags(s->instr) & PTX_F_CALL &&
                 !(s->instr->callee && t->module->quiet[s->instr->callee->index])))
                return true;
        }
    }
    return loops && strong;
}

// ---- What lies between -------------------------------------------------------------------------------------------

static bool is_reached(const Together *t, uint32_t block) { return t->cfg.blocks[block].rpo != UINT32_MAX; }

static bool add(Together *t, uint32_t block, uint32_t end) {
    if (block == end || t->in[block])
        return true;
    if (t->n == BLOCKS_MOST)
        return false;
    t->in[block] = true;
    t->queue[t->n++] = block;
    return true;
}

static void forget(Together *t) {
    for (uint32_t k = 0; k < t->n; k++)
        t->in[t->queue[k]] = false;
    t->n = 0;
}

// Whether all ways into `block` come from what lies between, or from `from`.
static bool comes_from(const Together *t, uint32_t block, uint32_t from) {
    const CfgBlock *b = &t->cfg.blocks[block];
    for (uint32_t k = 0; k < b->n_preds; k++)
        if (!t->in[b->preds[k]] && b->preds[k] != from && is_reached(t, b->preds[k]))
            return false;
    return true;
}

// Fills what lies between the end of the block `from` and the beginning of the block `end`. False: that is not one
// piece of code with one way in and one way out, or lanes may wait in it.
static bool find_between(Together *t, uint32_t from, uint32_t end) {
    const CfgBlock *b = &t->cfg.blocks[from];
    bool fine = end != UINT32_MAX && end != t->cfg.n_blocks - 1;
    for (uint32_t k = 0; k < b->n_succs && fine; k++)
        fine = add(t, b->succs[k], end);
    for (uint32_t k = 0; k < t->n && fine; k++)
        for (uint32_t j = 0; j < t->cfg.blocks[t->queue[k]].n_succs && fine; j++)
            fine = add(t, t->cfg.blocks[t->queue[k]].succs[j], end);
    fine = fine && t->n && !t->in[from] && comes_from(t, end, from);
    for (uint32_t k = 0; k < t->n && fine; k++)
        fine = comes_from(t, t->queue[k], from);
    return fine && !may_wait(t);
}

// Where the loop ends whose header is the only way out of the block `from`; UINT32_MAX: there is none.
static uint32_t end_of_loop(Together *t, uint32_t from) {
    uint32_t header = t->cfg.blocks[from].succs[0], end = UINT32_MAX;
    const CfgBlock *h = &t->cfg.blocks[header];
    bool loops = false, fine = true;
    for (uint32_t k = 0; k < h->n_preds && fine; k++)
        if (h->preds[k] != from && is_reached(t, h->preds[k])) {
            loops = true;
            fine = gr_cfg_dominates(&t->cfg, header, h->preds[k]) && add(t, h->preds[k], header);
        }
    for (uint32_t k = 0; k < t->n && fine; k++)
        for (uint32_t j = 0; j < t->cfg.blocks[t->queue[k]].n_preds && fine; j++)
            if (is_reached(t, t->cfg.blocks[t->queue[k]].preds[j]))
                fine = add(t, t->cfg.blocks[t->queue[k]].preds[j], header);
    if (loops && fine)
        for (end = h->ipdom; end != UINT32_MAX && t->in[end];)
            end = t->cfg.blocks[end].ipdom;
    forget(t);
    return end;
}

// ---- The code ----------------------------------------------------------------------------------------------------

static gr_status put_lanes(const ColliderWork *w, PtxFunc *f, PtxStmt *at, const Lanes *l) {
    const char *r = l->mask->name, *own = gr_ptx_new_reg(f, PTX_B32)->name,
               *never = gr_ptx_new_reg(f, PTX_PRED)->name;
    PtxOperand to = gr_ptx_label_operand(l->behind);
    return gr_emit(
        f, at, 0, &to, 1, w->err,
        "activemask.b32 %s; mov.u32 %s, %%lanemask_eq; or.b32 %s, %s, %s; setp.eq.u32 %s, %s, 0; @%s "
        "bra $0;",
        r, own, r, r, own, never, own, never);
}

static gr_status put_join(const ColliderWork *w, PtxFunc *f, PtxStmt *at, const Lanes *l) {
    const char *all = gr_ptx_new_reg(f, PTX_B32)->name, *p = gr_ptx_new_reg(f, PTX_PRED)->name;
    GR_EMIT(f, at, w->err, "setp.eq.u32 %s, 0, 0; vote.sync.ballot.b32 %s, %s, %s;", p, all, p,
            l->mask->name);
    gr_ptx_insert_label(f, at, l->behind);
    return GR_OK;
}

static Lanes new_lanes(PtxFunc *f) { return (Lanes){gr_ptx_new_reg(f, PTX_B32), gr_ptx_new_label(f)}; }

static PtxStmt *behind_labels(const CfgBlock *b) {
    PtxStmt *s = b->first;
    while (s && s != b->last && (s->kind == PTX_LABEL_DEF || s->kind == PTX_LOC))
        s = s->next;
    return s && s->kind == PTX_LABEL_DEF ? s->next : s;
}

static PtxStmt *before_end(const CfgBlock *b) {
    const PtxStmt *s = last_instr(b);
    return s && gr_ptx_instr_flags(s->instr) & PTX_F_BRANCH ? (PtxStmt *)s : b->last->next;
}

static gr_status join(Together *t, uint32_t from) {
    gr_status st = GR_OK;
    const CfgBlock *b = &t->cfg.blocks[from];
    uint32_t end = UINT32_MAX;
    if (!b->first || b->n_succs == 0)
        return GR_OK;
    if (b->n_succs > 1)
        end = b->ipdom;
    else if (b->n_succs == 1 && b->succs[0] != from)
        end = end_of_loop(t, from);
    if (find_between(t, from, end)) {
        const Lanes lanes = new_lanes(t->func);
        GR_TRY(put_lanes(t->w, t->func, before_end(b), &lanes));
        st = put_join(t->w, t->func, behind_labels(&t->cfg.blocks[end]), &lanes);
    }
done:
    forget(t);
    return st;
}

gr_status gr_together_open_detour(const ColliderWork *w, Access *a, PtxStmt *at, const PtxReg *condition,
                                  Detour *d) {
    if (!w->joins.mask || a->nested)
        return gr_collider_open_detour(a, at, condition, d);
    const Lanes lanes = new_lanes(a->func);
    GR_MUST(put_lanes(w, a->func, at, &lanes));
    GR_MUST(gr_collider_open_detour(a, at, condition, d));
    return put_join(w, a->func, d->back->stmt->next, &lanes);
}

gr_status gr_together_begin(ColliderWork *w, const TogetherModule *m, const DefUse *uses, PtxFunc *f) {
    gr_status st = GR_OK;
    Together t = {.w = w, .module = m, .uses = uses, .func = f};
    w->joins = (Lanes){0};
    if (!w->pace || !(m->called || asks(f)))
        return GR_OK;
    gr_arena_init(&t.arena);
    gr_error why = {0};
    st = gr_cfg_build(f, &t.arena, &t.cfg, &why);
    if (st != GR_OK) { // its branches make no sense: the assembler will say so
        st = st == GR_ERR_NOMEM ? gr_no_memory(w->err) : GR_OK;
        goto done;
    }
    t.in = GR_NEW_ARRAY(&t.arena, bool, (size_t)t.cfg.n_blocks + 1);
    t.queue = GR_NEW_ARRAY(&t.arena, uint32_t, BLOCKS_MOST);
    GR_TRY(t.in && t.queue ? GR_OK : gr_no_memory(w->err));
    for (uint32_t k = 0; k < t.cfg.n_order; k++)
        GR_TRY(join(&t, t.cfg.order[k]));
    w->joins = new_lanes(f);
    st = put_join(w, f, gr_function_start(f), &w->joins);
done:
    gr_arena_free(&t.arena);
    return st;
}

gr_status gr_together_finish(const ColliderWork *w, PtxFunc *f) {
    return w->joins.mask ? put_lanes(w, f, gr_function_start(f), &w->joins) : GR_OK;
}
