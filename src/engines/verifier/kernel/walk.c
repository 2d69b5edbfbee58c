// SPDX-License-Identifier: Apache-2.0
// walk — one walk over a flat kernel, and walk after walk until nothing new is found.
#include "engines/verifier/kernel/exec.h"

#include <stdlib.h>

enum { LEAST_WALKS = 3, MOST_WALKS = 5, MOST_TERMS = 3000000 };

static bool note_assign(KWalk *w, const KStmt *s, const PtxOperand *o) {
    for (unsigned k = 0; k < o->n_sub; k++)
        if (!note_assign(w, s, &o->sub[k]))
            return false;
    if (o->kind != PTX_O_REG)
        return true;
    uint32_t r = gr_flat_reg(s, o->reg);
    w->n_assigns[r]++;
    w->assign[r] = s;
    return gr_vec_push(&w->assigns[r].list, ((KNote){.block = s->block}));
}

gr_status gr_walk_init(KWalk *w, KFlat *f, GrKernelModel *out) {
    w->f = f;
    w->t = f->t;
    w->out = out;
    uint32_t n = f->n_regs + 1;
    w->reg = calloc(n, sizeof *w->reg);
    w->n_assigns = calloc(n, sizeof *w->n_assigns);
    w->assign = calloc(n, sizeof *w->assign);
    w->assigns = calloc(n, sizeof *w->assigns);
    w->defs = calloc(f->cfg.n_blocks, sizeof *w->defs);
    w->cond = calloc(f->cfg.n_blocks, sizeof *w->cond);
    w->guard = calloc(f->cfg.n_blocks, sizeof *w->guard);
    w->branch = calloc(f->cfg.n_blocks, sizeof *w->branch);
    w->mark = calloc(f->cfg.n_blocks, sizeof *w->mark);
    GR_NEED_OR(w->reg && w->n_assigns && w->assign && w->assigns && w->defs && w->cond && w->guard &&
                   w->branch && w->mark,
               GR_ERR_NOMEM);
    for (size_t k = 0; k < f->stmts.len; k++) {
        const KStmt *s = f->stmts.data[k];
        const PtxInstr *i = s->stmt.instr;
        if (f->cfg.blocks[s->block].rpo == UINT32_MAX)
            continue;
        if (!i->n_operands || i->op == PTX_OP_CALL || (gr_ptx_instr_flags(i) & PTX_F_NO_DST))
            continue;
        GR_NEED_OR(note_assign(w, s, &i->operands[0]), GR_ERR_NOMEM);
    }
    // Variables are made as they are met: their number is not known before. An address of each statement's is enough.
    for (size_t k = 0; k < f->frames.len; k++)
        for (const PtxStmt *s = f->frames.data[k]->func->first; s; s = s->next)
            if (s->kind == PTX_DECL_VAR && (s->var->space == PTX_LOCAL || s->var->space == PTX_PARAM) &&
                !gr_flat_var(f, f->frames.data[k], s->var))
                return GR_ERR_NOMEM;
    for (size_t k = 0; k < f->stmts.len; k++)
        if (f->stmts.data[k]->stmt.instr->op == PTX_OP_ALLOCA && !gr_flat_alloca(f, f->stmts.data[k]))
            return GR_ERR_NOMEM;
    for (size_t k = 0; k < f->frames.len; k++)
        GR_NEED_OR(gr_flat_cut(f, f->frames.data[k]), GR_ERR_NOMEM);
    for (size_t k = 0; k < f->frames.len; k++) { // formal parameters that no call has bound
        const PtxFunc *func = f->frames.data[k]->func;
        for (uint32_t p = 0; p < func->n_rets; p++)
            GR_NEED_OR(gr_flat_var(f, f->frames.data[k], func->rets[p]), GR_ERR_NOMEM);
    }
    w->n_vars = f->vars.len;
    w->notes = calloc(w->n_vars + 2, sizeof *w->notes);
    w->notes_before = calloc(w->n_vars + 2, sizeof *w->notes_before);
    w->escaped = calloc(w->n_vars + 1, 1);
    w->escaped_before = calloc(w->n_vars + 1, 1);
    w->holds = calloc(w->n_vars + 1, sizeof *w->holds);
    w->holds_before = calloc(w->n_vars + 1, sizeof *w->holds_before);
    GR_NEED_OR(w->notes && w->notes_before && w->escaped && w->escaped_before && w->holds && w->holds_before,
               GR_ERR_NOMEM);
    return GR_OK;
}

void gr_walk_spread(KWalk *w) {
    bool reached = false;
    for (size_t k = 0; k < w->n_vars; k++)
        reached |= w->escaped[k] == K_ESCAPED && w->holds[k];
    for (size_t k = 0; reached && k < w->n_vars; k++)
        if (w->escaped[k])
            w->escaped[k] = K_ESCAPED;
}

gr_status gr_walk_begin(KWalk *w) {
    memset(w->reg, 0, w->f->n_regs * sizeof *w->reg);
    for (uint32_t k = 0; k < w->f->cfg.n_blocks; k++) {
        w->defs[k].list.len = 0;
        w->cond[k] = w->guard[k] = w->branch[k] = NULL;
    }
    KNotes *swap = w->notes_before;
    w->notes_before = w->notes;
    w->notes = swap;
    gr_walk_spread(w);
    uint8_t *escaped = w->escaped_before;
    bool *holds = w->holds_before;
    w->escaped_before = w->escaped;
    w->holds_before = w->holds;
    w->escaped = escaped;
    w->holds = holds;
    for (size_t k = 0; k < w->n_vars; k++) {
        if (w->blind) {
            w->escaped_before[k] = K_ESCAPED;
            w->holds_before[k] = true;
        }
        w->escaped[k] = 0;
        w->holds[k] = false;
    }
    for (size_t k = 0; k < w->n_vars + 2; k++)
        w->notes[k].list.len = 0;
    for (size_t k = 0; !w->blind && k < w->out->objects.len; k++)
        w->out->objects.data[k]->written = k < w->written.len && w->written.data[k];
    w->written.len = 0;
    w->unknown_written_before = w->unknown_written;
    w->unknown_written = w->shared_escaped = false;
    gr_map_free(&w->memo);
    w->memo = (Map){0};
    gr_map_free(&w->barriers);
    w->barriers = (Map){0};
    w->arrivals.len = w->out->accesses.len = w->out->barriers.len = w->out->gaps.len = w->out->facts.len =
        w->out->no_wrap.len = 0;
    return GR_OK;
}

void gr_walk_free(KWalk *w) {
    for (uint32_t k = 0; w->assigns && k < w->f->n_regs; k++)
        gr_vec_free(&w->assigns[k].list);
    for (uint32_t k = 0; w->defs && k < w->f->cfg.n_blocks; k++)
        gr_vec_free(&w->defs[k].list);
    for (size_t k = 0; w->notes && k < w->n_vars + 2; k++)
        gr_vec_free(&w->notes[k].list);
    for (size_t k = 0; w->notes_before && k < w->n_vars + 2; k++)
        gr_vec_free(&w->notes_before[k].list);
    free(w->reg);
    free(w->n_assigns);
    free(w->assign);
    free(w->assigns);
    free(w->defs);
    free(w->cond);
    free(w->guard);
    free(w->branch);
    free(w->mark);
    free(w->notes);
    free(w->notes_before);
    free(w->escaped);
    free(w->escaped_before);
    free(w->holds);
    free(w->holds_before);
    gr_map_free(&w->local_frees);
    gr_vec_free(&w->phi_list);
    gr_vec_free(&w->arrivals);
    gr_vec_free(&w->written);
    gr_map_free(&w->memo);
    gr_map_free(&w->frees);
    gr_map_free(&w->phis);
    gr_map_free(&w->barriers);
}

// ---- Statements ----------------------------------------------------------------------------------------------------

static void jump(KWalk *w, const KStmt *s) {
    const PtxInstr *i = s->stmt.instr;
    if (i->op == PTX_OP_BRX && i->n_operands && i->operands[0].kind == PTX_O_REG)
        w->branch[s->block] = gr_operand(w, s, &i->operands[0], 32);
    else if (i->guard)
        w->branch[s->block] = gr_predicate(w, s);
}

static void step(KWalk *w, const KStmt *s) {
    const PtxInstr *i = s->stmt.instr;
    unsigned flags = gr_ptx_instr_flags(i);
    if (i->op == PTX_OP_UNKNOWN)
        gr_gap(w, s, true, i->opcode);
    if (flags & (PTX_F_BRANCH | PTX_F_EXIT))
        jump(w, s);
    else if (flags & PTX_F_CALL)
        gr_exec_call(w, s);
    else if (flags & PTX_F_BARRIER || i->op == PTX_OP_MBARRIER)
        gr_exec_barrier(w, s);
    else if (flags & (PTX_F_READS | PTX_F_WRITES | PTX_F_ASYNC))
        gr_exec_memory(w, s);
    else if (i->op == PTX_OP_ALLOCA && i->n_operands)
        gr_assign(w, s, &i->operands[0], gr_term_sym(w->t, gr_flat_alloca(w->f, s)->base));
    else if (!(flags & (PTX_F_FENCE | PTX_F_NO_DST)))
        gr_exec_alu(w, s);
}

// Terms are of the statement's line.
static void see_place(KWalk *w, const KStmt *s) {
    const GrPlace *p = s->place;
    bool known = p && p->file && p->line;
    gr_terms_at(w->t, known ? p->file : NULL, known ? p->line : s->stmt.line);
}

gr_status gr_walk_once(KWalk *w, gr_error *err) {
    const Cfg *g = &w->f->cfg;
    w->walk++;
    gr_walk_begin(w);
    for (uint32_t k = 0; k < g->n_order; k++) {
        uint32_t b = g->order[k];
        gr_walk_enter(w, b);
        for (PtxStmt *s = g->blocks[b].first; s; s = s == g->blocks[b].last ? NULL : s->next)
            if (s->kind == PTX_INSTR) {
                see_place(w, (const KStmt *)s);
                step(w, (const KStmt *)s);
            }
        gr_terms_at(w->t, NULL, 0);
        GR_NEED(!w->nomem, err);
        if (w->t->n_terms > MOST_TERMS)
            w->limit = "too many terms";
        if (w->limit)
            return gr_fail(err, GR_ERR_LIMIT, "%s: %s", w->f->frames.data[0]->func->name, w->limit);
    }
    return GR_OK;
}

// Walks until nothing new is found. A blind first walk tells the second little, whose findings help the third.
static gr_status walk_on(KWalk *w, gr_error *err) {
    unsigned least = w->blind ? LEAST_WALKS : 1;
    for (unsigned n = 1;; n++) {
        GR_MUST(gr_walk_once(w, err));
        bool more = gr_phi_classify(w);
        more |= gr_loops_again(w);
        w->blind = false;
        GR_NEED(!w->nomem, err);
        if (n == MOST_WALKS || (n >= least && !more))
            return GR_OK;
    }
}

gr_status gr_walk_all(KWalk *w, gr_error *err) {
    w->blind = true;
    gr_status st = walk_on(w, err);
    bool lost = false, holds;
    for (size_t k = 0; k < w->phi_list.len; k++) {
        const KPhi *p = w->phi_list.data[k];
        lost |= p->walk == w->walk && p->kind == KPHI_OPEN && p->var >= w->f->n_regs;
    }
    if (st != GR_OK || !lost)
        return st;
    st = gr_assume(w, &holds, err);
    w->blind = !holds;
    return st == GR_OK ? walk_on(w, err) : st;
}
