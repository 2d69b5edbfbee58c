// SPDX-License-Identifier: Apache-2.0
#include "engines/tracker/pass/paths.h"

#include "engines/tracker/device/record.h"
#include "engines/tracker/pass/order.h"
#include "passes/uniform.h"

#include <stdlib.h>

enum { BLOCKS_MOST = 4096 }; // beyond, it would take long

// ---- Fences ----------------------------------------------------------------------------------------------------

// The instruction may be the write of a release pattern, or the read of an acquire pattern.
static bool is_strong(const PtxInstr *i, bool write) {
    unsigned f = gr_ptx_instr_flags(i);
    switch (i->op) {
    case PTX_OP_UNKNOWN:
    case PTX_OP_MBARRIER:
    case PTX_OP_MULTIMEM:
    case PTX_OP_TENSORMAP:
    case PTX_OP_TCGEN05:
    case PTX_OP_CLUSTERLAUNCHCONTROL: return true;
    default: break;
    }
    if (f & (PTX_F_ATOMIC | PTX_F_ASYNC | PTX_F_CALL))
        return true;
    if (f & PTX_F_BARRIER && gr_ptx_instr_has(i, PTX_MOD_cluster))
        return true;
    return f & (write ? PTX_F_WRITES : PTX_F_READS) && i->sem != PTX_SEM_NONE && i->sem != PTX_WEAK;
}

static const PtxStmt *step(const PtxStmt *s, const PtxStmt *end, bool forward) {
    return s == end ? NULL : forward ? s->next : s->prev;
}

static bool holds(const PtxStmt *s, const PtxStmt *end, bool forward) {
    for (; s; s = step(s, end, forward))
        if (s->kind == PTX_INSTR && !s->tag.inserted && is_strong(s->instr, forward))
            return true;
    return false;
}

// A strong write may follow the statement, or a strong read precede it.
static bool meets(const Cfg *g, const PtxStmt *s, bool forward) {
    uint32_t at = gr_cfg_block_of(g, s), n = 0;
    uint32_t *stack = malloc(g->n_blocks * sizeof *stack);
    bool *seen = calloc(g->n_blocks, sizeof *seen), found = true;
    if (!stack || !seen || at >= g->n_blocks)
        goto done; // when in doubt it may
    const CfgBlock *b = &g->blocks[at];
    found = holds(step(s, forward ? b->last : b->first, forward), forward ? b->last : b->first, forward);
    while (!found) {
        const uint32_t *next = forward ? b->succs : b->preds;
        for (uint32_t k = 0; k < (forward ? b->n_succs : b->n_preds); k++)
            if (!seen[next[k]]) {
                seen[next[k]] = true;
                stack[n++] = next[k];
            }
        if (!n)
            break;
        b = &g->blocks[stack[--n]];
        found = holds(forward ? b->first : b->last, forward ? b->last : b->first, forward);
    }
done:
    free(stack);
    free(seen);
    return found;
}

uint32_t gr_paths_trim(const PtxFunc *f, const Cfg *g, const PtxStmt *s, uint32_t order) {
    const PtxInstr *i = s->instr;
    if (!f->is_entry || i->op != PTX_OP_FENCE || i->sem != PTX_ACQ_REL ||
        gr_ptx_instr_has(i, PTX_MOD_proxy) || g->n_blocks > BLOCKS_MOST)
        return order;
    if (!meets(g, s, true))
        order &= ~(uint32_t)GR_ORDER_RELEASES;
    if (!meets(g, s, false))
        order &= ~(uint32_t)GR_ORDER_ACQUIRES;
    return order & (GR_ORDER_RELEASES | GR_ORDER_ACQUIRES) ? order : 0;
}

// ---- Ends ------------------------------------------------------------------------------------------------------

static bool is_barrier(const PtxStmt *s) {
    return s->kind == PTX_INSTR && !s->tag.inserted &&
           (s->instr->op == PTX_OP_BAR || s->instr->op == PTX_OP_BARRIER) &&
           (gr_tracker_order(s->instr) & 0xf) == GR_ORDER_BARRIER;
}

// A barrier that every thread meets that comes there.
static bool is_met(const PtxStmt *s) { return is_barrier(s) && !s->instr->guard; }

static bool is_end(const PtxStmt *s) {
    return s->kind == PTX_INSTR && !s->tag.inserted &&
           (s->instr->op == PTX_OP_RET || s->instr->op == PTX_OP_EXIT);
}

// The thread may come to an end before any barrier.
static bool any_early(const Ends *e, const Cfg *g) {
    for (uint32_t k = 0; k < g->n_blocks; k++) {
        const CfgBlock *b = &g->blocks[k];
        for (const PtxStmt *s = e->early[k] ? b->first : NULL; s && !is_met(s); s = step(s, b->last, true))
            if (is_end(s))
                return true;
    }
    return false;
}

// All threads of the block are at a barrier whenever one is: then none of them has ended.
static bool all_come(const Cfg *g, const Uniform *u) {
    for (uint32_t k = 0; k < g->n_blocks; k++) {
        const CfgBlock *b = &g->blocks[k];
        for (const PtxStmt *s = b->first; s; s = step(s, b->last, true))
            if (is_barrier(s) && (s->instr->guard || u->divided[k]))
                return false;
    }
    return true;
}

bool gr_paths_ends(const PtxFunc *f, const Cfg *g, Arena *arena, Ends *out) {
    bool barriers = false;
    *out = (Ends){.early = GR_NEW_ARRAY(arena, bool, (size_t)g->n_blocks + 1)};
    uint32_t *stack = GR_NEW_ARRAY(arena, uint32_t, (size_t)g->n_blocks + 1), n = 0;
    if (!out->early || !stack)
        return false;
    for (const PtxStmt *s = f->first; s && !barriers; s = s->next)
        barriers = is_barrier(s);
    if (!f->is_entry || !barriers)
        return true;
    out->early[0] = true;
    stack[n++] = 0;
    while (n) {
        const CfgBlock *b = &g->blocks[stack[--n]];
        const PtxStmt *s = b->first;
        while (s && !is_met(s))
            s = step(s, b->last, true);
        for (uint32_t k = 0; !s && k < b->n_succs; k++)
            if (!out->early[b->succs[k]]) {
                out->early[b->succs[k]] = true;
                stack[n++] = b->succs[k];
            }
    }
    Uniform u;
    out->any = any_early(out, g);
    if (!out->any || g->n_blocks > BLOCKS_MOST)
        return true;
    if (!gr_uniform_find(f, g, arena, &u))
        return false;
    out->any = !all_come(g, &u);
    return true;
}

bool gr_paths_early_end(const Ends *e, const Cfg *g, const PtxStmt *s) {
    if (!e->any || !is_end(s))
        return false;
    uint32_t at = gr_cfg_block_of(g, s);
    return at < g->n_blocks && e->early[at];
}
