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

enum {
    FARTHEST = 4096
}; // statements of a straight line that are looked at: loads that were hoisted are near their selp

// No branch, label, call or barrier lies between `s` and `target`, nor anything else that orders: otherwise the value's
// fate would be decided elsewhere than in the load's straight line.
static bool in_line(const PtxStmt *s, const PtxStmt *target) {
    const PtxStmt *p = s->next;
    for (unsigned n = 0; p && n < FARTHEST; p = p->next, n++) {
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

// Notes a selp at `s`, in the line of the load.
static bool keep(const DefUse *d, Speculation *out, const PtxOperand *pred, bool negated, PtxStmt *s) {
    if (pred->kind != PTX_O_REG || pred->reg->index >= d->n_regs || d->regs[pred->reg->index].defs != 1 ||
        out->n == SPEC_MAX)
        return false;
    out->keep[out->n].pred = pred->reg;
    out->keep[out->n++].negated = negated != pred->negated;
    if (!out->last || in_line(out->last, s))
        out->last = s;
    return true;
}

// All that is done with register `r` ends in selp. `depth` bounds chains.
static bool follow(const DefUse *d, PtxStmt *load, const PtxReg *r, Speculation *out, unsigned depth) {
    if (depth > 16 || r->index >= d->n_regs || d->regs[r->index].defs != 1 || !d->regs[r->index].uses)
        return false;
    for (const Use *u = d->regs[r->index].uses; u; u = u->next) {
        const PtxInstr *i = u->stmt->instr;
        if (u->guard || (i->op != PTX_OP_SELP && !gr_defuse_is_pure(i)) || !in_line(load, u->stmt))
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

// ---- Across blocks --------------------------------------------------------------------------------------------------

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

static bool operand_reads(const PtxOperand *o, const PtxReg *r, bool def) {
    if (o->kind == PTX_O_REG)
        return !def && o->reg == r;
    for (unsigned k = 0; k < o->n_sub; k++)
        if (operand_reads(&o->sub[k], r, def && o->kind != PTX_O_ADDRESS))
            return true;
    return false;
}

// The statement uses r, in DefUse's sense.
static bool uses(const PtxStmt *s, const PtxReg *r) {
    if (s->kind != PTX_INSTR || s->tag.inserted)
        return false;
    const PtxInstr *i = s->instr;
    bool has_dst = !(gr_ptx_op_flags(i->op) & PTX_F_NO_DST);
    for (unsigned k = 0; k < i->n_operands; k++)
        if (operand_reads(&i->operands[k], r, k == 0 && has_dst))
            return true;
    return i->guard == r;
}

// Called for a use of what `def` put into a register. `place`: its order within the function. True: no more are wanted.
typedef bool (*UseSeen)(void *user, PtxStmt *s, uint64_t place);

typedef struct Flood {
    const Cfg *g;
    const PtxReg *reg;
    UseSeen seen;
    void *user;
    bool *met; // by block; NULL as long as the flood is in its first one
    uint32_t *todo, n;
} Flood;

typedef enum FloodStep { ON, KILLED, ENOUGH } FloodStep;

static FloodStep flood_block(Flood *f, uint32_t b, PtxStmt *s, bool behind) {
    const CfgBlock *at = &f->g->blocks[b];
    uint64_t place = (uint64_t)b << 32 | (uint64_t)behind << 31;
    for (; s; s = s == at->last ? NULL : s->next, place++) {
        if (uses(s, f->reg) && f->seen(f->user, s, place))
            return ENOUGH;
        if (overwrites(s, f->reg))
            return KILLED;
    }
    return ON;
}

// Goes on from a block. False: out of memory.
static bool flood_on(Flood *f, const CfgBlock *at) {
    if (!f->met && at->n_succs) {
        f->met = calloc(f->g->n_blocks, sizeof *f->met);
        f->todo = calloc(f->g->n_blocks, sizeof *f->todo);
        if (!f->met || !f->todo)
            return false;
    }
    for (uint32_t k = 0; k < at->n_succs; k++)
        if (!f->met[at->succs[k]]) {
            f->met[at->succs[k]] = true;
            f->todo[f->n++] = at->succs[k];
        }
    return true;
}

// Calls `seen` for all uses where what `def` puts into r may still be there, in no order. Takes the time of the way
// from there to where r gets something else. False: out of memory.
static bool each_reached(const Cfg *g, PtxStmt *def, const PtxReg *r, UseSeen seen, void *user) {
    Flood f = {.g = g, .reg = r, .seen = seen, .user = user};
    uint32_t b = gr_cfg_block_of(g, def);
    bool ok = b != UINT32_MAX;
    PtxStmt *s = !ok || def == g->blocks[b].last ? NULL : def->next;
    for (bool behind = true; ok; behind = false) {
        FloodStep step = flood_block(&f, b, s, behind);
        ok = step != ON || flood_on(&f, &g->blocks[b]);
        if (step == ENOUGH || !f.n || !ok)
            break;
        b = f.todo[--f.n];
        s = g->blocks[b].first;
    }
    free(f.met);
    free(f.todo);
    return ok;
}

// The uses, the last one first.
typedef struct Uses {
    unsigned n;
    struct {
        PtxStmt *stmt;
        uint64_t place;
    } at[SPEC_MAX + SPEC_MAX_HOLDERS + 1]; // with more nothing is known of a value
} Uses;

static bool gather(void *user, PtxStmt *s, uint64_t place) {
    Uses *u = user;
    for (unsigned k = 0; k < u->n; k++)
        if (u->at[k].stmt == s)
            return false;
    unsigned k = u->n++;
    for (; k && u->at[k - 1].place < place; k--)
        u->at[k] = u->at[k - 1];
    u->at[k].stmt = s;
    u->at[k].place = place;
    return u->n == sizeof u->at / sizeof *u->at;
}

// Finds the uses of what `by` puts into r. False: there are too many, or memory is out.
static bool uses_of(const DefUse *d, const Cfg *g, const PtxReg *r, PtxStmt *by, Uses *out) {
    out->n = 0;
    if (d->regs[r->index].defs != 1)
        return each_reached(g, by, r, gather, out) && out->n < sizeof out->at / sizeof *out->at;
    for (const Use *u = d->regs[r->index].uses; u; u = u->next)
        if (gather(out, u->stmt, UINT64_MAX - out->n))
            return false;
    return true;
}

// Follows what statement `by` puts into r.
static bool spread(const DefUse *d, const Cfg *g, const PtxReg *r, PtxStmt *by, Decisions *out) {
    if (is_holder(out, r, by))
        return true;
    if (r->index >= d->n_regs || out->n_holders == SPEC_MAX_HOLDERS)
        return false;
    out->holder[out->n_holders].reg = r;
    out->holder[out->n_holders++].by = by;
    Uses all;
    if (!uses_of(d, g, r, by, &all))
        return false;
    for (unsigned k = 0; k < all.n; k++) {
        PtxStmt *s = all.at[k].stmt;
        const PtxInstr *i = s->instr;
        const PtxOperand *o = i->operands;
        bool logic = i->op == PTX_OP_AND || i->op == PTX_OP_OR;
        if (i->guard)
            return false;
        if (i->op == PTX_OP_SELP && i->n_operands == 4 && !is_reg(&o[3], r)) {
            bool b = is_reg(&o[2], r);
            if (is_reg(&o[1], r) == b || !decide(out, s, r, &o[3], b))
                return false;
        } else if (logic && i->type[0] == PTX_PRED && i->n_operands == 3) {
            bool b = is_reg(&o[2], r);
            if (is_reg(&o[1], r) == b || !decide(out, s, r, &o[b ? 1 : 2], i->op == PTX_OP_OR))
                return false;
        } else if (!(gr_defuse_is_pure(i) || (i->op == PTX_OP_SETP && o[0].kind == PTX_O_REG)) ||
                   !spread(d, g, o[0].reg, s, out)) {
            return false;
        }
    }
    return true;
}

// What comes_again looks for: a use at `at`; on the way it marks the holders that get something of the value.
typedef struct Again {
    const Decisions *t;
    const PtxStmt *at;
    bool marked[SPEC_MAX_HOLDERS], found;
} Again;

static bool mark(void *user, PtxStmt *s, uint64_t place) {
    (void)place;
    Again *a = user;
    a->found |= s == a->at;
    for (unsigned k = 0; k < a->t->n_holders; k++)
        a->marked[k] |= a->t->holder[k].by == s;
    return a->found;
}

// Whether the value that a lane did not choose at `at` may come there again, without being loaded anew.
static bool comes_again(const Cfg *g, const Decisions *t, PtxStmt *at) {
    Again a = {.t = t, .at = at};
    bool done[SPEC_MAX_HOLDERS] = {false}, ok = true;
    for (unsigned k = 0; k < t->n_holders && ok && !a.found; k++)
        if (!overwrites(at, t->holder[k].reg))
            ok = each_reached(g, at, t->holder[k].reg, mark, &a);
    for (unsigned k = 0; k < t->n_holders && ok && !a.found; k++) {
        if (!a.marked[k] || done[k])
            continue;
        done[k] = true;
        ok = each_reached(g, t->holder[k].by, t->holder[k].reg, mark, &a);
        k = UINT_MAX; // from the start: earlier ones may be marked now
    }
    return a.found || !ok;
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
        if (comes_again(g, out, out->at[k].at))
            return false;
    return true;
}
