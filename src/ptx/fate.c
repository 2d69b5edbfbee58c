// SPDX-License-Identifier: Apache-2.0
#include "ptx/fate.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_MAX = 4096 }; // statements of a straight line that are looked at

static bool is_reg(const PtxOperand *o, const PtxReg *r) { return o->kind == PTX_O_REG && o->reg == r; }

static bool holds(const Decisions *t, const PtxReg *r) {
    for (unsigned k = 0; k < t->n_holders; k++)
        if (t->holder[k].reg == r)
            return true;
    return false;
}

static bool add_holder(Decisions *t, const PtxReg *r, PtxStmt *by) {
    if (t->n_holders == SPEC_MAX_HOLDERS)
        return false;
    t->holder[t->n_holders].reg = r;
    t->holder[t->n_holders++].by = by;
    return true;
}

static bool take_loaded(PtxStmt *s, Decisions *t) {
    const PtxOperand *dst = s->instr->n_operands ? &s->instr->operands[0] : NULL;
    if (!dst)
        return false;
    const PtxOperand *list = dst->kind == PTX_O_VECTOR ? dst->sub : dst;
    unsigned n = dst->kind == PTX_O_VECTOR ? dst->n_sub : 1;
    for (unsigned k = 0; k < n; k++)
        if (list[k].kind != PTX_O_SINK && (list[k].kind != PTX_O_REG || !add_holder(t, list[k].reg, s)))
            return false;
    return t->n_holders > 0;
}

// A register of the operand that holds something of the value; NULL: none does. `def`: the operand is written, but for
// what is in brackets.
static const PtxReg *read_of(const Decisions *t, const PtxOperand *o, bool def) {
    if (o->kind == PTX_O_REG)
        return !def && holds(t, o->reg) ? o->reg : NULL;
    for (unsigned k = 0; k < o->n_sub; k++) {
        const PtxReg *r = read_of(t, &o->sub[k], def && o->kind != PTX_O_ADDRESS);
        if (r)
            return r;
    }
    return NULL;
}

static const PtxReg *reads(const Decisions *t, const PtxInstr *i) {
    bool has_dst = !(gr_ptx_op_flags(i->op) & PTX_F_NO_DST);
    if (i->guard && holds(t, i->guard))
        return i->guard;
    for (unsigned k = 0; k < i->n_operands; k++) {
        const PtxReg *r = read_of(t, &i->operands[k], k == 0 && has_dst);
        if (r)
            return r;
    }
    return NULL;
}

static bool ends_line(const PtxStmt *s) {
    return !s->tag.inserted &&
           (s->kind == PTX_LABEL_DEF ||
            (s->kind == PTX_INSTR && gr_ptx_op_flags(s->instr->op) & (PTX_F_BRANCH | PTX_F_EXIT)));
}

// Logic on predicates: one operand may decide what the other is good for.
static bool is_logic(const PtxInstr *i) {
    return (i->op == PTX_OP_AND || i->op == PTX_OP_OR) && i->type[0] == PTX_PRED;
}

// Arithmetic that all threads do and whose result goes into the program's own register.
static bool passes_on(const PtxInstr *i) {
    return (gr_defuse_is_pure(i) && !is_logic(i)) ||
           (i->op == PTX_OP_SETP && !i->guard && i->n_operands && i->operands[0].kind == PTX_O_REG);
}

// Finds the threads that use register `r` where the instruction reads it: all (true, *pred NULL), or those for which
// *pred holds do. False: not known.
static bool use_of(const Decisions *t, const PtxInstr *i, const PtxReg *r, PtxReg **pred, bool *negated) {
    const PtxOperand *o = i->operands, *chooses = NULL;
    bool second = i->n_operands > 2 && is_reg(&o[2], r),
         one = i->n_operands > 2 && is_reg(&o[1], r) != second;
    *pred = NULL;
    *negated = false;
    if (i->guard) {
        *pred = holds(t, i->guard) ? NULL : i->guard;
        *negated = i->guard_negated;
        return true;
    }
    if (i->op == PTX_OP_SELP && i->n_operands == 4 && one &&
        !(o[second ? 1 : 2].kind == PTX_O_REG && holds(t, o[second ? 1 : 2].reg))) {
        chooses = &o[3];
        *negated = second;
    } else if (is_logic(i) && i->n_operands == 3 && one) {
        chooses = &o[second ? 1 : 2];
        *negated = i->op == PTX_OP_OR;
    }
    if (!chooses)
        return true;
    if (chooses->kind != PTX_O_REG || holds(t, chooses->reg))
        return false;
    *pred = chooses->reg;
    *negated ^= chooses->negated;
    return true;
}

bool gr_leads_to(const PtxStmt *s, const PtxStmt *later) {
    unsigned n = 0;
    for (; s && s != later && n < LINE_MAX && !ends_line(s); n++)
        s = s->next;
    return s && s == later;
}

static bool add_use(Decisions *t, PtxStmt *s, const PtxReg *r, PtxReg *pred, bool negated) {
    for (unsigned k = 0; k < t->n && !pred; k++) { // of several that follow each other the first will do
        if (t->at[k].pred)
            continue;
        if (gr_leads_to(t->at[k].at, s))
            return true;
        if (gr_leads_to(s, t->at[k].at)) {
            t->at[k].at = s;
            t->at[k].of = r;
            return true;
        }
    }
    if (t->n == SPEC_MAX)
        return false;
    t->at[t->n].at = s;
    t->at[t->n].of = r;
    t->at[t->n].pred = pred;
    t->at[t->n++].negated = negated;
    return true;
}

// Follows the value through the straight line behind the load, which ends at *end. False: a use is there, or the trace
// is lost. `d` NULL: also through registers that several statements write.
static bool follow_line(PtxStmt *s, const DefUse *d, Decisions *t, const PtxStmt **end) {
    unsigned n = 0;
    PtxStmt *p;
    for (p = s->next; p; p = p->next) {
        if (p->kind == PTX_INSTR && !p->tag.inserted) {
            const PtxInstr *i = p->instr;
            const PtxReg *r = reads(t, i);
            PtxReg *pred;
            bool negated;
            if (++n > LINE_MAX)
                return false;
            if (r && passes_on(i)) {
                const PtxReg *to = i->operands[0].reg;
                if ((d && (to->index >= d->n_regs || d->regs[to->index].defs != 1)) || !add_holder(t, to, p))
                    return false;
            } else if (r &&
                       (!use_of(t, i, r, &pred, &negated) || !pred || !add_use(t, p, r, pred, negated))) {
                return false;
            }
        }
        if (ends_line(p))
            break;
    }
    *end = p;
    return true;
}

bool gr_used_at_once(const DefUse *d, PtxStmt *s) {
    Decisions t = {.n = 0};
    const PtxStmt *end;
    return !take_loaded(s, &t) || !follow_line(s, d, &t, &end);
}

static bool is_between(const PtxStmt *first, const PtxStmt *end, const PtxStmt *s) {
    for (const PtxStmt *p = first; p && p != end; p = p->next)
        if (p == s)
            return true;
    return s == end;
}

// Follows uses elsewhere.
static bool follow_far(const DefUse *d, const PtxStmt *s, const PtxStmt *end, Decisions *t) {
    unsigned near = t->n_holders;
    for (unsigned k = 0; k < near; k++) {
        const PtxReg *r = t->holder[k].reg;
        for (const Use *u = d->regs[r->index].uses; u; u = u->next) {
            PtxReg *pred;
            bool negated;
            if (is_between(s, end, u->stmt))
                continue;
            if (!use_of(t, u->stmt->instr, r, &pred, &negated) || !add_use(t, u->stmt, r, pred, negated))
                return false;
        }
    }
    return true;
}

// ---- Where a use can no longer be avoided ------------------------------------------------------------------

// Finds the blocks from whose beginning every way leads to a sure use of the value, before the thread ends or loads
// again.
static void find_sure(const Cfg *g, const Decisions *t, uint32_t from, bool *sure) {
    for (unsigned k = 0; k < t->n; k++) {
        uint32_t b = t->at[k].pred ? UINT32_MAX : gr_cfg_block_of(g, t->at[k].at);
        if (b != UINT32_MAX && b != from)
            sure[b] = true;
    }
    for (bool grew = true; grew;) {
        grew = false;
        for (uint32_t k = g->n_order; k-- > 0;) {
            const CfgBlock *b = &g->blocks[g->order[k]];
            bool all = b->id != from && b->n_succs > 0;
            for (uint32_t x = 0; x < b->n_succs && all; x++)
                all = sure[b->succs[x]];
            grew |= all && !sure[b->id];
            sure[b->id] |= all;
        }
    }
}

// The block has a predecessor from which the use could still be avoided.
static bool decides(const Cfg *g, const CfgBlock *b, uint32_t from, const bool *sure) {
    if (!sure[b->id] || !b->first || !gr_cfg_dominates(g, from, b->id))
        return false;
    for (uint32_t k = 0; k < b->n_preds; k++)
        if (g->blocks[b->preds[k]].rpo != UINT32_MAX && !sure[b->preds[k]])
            return true;
    return false;
}

static PtxStmt *beginning_of(const CfgBlock *b) {
    PtxStmt *s = b->first;
    while (s != b->last && (s->kind == PTX_LABEL_DEF || s->kind == PTX_LOC || s->kind == PTX_PRAGMA))
        s = s->next;
    return s->kind == PTX_LABEL_DEF ? s->next : s;
}

// Moves sure uses to where they become sure: out of the loops that they are in. False: every thread uses the value.
static bool tell_early(const Cfg *g, Decisions *t, const PtxStmt *load) {
    uint32_t from = gr_cfg_block_of(g, load);
    bool *sure = from == UINT32_MAX ? NULL : calloc(g->n_blocks, sizeof *sure), avoids = false;
    if (!sure)
        return false;
    find_sure(g, t, from, sure);
    for (uint32_t k = 0; k < g->blocks[from].n_succs; k++)
        avoids |= !sure[g->blocks[from].succs[k]];
    unsigned n = 0;
    for (unsigned k = 0; k < t->n && avoids; k++)
        if (t->at[k].pred || gr_cfg_block_of(g, t->at[k].at) == from)
            t->at[n++] = t->at[k];
    t->n = n;
    for (uint32_t b = 0; b < g->n_blocks && avoids; b++)
        if (decides(g, &g->blocks[b], from, sure)) {
            PtxStmt *at = beginning_of(&g->blocks[b]);
            avoids = at && add_use(t, at, t->holder[0].reg, NULL, false);
        }
    free(sure);
    return avoids;
}

// ---- What the source has ---------------------------------------------------------------------------------------

static bool is_use(const Decisions *t, const PtxStmt *s, bool *sure) {
    bool found = false;
    for (unsigned k = 0; k < t->n; k++)
        if (t->at[k].at == s) {
            found = true;
            *sure |= !t->at[k].pred;
        }
    return found;
}

typedef struct Way { // from the load on
    bool *seen[2];   // blocks, begun before and behind an instruction that orders
    uint32_t *todo;  // block * 2 + which
    uint32_t n;
} Way;

// Follows one block from `s` on. True: a use comes behind an instruction that orders.
static bool walk_block(const Decisions *t, const PtxStmt *load, const CfgBlock *b, const PtxStmt *s,
                       bool behind, Way *w) {
    bool over = false;
    for (; s && !over; s = s == b->last ? NULL : s->next) {
        if (is_use(t, s, &over) && behind)
            return true;
        over |= s == load;
        if (s->kind == PTX_INSTR && !s->tag.inserted)
            behind |= gr_orders_threads(s->instr);
    }
    for (uint32_t k = 0; k < b->n_succs && !over; k++)
        if (!w->seen[behind][b->succs[k]]) {
            w->seen[behind][b->succs[k]] = true;
            w->todo[w->n++] = b->succs[k] * 2 + behind;
        }
    return false;
}

bool gr_crosses_order(const Cfg *g, const Decisions *t, const PtxStmt *load) {
    uint32_t from = gr_cfg_block_of(g, load);
    Way w = {{calloc(g->n_blocks, sizeof(bool)), calloc(g->n_blocks, sizeof(bool))},
             calloc((size_t)g->n_blocks * 2 + 1, sizeof(uint32_t)),
             0};
    bool found = !w.seen[0] || !w.seen[1] || !w.todo || from == UINT32_MAX;
    const CfgBlock *b = found ? NULL : &g->blocks[from];
    found = found || walk_block(t, load, b, load == b->last ? NULL : load->next, false, &w);
    while (w.n && !found) {
        uint32_t next = w.todo[--w.n];
        b = &g->blocks[next / 2];
        found = walk_block(t, load, b, b->first, next % 2, &w);
    }
    free(w.seen[0]);
    free(w.seen[1]);
    free(w.todo);
    return found;
}

static bool defined_once(const DefUse *d, const Decisions *t) {
    for (unsigned k = 0; k < t->n_holders; k++)
        if (t->holder[k].reg->index >= d->n_regs || d->regs[t->holder[k].reg->index].defs != 1)
            return false;
    return true;
}

static bool behind_branches(const DefUse *d, const Cfg *g, PtxStmt *s, Decisions *out) {
    const PtxStmt *end;
    *out = (Decisions){0};
    return take_loaded(s, out) && defined_once(d, out) && follow_line(s, d, out, &end) &&
           follow_far(d, s, end, out) && out->n > 0 && !gr_crosses_order(g, out, s) && tell_early(g, out, s);
}

bool gr_may_be_discarded(const DefUse *d, const Cfg *g, PtxStmt *s, Decisions *out) {
    if (s->kind != PTX_INSTR || s->instr->guard)
        return false;
    return gr_choices(d, g, s, out) || behind_branches(d, g, s, out);
}
