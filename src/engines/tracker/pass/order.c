// SPDX-License-Identifier: Apache-2.0
#include "engines/tracker/pass/order.h"

#include "engines/tracker/device/record.h"

enum { BOTH = GR_ORDER_RELEASES | GR_ORDER_ACQUIRES };

static uint32_t order(GrOrder kind, GrStrength scope, uint32_t how) {
    return (uint32_t)kind << GR_ORDER_KIND | (uint32_t)scope << GR_ORDER_SCOPE | how;
}

static GrStrength scope_of(PtxScope s) {
    return s == PTX_SCOPE_CTA       ? GR_STRONG_CTA
           : s == PTX_SCOPE_CLUSTER ? GR_STRONG_CLUSTER
           : s == PTX_SCOPE_GPU     ? GR_STRONG_GPU
                                    : GR_STRONG_SYS;
}

static uint32_t of_barrier(const PtxInstr *i) {
    if (gr_ptx_instr_has(i, PTX_MOD_warp))
        return order(GR_ORDER_WARP, GR_STRONG_CTA, BOTH);
    if (gr_ptx_instr_has(i, PTX_MOD_cluster))
        return i->sem == PTX_RELAXED ? 0
               : gr_ptx_instr_has(i, PTX_MOD_wait)
                   ? order(GR_ORDER_CLUSTER, GR_STRONG_CLUSTER, GR_ORDER_ACQUIRES)
                   : order(GR_ORDER_CLUSTER, GR_STRONG_CLUSTER, GR_ORDER_RELEASES);
    // barrier.red has a result and a predicate besides its number and count.
    unsigned counted = gr_ptx_instr_has(i, PTX_MOD_red) ? 4 : 2;
    if (gr_ptx_instr_has(i, PTX_MOD_arrive))
        return order(GR_ORDER_SOME, GR_STRONG_CTA, GR_ORDER_RELEASES);
    return i->n_operands >= counted ? order(GR_ORDER_SOME, GR_STRONG_CTA, BOTH)
                                    : order(GR_ORDER_BARRIER, GR_STRONG_CTA, BOTH);
}

static uint32_t of_fence(const PtxInstr *i) {
    GrStrength scope = gr_ptx_instr_has(i, PTX_MOD_cta)  ? GR_STRONG_CTA
                       : gr_ptx_instr_has(i, PTX_MOD_gl) ? GR_STRONG_GPU
                                                         : scope_of(i->scope);
    bool sc = i->op == PTX_OP_MEMBAR || i->sem == PTX_SC;
    return order(GR_ORDER_FENCE, scope, BOTH) | (sc ? GR_ORDER_SC : 0);
}

// Without a semantics an arrival releases and a wait acquires; without a scope both do so for the block (PTX ISA
// 9.7.13.15).
static uint32_t of_mbarrier(const PtxInstr *i) {
    GrStrength scope = i->scope == PTX_SCOPE_NONE ? GR_STRONG_CTA : scope_of(i->scope);
    bool waits = gr_ptx_instr_has(i, PTX_MOD_test_wait) || gr_ptx_instr_has(i, PTX_MOD_try_wait);
    if (i->sem == PTX_RELAXED)
        return waits ? order(GR_ORDER_SOME, scope, GR_ORDER_TOLD) : 0;
    if (gr_ptx_instr_has(i, PTX_MOD_arrive) || gr_ptx_instr_has(i, PTX_MOD_arrive_drop) ||
        gr_ptx_instr_has(i, PTX_MOD_complete_tx))
        return order(GR_ORDER_SOME, scope, GR_ORDER_RELEASES);
    if (waits)
        return order(GR_ORDER_SOME, scope, GR_ORDER_ACQUIRES | GR_ORDER_TOLD);
    return 0;
}

static uint32_t of_copy(const PtxInstr *i) {
    uint32_t bulk = gr_ptx_instr_has(i, PTX_MOD_bulk) ? GR_ORDER_BULK : 0;
    if (gr_ptx_instr_has(i, PTX_MOD_mbarrier) && gr_ptx_instr_has(i, PTX_MOD_arrive))
        return order(GR_ORDER_WAIT, GR_STRONG_CLUSTER,
                     GR_ORDER_RELEASES); // others may learn of the thread's copies
    if (gr_ptx_instr_has(i, PTX_MOD_commit_group))
        return order(GR_ORDER_COMMIT, GR_STRONG_CTA, bulk);
    if (gr_ptx_instr_has(i, PTX_MOD_wait_group) || gr_ptx_instr_has(i, PTX_MOD_wait_all))
        return order(GR_ORDER_WAIT, GR_STRONG_CTA,
                     bulk | (gr_ptx_instr_has(i, PTX_MOD_read) ? GR_ORDER_READ : 0));
    return 0;
}

uint32_t gr_tracker_order(const PtxInstr *i) {
    switch (i->op) {
    case PTX_OP_BAR:
    case PTX_OP_BARRIER: return of_barrier(i);
    case PTX_OP_FENCE:
    case PTX_OP_MEMBAR: return of_fence(i);
    case PTX_OP_MBARRIER: return of_mbarrier(i);
    case PTX_OP_CP: return of_copy(i);
    default: break;
    }
    switch (i->sem) {
    case PTX_ACQUIRE: return order(GR_ORDER_FENCE, scope_of(i->scope), GR_ORDER_ACQUIRES);
    case PTX_RELEASE: return order(GR_ORDER_FENCE, scope_of(i->scope), GR_ORDER_RELEASES);
    case PTX_ACQ_REL:
    case PTX_SC: return order(GR_ORDER_FENCE, scope_of(i->scope), BOTH);
    default: return 0;
    }
}

bool gr_tracker_synchronizes(const PtxModule *m, const PtxStmt *s) {
    return gr_tracker_order(s->instr) ||
           gr_ptx_instr_flags(s->instr) &
               (PTX_F_CALL | PTX_F_ATOMIC | PTX_F_ASYNC | PTX_F_BARRIER | PTX_F_FENCE) ||
           (s->site && m->sites[s->site].strong);
}
