// SPDX-License-Identifier: Apache-2.0
#include "engines/tracker/pass/phases.h"

#include "engines/tracker/device/record.h"
#include "engines/tracker/pass/order.h"
#include "passes/uniform.h"

#include <string.h>

enum { BLOCKS_MOST = 4096, BARRIERS_MOST = 512 }; // beyond these it would take long

static bool is_barrier(const PtxInstr *i) {
    return (i->op == PTX_OP_BAR || i->op == PTX_OP_BARRIER) &&
           (gr_tracker_order(i) & 0xf) == GR_ORDER_BARRIER && gr_tracker_order(i);
}

static bool is_shared(PtxSpace s) { return s == PTX_SHARED || s == PTX_SHARED_CTA; }

// The instruction may write shared memory, then and there.
static bool may_write(const PtxModule *m, const PtxStmt *s) {
    const PtxInstr *i = s->instr;
    if (!s->site)
        return gr_ptx_instr_flags(i) & (PTX_F_WRITES | PTX_F_ATOMIC) && i->op != PTX_OP_WMMA &&
               !(i->op == PTX_OP_ST && (i->space == PTX_PARAM || i->space == PTX_PARAM_FUNC));
    PtxSpace space = m->sites[s->site].space;
    return m->sites[s->site].access & PTX_ACCESS_WRITE && space != PTX_GLOBAL && space != PTX_LOCAL;
}

// The instruction reaches the shared memory of other blocks, writes it later, or orders in ways that are not followed
// here.
static bool is_beyond(const PtxModule *m, const PtxStmt *s) {
    const PtxInstr *i = s->instr;
    switch (i->op) {
    case PTX_OP_UNKNOWN:
    case PTX_OP_MAPA:
    case PTX_OP_MBARRIER:
    case PTX_OP_CALL:
    case PTX_OP_TCGEN05:
    case PTX_OP_CLUSTERLAUNCHCONTROL: return true;
    default: break;
    }
    if (i->space == PTX_SHARED_CLUSTER || i->space2 == PTX_SHARED_CLUSTER)
        return true;
    if (s->site)
        return m->sites[s->site].async && m->sites[s->site].space != PTX_GLOBAL;
    return is_barrier(i) && (i->guard || !i->n_operands || i->operands[0].kind != PTX_O_INT);
}

typedef struct Walk {
    const PtxModule *m;
    const Cfg *g;
    uint32_t *stack;
    bool *seen;
} Walk;

// Walks from `s` to the end of its block, or to a barrier: true. `mark`: strikes off loads; else *writes says whether
// there is a write.
static bool walk_block(const Walk *w, const CfgBlock *b, const PtxStmt *s, bool *still, bool *writes) {
    for (; s; s = s == b->last ? NULL : s->next) {
        if (s->kind != PTX_INSTR || s->tag.inserted)
            continue;
        if (is_barrier(s->instr))
            return true;
        if (still && s->site)
            still[s->site] = false;
        if (writes)
            *writes |= may_write(w->m, s);
    }
    return false;
}

// Walks over all that may come behind `s`, a statement of block `b`, before the next barrier.
static void walk(const Walk *w, uint32_t b, const PtxStmt *s, bool *still, bool *writes) {
    const Cfg *g = w->g;
    uint32_t n = 0;
    memset(w->seen, 0, g->n_blocks * sizeof *w->seen);
    const CfgBlock *at = &g->blocks[b];
    bool ended = s && walk_block(w, at, s, still, writes);
    for (;;) {
        for (uint32_t k = 0; k < at->n_succs && !ended; k++)
            if (!w->seen[at->succs[k]]) {
                w->seen[at->succs[k]] = true;
                w->stack[n++] = at->succs[k];
            }
        if (!n)
            return;
        at = &g->blocks[w->stack[--n]];
        ended = walk_block(w, at, at->first, still, writes);
    }
}

static void walk_from(const Walk *w, uint32_t b, const PtxStmt *s, bool *still) {
    bool writes = false;
    walk(w, b, s, NULL, &writes);
    if (writes)
        walk(w, b, s, still, NULL);
}

static bool all_pass_barriers(const Cfg *g, const Uniform *u) {
    for (uint32_t k = 0; k < g->n_blocks; k++) {
        bool divided = u->divided[k] || g->blocks[k].rpo == UINT32_MAX;
        for (const PtxStmt *s = divided ? g->blocks[k].first : NULL; s;
             s = s == g->blocks[k].last ? NULL : s->next)
            if (s->kind == PTX_INSTR && !s->tag.inserted && is_barrier(s->instr))
                return false;
    }
    return true;
}

bool gr_phases_find(const PtxFunc *f, const Cfg *g, Arena *arena, bool *still) {
    const PtxModule *m = f->module;
    Uniform u;
    uint32_t loads = 0, barriers = 0;
    if (!f->is_entry || g->n_blocks > BLOCKS_MOST)
        return true;
    for (const PtxStmt *s = f->first; s; s = s->next) {
        if (s->kind != PTX_INSTR || s->tag.inserted)
            continue;
        if (is_beyond(m, s))
            return true;
        barriers += is_barrier(s->instr);
        const PtxSite *site = s->site ? &m->sites[s->site] : NULL;
        loads += site && site->access == PTX_ACCESS_READ && is_shared(site->space);
    }
    if (!loads || !barriers || barriers > BARRIERS_MOST)
        return true;
    Walk w = {m, g, GR_NEW_ARRAY(arena, uint32_t, (size_t)g->n_blocks + 1),
              GR_NEW_ARRAY(arena, bool, (size_t)g->n_blocks + 1)};
    if (!w.stack || !w.seen || !gr_uniform_find(f, g, arena, &u))
        return false;
    if (!all_pass_barriers(g, &u))
        return true;
    for (const PtxStmt *s = f->first; s; s = s->next)
        if (s->kind == PTX_INSTR && !s->tag.inserted && s->site)
            still[s->site] = m->sites[s->site].access == PTX_ACCESS_READ && !m->sites[s->site].strong &&
                             is_shared(m->sites[s->site].space);
    walk_from(&w, 0, g->blocks[0].first, still);
    for (uint32_t k = 0; k < g->n_blocks; k++)
        for (const PtxStmt *s = g->blocks[k].first; s; s = s == g->blocks[k].last ? NULL : s->next)
            if (s->kind == PTX_INSTR && !s->tag.inserted && is_barrier(s->instr))
                walk_from(&w, k, s == g->blocks[k].last ? NULL : s->next, still);
    return true;
}
