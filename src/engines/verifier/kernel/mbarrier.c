// SPDX-License-Identifier: Apache-2.0
// mbarrier — cuda::barrier of the block's scope, where each thread arrives and waits at once: a barrier of the block.
//
// What arrive_and_wait() of the C++ library does is taken from its contract, not from its code: a thread returns from
// it when as many threads have arrived as the barrier was made for. A thread does not arrive again before it has
// waited. So if the count is no less than the threads of the block, all of them have arrived when one returns: their
// arrivals are a barrier of the block, and a barrier that not all come to is never passed. The count is what the launch
// decides (GrGap.unless). Everything else that is done with an mbarrier is a gap.
#include "engines/verifier/kernel/exec.h"

#include <stdlib.h>

// Where the library's function is called that this place is in. NULL: in none.
static const GrPlace *arrive_and_wait(const GrPlace *p) {
    while (p && !(p->function && strstr(p->function, "7barrierIL") &&
                  strstr(p->function, "12thread_scopeE2E") && strstr(p->function, "15arrive_and_waitEv")))
        p = p->inlined_at;
    return p ? p->inlined_at : NULL;
}

static bool is_one(KWalk *w, const KStmt *s, unsigned operand) {
    const PtxInstr *i = s->stmt.instr;
    const GrTerm *n = i->n_operands > operand ? gr_operand(w, s, &i->operands[operand], 32) : NULL;
    return i->n_operands <= operand || (n && gr_term_is_const(n, 1));
}

// Which mbarrier the instruction names, by its operand number `at`. False: not surely one of the block's shared memory.
static bool named(KWalk *w, const KStmt *s, unsigned at, KArrival *out) {
    const PtxInstr *i = s->stmt.instr;
    KTarget to[K_MOST_TARGETS];
    if (i->n_operands <= at || i->operands[at].kind != PTX_O_ADDRESS ||
        gr_address(w, s, gr_address_of(w, s, &i->operands[at]), to) != 1 || to[0].local || !to[0].object ||
        to[0].object->kind != GR_OBJECT_SHARED || to[0].offset->op != GR_TERM_CONST)
        return false;
    *out = (KArrival){.stmt = s, .object = to[0].object, .at = gr_term_signed(to[0].offset)};
    return true;
}

static void put(KWalk *w, const KArrival *a) { w->nomem |= !gr_vec_push(&w->arrivals, *a); }

void gr_exec_mbarrier(KWalk *w, const KStmt *s) {
    const PtxInstr *i = s->stmt.instr;
    const GrPlace *call = arrive_and_wait(s->place);
    KArrival a;
    bool init = gr_ptx_instr_has(i, PTX_MOD_init), arrive = gr_ptx_instr_has(i, PTX_MOD_arrive),
         plain = !gr_ptx_instr_has(i, PTX_MOD_noComplete) && !gr_ptx_instr_has(i, PTX_MOD_expect_tx);
    bool waits = gr_ptx_instr_has(i, PTX_MOD_try_wait) || gr_ptx_instr_has(i, PTX_MOD_test_wait);
    if (i->n_operands && i->operands[0].kind != PTX_O_ADDRESS)
        gr_assign_free(w, s, &i->operands[0], "mbarrier");
    if (gr_term_is_const(w->guard[s->block], 0) || (waits && call))
        return;
    if (init && !i->guard && i->n_operands == 2 && named(w, s, 0, &a)) {
        a.count = gr_operand(w, s, &i->operands[1], 32);
        put(w, &a);
    } else if (arrive && plain && call && !i->guard && is_one(w, s, 2) && named(w, s, 1, &a)) {
        GrBarrier *b = gr_new_barrier(w, s, GR_BARRIER_BLOCK);
        if (b)
            b->place = call;
        put(w, &a);
    } else {
        gr_gap(w, s, true, "mbarrier");
    }
}

// ---- What it hangs on -----------------------------------------------------------------------------------------------

// Whether control may come from behind statement `from` to `to`.
static bool leads_to(KWalk *w, const KStmt *from, const KStmt *to) {
    const Cfg *g = &w->f->cfg;
    if (from->block == to->block && from->id < to->id)
        return true;
    uint32_t *todo = calloc(g->n_blocks, sizeof *todo), n = 0;
    bool *seen = calloc(g->n_blocks, 1), found = !todo || !seen;
    if (!found)
        todo[n++] = from->block;
    while (n && !found) {
        const CfgBlock *b = &g->blocks[todo[--n]];
        for (uint32_t k = 0; k < b->n_succs; k++) {
            uint32_t next = b->succs[k];
            found |= next == to->block;
            if (!seen[next])
                todo[n++] = next;
            seen[next] = true;
        }
    }
    w->nomem |= !todo || !seen;
    free(todo);
    free(seen);
    return found;
}

static bool comes_before(KWalk *w, const KStmt *a, const KStmt *b) {
    return a->block == b->block ? a->id < b->id : gr_flat_dominates(w->f, a->block, b->block);
}

// A bar.sync between the two for all threads: behind it, the mbarrier is not made again.
static bool is_made_before(KWalk *w, const KArrival *made, const KArrival *a) {
    for (size_t k = 0; k < w->out->barriers.len; k++) {
        const GrBarrier *b = w->out->barriers.data[k];
        const KStmt *s = b->flat;
        if (b->kind == GR_BARRIER_BLOCK && s && s->stmt.instr->op != PTX_OP_MBARRIER &&
            !s->stmt.instr->guard && comes_before(w, s, a->stmt) && !leads_to(w, s, made->stmt))
            return true;
    }
    return false;
}

static void see_scope(void *user, const GrSymbol *s) {
    bool *same = user;
    *same &= s->scope == GR_SYM_LAUNCH && s->kind != GR_SYM_FREE && s->kind != GR_SYM_COUNTER;
}

// The term for: the barrier waits for no fewer threads than the block has. NULL: it is not known for how many it waits.
static const GrTerm *enough(KWalk *w, const KArrival *a) {
    const KArrival *made = NULL;
    for (size_t k = 0; k < w->arrivals.len; k++) {
        const KArrival *m = &w->arrivals.data[k];
        if (!m->count || m->object != a->object || m->at != a->at)
            continue;
        if (made)
            return NULL;
        made = m;
    }
    bool same = true;
    if (!made || !gr_term_symbols(made->count, see_scope, &same) || !same || !is_made_before(w, made, a))
        return NULL;
    const GrTerm *threads = gr_term_const(w->t, 32, 1);
    static const char *const names[] = {"%ntid.x", "%ntid.y", "%ntid.z"};
    for (unsigned k = 0; k < 3; k++)
        threads = gr_term_2(w->t, GR_TERM_MUL, threads, gr_term_sym(w->t, gr_kernel_special(w->t, names[k])));
    return gr_bool_not(w->t, gr_term_2(w->t, GR_TERM_ULT, made->count, threads));
}

void gr_mbarriers_end(KWalk *w) {
    for (size_t k = 0; k < w->arrivals.len; k++) {
        const KArrival *a = &w->arrivals.data[k];
        if (a->count)
            continue;
        const GrTerm *unless = enough(w, a);
        GrGap gap = {.why = unless ? "a cuda::barrier that may be for fewer threads than the block has"
                                   : "a cuda::barrier of which it is not known for how many threads it is",
                     .place = arrive_and_wait(a->stmt->place),
                     .whole_kernel = true,
                     .unless = unless};
        w->nomem |= !gr_vec_push(&w->out->gaps, gap);
    }
}
