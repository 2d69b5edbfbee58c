// SPDX-License-Identifier: Apache-2.0
// exec_move — copies between registers, vectors and parameters; addresses of the windows.
#include "vm/core/device.h"
#include "vm/core/exec.h"
#include "vm/core/exec_mem.h"
#include "vm/core/fault.h"
#include "vm/core/launch.h"
#include "vm/core/warp.h"

#include <string.h>

VM_HANDLER(gr_vm_x_mov_pred) {
    VM_PRED(w, i->d) = (VM_PRED(w, i->d) & ~w->mask) | (VM_PRED(w, i->a) & w->mask);
    return i + 1;
}

#define MOV(name, at, bytes)                                                                                 \
    VM_HANDLER(name) {                                                                                       \
        if (w->mask == w->live)                                                                              \
            memmove(at(w, i->d), at(w, i->a), (bytes)*VM_LANES);                                             \
        else                                                                                                 \
            for (uint32_t m = w->mask; m; m &= m - 1)                                                        \
                at(w, i->d)[__builtin_ctz(m)] = at(w, i->a)[__builtin_ctz(m)];                               \
        return i + 1;                                                                                        \
    }
MOV(gr_vm_x_mov16, VM_U16, 2)
MOV(gr_vm_x_mov32, VM_U32, 4)
MOV(gr_vm_x_mov64, VM_U64, 8)

VM_HANDLER(gr_vm_x_mov128) {
    uint64_t *d = VM_U64(w, i->d);
    const uint64_t *a = VM_U64(w, i->a);
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        d[l] = a[l];
        d[VM_LANES + l] = a[VM_LANES + l];
    }
    return i + 1;
}

VM_HANDLER(gr_vm_x_add64) {
    uint64_t *d = VM_U64(w, i->d);
    const uint64_t *a = VM_U64(w, i->a);
    if (w->mask == w->live)
        for (unsigned l = 0; l < VM_LANES; l++)
            d[l] = a[l] + i->imm;
    else
        for (uint32_t m = w->mask; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            d[l] = a[l] + i->imm;
        }
    return i + 1;
}

VM_HANDLER(gr_vm_x_isspacep) {
    const uint64_t *a = VM_U64(w, i->a);
    const VmLaunch *l = rest_of(w)->launch;
    uint32_t out = 0;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned k = (unsigned)__builtin_ctz(m);
        bool shared = a[k] - VM_SHARED_BASE < VM_SHARED_SIZE, local = a[k] - VM_LOCAL_BASE < VM_LOCAL_SIZE;
        bool own = a[k] - VM_SHARED_BASE - w->shared_base < VM_SHARED_SLOT;
        bool param = l->param_range && a[k] - l->param_range->addr < l->param_range->size, yes = false;
        switch ((PtxSpace)i->imm) {
        case PTX_SHARED: yes = own; break;
        case PTX_SHARED_CLUSTER:
            yes = shared && (a[k] - VM_SHARED_BASE) >> VM_SHARED_SHIFT < l->cluster_blocks;
            break;
        case PTX_LOCAL: yes = local; break;
        case PTX_PARAM: yes = param; break;
        case PTX_CONST: {
            const VmRange *r = gr_vm_mem_find(l->device->mem, a[k]);
            yes = r && r->read_only && !param;
            break;
        }
        default: {
            const VmRange *r = gr_vm_mem_find(l->device->mem, a[k]);
            yes = !shared && !local && !param && !(r && r->read_only && r->kind == VM_MEM_DEVICE);
        }
        }
        out |= (uint32_t)yes << k;
    }
    VM_PRED(w, i->d) = (VM_PRED(w, i->d) & ~w->mask) | out;
    return i + 1;
}

// ---- mov between a scalar and a vector ---------------------------------------------------------------------

static uint8_t *lane_ptr(VmWarp *w, uint32_t slot, unsigned bytes, unsigned lane, unsigned half) {
    return w->frame + slot + (size_t)(bytes > 8 ? 8 : bytes) * lane + (size_t)half * 8 * VM_LANES;
}

VM_HANDLER(gr_vm_x_pack) {
    const VmPack *p = i->extra;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint8_t v[16] = {0};
        for (unsigned k = 0; k < p->n; k++)
            memcpy(v + k * p->bytes, lane_ptr(w, p->slot[k], p->reg_bytes[k], l, 0), p->bytes);
        memcpy(lane_ptr(w, i->d, p->lane, l, 0), v, p->lane > 8 ? 8 : p->lane);
        if (p->lane > 8)
            memcpy(lane_ptr(w, i->d, p->lane, l, 1), v + 8, 8);
    }
    return i + 1;
}

VM_HANDLER(gr_vm_x_unpack) {
    const VmPack *p = i->extra;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint8_t v[16] = {0}, zero[8] = {0};
        memcpy(v, lane_ptr(w, i->a, p->lane, l, 0), p->lane > 8 ? 8 : p->lane);
        if (p->lane > 8)
            memcpy(v + 8, lane_ptr(w, i->a, p->lane, l, 1), 8);
        for (unsigned k = 0; k < p->n; k++) {
            if (p->slot[k] == VM_NO_SLOT)
                continue;
            uint8_t *to = lane_ptr(w, p->slot[k], p->reg_bytes[k], l, 0);
            memcpy(to, zero, p->reg_bytes[k] > 8 ? 8 : p->reg_bytes[k]);
            memcpy(to, v + k * p->bytes, p->bytes);
        }
    }
    return i + 1;
}

// ---- Parameters of device functions ------------------------------------------------------------------------

VM_HANDLER(gr_vm_x_ldp) {
    const VmMemInfo *info = i->extra;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        const uint8_t *p = w->frame + i->a + (size_t)l * i->b + i->imm;
        for (unsigned e = 0; e < info->vec; e++) {
            if (info->slot[e] == VM_NO_SLOT)
                continue;
            uint64_t v[2] = {0, 0};
            memcpy(v, p + e * info->elem, info->elem);
            if (info->sext && info->elem < 8) {
                unsigned shift = 64 - 8u * info->elem;
                v[0] = (uint64_t)((int64_t)(v[0] << shift) >> shift);
            }
            memcpy(lane_ptr(w, info->slot[e], info->reg_bytes[e], l, 0), v,
                   info->reg_bytes[e] > 8 ? 8 : info->reg_bytes[e]);
            if (info->reg_bytes[e] > 8)
                memcpy(lane_ptr(w, info->slot[e], 16, l, 1), &v[1], 8);
        }
    }
    return i + 1;
}

VM_HANDLER(gr_vm_x_spill) {
    VmWarpRest *r = rest_of(w);
    uint8_t *stacks = gr_vm_local(r);
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t at = VM_U64(w, i->c)[l], have = r->launch->stack_bytes;
        if (!stacks || at > have || have - at < i->b)
            return gr_vm_fault(w, i, VM_FAULT_ILLEGAL_ADDRESS, (int)l, at,
                               "has no room for a parameter of %u bytes in %llu bytes of local memory", i->b,
                               (unsigned long long)have);
        memcpy(stacks + (size_t)l * w->local_stride + at, w->frame + i->a + (size_t)l * i->b, i->b);
    }
    return i + 1;
}

VM_HANDLER(gr_vm_x_stp) {
    const VmMemInfo *info = i->extra;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint8_t *p = w->frame + i->a + (size_t)l * i->b + i->imm;
        for (unsigned e = 0; e < info->vec; e++) {
            uint64_t v[2] = {0, 0};
            memcpy(v, lane_ptr(w, info->slot[e], info->reg_bytes[e], l, 0),
                   info->reg_bytes[e] > 8 ? 8 : info->reg_bytes[e]);
            if (info->reg_bytes[e] > 8)
                memcpy(&v[1], lane_ptr(w, info->slot[e], 16, l, 1), 8);
            memcpy(p + e * info->elem, v, info->elem);
        }
    }
    return i + 1;
}
