// SPDX-License-Identifier: Apache-2.0
#include "engines/tracker/pass/hoisted.h"

#include <stdio.h>

gr_status gr_hoisted_put(const TrackerWork *w, const Access *a, const Decisions *d, uint32_t what,
                         const PtxReg *address, const char *used, Hoisted *all) {
    PtxReg *loaded = gr_ptx_new_reg(a->func, PTX_PRED);
    all->loaded[all->n++] = loaded;
    if (a->guard) {
        PtxOperand g = gr_ptx_reg_operand(a->guard);
        GR_PUT_OPS(a, a->before, &g, 1, "mov.pred %s, $0;", loaded->name);
    } else {
        GR_PUT(a, a->before, "setp.eq.u32 %s, 0, 0;", loaded->name);
    }
    for (unsigned k = 0; k < d->n; k++) {
        PtxStmt *at = d->at[k].at;
        PtxReg *uses = gr_ptx_new_reg(a->func, PTX_PRED);
        PtxOperand pred = gr_ptx_reg_operand(d->at[k].pred);
        Access here = *a;
        here.guard = uses;
        GR_PUT_OPS(a, at, &pred, 1, d->at[k].negated ? "not.pred %s, $0;" : "mov.pred %s, $0;", uses->name);
        GR_PUT(a, at, "and.pred %s, %s, %s;", uses->name, uses->name, loaded->name);
        GR_MUST(gr_tracker_put_call(w, &here, at, what, address, used));
        GR_PUT(a, at, "@%s setp.ne.u32 %s, 0, 0;", uses->name, loaded->name);
    }
    return GR_OK;
}

gr_status gr_hoisted_begin(const TrackerWork *w, PtxFunc *f, const Hoisted *all) {
    PtxStmt *s = all->n ? f->first : NULL;
    while (s && (s->kind == PTX_DECL_REG || s->kind == PTX_DECL_VAR || s->kind == PTX_LOC))
        s = s->next;
    for (uint32_t k = 0; s && k < all->n; k++) {
        GR_MUST(gr_emit(f, s, s->site, NULL, 0, w->err, "setp.ne.u32 %s, 0, 0;", all->loaded[k]->name));
    }
    return GR_OK;
}
