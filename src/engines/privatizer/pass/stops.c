// SPDX-License-Identifier: Apache-2.0
// stops — code for blocks of kernels by which blocks may order what they do: a thread ends in front of the first read by which it may learn of another block (order.h). What it did before is in
// no order with what other blocks do before theirs. At the next barrier the others of its block learn of it, and end, too:
//
//     in front of the read:   bra STOPS
//     bar.sync 0:             barrier.red.or.pred stopped, 0, false; @stopped bra ENDS
//     STOPS:                  tell the host; barrier.red.or.pred stopped, 0, true
//     ENDS:                   tell what was stored; ret
#include "engines/privatizer/device/control.h"
#include "engines/privatizer/pass/code.h"

// Threads that never see what a thread that stopped would have told them go round a loop so often.
enum { MOST_ROUNDS = 1 << 20 };

bool gr_can_stop(const PtxFunc *f) {
    for (const PtxStmt *s = f->first; s; s = s->next) {
        const PtxInstr *i = s->kind == PTX_INSTR ? s->instr : NULL;
        bool strong = s->site && f->module->sites[s->site].strong;
        if (!i)
            continue;
        // Whatever else a lane may wait at for one that has stopped.
        bool plain = gr_is_full_barrier(i) && !gr_ptx_instr_has(i, PTX_MOD_red);
        if ((gr_ptx_instr_flags(i) & (PTX_F_COLLECTIVE | PTX_F_BARRIER) && !plain) ||
            i->op == PTX_OP_MBARRIER ||
            (strong && (gr_is_shared_space(i->space) || i->space == PTX_SHARED_CLUSTER)))
            return false;
    }
    return true;
}

gr_status gr_code_stops(Code *c) {
    gr_status st = GR_OK;
    PtxFunc *f = c->f;
    bool meets = false;
    PtxReg *stopped = gr_ptx_new_reg(f, PTX_PRED);
    PtxLabel *ends = gr_ptx_new_label(f);
    PtxOperand to_ends = gr_ptx_label_operand(ends);
    c->stops = gr_ptx_new_label(f);
    if (c->body.n)
        GR_TRY(gr_code_put(c, c->body.stmt[0], NULL, 0, "min.u64 %s, %s, %d;", c->left->name, c->left->name,
                           MOST_ROUNDS));
    for (size_t k = 0; k < c->body.n; k++) {
        PtxStmt *s = c->body.stmt[k];
        if (s->kind != PTX_INSTR || !gr_is_full_barrier(s->instr))
            continue;
        meets = true;
        GR_TRY(gr_code_put(c, s, &to_ends, 1,
                           "setp.ne.u32 %s, 0, 0; barrier.red.or.pred %s, 0, %s; @%s bra $0;", stopped->name,
                           stopped->name, stopped->name, stopped->name));
        s->kind = PTX_RAW;
        s->text = "";
    }
    gr_ptx_insert_label(f, NULL, c->stops);
    GR_TRY(gr_code_put(c, NULL, NULL, 0, "call __gr%s_stops;", c->suffix));
    if (meets)
        GR_TRY(gr_code_put(c, NULL, NULL, 0, "setp.eq.u32 %s, 0, 0; barrier.red.or.pred %s, 0, %s;",
                           stopped->name, stopped->name, stopped->name));
    gr_ptx_insert_label(f, NULL, ends);
    GR_TRY(gr_code_put(c, NULL, NULL, 0, "call __gr%s_done, (%s, %s); ret;", c->suffix, c->stores->name,
                       c->copy->name));
done:
    return st;
}
