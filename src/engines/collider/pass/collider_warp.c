// SPDX-License-Identifier: Apache-2.0
// collider_warp — the check within a warp before a store (figure 3b of the paper): do lanes store to one address?
#include "engines/collider/device/record.h"
#include "engines/collider/pass/collider_access.h"

gr_status gr_collider_report_warp(ColliderWork *w, Access *a, PtxStmt *at, unsigned size,
                                  const PtxReg *address, const PtxReg *peers, PtxReg *const half[2]) {
    char attached[64] = "";
    uint32_t meta =
        (gr_collider_meta(w, a, GR_CLASS_INTRA_WARP) & ~(0xffu << GR_META_SIZE)) | size << GR_META_SIZE;
    if (w->o->same_value) // else the runtime says whether it is one
        GR_MUST(gr_collider_breakpoint(w, a, at, attached, sizeof attached));
    return gr_access_put(a, at, NULL, 0, "%scall __gr%s_report_warp, (%u, %u, %s, %s, %s, %s);", attached,
                         w->o->suffix, a->site->id, meta, address->name, peers->name, half[0]->name,
                         half[1]->name);
}

// Leaves in *odd which lanes of `mask` do not store side by side, in the order of the lanes: those that do store to
// places of their own. All lanes of a part of a warp say the same. match.all answers at once, match.any takes a step
// for each different value (docs/performance.md). The low half of the addresses is enough: it differs by less than 32 *
// 32 between lanes.
static gr_status put_side_by_side(Access *a, const PtxReg *mask, const char *g, PtxReg **odd) {
    const PtxOperand *base = &a->address.sub[0];
    PtxReg *lane = gr_ptx_new_reg(a->func, PTX_U32), *start = gr_ptx_new_reg(a->func, PTX_B32);
    PtxReg *same = gr_ptx_new_reg(a->func, PTX_PRED), *unused = gr_ptx_new_reg(a->func, PTX_B32);
    *odd = gr_ptx_new_reg(a->func, PTX_PRED);
    GR_PUT_OPS(a, a->before, base, 1,
               gr_ptx_type_bits(base->reg->type) == 64 ? "cvt.u32.u64 %s, $0;" : "mov.b32 %s, $0;",
               start->name);
    GR_PUT(a, a->before, "mov.u32 %s, %%laneid; mad.lo.u32 %s, %s, %u, %s;", lane->name, start->name,
           lane->name, -(uint32_t)(a->n * a->bytes), start->name);
    if (a->guard) // the others have nothing to ask
        GR_PUT(a, a->before, "setp.eq.u32 %s, 0, 0;", same->name);
    return gr_access_put(a, a->before, NULL, 0, "%smatch.all.sync.b32 %s|%s, %s, %s; not.pred %s, %s;", g,
                         unused->name, same->name, start->name, mask->name, (*odd)->name, same->name);
}

// The addresses are equal where the base registers are.
gr_status gr_collider_warp_check(ColliderWork *w, Access *a, const PtxOperand *stored, unsigned bits,
                                 const PtxReg *alone) {
    const PtxOperand *base = &a->address.sub[0];
    PtxReg *mask = gr_ptx_new_reg(a->func, PTX_B32), *peers = mask, *odd;
    PtxReg *rest = gr_ptx_new_reg(a->func, PTX_B32), *shared = gr_ptx_new_reg(a->func, PTX_PRED);
    char guard[64];
    const char *g = gr_access_guard(a, guard, sizeof guard);
    bool asks = base->kind == PTX_O_REG;
    Detour d;
    GR_PUT(a, a->before, "%sactivemask.b32 %s;", g, mask->name);
    PtxStmt *at = a->before;
    if (asks) {
        GR_MUST(put_side_by_side(a, mask, g, &odd));
        if (alone)
            GR_PUT(a, a->before, "not.pred %s, %s;", alone->name, odd->name);
        GR_MUST(gr_collider_open_detour(a, a->before, odd, &d));
        at = d.at;
        peers = gr_ptx_new_reg(a->func, PTX_B32);
        GR_PUT_OPS(a, at, base, 1, "match.any.sync.b%u %s, $0, %s;", gr_ptx_type_bits(base->reg->type),
                   peers->name, mask->name);
    }
    GR_PUT(a, at, "add.s32 %s, %s, -1; and.b32 %s, %s, %s;", rest->name, peers->name, rest->name, rest->name,
           peers->name);
    if (alone)
        GR_PUT(a, at, "setp.eq.u32 %s, %s, 0;", alone->name, rest->name);
    if (asks) {
        PtxOperand back = gr_ptx_label_operand(d.back);
        GR_PUT_OPS(a, at, &back, 1, "setp.eq.u32 %s, %s, 0; @%s bra $0;", shared->name, rest->name,
                   shared->name);
    } else {
        if (a->guard)
            GR_PUT(a, at, "setp.ne.and.u32 %s, %s, 0, %s;", shared->name, rest->name, a->guard->name);
        else
            GR_PUT(a, at, "setp.ne.u32 %s, %s, 0;", shared->name, rest->name);
        GR_MUST(gr_collider_open_detour(a, a->before, shared, &d));
    }
    PtxReg *address, *half[2] = {gr_ptx_new_reg(a->func, PTX_B64), gr_ptx_new_reg(a->func, PTX_B64)};
    GR_MUST(gr_access_address64(a, d.at, &address));
    unsigned per_call = GR_VALUE_BYTES / a->bytes; // elements; 256-bit stores report in two parts
    for (unsigned first = 0; first < a->n; first += per_call) {
        unsigned n = a->n - first < per_call ? a->n - first : per_call, sinks = 0;
        if (first)
            GR_PUT(a, d.at, "add.s64 %s, %s, %u;", address->name, address->name, GR_VALUE_BYTES);
        GR_PUT(a, d.at, "mov.u64 %s, 0; mov.u64 %s, 0;", half[0]->name, half[1]->name);
        for (unsigned k = 0; k < n; k++) {
            PtxReg *wide, *into = half[k * a->bytes / 8];
            if (stored[first + k].kind == PTX_O_SINK) {
                sinks++;
                continue;
            }
            GR_MUST(gr_access_widen(a, d.at, stored[first + k], bits, &wide));
            GR_PUT(a, d.at, "shl.b64 %s, %s, %u; or.b64 %s, %s, %s;", wide->name, wide->name,
                   k * a->bytes % 8 * 8, into->name, into->name, wide->name);
        }
        if (sinks == n)
            continue;
        unsigned size = n * a->bytes > 8 ? 8 : n * a->bytes; // the runtime shows the half that differs
        GR_MUST(gr_collider_report_warp(w, a, d.at, size, address, peers, half));
    }
    return gr_collider_close_detour(a, &d);
}
