// SPDX-License-Identifier: Apache-2.0
#include "ptx/liveness.h"

#include <string.h>

// ---- What a statement reads and writes -------------------------------------------------------------------------

static void put(const Liveness *l, uint64_t *set, const PtxReg *r, bool is) {
    if (!r || r->index >= l->n_regs)
        return;
    uint64_t bit = UINT64_C(1) << r->index % 64;
    set[r->index / 64] = is ? set[r->index / 64] | bit : set[r->index / 64] & ~bit;
}

// Registers of an operand that is read; those inside the brackets of a destination are, too.
static void put_read(const Liveness *l, uint64_t *set, const PtxOperand *o) {
    if (o->kind == PTX_O_REG)
        put(l, set, o->reg, true);
    for (unsigned k = 0; k < o->n_sub; k++)
        put_read(l, set, &o->sub[k]);
}

static bool is_whole(const PtxOperand *o) { return o->reg->vec <= 1 || !o->elem; }

static void put_written(const Liveness *l, uint64_t *set, const PtxOperand *o) {
    if (o->kind == PTX_O_REG && is_whole(o))
        put(l, set, o->reg, false);
    for (unsigned k = 0; k < o->n_sub && o->kind != PTX_O_ADDRESS; k++)
        put_written(l, set, &o->sub[k]);
}

static bool has_destination(const PtxInstr *i) {
    return i->n_operands && !(gr_ptx_op_flags(i->op) & PTX_F_NO_DST);
}

// Turns what is live behind `s` into what is live before it.
static void step_back(const Liveness *l, const PtxStmt *s, uint64_t *set) {
    if (s->kind != PTX_INSTR)
        return;
    const PtxInstr *i = s->instr;
    bool writes = has_destination(i);
    if (writes && !i->guard)
        put_written(l, set, &i->operands[0]);
    put(l, set, i->guard, i->guard != NULL);
    for (unsigned k = 0; k < i->n_operands; k++)
        if (!writes || k || i->operands[0].kind == PTX_O_ADDRESS)
            put_read(l, set, &i->operands[k]);
}

// ---- Blocks ----------------------------------------------------------------------------------------------------

static void walk_back(const Liveness *l, const CfgBlock *b, const PtxStmt *until, uint64_t *set) {
    for (const PtxStmt *s = b->last; s && s != until; s = s->prev) {
        step_back(l, s, set);
        if (s == b->first)
            return;
    }
}

static uint64_t *behind(const Liveness *l, uint32_t block) { return l->out + (size_t)block * l->n_words; }

// Adds what is live before the block to what is live behind those that lead to it.
static bool pass_on(const Liveness *l, const CfgBlock *b, uint64_t *set) {
    bool more = false;
    memcpy(set, behind(l, b->id), l->n_words * sizeof *set);
    walk_back(l, b, NULL, set);
    for (uint32_t k = 0; k < b->n_preds; k++)
        for (uint32_t w = 0; w < l->n_words; w++) {
            uint64_t *at = &behind(l, b->preds[k])[w], now = *at | set[w];
            more |= now != *at;
            *at = now;
        }
    return more;
}

gr_status gr_liveness_build(const Cfg *g, Arena *arena, Liveness *l, gr_error *err) {
    uint32_t n_regs = g->func->n_regs, n_words = n_regs / 64 + 1;
    *l = (Liveness){.cfg = g, .n_regs = n_regs, .n_words = n_words};
    l->out = GR_NEW_ARRAY(arena, uint64_t, (size_t)g->n_blocks * n_words);
    uint64_t *set = GR_NEW_ARRAY(arena, uint64_t, n_words);
    GR_NEED(l->out && set, err);
    for (uint32_t k = 0; g->func->reg_params && k < n_regs; k++) // results in registers, of old PTX
        put(l, behind(l, g->n_blocks - 1), g->func->regs[k], g->func->regs[k]->is_param);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t k = g->n_order; k-- > 0;)
            more |= pass_on(l, &g->blocks[g->order[k]], set);
    }
    return GR_OK;
}

// ---- Questions -------------------------------------------------------------------------------------------------

bool gr_live_behind(const Liveness *l, const PtxStmt *s, uint64_t *set) {
    uint32_t block = gr_cfg_block_of(l->cfg, s);
    if (block == UINT32_MAX)
        return false;
    memcpy(set, behind(l, block), l->n_words * sizeof *set);
    walk_back(l, &l->cfg->blocks[block], s, set);
    return true;
}

bool gr_live_before(const Liveness *l, const PtxStmt *s, uint64_t *set) {
    bool found = gr_live_behind(l, s, set);
    if (found)
        step_back(l, s, set);
    return found;
}

static bool is_read_of(const Liveness *l, const uint64_t *set, const PtxOperand *o) {
    bool is = o->kind == PTX_O_REG && gr_live_has(l, set, o->reg);
    for (unsigned k = 0; k < o->n_sub && o->kind != PTX_O_ADDRESS; k++)
        is |= is_read_of(l, set, &o->sub[k]);
    return is;
}

bool gr_live_is_dead(const Liveness *l, const PtxStmt *s, uint64_t *set) {
    return s->kind == PTX_INSTR && has_destination(s->instr) && gr_live_behind(l, s, set) &&
           !is_read_of(l, set, &s->instr->operands[0]);
}
