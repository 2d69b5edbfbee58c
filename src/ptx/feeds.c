// SPDX-License-Identifier: Apache-2.0
#include "ptx/feeds.h"

#include <stdlib.h>

typedef struct Flow {
    bool *has; // by register: holds something of the value
    uint32_t n;
    bool grew, data, branches; // branches: one in a loop around the load depends on it
    uint32_t from, to;         // lines of the PTX of such loops; to 0: there is none
} Flow;

static bool holds(const Flow *w, const PtxReg *r) { return r && r->index < w->n && w->has[r->index]; }

static void give(Flow *w, const PtxReg *r) {
    if (!r || r->index >= w->n || w->has[r->index])
        return;
    w->has[r->index] = true;
    w->grew = true;
}

// Registers of an operand that is written.
static void give_operand(Flow *w, const PtxOperand *o) {
    if (o->kind == PTX_O_REG)
        give(w, o->reg);
    for (unsigned k = 0; k < o->n_sub && o->kind != PTX_O_ADDRESS; k++)
        give_operand(w, &o->sub[k]);
}

static bool reads(const Flow *w, const PtxOperand *o) {
    if (o->kind == PTX_O_REG && holds(w, o->reg))
        return true;
    for (unsigned k = 0; k < o->n_sub; k++)
        if (reads(w, &o->sub[k]))
            return true;
    return false;
}

static void follow(Flow *w, const PtxStmt *s) {
    const PtxInstr *i = s->instr;
    unsigned flags = gr_ptx_op_flags(i->op);
    bool has_dst = !(flags & PTX_F_NO_DST), any = false;
    for (unsigned k = 0; k < i->n_operands; k++)
        any |= (k > 0 || !has_dst || i->operands[0].kind == PTX_O_ADDRESS) && reads(w, &i->operands[k]);
    if ((flags & PTX_F_BRANCH) && (holds(w, i->guard) || any))
        w->branches |= w->to && s->line >= w->from && s->line <= w->to;
    if (!any)
        return;
    if (flags & (PTX_F_READS | PTX_F_WRITES | PTX_F_ATOMIC | PTX_F_CALL | PTX_F_ASYNC | PTX_F_COLLECTIVE))
        w->data = true;
    if (has_dst && i->n_operands)
        give_operand(w, &i->operands[0]);
}

// Every branch back over the load makes a loop around it.
static void find_loops(Flow *w, const PtxFunc *f, const PtxStmt *load) {
    for (const PtxStmt *s = f->first; s; s = s->next) {
        if (s->kind != PTX_INSTR || s->tag.inserted || !(gr_ptx_op_flags(s->instr->op) & PTX_F_BRANCH))
            continue;
        const PtxInstr *i = s->instr;
        const PtxLabel *l = i->n_operands && i->operands[0].kind == PTX_O_LABEL ? i->operands[0].label : NULL;
        if (!l || !l->stmt || l->stmt->line > load->line || s->line < load->line)
            continue;
        w->from = !w->to || l->stmt->line < w->from ? l->stmt->line : w->from;
        w->to = s->line > w->to ? s->line : w->to;
    }
}

bool gr_ptx_feeds_data(const PtxFunc *f, const PtxStmt *load) {
    if (load->kind != PTX_INSTR || !load->instr->n_operands)
        return false;
    Flow w = {.n = f->n_regs, .has = calloc((size_t)f->n_regs + 1, sizeof *w.has)};
    if (!w.has)
        return false;
    find_loops(&w, f, load);
    give_operand(&w, &load->instr->operands[0]);
    for (w.grew = true; w.grew;) {
        w.grew = false;
        for (const PtxStmt *s = f->first; s; s = s->next)
            if (s->kind == PTX_INSTR && !s->tag.inserted && s != load)
                follow(&w, s);
    }
    free(w.has);
    return w.data && !w.branches;
}
