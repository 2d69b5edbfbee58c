// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/pass/order.h"

#include "engines/privatizer/device/control.h"

#include <string.h>

// Of the way to a statement, or from it: there is an access; and beyond it a fence.
enum { ACCESS = 1, FENCE = 2 };

typedef struct Order {
    const PtxFunc *f;
    const Liveness *live;
    uint64_t *set;
    const GrGrid *grid; // of its code nothing orders what the program does: it is a barrier that is followed
    bool warps;
    // What there may be of other threads of the unit, which meet at barriers on other ways through the kernel.
    unsigned always;
    uint8_t *roles;
} Order;

static bool is_narrow(const Order *o, const PtxInstr *i) {
    return !o->warps && (i->scope == PTX_SCOPE_CTA || i->scope == PTX_SCOPE_CLUSTER);
}

static bool is_fence(const Order *o, const PtxInstr *i) {
    return gr_ptx_instr_flags(i) & PTX_F_FENCE && !is_narrow(o, i);
}

// NULL: it is to no memory that units share.
static const PtxSite *access_of(const Order *o, const PtxStmt *s) {
    const PtxSite *site = s->site ? &o->f->module->sites[s->site] : NULL;
    bool own = !site || gr_is_private_space(site->space) ||
               (!o->warps && (gr_is_shared_space(site->space) || site->space == PTX_SHARED_CLUSTER));
    return own ? NULL : site;
}

// What is before the statement becomes what is behind it; `back`: what comes behind it becomes what comes from it on.
static unsigned step(const Order *o, const PtxStmt *s, unsigned state, bool back) {
    if (s->kind != PTX_INSTR)
        return state;
    if (o->warps && gr_is_full_barrier(s->instr))
        return o->always;
    if (is_fence(o, s->instr))
        return state & ACCESS ? state | FENCE : state;
    const PtxSite *site = access_of(o, s);
    if (!site || gr_grid_is_access(o->grid, s))
        return state;
    PtxSem sem = s->instr->sem;
    bool itself = sem == (back ? PTX_ACQUIRE : PTX_RELEASE) || sem == PTX_ACQ_REL || sem == PTX_SC,
         can = back ? gr_has_result(site, o->live, o->set) : site->strong && site->access & PTX_ACCESS_WRITE;
    if (can && !is_narrow(o, s->instr) && (state & FENCE || (itself && state & ACCESS)))
        o->roles[s->site] |= back ? GR_ORDERS_READ : GR_ORDERS_WRITE;
    return state | ACCESS;
}

// Until nothing changes.
static void flow(const Order *o, const Cfg *g, unsigned *at, bool back) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < g->n_blocks; b++) {
            const CfgBlock *block = &g->blocks[b];
            unsigned state = o->always;
            for (uint32_t k = 0; k < (back ? block->n_succs : block->n_preds); k++)
                state |= at[back ? block->succs[k] : block->preds[k]];
            const PtxStmt *end = back ? block->first : block->last;
            for (const PtxStmt *s = back ? block->last : block->first; s; s = s == end ? NULL
                                                                              : back   ? s->prev
                                                                                       : s->next)
                state = step(o, s, state, back);
            changed |= at[b] != state;
            at[b] = state;
        }
    }
}

// `at`: two numbers for each block of the graph. Gives whether units may order each other.
static bool find_roles(const PtxFunc *f, const Liveness *live, uint64_t *set, const GrGrid *grid, bool warps,
                       unsigned *at, uint8_t *roles) {
    const Cfg *g = live->cfg;
    Order o = {f, live, set, grid, warps, 0, roles};
    bool fences = false, meets = !warps;
    for (const PtxStmt *s = f->first; s; s = s->next) {
        fences |= s->kind == PTX_INSTR && is_fence(&o, s->instr);
        meets |= s->kind == PTX_INSTR && gr_is_warp_barrier(s->instr);
    }
    if (meets)
        o.always = ACCESS | (fences ? FENCE : 0);
    unsigned all = 0;
    memset(at, 0, 2 * g->n_blocks * sizeof *at);
    flow(&o, g, at, false);
    flow(&o, g, at + g->n_blocks, true);
    for (const PtxStmt *s = f->first; s; s = s->next)
        all |= roles[s->site];
    return (all & (GR_ORDERS_READ | GR_ORDERS_WRITE)) == (GR_ORDERS_READ | GR_ORDERS_WRITE);
}

gr_status gr_code_find_order(const PtxFunc *f, const Liveness *live, uint64_t *set, const GrGrid *grid,
                             Arena *arena, GrRoles *out, gr_error *err) {
    const PtxModule *m = f->module;
    *out = (GrRoles){{NULL, NULL}, {false, false}};
    bool strong = false, meets = false; // at mbarriers
    for (const PtxStmt *s = f->first; s; s = s->next) {
        strong |= s->site && m->sites[s->site].strong && !gr_grid_is_access(grid, s);
        meets |= s->kind == PTX_INSTR && s->instr->op == PTX_OP_MBARRIER;
    }
    if (!strong)
        return GR_OK;
    unsigned *at = GR_NEW_ARRAY(arena, unsigned, 2 * (size_t)live->cfg->n_blocks);
    for (int warps = 0; warps < 2; warps++)
        out->of[warps] = GR_NEW_ARRAY(arena, uint8_t, (size_t)m->n_sites + 1);
    GR_NEED(at && out->of[0] && out->of[1], err);
    bool blocks = find_roles(f, live, set, grid, false, at, out->of[0]),
         warps = find_roles(f, live, set, grid, true, at, out->of[1]);
    for (uint32_t k = 1; k <= m->n_sites; k++) {
        const PtxSite *site = &m->sites[k];
        bool may_be_shared = gr_is_shared_space(site->space) || site->space == PTX_SHARED_CLUSTER ||
                             site->space == PTX_GENERIC;
        out->of[0][k] *= blocks;
        if (site->func == f && site->strong && may_be_shared && (meets || (warps && out->of[1][k])))
            out->of[0][k] |= GR_ORDERS_INNER;
    }
    if (!warps)
        out->of[1] = NULL;
    out->orders[0] = blocks;
    out->orders[1] = warps;
    return GR_OK;
}
