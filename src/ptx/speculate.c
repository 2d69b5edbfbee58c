// SPDX-License-Identifier: Apache-2.0
#include "ptx/speculate.h"

#include "ptx/cfg.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool gr_orders_threads(const PtxInstr *i) {
    unsigned flags = gr_ptx_op_flags(i->op);
    bool strong = i->sem != PTX_SEM_NONE && i->sem != PTX_WEAK;
    return flags & (PTX_F_ATOMIC | PTX_F_BARRIER | PTX_F_FENCE | PTX_F_CALL | PTX_F_ASYNC) ||
           i->op == PTX_OP_MBARRIER || (strong && flags & (PTX_F_READS | PTX_F_WRITES));
}

// Where the straight line that starts behind `s` ends: no branch, label, call or barrier may lie between the
// load and the selp, or the value's fate would be decided elsewhere; nor anything else that orders.
static bool in_line(const PtxStmt *s, const PtxStmt *target) {
    for (const PtxStmt *p = s->next; p; p = p->next) {
        if (p == target)
            return true;
        if (p->kind == PTX_LABEL_DEF || p->kind == PTX_SCOPE_OPEN || p->kind == PTX_SCOPE_CLOSE)
            return false;
        if (p->kind == PTX_INSTR && !p->tag.inserted &&
            (gr_ptx_op_flags(p->instr->op) & (PTX_F_BRANCH | PTX_F_EXIT | PTX_F_COLLECTIVE) ||
             gr_orders_threads(p->instr)))
            return false;
    }
    return false;
}

static bool later(const PtxStmt *a, const PtxStmt *b) {
    for (const PtxStmt *p = b; p; p = p->next)
        if (p == a)
            return true;
    return false;
}

static bool keep(const DefUse *d, Speculation *out, const PtxOperand *pred, bool negated, PtxStmt *s) {
    if (pred->kind != PTX_O_REG || pred->reg->index >= d->n_regs || d->regs[pred->reg->index].defs != 1 ||
        out->n == SPEC_MAX)
        return false;
    out->keep[out->n].pred = pred->reg;
    out->keep[out->n++].negated = negated != pred->negated;
    if (!out->last || later(s, out->last))
        out->last = s;
    return true;
}

// Whether everything done with register `r` ends in selp. `depth` bounds chains.
static bool follow(const DefUse *d, PtxStmt *load, const PtxReg *r, Speculation *out, unsigned depth) {
    if (depth > 16 || r->index >= d->n_regs || d->regs[r->index].defs != 1 || !d->regs[r->index].uses)
        return false;
    for (const Use *u = d->regs[r->index].uses; u; u = u->next) {
        const PtxInstr *i = u->stmt->instr;
        if (u->guard || !in_line(load, u->stmt))
            return false;
        if (i->op == PTX_OP_SELP && !i->guard && i->n_operands == 4) {
            bool a = i->operands[1].kind == PTX_O_REG && i->operands[1].reg == r;
            bool b = i->operands[2].kind == PTX_O_REG && i->operands[2].reg == r;
            if (a == b || !keep(d, out, &i->operands[3], b, u->stmt))
                return false;
        } else if (!gr_defuse_is_pure(i) || !follow(d, load, i->operands[0].reg, out, depth + 1)) {
            return false;
        }
    }
    return true;
}

bool gr_speculated(const DefUse *d, PtxStmt *s, Speculation *out) {
    *out = (Speculation){0};
    if (s->kind != PTX_INSTR || s->instr->n_operands < 2)
        return false;
    const PtxOperand *dst = &s->instr->operands[0];
    const PtxOperand *list = dst->kind == PTX_O_VECTOR ? dst->sub : dst;
    unsigned n = dst->kind == PTX_O_VECTOR ? dst->n_sub : 1;
    bool any = false;
    for (unsigned k = 0; k < n; k++) {
        if (list[k].kind == PTX_O_SINK)
            continue;
        if (list[k].kind != PTX_O_REG || !follow(d, s, list[k].reg, out, 0))
            return false;
        any = true;
    }
    return any && out->n > 0;
}

// ---- Across blocks ---------------------------------------------------------------------------------------------------

static bool is_holder(const Decisions *t, const PtxReg *r, const PtxStmt *by) {
    for (unsigned k = 0; k < t->n_holders; k++)
        if (t->holder[k].reg == r && (!by || t->holder[k].by == by))
            return true;
    return false;
}

static bool is_reg(const PtxOperand *o, const PtxReg *r) { return o->kind == PTX_O_REG && o->reg == r; }

static bool decide(Decisions *out, PtxStmt *at, const PtxReg *of, const PtxOperand *pred, bool negated) {
    if (pred->kind != PTX_O_REG || out->n == SPEC_MAX)
        return false;
    out->at[out->n].at = at;
    out->at[out->n].of = of;
    out->at[out->n].pred = pred->reg;
    out->at[out->n++].negated = negated != pred->negated;
    return true;
}

static bool overwrites(const PtxStmt *s, const PtxReg *r) {
    return s->kind == PTX_INSTR && !s->instr->guard && gr_ptx_instr_writes(s->instr, r);
}

// Whether what `def` puts into r may still be there at `use`.
static bool reaches(const Cfg *g, const PtxStmt *def, const PtxStmt *use, const PtxReg *r) {
    uint32_t b = gr_cfg_block_of(g, def), n = 0;
    bool *seen = calloc(g->n_blocks, sizeof *seen), found = false;
    uint32_t *todo = calloc(g->n_blocks, sizeof *todo);
    if (!seen || !todo || b == UINT32_MAX)
        found = true; // out of memory: perhaps
    const PtxStmt *s = found ? NULL : def == g->blocks[b].last ? NULL : def->next;
    while (!found) {
        const CfgBlock *at = &g->blocks[b];
        bool killed = false;
        for (; s && !found && !killed; s = s == at->last ? NULL : s->next) {
            found = s == use;
            killed = overwrites(s, r);
        }
        for (uint32_t k = 0; k < at->n_succs && !killed; k++)
            if (!seen[at->succs[k]]) {
                seen[at->succs[k]] = true;
                todo[n++] = at->succs[k];
            }
        if (!n)
            break;
        b = todo[--n];
        s = g->blocks[b].first;
    }
    free(seen);
    free(todo);
    return found;
}

// Follows what statement `by` puts into r.
static bool spread(const DefUse *d, const Cfg *g, const PtxReg *r, PtxStmt *by, Decisions *out) {
    if (is_holder(out, r, by))
        return true;
    if (r->index >= d->n_regs || out->n_holders == SPEC_MAX_HOLDERS)
        return false;
    out->holder[out->n_holders].reg = r;
    out->holder[out->n_holders++].by = by;
    for (const Use *u = d->regs[r->index].uses; u; u = u->next) {
        const PtxInstr *i = u->stmt->instr;
        const PtxOperand *o = i->operands;
        bool logic = i->op == PTX_OP_AND || i->op == PTX_OP_OR;
        if (d->regs[r->index].defs != 1 && !reaches(g, by, u->stmt, r))
            continue;
        if (u->guard || i->guard)
            return false;
        if (i->op == PTX_OP_SELP && i->n_operands == 4 && !is_reg(&o[3], r)) {
            bool b = is_reg(&o[2], r);
            if (is_reg(&o[1], r) == b || !decide(out, u->stmt, r, &o[3], b))
                return false;
        } else if (logic && i->type[0] == PTX_PRED && i->n_operands == 3) {
            bool b = is_reg(&o[2], r);
            if (is_reg(&o[1], r) == b || !decide(out, u->stmt, r, &o[b ? 1 : 2], i->op == PTX_OP_OR))
                return false;
        } else if (!(gr_defuse_is_pure(i) || (i->op == PTX_OP_SETP && o[0].kind == PTX_O_REG)) ||
                   !spread(d, g, o[0].reg, u->stmt, out)) {
            return false;
        }
    }
    return true;
}

static void mark(const Decisions *t, const PtxStmt *by, bool *marked) {
    for (unsigned k = 0; k < t->n_holders; k++)
        marked[k] |= t->holder[k].by == by;
}

// Whether the value that a lane did not choose at `at` may come there again, without being loaded anew.
static bool comes_again(const DefUse *d, const Cfg *g, const Decisions *t, const PtxStmt *at) {
    bool marked[SPEC_MAX_HOLDERS] = {false}, done[SPEC_MAX_HOLDERS] = {false};
    for (unsigned k = 0; k < t->n_holders; k++) {
        const PtxReg *r = t->holder[k].reg;
        for (const Use *u = overwrites(at, r) ? NULL : d->regs[r->index].uses; u; u = u->next) {
            if (!reaches(g, at, u->stmt, r))
                continue;
            if (u->stmt == at)
                return true;
            mark(t, u->stmt, marked);
        }
    }
    for (unsigned k = 0; k < t->n_holders; k++) {
        if (!marked[k] || done[k])
            continue;
        done[k] = true;
        for (const Use *u = d->regs[t->holder[k].reg->index].uses; u; u = u->next) {
            if (!reaches(g, t->holder[k].by, u->stmt, t->holder[k].reg))
                continue;
            if (u->stmt == at)
                return true;
            mark(t, u->stmt, marked);
        }
        k = UINT_MAX; // from the start: earlier ones may be marked now
    }
    return false;
}

bool gr_choices(const DefUse *d, const Cfg *g, PtxStmt *s, Decisions *out) {
    *out = (Decisions){0};
    if (s->kind != PTX_INSTR || s->instr->n_operands < 2)
        return false;
    const PtxOperand *dst = &s->instr->operands[0];
    const PtxOperand *list = dst->kind == PTX_O_VECTOR ? dst->sub : dst;
    unsigned n = dst->kind == PTX_O_VECTOR ? dst->n_sub : 1;
    for (unsigned k = 0; k < n; k++)
        if (list[k].kind != PTX_O_SINK && (list[k].kind != PTX_O_REG || !spread(d, g, list[k].reg, s, out)))
            return false;
    for (unsigned k = 0; k < out->n; k++)
        if (is_holder(out, out->at[k].pred, NULL))
            return false;
    return out->n > 0;
}

bool gr_decisions(const DefUse *d, const Cfg *g, PtxStmt *s, Decisions *out) {
    if (!gr_choices(d, g, s, out))
        return false;
    for (unsigned k = 0; k < out->n; k++)
        if (comes_again(d, g, out, out->at[k].at))
            return false;
    return true;
}
