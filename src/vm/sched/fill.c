// SPDX-License-Identifier: Apache-2.0
// fill — puts constants, parameters and special registers into the slots of a frame.
#include "vm/core/device.h"
#include "vm/core/fault.h"
#include "vm/core/warp.h"

#include <string.h>

static void splat(uint8_t *frame, const VmFill *f, uint64_t v) {
    switch (f->width) {
    case 0: *(uint32_t *)(void *)(frame + f->slot) = v ? UINT32_MAX : 0; break;
    case 2: {
        uint16_t *p = (uint16_t *)(void *)(frame + f->slot);
        for (unsigned l = 0; l < VM_LANES; l++)
            p[l] = (uint16_t)v;
        break;
    }
    case 4: {
        uint32_t *p = (uint32_t *)(void *)(frame + f->slot);
        for (unsigned l = 0; l < VM_LANES; l++)
            p[l] = (uint32_t)v;
        break;
    }
    default: {
        uint64_t *p = (uint64_t *)(void *)(frame + f->slot);
        for (unsigned l = 0; l < VM_LANES; l++)
            p[l] = v;
        if (f->width == 16)
            for (unsigned l = 0; l < VM_LANES; l++)
                p[VM_LANES + l] = f->bits_hi;
    }
    }
}

static void set_lane(uint8_t *frame, const VmFill *f, unsigned l, uint64_t v) {
    switch (f->width) {
    case 0: break;
    case 2: ((uint16_t *)(void *)(frame + f->slot))[l] = (uint16_t)v; break;
    case 4: ((uint32_t *)(void *)(frame + f->slot))[l] = (uint32_t)v; break;
    default: ((uint64_t *)(void *)(frame + f->slot))[l] = v;
    }
}

static uint64_t param_value(const VmLaunch *l, const VmFill *f, uint64_t *hi) {
    uint64_t v = 0;
    *hi = 0;
    if (f->bits + f->size > l->kernel->param_bytes)
        return 0;
    const uint8_t *p = l->params + f->bits;
    if (f->size > 8) {
        memcpy(&v, p, 8);
        memcpy(hi, p + 8, f->size - 8u);
        return v;
    }
    memcpy(&v, p, f->size);
    if (f->sext && f->size < 8) {
        unsigned shift = 64 - 8u * f->size;
        v = (uint64_t)((int64_t)(v << shift) >> shift);
    }
    return v;
}

static uint64_t lane_value(const VmFill *f, unsigned l) {
    switch (f->kind) {
    case VM_FILL_LANEMASK_EQ: return UINT32_C(1) << l;
    case VM_FILL_LANEMASK_LE: return (UINT32_C(2) << l) - 1;
    case VM_FILL_LANEMASK_LT: return (UINT32_C(1) << l) - 1;
    case VM_FILL_LANEMASK_GE: return ~((UINT32_C(1) << l) - 1);
    case VM_FILL_LANEMASK_GT: return ~((UINT32_C(2) << l) - 1);
    default: return l;
    }
}

static uint64_t tid(const VmWarpRest *r, unsigned lane, unsigned dim) {
    uint32_t t[3];
    gr_vm_thread_of(r, lane, t);
    return t[dim];
}

// The block's cluster, and its place there.
static uint64_t cluster_value(const VmFill *f, const VmBlock *b) {
    const VmLaunch *l = b->launch;
    if (f->kind == VM_FILL_CLUSTERID)
        return b->ctaid[f->dim] / l->cluster[f->dim];
    if (f->kind == VM_FILL_CLUSTER_CTAID)
        return b->ctaid[f->dim] % l->cluster[f->dim];
    return b->rank;
}

static uint64_t uniform_value(const VmFill *f, const VmWarpRest *r, const VmActivation *a) {
    const VmLaunch *l = r->launch;
    switch (f->kind) {
    case VM_FILL_RUNTIME: return l->module->runtime_at[f->bits_hi] + f->bits;
    case VM_FILL_PARAM_ADDR: return (l->param_range ? l->param_range->addr : 0) + f->bits;
    case VM_FILL_SHARED: {
        uint64_t at =
            (uint64_t)(uintptr_t)gr_map_get_u64(&l->kernel->shared_layout, (uint64_t)(uintptr_t)f->var);
        return r->hot.shared_base + (at ? at - 1 : l->kernel->shared_static) + f->bits;
    }
    case VM_FILL_LOCAL: return a->sp + f->bits;
    case VM_FILL_NTID: return l->block[f->dim];
    case VM_FILL_CTAID: return r->block->ctaid[f->dim];
    case VM_FILL_NCTAID: return l->grid[f->dim];
    case VM_FILL_WARPID: return r->index;
    case VM_FILL_NWARPID: return l->device->props.max_threads_per_sm / VM_LANES;
    case VM_FILL_SMID: return r->block->sm;
    case VM_FILL_NSMID: return l->device->props.sm_count;
    case VM_FILL_GRIDID: return l->number;
    case VM_FILL_SMEM_DYNAMIC: return l->shared_dynamic;
    case VM_FILL_SMEM_TOTAL: return (uint64_t)l->kernel->shared_static + l->shared_dynamic;
    case VM_FILL_SMEM_RESERVED: return r->hot.shared_base + l->shared_bytes - VM_SHARED_RESERVED + f->bits;
    case VM_FILL_CLUSTERID:
    case VM_FILL_CLUSTER_CTAID:
    case VM_FILL_CLUSTER_CTARANK: return cluster_value(f, r->block);
    case VM_FILL_NCLUSTERID: return l->grid[f->dim] / l->cluster[f->dim];
    case VM_FILL_CLUSTER_NCTAID: return l->cluster[f->dim];
    case VM_FILL_CLUSTER_NCTARANK: return (uint64_t)l->cluster[0] * l->cluster[1] * l->cluster[2];
    case VM_FILL_CLUSTER_EXPLICIT: return l->explicit_cluster;
    case VM_FILL_ENVREG: { // the high and the low half of the grid workspace's address
        uint64_t at = l->grid_workspace ? l->grid_workspace->addr : 0;
        return f->dim == 1 ? at >> 32 : (uint32_t)at;
    }
    default: return f->bits;
    }
}

void gr_vm_fill(uint8_t *frame, const VmFill *f, uint32_t n, VmWarpRest *r, const VmActivation *a) {
    for (const VmFill *end = f + n; f < end; f++) {
        if (f->kind == VM_FILL_PARAM) {
            VmFill copy = *f;
            splat(frame, &copy, param_value(r->launch, f, &copy.bits_hi));
        } else if (f->kind == VM_FILL_TID && r->launch->block[0] == r->launch->threads) { // one dimension
            for (unsigned l = 0; l < VM_LANES; l++)
                set_lane(frame, f, l, f->dim ? 0 : r->index * VM_LANES + l);
        } else if (f->kind == VM_FILL_TID) {
            for (unsigned l = 0; l < VM_LANES; l++)
                set_lane(frame, f, l, tid(r, l, f->dim));
        } else if (f->kind >= VM_FILL_LANEID && f->kind <= VM_FILL_LANEMASK_GT) {
            for (unsigned l = 0; l < VM_LANES; l++)
                set_lane(frame, f, l, lane_value(f, l));
        } else
            splat(frame, f, uniform_value(f, r, a));
    }
}
