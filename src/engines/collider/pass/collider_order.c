// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_order.h"

#include "engines/collider/pass/collider_again.h"
#include "engines/collider/pass/collider_pace.h"

#include <string.h>

// ---- What statements do -------------------------------------------------------------------------------------------

bool gr_sync_is_barrier(const PtxInstr *i, bool *whole, bool *zero) {
    if ((i->op != PTX_OP_BAR && i->op != PTX_OP_BARRIER) || gr_ptx_instr_has(i, PTX_MOD_warp) ||
        gr_ptx_instr_has(i, PTX_MOD_cluster))
        return false;
    unsigned first = 0, all = 1;
    if (gr_ptx_instr_has(i, PTX_MOD_red))
        first = 1, all = 3;
    bool known = i->n_operands > first && i->operands[first].kind == PTX_O_INT;
    *zero = !known || i->operands[first].bits == 0;
    *whole = known && *zero && i->n_operands == all && !gr_ptx_instr_has(i, PTX_MOD_arrive);
    return true;
}

// What is called and has no body here, but for these, may have barriers.
static bool may_call_barriers(const PtxInstr *i) {
    static const char *const harmless[] = {"vprintf", "malloc", "free", "__assertfail"};
    if (i->op != PTX_OP_CALL)
        return false;
    if (!i->callee)
        return true;
    if (i->callee->has_body) // it is looked at by itself
        return false;
    for (unsigned k = 0; k < sizeof harmless / sizeof *harmless; k++)
        if (!strcmp(i->callee->name, harmless[k]))
            return false;
    return true;
}

OrderModule gr_sync_module(const PtxModule *m) {
    OrderModule o = {0};
    bool whole, zero;
    for (uint32_t k = 0; k < m->n_funcs; k++)
        for (const PtxStmt *s = m->funcs[k]->first; s; s = s->next) {
            if (s->kind != PTX_INSTR)
                continue;
            o.maps = o.maps || (!m->funcs[k]->is_entry && s->instr->op == PTX_OP_MAPA);
            o.called =
                o.called || (!m->funcs[k]->is_entry && gr_sync_is_barrier(s->instr, &whole, &zero) && zero);
        }
    return o;
}

bool gr_sync_aliases(const OrderModule *m, const PtxFunc *f) {
    bool maps = m->maps;
    for (const PtxStmt *s = f->first; s && !maps; s = s->next)
        maps = s->kind == PTX_INSTR && s->instr->op == PTX_OP_MAPA;
    return maps;
}

bool gr_sync_can_meet(const OrderModule *m, const PtxFunc *f) {
    bool any = false, whole, zero;
    for (const PtxStmt *s = f->first; s && !m->called; s = s->next) {
        if (s->kind != PTX_INSTR || s->tag.inserted)
            continue;
        if (may_call_barriers(s->instr))
            return false;
        if (!gr_sync_is_barrier(s->instr, &whole, &zero) || !zero)
            continue;
        if (!whole || s->instr->guard)
            return false;
        any = true;
    }
    return any;
}

// Memory that no other thread writes.
static bool is_own(PtxSpace s) {
    return s == PTX_LOCAL || s == PTX_PARAM || s == PTX_PARAM_ENTRY || s == PTX_PARAM_FUNC;
}

// What it does to what is kept. What is not known ends the segment.
OrderEffect gr_sync_effect(const PtxInstr *i) {
    unsigned flags = gr_ptx_instr_flags(i);
    switch (i->op) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
    case PTX_OP_ST:
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        if (flags & PTX_F_ASYNC || gr_ptx_instr_has(i, PTX_MOD_bulk) ||
            (i->sem != PTX_SEM_NONE && i->sem != PTX_WEAK && i->sem != PTX_RELAXED && i->sem != PTX_VOLATILE))
            return ORDER_ENDS;
        if (is_own(i->space))
            return ORDER_NOTHING;
        return flags & PTX_F_WRITES ? ORDER_WRITES : ORDER_NOTHING;
    // These order no memory (CUDA C++ programming guide, 7.22: warp shuffles do not imply a memory barrier; likewise
    // votes, matches, reductions).
    case PTX_OP_SHFL:
    case PTX_OP_VOTE:
    case PTX_OP_MATCH:
    case PTX_OP_REDUX:
    case PTX_OP_ELECT:
    case PTX_OP_ACTIVEMASK:
    case PTX_OP_MMA:
    case PTX_OP_MOVMATRIX:
    case PTX_OP_LDMATRIX:
    case PTX_OP_BRA:
    case PTX_OP_BRX:
    case PTX_OP_PREFETCH:
    case PTX_OP_PREFETCHU:
    case PTX_OP_CREATEPOLICY:
    case PTX_OP_NANOSLEEP:
    case PTX_OP_TEX:
    case PTX_OP_TLD4:
    case PTX_OP_SULD: return ORDER_NOTHING;
    // A thread that waits, for others or for its own copies, orders what comes behind. What it keeps of accesses
    // between a copy's issue and the wait may be changed by that copy: then these were too early.
    case PTX_OP_CP:
        return gr_ptx_instr_has(i, PTX_MOD_wait_group) || gr_ptx_instr_has(i, PTX_MOD_wait_all) ||
                       gr_ptx_instr_has(i, PTX_MOD_commit_group)
                   ? ORDER_NOTHING
                   : ORDER_ENDS;
    case PTX_OP_MBARRIER:
        return gr_ptx_instr_has(i, PTX_MOD_try_wait) || gr_ptx_instr_has(i, PTX_MOD_test_wait) ? ORDER_NOTHING
                                                                                               : ORDER_ENDS;
    case PTX_OP_WMMA: return gr_ptx_instr_has(i, PTX_MOD_store) ? ORDER_ENDS : ORDER_NOTHING;
    default: return flags & ~(unsigned)PTX_F_DST2 ? ORDER_ENDS : ORDER_NOTHING;
    }
}

// ---- Where threads end ----------------------------------------------------------------------------------------------

static void push(const PtxLabel **stack, unsigned *n, bool *seen, const PtxLabel *l) {
    if (l && !seen[l->index]) {
        seen[l->index] = true;
        stack[(*n)++] = l;
    }
}

// A barrier at which threads that have ended are not waited for. One that says how many come does not know of them.
static bool is_of_all(const PtxInstr *i) {
    bool whole, zero;
    return gr_sync_is_barrier(i, &whole, &zero) &&
           i->n_operands == (gr_ptx_instr_has(i, PTX_MOD_red) ? 3 : 1);
}

// Fills g->early: threads that end there may leave others behind at a barrier.
gr_status gr_sync_early_ends(const PtxFunc *f, Arena *arena, const PtxStmt ***early, unsigned *n_early,
                             gr_error *err) {
    const PtxLabel **stack = GR_NEW_ARRAY(arena, const PtxLabel *, (size_t)f->n_labels + 1);
    bool *seen = GR_NEW_ARRAY(arena, bool, (size_t)f->n_labels + 1), any = false;
    unsigned n = 0, ends = 0;
    for (const PtxStmt *s = f->first; s; s = s->next) {
        ends += s->kind == PTX_INSTR && gr_ptx_instr_flags(s->instr) & PTX_F_EXIT;
        any = any || (s->kind == PTX_INSTR && is_of_all(s->instr));
    }
    *early = GR_NEW_ARRAY(arena, const PtxStmt *, (size_t)ends + 1);
    GR_NEED(stack && seen && *early, err);
    for (const PtxStmt *start = any ? f->first : NULL; start; start = n ? stack[--n]->stmt : NULL) {
        bool on = true;
        for (const PtxStmt *s = start; s && on; s = s->next) {
            if (s->kind == PTX_LABEL_DEF && s != start) {
                on = !seen[s->label->index];
                seen[s->label->index] = true;
            }
            if (s->kind != PTX_INSTR)
                continue;
            unsigned flags = gr_ptx_instr_flags(s->instr);
            if (is_of_all(s->instr))
                break;
            if (flags & PTX_F_EXIT)
                (*early)[(*n_early)++] = s;
            for (unsigned k = 0; flags & PTX_F_BRANCH && k < s->instr->n_operands; k++) {
                const PtxLabel *l =
                    s->instr->operands[k].kind == PTX_O_LABEL ? s->instr->operands[k].label : NULL;
                push(stack, &n, seen, l);
                for (uint32_t t = 0; l && l->stmt && t < l->stmt->n_targets && l->stmt->targets; t++)
                    push(stack, &n, seen, l->stmt->targets[t]);
            }
            on = s->instr->guard || !(flags & (PTX_F_BRANCH | PTX_F_EXIT));
        }
    }
    return GR_OK;
}

// ---- What comes behind a store -------------------------------------------------------------------------------------

// Where the segment of the statement ends, if nothing comes in between that touches memory or waits; forwards only.
const PtxStmt *gr_sync_straight_end(const PtxStmt *s) {
    const PtxLabel *to = NULL;
    for (s = s->next; s; s = s->next) {
        if (to && !(s->kind == PTX_LABEL_DEF && s->label == to))
            continue;
        to = NULL;
        if (s->kind != PTX_INSTR) {
            if (s->kind == PTX_SCOPE_OPEN || s->kind == PTX_SCOPE_CLOSE)
                return NULL;
            continue;
        }
        const PtxInstr *i = s->instr;
        if (i->op == PTX_OP_BRA && !i->guard && i->n_operands == 1 && i->operands[0].kind == PTX_O_LABEL)
            to = i->operands[0].label;
        else if (gr_sync_effect(i) == ORDER_ENDS)
            return i->guard ? NULL : s;
        else if (!gr_again_computes(i) && !(i->op == PTX_OP_LD && is_own(i->space)))
            return NULL;
    }
    return NULL;
}

// A thread that polls memory by weak loads, again and again, may wait for a store that is late behind a barrier for
// which its own thread waits.
bool gr_sync_polls_in_loops(const PtxFunc *f, const Pace *p) {
    Pace walk = *p;
    walk.block = 0;
    walk.ended = true;
    for (const PtxStmt *s = f->first; s; s = s->next) {
        gr_pace_step(&walk, s);
        if (s->kind != PTX_INSTR || s->tag.inserted || !walk.depth[walk.block])
            continue;
        unsigned flags = gr_ptx_instr_flags(s->instr);
        if (flags & (PTX_F_FENCE | PTX_F_ATOMIC | PTX_F_CALL) || s->instr->op == PTX_OP_NANOSLEEP ||
            (s->instr->sem != PTX_SEM_NONE && s->instr->sem != PTX_WEAK))
            return true;
    }
    return false;
}
