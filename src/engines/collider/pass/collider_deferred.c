// SPDX-License-Identifier: Apache-2.0
// collider_deferred — see the header.
//
// Only its mbarrier tells when an st.async is performed, and only to threads that wait for it. To read the place back,
// the issuing thread would have to wait, which orders. To store the value first and look would show it to readers that
// should have waited, and would mask their race. So the place is watched before the store: from there on it belongs to
// this store, and a thread that writes to it while this thread looks twice writes unordered with the store. Nothing is
// stored but by the program, and the mbarrier's transaction happens once. Readers that do not wait are found by the
// checks of their loads.
//
//     ld.relaxed.sys.shared::cluster.b32 was, [a];
//     nanosleep.u32 delay;
//     ld.relaxed.sys.shared::cluster.b32 is, [a];    was != is: report
//     st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [a], v, [mbar];
//
// st.bulk is performed at once, as any weak store is: after the delay each word of the range must still be zero.
#include "engines/collider/pass/collider_deferred.h"

#include "engines/collider/pass/collider_later.h"
#include "engines/collider/pass/collider_time.h"

#include <stdio.h>
#include <string.h>

static GrSiteStatus read_store(Access *a) {
    const Access where = *a;
    GrSiteStatus status = gr_access_read(where.site, a);
    a->nested = where.nested;
    a->err = where.err;
    return status;
}

gr_status gr_collider_store_async(ColliderWork *w, Access *a, GrSiteStatus *status) {
    *status = read_store(a);
    if (*status != GR_SITE_CHECKED || w->classifies)
        return GR_OK;
    PtxType reg = a->bytes == 8 ? PTX_B64 : a->bytes == 4 ? PTX_B32 : PTX_B16;
    PtxOperand stored[EMIT_MAX_ELEMENTS], before[EMIT_MAX_ELEMENTS], again[EMIT_MAX_ELEMENTS];
    char type[16];
    unsigned bits = gr_ptx_type_bits(reg);
    gr_format(type, sizeof type, "b%u", a->bytes * 8);
    GR_MUST(gr_later_prepare(w, a));
    GR_MUST(gr_access_prepare(a));
    GR_MUST(gr_collider_own_guard(a));
    GR_MUST(gr_collider_stored(a, bits, stored));
    GR_MUST(gr_collider_warp_check(w, a, stored, bits, NULL));
    a->after = a->report = a->before;
    GR_MUST(gr_collider_repeat(a, type, reg, before));
    GR_MUST(gr_collider_wait(w, a, a->after, WAIT_WINDOW, w->o->write_delay_ns));
    GR_MUST(gr_collider_repeat(a, type, reg, again));
    GR_MUST(gr_collider_compare(w, a, before, again, bits, GR_CLASS_CLOBBERED_READ, NULL));
    return gr_later_take(w, a, NULL);
}

// st.bulk{.weak}{.shared::cta} [a], size, 0 (9.7.9.13): the size is a multiple of 8, and so is the address.
gr_status gr_collider_store_bulk(ColliderWork *w, Access *a, GrSiteStatus *status) {
    const PtxInstr *i = a->stmt->instr;
    *status = GR_SITE_NOT_UNDERSTOOD;
    if (i->n_operands != 3 || i->operands[0].kind != PTX_O_ADDRESS || i->operands[0].n_sub != 1 ||
        (i->operands[1].kind != PTX_O_REG && i->operands[1].kind != PTX_O_INT))
        return GR_OK;
    *status = GR_SITE_CHECKED;
    if (w->classifies)
        return GR_OK;
    a->address = i->operands[0];
    a->after = a->report = a->stmt->next;
    a->n = 1;
    a->bytes = 8;
    a->used[0] = UINT64_MAX;
    a->value[0] = &i->operands[2];
    PtxFunc *f = a->func;
    PtxReg *at = gr_ptx_new_reg(f, PTX_U64), *end = gr_ptx_new_reg(f, PTX_U64),
           *word = gr_ptx_new_reg(f, PTX_B64);
    PtxReg *last = gr_ptx_new_reg(f, PTX_U64), *more = gr_ptx_new_reg(f, PTX_PRED);
    const PtxOperand zero = gr_ptx_int_operand(0), seen = gr_ptx_reg_operand(word);
    const char *space = a->site->space == PTX_GENERIC ? "" : ".shared";
    GR_MUST(gr_access_prepare(a));
    GR_MUST(gr_collider_own_guard(a));
    GR_MUST(gr_collider_warp_check(w, a, &zero, 64, NULL));
    GR_MUST(gr_collider_wait(w, a, a->after, WAIT_WINDOW, w->o->write_delay_ns));
    GR_MUST(gr_access_address64(a, a->after, &at));
    GR_PUT_OPS(a, a->after, &i->operands[1], 1, "mov.u64 %s, $0; add.s64 %s, %s, %s; mov.b64 %s, 0;",
               end->name, end->name, end->name, at->name, word->name);
    PtxLabel *loop = gr_ptx_new_label(f), *done_ = gr_ptx_new_label(f);
    PtxOperand to_loop = gr_ptx_label_operand(loop), to_done = gr_ptx_label_operand(done_);
    if (a->guard)
        GR_PUT_OPS(a, a->after, &to_done, 1, "@!%s bra $0;", a->guard->name);
    gr_ptx_insert_label(f, a->after, loop);
    GR_PUT_OPS(a, a->after, &to_done, 1,
               "setp.lt.u64 %s, %s, %s; @!%s bra $0; ld.relaxed.sys%s.b64 %s, [%s];"
               "add.s64 %s, %s, 8; setp.eq.b64 %s, %s, 0;",
               more->name, at->name, end->name, more->name, space, word->name, at->name, at->name, at->name,
               more->name, word->name);
    GR_PUT_OPS(a, a->after, &to_loop, 1, "@%s bra $0;", more->name);
    gr_ptx_insert_label(f, a->after, done_);
    GR_PUT(a, a->after, "add.s64 %s, %s, -8;", last->name, at->name);
    a->at[0] = last;
    return gr_collider_compare(w, a, &zero, &seen, 64, GR_CLASS_LOST_UPDATE, NULL);
}
