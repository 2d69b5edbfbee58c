// SPDX-License-Identifier: Apache-2.0
#include "passes/uniform.h"

#include <string.h>

// Special registers that are the same for all threads of a block.
static bool is_uniform_sreg(const char *name) {
    static const char *const names[] = {"%ctaid",
                                        "%nctaid",
                                        "%ntid",
                                        "%gridid",
                                        "%nwarpid",
                                        "%total_smem_size",
                                        "%dynamic_smem_size",
                                        "%clusterid",
                                        "%nclusterid",
                                        "%cluster_ctaid",
                                        "%cluster_nctaid"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        size_t n = strlen(names[k]);
        if (!strncmp(name, names[k], n) && (!name[n] || name[n] == '.'))
            return true;
    }
    return false;
}

static bool varies(const Uniform *u, const PtxReg *r) { return r->index >= u->n_regs || u->varies[r->index]; }

static bool operand_varies(const Uniform *u, const PtxOperand *o) {
    switch (o->kind) {
    case PTX_O_REG: return varies(u, o->reg);
    case PTX_O_SREG: return !is_uniform_sreg(o->text);
    case PTX_O_RAW: return true;
    default: break;
    }
    for (unsigned k = 0; k < o->n_sub; k++)
        if (operand_varies(u, &o->sub[k]))
            return true;
    return false;
}

static bool is_parameter(const PtxFunc *f, const PtxOperand *at) {
    for (uint32_t k = 0; k < f->n_params && f->is_entry && at->n_sub && at->sub[0].kind == PTX_O_VAR; k++)
        if (f->params[k] == at->sub[0].var)
            return true;
    return false;
}

// The result depends on more than the operands. A parameter space has results of calls, too.
static bool brings_anything(const PtxFunc *f, const PtxInstr *i) {
    unsigned flags = gr_ptx_op_flags(i->op);
    if (i->op == PTX_OP_UNKNOWN || flags & (PTX_F_CALL | PTX_F_ATOMIC | PTX_F_COLLECTIVE | PTX_F_ASYNC))
        return true;
    bool fixed = i->op == PTX_OP_LD && i->n_operands > 1 &&
                 (i->space == PTX_CONST || ((i->space == PTX_PARAM || i->space == PTX_PARAM_ENTRY) &&
                                            is_parameter(f, &i->operands[1])));
    return flags & PTX_F_READS && !fixed;
}

static bool give(Uniform *u, const PtxOperand *to) {
    bool changed = false;
    if (to->kind == PTX_O_REG && to->reg->index < u->n_regs && !u->varies[to->reg->index])
        changed = u->varies[to->reg->index] = true;
    for (unsigned k = 0; k < to->n_sub && to->kind != PTX_O_ADDRESS; k++)
        changed |= give(u, &to->sub[k]);
    return changed;
}

static bool follow(Uniform *u, const PtxFunc *f, const PtxInstr *i, bool divided) {
    bool any = divided || (i->guard && varies(u, i->guard)) || brings_anything(f, i);
    for (unsigned k = 0; k < i->n_operands && !any; k++)
        any = (k || i->operands[0].kind == PTX_O_ADDRESS) && operand_varies(u, &i->operands[k]);
    // An instruction without a destination changes no register; to say of its first operand that it varies is harmless.
    return any && i->n_operands && give(u, &i->operands[0]);
}

// Threads part here: notes all blocks on the way to where they surely meet again.
static bool divide(Uniform *u, const Cfg *g, const CfgBlock *b, uint32_t *stack, bool *seen) {
    bool changed = false;
    uint32_t n = 0;
    memset(seen, 0, g->n_blocks * sizeof *seen);
    for (uint32_t k = 0; k < b->n_succs; k++)
        stack[n++] = b->succs[k];
    while (n) {
        uint32_t at = stack[--n];
        if (at == b->ipdom || seen[at])
            continue;
        changed |= !u->divided[at];
        seen[at] = u->divided[at] = true;
        for (uint32_t k = 0; k < g->blocks[at].n_succs; k++)
            stack[n++] = g->blocks[at].succs[k];
    }
    return changed;
}

// Threads that come to the end of the block together may go different ways.
static bool parts(const Uniform *u, const CfgBlock *b) {
    const PtxStmt *s = b->last;
    while (s && s != b->first && s->kind != PTX_INSTR)
        s = s->prev;
    if (!s || s->kind != PTX_INSTR || !(gr_ptx_op_flags(s->instr->op) & (PTX_F_BRANCH | PTX_F_EXIT)))
        return b->n_succs > 1;
    if (s->instr->guard && varies(u, s->instr->guard))
        return true;
    for (unsigned k = 0; k < s->instr->n_operands; k++)
        if (s->instr->operands[k].kind == PTX_O_REG && varies(u, s->instr->operands[k].reg))
            return true;
    return false;
}

bool gr_uniform_find(const PtxFunc *f, const Cfg *g, Arena *arena, Uniform *u) {
    uint32_t edges = 1;
    for (uint32_t k = 0; k < g->n_blocks; k++)
        edges += g->blocks[k].n_succs;
    *u = (Uniform){.varies = GR_NEW_ARRAY(arena, bool, (size_t)f->n_regs + 1),
                   .n_regs = f->n_regs,
                   .divided = GR_NEW_ARRAY(arena, bool, (size_t)g->n_blocks + 1)};
    uint32_t *stack = GR_NEW_ARRAY(arena, uint32_t, (size_t)edges * 2);
    bool *seen = GR_NEW_ARRAY(arena, bool, (size_t)g->n_blocks + 1),
         *done = GR_NEW_ARRAY(arena, bool, (size_t)g->n_blocks + 1);
    if (!u->varies || !u->divided || !stack || !seen || !done)
        return false;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 0; k < g->n_order; k++) {
            const CfgBlock *b = &g->blocks[g->order[k]];
            for (PtxStmt *s = b->first; s; s = s == b->last ? NULL : s->next)
                if (s->kind == PTX_INSTR && !s->tag.inserted)
                    changed |= follow(u, f, s->instr, u->divided[b->id]);
            if (b->n_succs && !done[b->id] && parts(u, b)) {
                done[b->id] = true;
                changed |= divide(u, g, b, stack, seen);
            }
        }
    }
    return true;
}
