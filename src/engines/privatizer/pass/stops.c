// SPDX-License-Identifier: Apache-2.0
// stops — code for blocks of kernels by which blocks may order what they do: a thread ends in front of the first read
// by which it may learn of another block (order.h). What it did before is in no order with what other blocks do before
// theirs. Only where no thread waits for another one: at a barrier, threads would have to learn that one has stopped.
#include "engines/privatizer/device/control.h"
#include "engines/privatizer/pass/code.h"

// Threads that never see what a thread that stopped would have told them go round a loop so often.
enum { MOST_ROUNDS = 1 << 20 };

bool gr_can_stop(const PtxFunc *f) {
    for (const PtxStmt *s = f->first; s; s = s->next) {
        const PtxInstr *i = s->kind == PTX_INSTR ? s->instr : NULL;
        bool strong = s->site && f->module->sites[s->site].strong;
        if (i && (gr_ptx_instr_flags(i) & (PTX_F_COLLECTIVE | PTX_F_BARRIER) || i->op == PTX_OP_MBARRIER ||
                  (strong && (gr_is_shared_space(i->space) || i->space == PTX_SHARED_CLUSTER))))
            return false;
    }
    return true;
}

gr_status gr_code_stops(Code *c) {
    c->stops = gr_ptx_new_label(c->f);
    if (c->body.n)
        GR_CODE(c, c->body.stmt[0], "min.u32 %s, %s, %d;", c->left->name, c->left->name, MOST_ROUNDS);
    gr_ptx_insert_label(c->f, NULL, c->stops);
    return gr_code_put(c, NULL, NULL, 0, "call __gr%s_stops; call __gr%s_done, (%s, %s); ret;", c->suffix,
                       c->suffix, c->stores->name, c->copy->name);
}
