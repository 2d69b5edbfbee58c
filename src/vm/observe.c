// SPDX-License-Identifier: Apache-2.0
// observe — events for the observers.
#include "vm/exec_mem.h"
#include "vm/warp.h"

#include <string.h>

void gr_vm_where(const VmWarpRest *r, const VmInsn *i, uint32_t mask, VmWhere *out) {
    const VmBlock *b = r->block;
    const VmFunc *f = r->splits[r->cur].act->func;
    *out = (VmWhere){.launch = r->launch->number,
                     .block_linear = b->linear,
                     .warp = r->index,
                     .mask = mask,
                     .site = i ? i->site : 0,
                     .module = f->ptx ? f->ptx->module : NULL,
                     .stmt = i ? i->stmt : NULL};
    memcpy(out->block, b->ctaid, sizeof out->block);
}

void gr_vm_report_sync(VmWarpRest *r, const VmInsn *i, uint32_t mask, VmSyncKind kind, uint32_t barrier,
                       PtxSem sem, PtxScope scope) {
    VmDevice *d = r->launch->device;
    if (!d->listens_sync || (i && i->tagged))
        return;
    VmSyncEvent e = {.kind = kind, .barrier = barrier, .sem = sem, .scope = scope};
    gr_vm_where(r, i, mask, &e.where);
    e.where.site = 0;
    for (size_t k = 0; k < d->observers.len; k++)
        if (d->observers.data[k].sync)
            d->observers.data[k].sync(d->observers.data[k].user, &e);
}

// Which space a generic address is in; shared addresses become offsets.
static PtxSpace space_of(uint64_t *address) {
    if (*address - VM_SHARED_BASE < VM_SHARED_SIZE) {
        *address -= VM_SHARED_BASE;
        return PTX_SHARED;
    }
    if (*address - VM_LOCAL_BASE < VM_LOCAL_SIZE) {
        *address -= VM_LOCAL_BASE;
        return PTX_LOCAL;
    }
    return PTX_GLOBAL;
}

void gr_vm_report_access(VmWarp *w, const VmInsn *i, const uint64_t address[VM_LANES]) {
    VmWarpRest *r = rest_of(w);
    VmDevice *d = r->launch->device;
    const VmMemInfo *info = i->extra;
    if (!d->listens_access || i->tagged || info->silent)
        return;
    uint64_t at[VM_LANES];
    memcpy(at, address, sizeof at);
    VmAccessEvent e = {.access = info->access,
                       .space = info->space,
                       .generic = info->space == PTX_GENERIC,
                       .sem = info->sem,
                       .scope = info->scope,
                       .size = info->size,
                       .address = at};
    uint32_t masks[3] = {w->mask, 0, 0};
    PtxSpace spaces[3] = {info->space, PTX_SHARED, PTX_LOCAL};
    if (info->space == PTX_GENERIC) {
        masks[0] = 0;
        spaces[0] = PTX_GLOBAL;
        for (uint32_t m = w->mask; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            PtxSpace s = space_of(&at[l]);
            masks[s == PTX_GLOBAL ? 0 : s == PTX_SHARED ? 1 : 2] |= UINT32_C(1) << l;
        }
    }
    for (unsigned s = 0; s < 3; s++) {
        if (!masks[s])
            continue;
        e.space = spaces[s];
        gr_vm_where(r, i, masks[s], &e.where);
        for (size_t k = 0; k < d->observers.len; k++)
            if (d->observers.data[k].access)
                d->observers.data[k].access(d->observers.data[k].user, &e);
    }
}
