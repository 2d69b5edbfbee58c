// SPDX-License-Identifier: Apache-2.0
// calls — lanes of a warp that entered a function one after the other share one call again.
//
// The device parts warps where hardware does not. Lanes that were parted in front of a call each have an activation,
// with a frame of its own. But instructions of all lanes, such as wmma, need their operands in one frame, and lanes in
// two frames could not become one split before both had returned. So if two splits come to the same instruction, called
// from the same place, the registers of one frame's lanes are copied to the other, and the unused frame is given back.
#include "vm/core/warp.h"

#include <string.h>

bool gr_vm_same_place(const VmSplit *p, const VmSplit *q) {
    if (p->pc != q->pc)
        return false;
    const VmActivation *a = p->act, *b = q->act;
    for (; a != b; a = a->caller, b = b->caller)
        if (!a->caller || !b->caller || a->func != b->func || a->call != b->call || a->sp != b->sp ||
            a->dynamic != b->dynamic) // what alloca has given is at the same address in all lanes of a call
            return false;
    return true;
}

static void move_lanes(const VmFunc *f, uint8_t *to, const uint8_t *from, uint32_t lanes) {
    for (uint32_t k = 0; k < f->n_places; k++) {
        VmLanePlace at = f->places[k];
        if (!at.bytes) {
            uint32_t *a = (uint32_t *)(void *)(to + at.offset);
            *a = (*a & ~lanes) | (*(const uint32_t *)(const void *)(from + at.offset) & lanes);
            continue;
        }
        for (uint32_t m = lanes; m; m &= m - 1) {
            size_t lane = at.offset + (size_t)__builtin_ctz(m) * at.bytes;
            memcpy(to + lane, from + lane, at.bytes);
        }
    }
}

static void unify(VmWarpRest *r, VmActivation *a, VmActivation *b) {
    if (a == b)
        return;
    unify(r, a->caller, b->caller);
    move_lanes(a->func, a->frame, b->frame, b->lanes);
    a->lanes |= b->lanes;
    for (uint32_t s = 0; s < r->n_splits; s++) {
        VmSplit *p = &r->splits[s];
        if (p->act == b)
            p->act = a;
        for (VmActivation *x = p->act; x; x = x->caller)
            if (x->caller == b)
                x->caller = a;
    }
    for (uint32_t k = 0; k < sizeof r->joins / sizeof *r->joins; k++)
        if (r->joins[k].act == b) // those that are free may name it as well
            r->joins[k].act = a;
    gr_vm_activation_free(r->launch, b);
}

void gr_vm_unify_calls(VmWarpRest *r, const VmSplit *p, const VmSplit *q) { unify(r, p->act, q->act); }
