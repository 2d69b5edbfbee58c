// SPDX-License-Identifier: Apache-2.0
#include "engines/collider/pass/collider_poison.h"

#include "base/str.h"
#include "engines/collider/pass/collider_look.h"
#include "engines/collider/pass/collider_polled.h"
#include "engines/collider/pass/collider_segment.h"

#include <stddef.h>

// ---- What is never poisoned --------------------------------------------------------------------------------------

// Addresses have 49 bits and begin above 4 GB.
static bool may_be_address(uint64_t v) { return v >> 32 && v >> 32 < 1u << 17; }

static gr_status skip_if(Access *a, const PtxReg *p, PtxLabel *over) {
    PtxOperand target = gr_ptx_label_operand(over);
    return gr_access_put(a, a->before, &target, 1, "@%s bra $0;", p->name);
}

static gr_status skip_addresses(Access *a, const PtxOperand *stored, PtxLabel *over, bool *never) {
    *never = false;
    if (a->bytes != 8 || a->type == PTX_F64)
        return GR_OK;
    for (unsigned k = 0; k < a->n; k++) {
        if (stored[k].kind == PTX_O_INT)
            *never = *never || may_be_address(stored[k].bits);
        if (stored[k].kind != PTX_O_REG)
            continue;
        PtxReg *wide = gr_ptx_new_reg(a->func, PTX_B64), *high = gr_ptx_new_reg(a->func, PTX_B32);
        PtxReg *p = gr_ptx_new_reg(a->func, PTX_PRED);
        GR_PUT_OPS(a, a->before, &stored[k], 1,
                   "shr.b64 %s, $0, 32; cvt.u32.u64 %s, %s; sub.u32 %s, %s, 1; setp.lt.u32 %s, %s, %u;",
                   wide->name, high->name, wide->name, high->name, high->name, p->name, high->name,
                   (1u << 17) - 1);
        GR_MUST(skip_if(a, p, over));
    }
    return GR_OK;
}

// Where the host or another device may look: in a range, granules whose bit is set. The engine keeps both (kept.h).
static bool may_be_kept(const Access *a) {
    return a->site->space == PTX_GLOBAL || a->site->space == PTX_GENERIC;
}

static gr_status skip_kept(ColliderWork *w, Access *a, PtxLabel *over) {
    if (!may_be_kept(a))
        return GR_OK;
    PtxReg *at, *low = gr_ptx_new_reg(a->func, PTX_U64), *bytes = gr_ptx_new_reg(a->func, PTX_U64);
    PtxReg *n = gr_ptx_new_reg(a->func, PTX_U32), *p = gr_ptx_new_reg(a->func, PTX_PRED);
    const char *control = w->o->suffix;
    GR_MUST(gr_access_address64(a, a->before, &at));
    GR_PUT(a, a->before,
           "ld.relaxed.sys.global.u64 %s, [__gr%s_control+%zu]; ld.relaxed.sys.global.u64 %s, "
           "[__gr%s_control+%zu]; sub.u64 %s, %s, %s; setp.lt.u64 %s, %s, %s;",
           low->name, control, offsetof(GrControl, kept), bytes->name, control,
           offsetof(GrControl, kept_bytes), low->name, at->name, low->name, p->name, low->name, bytes->name);
    GR_PUT(a, a->before,
           "ld.relaxed.sys.global.u64 %s, [__gr%s_control+%zu]; shr.u64 %s, %s, %u; "
           "cvt.u32.u64 %s, %s; and.b32 %s, %s, %u; shr.u64 %s, %s, %s; cvt.u32.u64 %s, %s; "
           "and.b32 %s, %s, 1; setp.ne.and.u32 %s, %s, 0, %s;",
           bytes->name, control, offsetof(GrControl, kept_granules), low->name, at->name,
           (unsigned)GR_GRANULE_SHIFT, n->name, low->name, n->name, n->name, GR_GRANULES - 1u, bytes->name,
           bytes->name, n->name, n->name, bytes->name, n->name, n->name, p->name, n->name, p->name);
    return skip_if(a, p, over);
}

// ---- The store ----------------------------------------------------------------------------------------------------

// Strong, because a compiler may drop a weak store that another follows at once.
static gr_status put_turned(Access *a, const PtxOperand *stored, unsigned bits, const char *mods,
                            PtxOperand *turned) {
    gr_status st = GR_OK;
    char guard[64];
    const char *g = gr_access_guard(a, guard, sizeof guard);
    StrBuf list = {0};
    for (unsigned k = 0; k < a->n; k++) {
        bool sink = stored[k].kind == PTX_O_SINK;
        PtxReg *r = gr_ptx_new_reg(a->func, bits == 64 ? PTX_B64 : bits == 32 ? PTX_B32 : PTX_B16);
        if (!sink)
            GR_TRY(gr_access_put(a, a->before, &stored[k], 1, "xor.b%u %s, $0, 1;", bits, r->name));
        turned[k] = sink ? stored[k] : gr_ptx_reg_operand(r);
        gr_str_addf(&list, "%s%s", k ? ", " : "", sink ? "_" : r->name);
    }
    if (list.oom)
        st = gr_no_memory(a->err);
    else
        st = gr_access_put(a, a->before, &a->address, 1, a->n > 1 ? "%sst%s $0, {%s};" : "%sst%s $0, %s;", g,
                           mods, list.data);
done:
    gr_str_free(&list);
    return st;
}

// The garbage is stored as the value is, so a thread that overwrites it while it is there races with the store.
static gr_status wait_for_others(ColliderWork *w, const Access *store, const PtxOperand *turned,
                                 const char *type, unsigned bits) {
    Access a = *store;
    PtxOperand seen[EMIT_MAX_ELEMENTS];
    Look look;
    if (!w->pace || w->o->write_delay_ns <= 1)
        return gr_collider_wait(w, &a, a.before, WAIT_POISON, w->o->write_delay_ns);
    a.after = a.report = a.before;
    GR_MUST(gr_look_begin(w, &a, a.before, WAIT_POISON, w->o->write_delay_ns, &look));
    GR_MUST(gr_collider_repeat(&a, type, bits == 64 ? PTX_B64 : bits == 32 ? PTX_B32 : PTX_B16, seen));
    GR_MUST(gr_collider_compare(w, &a, turned, seen, bits, GR_CLASS_LOST_UPDATE, NULL));
    return gr_look_end(w, &a, a.before, &look, LOOK_HELD);
}

gr_status gr_collider_poison(ColliderWork *w, Access *a, const PtxOperand *stored, const char *type,
                             unsigned bits, const char *mods, const PtxReg *alone, bool *late,
                             bool *poisoned) {
    PtxOperand turned[EMIT_MAX_ELEMENTS];
    PtxLabel *over = gr_ptx_new_label(a->func), *kept = gr_ptx_new_label(a->func);
    PtxOperand end = gr_ptx_label_operand(over);
    bool never;
    *late = false;
    if (w->polled && gr_is_polled(w->polled, a->site, &a->address))
        return GR_OK;
    GR_MUST(skip_addresses(a, stored, over, &never));
    if (never)
        return GR_OK;
    GR_MUST(skip_kept(w, a, w->o->beside ? kept : over));
    *poisoned = true;
    GR_MUST(put_turned(a, stored, bits, mods, turned));
    if (alone)
        GR_MUST(gr_segment_late(w, a, a->before, stored, alone, over));
    GR_MUST(wait_for_others(w, a, turned, type, bits));
    *late = alone != NULL;
    if (w->o->beside &&
        may_be_kept(a)) { // what shows without poison is the value itself, which has to come late
        GR_PUT_OPS(a, a->before, &end, 1, "bra $0;");
        gr_ptx_insert_label(a->func, a->before, kept);
        GR_MUST(gr_look_late(w, a, a->before));
    }
    gr_ptx_insert_label(a->func, a->before, over);
    return GR_OK;
}
