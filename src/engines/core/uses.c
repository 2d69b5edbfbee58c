// SPDX-License-Identifier: Apache-2.0
#include "engines/core/uses.h"

#include "passes/uniform.h"
#include "ptx/reach.h"

const GrBlind *gr_blind_find(const GrBlind *table, GrUse use, unsigned device) {
    for (; table && table->what; table++)
        if (table->use == use && table->devices & device)
            return table;
    return NULL;
}

static bool is_block_barrier(const PtxInstr *i) {
    return (i->op == PTX_OP_BAR || i->op == PTX_OP_BARRIER) && !gr_ptx_instr_has(i, PTX_MOD_warp) &&
           !gr_ptx_instr_has(i, PTX_MOD_cluster) && !gr_ptx_instr_has(i, PTX_MOD_arrive);
}

static bool is_of_async_proxy(const PtxInstr *i) {
    return i->op == PTX_OP_WGMMA || i->op == PTX_OP_TCGEN05 ||
           (i->op == PTX_OP_CP && gr_ptx_instr_has(i, PTX_MOD_bulk)) ||
           (i->op == PTX_OP_FENCE && gr_ptx_instr_has(i, PTX_MOD_proxy));
}

static unsigned uses_of_instr(const PtxInstr *i) {
    unsigned uses = 0;
    if (i->op == PTX_OP_GRIDDEPCONTROL)
        uses |= 1u << GR_USE_DEPENDENT;
    if (i->op == PTX_OP_MBARRIER)
        uses |= 1u << GR_USE_MBARRIERS;
    if (i->op == PTX_OP_CP && gr_ptx_instr_has(i, PTX_MOD_async) && !gr_ptx_instr_has(i, PTX_MOD_bulk))
        uses |= 1u << GR_USE_COPIES_OF_THREADS;
    if (is_of_async_proxy(i))
        uses |= 1u << GR_USE_PROXIES;
    return uses;
}

// Whether threads may come to a barrier of the block while others of it are elsewhere. When in doubt they may.
static bool parts_at_barriers(const PtxFunc *f) {
    bool found = false, any = false;
    Arena arena = {0};
    Cfg g;
    Uniform u;
    for (const PtxStmt *s = f->first; s && !any; s = s->next)
        any = s->kind == PTX_INSTR && is_block_barrier(s->instr);
    if (any) {
        found = gr_cfg_build(f, &arena, &g, NULL) != GR_OK || !gr_uniform_find(f, &g, &arena, &u);
        for (uint32_t k = 0; !found && k < g.n_blocks; k++)
            for (const PtxStmt *s = g.blocks[k].first; s && !found;
                 s = s == g.blocks[k].last ? NULL : s->next)
                found =
                    s->kind == PTX_INSTR && is_block_barrier(s->instr) && (u.divided[k] || s->instr->guard);
    }
    gr_arena_free(&arena);
    return found;
}

// Memory is out: it may have all.
static unsigned uses_of_function(const PtxFunc *f, unsigned wanted, bool *calls) {
    unsigned uses = 0;
    PtxFunc *open = NULL;
    if (!gr_ptx_turn_to(&open, f->module->funcs[f->index]))
        return wanted;
    for (const PtxStmt *s = f->first; s; s = s->next)
        if (s->kind == PTX_INSTR) {
            uses |= uses_of_instr(s->instr);
            *calls |= s->instr->op == PTX_OP_CALL;
        }
    if (wanted & 1u << GR_USE_BARRIERS && parts_at_barriers(f))
        uses |= 1u << GR_USE_BARRIERS;
    (void)gr_ptx_turn_to(&open, NULL);
    return uses & wanted;
}

unsigned gr_uses_of_kernel(const PtxFunc *kernel, unsigned wanted, unsigned *callees) {
    const PtxModule *m = kernel->module;
    bool calls = false, more = false;
    unsigned uses = uses_of_function(kernel, wanted, &calls);
    if (calls && *callees == GR_USES_UNKNOWN) {
        *callees = 0;
        for (uint32_t k = 0; k < m->n_funcs; k++)
            if (!m->funcs[k]->is_entry && m->funcs[k]->has_body)
                *callees |= uses_of_function(m->funcs[k], wanted, &more);
    }
    return calls ? uses | *callees : uses;
}
