// SPDX-License-Identifier: Apache-2.0
// collider_bulk — the collider's code before a bulk copy: a call of the runtime, which walks through both ends, and a
// proxy fence.
//
// Figure 4d of the paper copies by bulk copies of its own. Those would be part of the groups that the program waits
// for, and towards shared memory they would need an mbarrier; as printed it also reads the destination without having
// waited. Ordinary loads and stores need neither, and so both directions are alike
// (engines/collider/device/collider_copy.c). The program's copy keeps its group or mbarrier.
#include "engines/collider/pass/collider_async.h"
#include "engines/collider/pass/collider_later.h"
#include "engines/collider/pass/collider_source.h"
#include "engines/collider/pass/collider_time.h"

static gr_status put_call(ColliderWork *w, Copy *c, const char *delay, CopyEnds *e) {
    Access *a = &c->dst;
    e->size = gr_ptx_new_reg(a->func, PTX_B32);
    GR_MUST(gr_copy_generic(&c->src, a->before, &e->src));
    GR_PUT_OPS(a, a->before, c->size, 1, "mov.b32 %s, $0;", e->size->name);
    if (c->source_only) {
        GR_PUT(a, a->before, "call __gr%s_watch_bulk, (%u, %s, %s, %s);", w->o->suffix, a->site->id,
               e->src->name, e->size->name, delay);
        return gr_source_issued(w, c, a->before, e->src, e->size);
    }
    GR_MUST(gr_copy_generic(a, a->before, &e->dst));
    if (c->ranks) {
        PtxReg *half = gr_ptx_new_reg(a->func, PTX_B16), *ranks = gr_ptx_new_reg(a->func, PTX_U32);
        GR_PUT_OPS(a, a->before, c->ranks, 1, "mov.b16 %s, $0; cvt.u32.u16 %s, %s;", half->name, ranks->name,
                   half->name);
        GR_PUT(a, a->before, "call __gr%s_copy_multicast, (%u, %s, %s, %s, %s, %s);", w->o->suffix,
               a->site->id, e->dst->name, e->src->name, e->size->name, delay, ranks->name);
        return GR_OK;
    }
    e->hash = gr_ptx_new_reg(a->func, PTX_U64);
    GR_PUT(a, a->before, "call (%s), __gr%s_copy_bulk, (%u, %s, %s, %s, %s);", e->hash->name, w->o->suffix,
           a->site->id, e->dst->name, e->src->name, e->size->name, delay);
    return gr_source_issued(w, c, a->before, e->src, e->size);
}

// A GPU performs a bulk copy within a fraction of a microsecond, mostly before a thread that should have waited looks.
// No thread waits while the copy is late, but for those that wait for the copy. So in a kernel's first small launches
// it may be late whatever L is: threads come to it through windows.
gr_status gr_bulk_jam(ColliderWork *w, const Access *a, PtxStmt *at, uint32_t times, const PtxReg *where) {
    char delay[DELAY_TEXT];
    uint32_t most = gr_copy_delay_ns(w);
    GR_MUST(gr_collider_draw(w, a, at, WAIT_POISON, most > UINT32_MAX / times ? UINT32_MAX : most * times,
                             delay));
    if (w->few) {
        const char *least = gr_ptx_new_reg(a->func, PTX_U32)->name;
        GR_MUST(gr_collider_draw_below(w, a, at, most, least));
        GR_PUT(a, at, "@%s max.u32 %s, %s, %s;", w->few->name, delay, delay, least);
    }
    return gr_access_put(a, at, NULL, 0, "%s%s%scall __gr%s_jam, (%s);", where ? "@" : "",
                         where ? where->name : "", where ? " " : "", w->o->suffix, delay);
}

// The copy is issued later, or comes late.
static gr_status put_lateness(ColliderWork *w, Copy *c, const CopyEnds *e) {
    if (w->issues)
        GR_MUST(gr_later_take(w, &c->dst, e->hash ? e : NULL));
    if (gr_copy_may_be_late(w))
        return gr_bulk_jam(w, &c->dst, c->dst.before, 1, w->issues);
    return GR_OK;
}

gr_status gr_collider_bulk(ColliderWork *w, Copy *c) {
    Access *a = &c->dst;
    Detour d;
    Gate gate;
    CopyEnds ends = {0};
    char delay[DELAY_TEXT];
    w->issues = NULL;
    if (!gr_ptx_instr_has(a->stmt->instr, PTX_MOD_bulk_group))
        GR_MUST(gr_later_prepare(w, a));
    GR_MUST(gr_copy_open(w, c, &gate));
    GR_MUST(gr_collider_prepare(a));
    GR_MUST(gr_collider_draw(w, a, a->after, WAIT_WINDOW, gr_copy_delay_ns(w), delay));
    if (a->guard) {
        GR_MUST(gr_collider_open_detour(a, a->before, a->guard, &d));
        a->before = c->src.before = d.at;
    }
    GR_MUST(put_call(w, c, delay, &ends));
    // What was stored here must come before what the async proxy stores (PTX ISA 9.0, 9.7.9.25.1.2). Of the
    // destination's space alone: between the two proxies' accesses to the source, the program itself must put a fence.
    const char *space = a->site->space == PTX_GLOBAL           ? "global"
                        : a->site->space == PTX_SHARED_CLUSTER ? "shared::cluster"
                                                               : "shared::cta";
    if (!c->source_only)
        GR_PUT(a, a->before, "fence.proxy.async.%s;", space);
    GR_MUST(put_lateness(w, c, &ends));
    if (a->guard)
        GR_MUST(gr_collider_close_detour(a, &d));
    return gr_pace_close(a, &gate);
}
