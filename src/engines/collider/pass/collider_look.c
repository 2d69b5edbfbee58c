// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_look.h"

#include "base/str.h"

// Lanes that look together leave the loop together: all wait as long as the first one.
static gr_status put_of_warp(const Access *a, PtxStmt *at, const char *left) {
    char guard[64];
    return gr_access_put(a, at, NULL, 0, "%sshfl.sync.idx.b32 %s, %s, 0, 31, 0xffffffff;",
                         gr_access_guard(a, guard, sizeof guard), left, left);
}

gr_status gr_look_begin(ColliderWork *w, const Access *a, PtxStmt *at, ColliderWait what, uint32_t max_ns,
                        Look *l) {
    l->again = NULL;
    // With a budget no wait is longer than usual.
    uint64_t longest = w->o->budget ? (uint64_t)max_ns * WAIT_USUAL / 100 : max_ns;
    if (!w->pace || w->brief || longest <= LOOK_NS)
        return gr_collider_wait(w, a, at, what, max_ns);
    GR_MUST(gr_collider_draw(w, a, at, what, max_ns, l->left));
    if (a->together)
        GR_MUST(put_of_warp(a, at, l->left));
    PtxReg *step = gr_ptx_new_reg(a->func, PTX_U32), *piece = gr_ptx_new_reg(a->func, PTX_U32);
    GR_PUT(a, at, "shr.u32 %s, %s, %u; max.u32 %s, %s, %u;", step->name, l->left,
           (unsigned)__builtin_ctz(LOOK_MOST), step->name, step->name, (unsigned)LOOK_NS);
    l->again = gr_ptx_new_label(a->func);
    gr_ptx_insert_label(a->func, at, l->again);
    GR_PUT(a, at, "min.u32 %s, %s, %s; sub.u32 %s, %s, %s;", piece->name, l->left, step->name, l->left,
           l->left, piece->name);
    return gr_collider_sleep(w, a, at, piece->name);
}

const PtxReg *gr_look_hold(ColliderWork *w, const Access *a) {
    if (!w->hold && !w->brief && w->o->beside && !w->o->budget && a->func->is_entry)
        w->hold = gr_ptx_new_reg(a->func, PTX_U32);
    return w->hold;
}

// The window is over, unless the launch is held: then the device runtime says how long it goes on.
static gr_status put_hold(ColliderWork *w, const Access *a, PtxStmt *at, const Look *l, LookHeld held) {
    PtxReg *p = gr_ptx_new_reg(a->func, PTX_PRED), *told = gr_ptx_new_reg(a->func, PTX_B64);
    PtxLabel *over = gr_ptx_new_label(a->func);
    PtxOperand to[2] = {gr_ptx_label_operand(over), gr_ptx_label_operand(l->again)};
    const char *hold = gr_look_hold(w, a)->name;
    GR_PUT(a, at, "setp.eq.u32 %s, %s, 0;", p->name, hold);
    w->n_holds += held == LOOK_HELD;
    if (held != LOOK_HELD) {
        PtxReg *stays = gr_ptx_new_reg(a->func, PTX_U32);
        GR_PUT(a, at, "and.b32 %s, %s, %u; setp.%s.or.u32 %s, %s, 0, %s;", stays->name, hold,
               (unsigned)GR_BESIDE_STAYS, held == LOOK_PASSES ? "ne" : "eq", p->name, stays->name, p->name);
    }
    GR_PUT_OPS(a, at, to, 2,
               "@%s bra $0; call (%s), __gr%s_hold, (%s); mov.b64 {%s, %s}, %s; setp.ne.u32 %s, %s, "
               "0; @%s bra $1;",
               p->name, told->name, w->o->suffix, hold, hold, l->left, told->name, p->name, l->left, p->name);
    gr_ptx_insert_label(a->func, at, over);
    return GR_OK;
}

static gr_status put_end(ColliderWork *w, const Access *a, PtxStmt *at, const Look *l, LookHeld held) {
    PtxReg *more = gr_ptx_new_reg(a->func, PTX_PRED);
    PtxOperand again = gr_ptx_label_operand(l->again);
    GR_PUT_OPS(a, at, &again, 1, "setp.gt.u32 %s, %s, %u; @%s bra $0;", more->name, l->left,
               (unsigned)LOOK_NS / 2, more->name);
    if (held != LOOK_NOT_HELD && gr_look_hold(w, a))
        return put_hold(w, a, at, l, held);
    return GR_OK;
}

gr_status gr_look_end(ColliderWork *w, const Access *a, PtxStmt *at, const Look *l, LookHeld held) {
    return l->again ? put_end(w, a, at, l, held) : GR_OK;
}

gr_status gr_look_late(ColliderWork *w, const Access *a, PtxStmt *at) {
    Look look;
    if (!gr_look_hold(w, a))
        return gr_collider_wait(w, a, at, WAIT_LATE, w->o->write_delay_ns);
    GR_MUST(gr_look_begin(w, a, at, WAIT_LATE, w->o->write_delay_ns, &look));
    return look.again ? put_end(w, a, at, &look, LOOK_PASSES) : GR_OK;
}
