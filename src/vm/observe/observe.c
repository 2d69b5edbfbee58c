// SPDX-License-Identifier: Apache-2.0
// observe — events for the observers.
#include "vm/async/async.h"
#include "vm/core/block.h"
#include "vm/core/device.h"
#include "vm/core/exec.h"
#include "vm/core/exec_mem.h"
#include "vm/core/extend.h"
#include "vm/core/launch.h"
#include "vm/core/sync_insn.h"
#include "vm/core/tell.h"
#include "vm/core/warp.h"
#include "vm/mem/weak.h"
#include "vm/observe/observe_internal.h"

#include <string.h>

// `late`: the module of a late access, as the warp may be in another by now; NULL: the running function's.
static void where(const VmWarpRest *r, const VmInsn *i, uint32_t mask, const PtxModule *late, VmWhere *out) {
    const VmBlock *b = r->block;
    const VmFunc *f = late ? NULL : r->splits[r->cur].act->func;
    *out = (VmWhere){.launch = r->launch->number,
                     .block_linear = b->linear,
                     .warp = r->index,
                     .mask = mask,
                     .site = i ? i->site : 0,
                     .module = late     ? late
                               : f->ptx ? f->ptx->module
                                        : NULL,
                     .stmt = i ? i->stmt : NULL,
                     .block = {b->ctaid[0], b->ctaid[1], b->ctaid[2]}};
}

bool gr_vm_wanted(const VmDevice *d, bool reads) {
    if (d->listens_always)
        return true;
    for (size_t k = 0; k < d->observers.len; k++)
        if (d->observers.data[k].access && d->observers.data[k].interest[!reads])
            return true;
    return false;
}

static uint64_t cluster_index(const VmBlock *b) {
    const VmLaunch *l = b->launch;
    const uint32_t *c = l->cluster, *at = b->ctaid;
    if (l->cluster_blocks == 1)
        return b->linear;
    return at[0] / c[0] +
           (uint64_t)(l->grid[0] / c[0]) * (at[1] / c[1] + (uint64_t)(l->grid[1] / c[1]) * (at[2] / c[2]));
}

void gr_vm_tell_sync(VmWarpRest *r, const VmInsn *i, uint32_t mask, VmSyncKind kind, uint32_t barrier,
                     PtxSem sem, PtxScope scope) {
    VmDevice *d = r->launch->device;
    if (d->weak)
        gr_vm_weak_sync(r, mask, kind, barrier, sem);
    if (i && i->tagged)
        return;
    // The first event of a meeting speaks for all that met.
    uint32_t ordered = kind == VM_SYNC_WARP ? barrier : mask;
    if (r->holding & ordered)
        gr_vm_settle_loads(r, ordered, 0);
    VmSyncEvent e; // each field on its own: barriers are many
    e.kind = kind;
    e.sem = sem;
    e.scope = scope;
    e.barrier = kind == VM_SYNC_FENCE_PROXY ? 0 : barrier;
    e.proxy = kind == VM_SYNC_FENCE_PROXY ? (VmProxy)barrier : VM_PROXY_GENERIC;
    e.count = 0;
    e.waits = e.last = false;
    if (kind == VM_SYNC_BARRIER_ARRIVE) {
        e.count = r->block->barrier[barrier].expected;
        e.last = gr_vm_barrier_complete(r->block, barrier);
        e.waits = ((const VmBarrierInfo *)i->extra)->kind != VM_BAR_ARRIVE;
    }
    where(r, i, mask, NULL, &e.where);
    e.where.site = 0;
    e.cluster = cluster_index(r->block);
    for (size_t k = 0; k < d->observers.len; k++)
        if (d->observers.data[k].sync)
            d->observers.data[k].sync(d->observers.data[k].user, &e);
}

// The event orders what its lanes did before it. What an operation does once it is under way, its arrival at an
// mbarrier included, orders the operation and not its thread, which has gone on.
static bool orders_lanes(const VmAsyncEvent *e) {
    switch (e->kind) {
    case VM_ASYNC_ISSUE:
    case VM_ASYNC_WAIT:
    case VM_MBAR_WAIT: return true;
    case VM_MBAR_ARRIVE:
    case VM_MBAR_DROP: return !e->op;
    default: return false;
    }
}

void gr_vm_report_async(VmWarpRest *r, const VmInsn *i, uint32_t mask, VmAsyncEvent *e) {
    VmDevice *d = r->launch->device;
    if (d->weak)
        gr_vm_weak_async(r, mask, e->kind);
    if (!d->listens_async || (i && i->tagged))
        return;
    if (r->holding & mask && orders_lanes(e))
        gr_vm_settle_loads(r, mask, 0);
    where(r, i, mask, e->where.module, &e->where);
    for (size_t k = 0; k < d->observers.len; k++)
        if (d->observers.data[k].async)
            d->observers.data[k].async(d->observers.data[k].user, e);
    r->hot.listens = d->listens_access && (gr_vm_wanted(d, false) || r->holding);
}

// The space of an address; shared ones become offsets, and *rank that of the block that owns the memory.
static PtxSpace space_of(PtxSpace written, uint64_t *address, uint32_t *rank) {
    uint64_t shared = *address - (written == PTX_GENERIC ? VM_SHARED_BASE : 0);
    if ((written == PTX_GENERIC || written == PTX_SHARED) && shared < VM_SHARED_SIZE) {
        *address = shared & (VM_SHARED_SLOT - 1);
        *rank = (uint32_t)(shared >> VM_SHARED_SHIFT);
        return PTX_SHARED;
    }
    if (written != PTX_GENERIC)
        return written;
    if (*address - VM_LOCAL_BASE < VM_LOCAL_SIZE) {
        *address -= VM_LOCAL_BASE;
        return PTX_LOCAL;
    }
    return PTX_GLOBAL;
}

static uint64_t owner_of(const VmWarpRest *r, PtxSpace space, uint32_t rank) {
    return r->block->cluster->block[space == PTX_SHARED ? rank : r->block->rank]->linear;
}

// Reports an access by the lanes of `mask` to one space, and one block's shared memory. `to`: a bit for each observer.
static void report_one(VmWarpRest *r, const VmInsn *i, uint32_t mask, uint32_t rank, uint32_t to,
                       const PtxModule *late, VmAccessEvent *e) {
    VmDevice *d = r->launch->device;
    where(r, i, mask, late, &e->where);
    e->owner = owner_of(r, e->space, rank);
    for (size_t k = 0; k < d->observers.len; k++)
        if (d->observers.data[k].access && to >> k & 1)
            d->observers.data[k].access(d->observers.data[k].user, e);
}

static void who_stores(VmWarp *w, const VmInsn *i, VmAccessEvent *e) {
    e->warp = w;
    e->insn = i;
    bool known = e->access == PTX_ACCESS_WRITE && !rest_of(w)->launch->device->weak;
    e->same = known ? gr_vm_stores_same : NULL; // else what others stored may not be in memory yet
}

void gr_vm_report_range(VmWarp *w, const VmInsn *i, unsigned lane, VmEnd end, uint64_t size,
                        PtxAccess access) {
    VmWarpRest *r = rest_of(w);
    if (!r->launch->device->listens_access || i->tagged)
        return;
    uint64_t at[VM_LANES] = {0};
    at[lane] = end.at;
    VmAccessEvent e = {.access = access,
                       .space = end.block ? PTX_SHARED : PTX_GLOBAL,
                       .sem = PTX_WEAK,
                       .size = (uint32_t)size,
                       .address = at};
    report_one(r, i, UINT32_C(1) << lane, end.block ? end.block->rank : 0, UINT32_MAX, NULL, &e);
}

void gr_vm_report_gone(VmWarp *w, const VmInsn *i, unsigned lane, uint64_t address, uint32_t size,
                       PtxAccess access, const PtxModule *late) {
    VmWarpRest *r = rest_of(w);
    VmDevice *d = r->launch->device;
    if (!d->observers.len || i->tagged || r->launch->faulted)
        return;
    uint64_t at[VM_LANES] = {0};
    at[lane] = address;
    VmAccessEvent e = {.access = access, .space = PTX_GLOBAL, .size = size, .address = at};
    where(r, i, UINT32_C(1) << lane, late, &e.where);
    for (size_t k = 0; k < d->observers.len; k++)
        if (d->observers.data[k].gone)
            d->observers.data[k].gone(d->observers.data[k].user, &e);
}

void gr_vm_report_free(VmWarp *w, const VmInsn *i, unsigned lane, uint64_t address, uint64_t size) {
    VmWarpRest *r = rest_of(w);
    VmDevice *d = r->launch->device;
    if (!d->observers.len || i->tagged)
        return;
    if (r->holding >> lane & 1)
        gr_vm_settle_loads(r, UINT32_C(1) << lane, 0);
    VmFreeEvent e = {.address = address, .size = size};
    where(r, i, UINT32_C(1) << lane, NULL, &e.where);
    const VmFunc *f = split_of(w)->act->func;
    e.function = f->name;
    e.ptx_line = i->stmt ? i->stmt->line : 0;
    if (i->stmt && i->stmt->loc && e.where.module) {
        e.file = gr_ptx_file(e.where.module, i->stmt->loc->file);
        e.line = i->stmt->loc->line;
    }
    for (size_t k = 0; k < d->observers.len; k++)
        if (d->observers.data[k].freed)
            d->observers.data[k].freed(d->observers.data[k].user, &e);
}

// The lanes of one access, by where they access.
typedef struct Places {
    uint64_t at[VM_LANES];
    uint32_t rank[VM_LANES], of[3]; // of global memory, of shared, of local
} Places;

static void find_places(Places *p, PtxSpace written, const uint64_t address[VM_LANES], uint32_t mask) {
    memcpy(p->at, address, sizeof p->at);
    memset(p->of, 0, sizeof p->of);
    if (written == PTX_GLOBAL) {
        p->of[0] = mask;
        memset(p->rank, 0, sizeof p->rank);
        return;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        p->rank[l] = 0;
        PtxSpace s = space_of(written, &p->at[l], &p->rank[l]);
        p->of[s == PTX_SHARED ? 1 : s == PTX_LOCAL ? 2 : 0] |= UINT32_C(1) << l;
    }
}

// Takes lanes that are in one place out of p->of[s].
static uint32_t next_place(Places *p, unsigned s, uint32_t *rank) {
    uint32_t left = p->of[s], same = left;
    *rank = p->rank[__builtin_ctz(left)];
    for (uint32_t m = s == 1 ? left : 0; m; m &= m - 1)
        if (p->rank[__builtin_ctz(m)] != *rank)
            same &= ~(m & -m);
    p->of[s] &= ~same;
    return same;
}

VmSiteInfo *gr_vm_site_info(const VmWarpRest *r, VmMemInfo *info) {
    if (!info->site.module) { // modifiers may have changed since it was decoded
        info->site.module = r->splits[r->cur].act->func->ptx->module;
        info->site.size = info->size;
        info->site.sem = info->sem;
        info->site.scope = info->scope;
    }
    return &info->site;
}

// How the lanes of `some`, all in one half of the warp, lie (VmGlance).
static VmShape shape_of(const uint64_t at[VM_LANES], uint32_t some, uint32_t size, uint64_t *base) {
    unsigned l0 = some ? (unsigned)__builtin_ctz(some) : 0;
    bool steps = some && !(size & (size - 1)) && size <= 16, same = true;
    *base = some ? at[l0] : 0;
    for (uint32_t m = some; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        steps &= at[l] - at[l0] == (uint64_t)(l - l0) * size;
        same &= at[l] == at[l0];
    }
    if (steps)
        *base -= (uint64_t)l0 * size;
    return steps ? VM_STEPS : same ? VM_SAME : VM_SCATTERED;
}

// Glances at accesses of instructions whose memory was not known yet: all of them in a short launch. Yields the
// observers that need more.
static uint32_t glance(VmWarpRest *r, const VmInsn *i, const VmAccessEvent *e, uint32_t lanes) {
    VmMemInfo *info = i->extra;
    const VmDevice *d = r->launch->device;
    uint32_t to = 0;
    VmGlance g = {.site = gr_vm_site_info(r, info),
                  .launch = r->launch->number,
                  .block_linear = r->block->linear,
                  .warp = r->index,
                  .mask = lanes,
                  .space = e->space,
                  .turn = e->turn,
                  .lanes = e->address,
                  .same = e->same ? gr_vm_glance_same : NULL,
                  .who = &r->hot,
                  .insn = i};
    for (unsigned h = 0; h < 2; h++)
        g.shape[h] = (uint8_t)shape_of(e->address, lanes & UINT32_C(0xffff) << h * 16, e->size, &g.base[h]);
    for (size_t k = 0; k < d->observers.len; k++) {
        const VmObserver *o = &d->observers.data[k];
        if (o->access && (!o->glance || !o->glance(o->user, &g)))
            to |= UINT32_C(1) << k;
    }
    return to;
}

void gr_vm_tell_access(VmWarp *w, const VmInsn *i, const uint64_t address[VM_LANES], uint32_t mask,
                       uint32_t discards) {
    VmWarpRest *r = rest_of(w);
    VmMemInfo *info = i->extra;
    bool glances = r->launch->device->glances && !info->speculated && !r->launch->device->weak;
    Places p;
    static const PtxSpace order[3] = {PTX_GLOBAL, PTX_SHARED, PTX_LOCAL};
    VmAccessEvent e = {.access = info->access,
                       .generic = info->space == PTX_GENERIC,
                       .sem = info->sem,
                       .scope = info->scope,
                       .size = info->size,
                       .address = p.at,
                       .turn = r->rotate,
                       .discards = discards,
                       .held = info->speculated};
    who_stores(w, i, &e);
    find_places(&p, info->space, address, mask);
    for (unsigned s = 0; s < 3; s++) {
        e.space = e.generic || s ? order[s] : info->space; // constants and parameters are in the first
        while (p.of[s]) {
            uint32_t rank, lanes = next_place(&p, s, &rank);
            bool own = e.space == PTX_GLOBAL || (e.space == PTX_SHARED && rank == r->block->rank);
            uint32_t to = glances && own ? glance(r, i, &e, lanes) : UINT32_MAX;
            if (to)
                report_one(r, i, lanes, rank, to, info->speculated ? info->site.module : NULL, &e);
        }
    }
}

void gr_vm_report_access(VmWarp *w, const VmInsn *i, const uint64_t address[VM_LANES]) {
    const VmMemInfo *info = i->extra;
    if (!rest_of(w)->launch->device->listens_access || i->tagged || info->silent)
        return;
    if (rest_of(w)->holding & w->mask)
        gr_vm_settle_before(w, i);
    if (info->speculated)
        gr_vm_hold_load(w, i, address, w->mask);
    else
        gr_vm_tell_access(w, i, address, w->mask, 0);
}

void gr_vm_report_lanes(VmWarp *w, const VmInsn *i, PtxSpace space, uint64_t base, uint32_t to) {
    VmWarpRest *r = rest_of(w);
    const VmDevice *d = r->launch->device;
    const VmMemInfo *info = i->extra;
    if (i->tagged || info->silent)
        return;
    uint64_t at[VM_LANES];
    if (info->speculated)
        base = 0;
    if (info->address_size == 4)
        for (unsigned l = 0; l < VM_LANES; l++)
            at[l] = (uint32_t)(VM_U32(w, i->a)[l] + (uint32_t)i->imm - (uint32_t)base);
    else
        for (unsigned l = 0; l < VM_LANES; l++)
            at[l] = VM_U64(w, i->a)[l] + (i->imm - base);
    if (info->speculated) {
        gr_vm_hold_load(w, i, at, w->mask);
        return;
    }
    VmAccessEvent e = {.access = info->access,
                       .space = space,
                       .generic = info->space == PTX_GENERIC,
                       .sem = info->sem,
                       .scope = info->scope,
                       .size = info->size,
                       .address = at,
                       .owner = r->block->linear,
                       .turn = r->rotate};
    who_stores(w, i, &e);
    where(r, i, w->mask, NULL, &e.where);
    for (size_t k = 0; k < d->observers.len; k++)
        if (d->observers.data[k].access && to >> k & 1)
            d->observers.data[k].access(d->observers.data[k].user, &e);
}

// ---- Windows -----------------------------------------------------------------------------------------------

static void tell_window(const VmDevice *d, const VmWindowEvent *e) {
    for (size_t k = 0; k < d->observers.len; k++)
        if (d->observers.data[k].window)
            d->observers.data[k].window(d->observers.data[k].user, e);
}

bool gr_vm_is_matrix(const VmInsn *i) {
    return i->stmt && i->stmt->kind == PTX_INSTR &&
           (i->stmt->instr->op == PTX_OP_LDMATRIX || i->stmt->instr->op == PTX_OP_STMATRIX ||
            i->stmt->instr->op == PTX_OP_WMMA);
}

// The lanes whose memory exists.
static uint32_t there(VmWarp *w, const VmInsn *look, uint32_t lanes) {
    uint64_t address[VM_LANES];
    uint8_t *host[VM_LANES];
    uint32_t mask = w->mask, found;
    w->mask = lanes;
    (void)gr_vm_look_up(w, look, address, host, &found);
    w->mask = mask;
    return found;
}

void gr_vm_open_window(VmWarp *w, const VmInsn *access, const VmInsn *look, bool first) {
    VmWarpRest *r = rest_of(w);
    VmDevice *d = r->launch->device;
    // Each lane watches one part of a matrix, which need not be what it accessed.
    bool matrix = gr_vm_is_matrix(access);
    const VmMemInfo *again = look->extra, *info = matrix ? again : access->extra;
    uint32_t mask = w->mask;
    if (look->body[0])
        mask &= look->guard_negated ? ~VM_PRED(w, look->guard) : VM_PRED(w, look->guard);
    if (d->config.pass_strays)
        mask = there(w, look, mask);
    if (!mask || (info->silent && !matrix))
        return;
    uint64_t address[VM_LANES];
    for (unsigned l = 0; l < VM_LANES; l++) // garbage in lanes that do not take part
        address[l] = again->address_size == 4 ? (uint32_t)(VM_U32(w, look->a)[l] + (uint32_t)look->imm)
                                              : VM_U64(w, look->a)[l] + look->imm;
    Places p;
    find_places(&p, info->space, address, mask);
    p.of[2] = 0;
    if (!(p.of[0] | p.of[1]))
        return;
    VmSplit *split = split_of(w);
    if (first || !split->window)
        split->window = (uint64_t)(uint32_t)d->config.index << 48 | ++d->n_windows;
    VmWindowEvent e = {.id = split->window,
                       .opens = true,
                       .access = access->stmt->instr->op == PTX_OP_STMATRIX ? PTX_ACCESS_WRITE : info->access,
                       .size = info->size,
                       .address = p.at,
                       .speculated = info->speculated != NULL};
    for (unsigned s = 0; s < 2; s++) {
        e.space = s ? PTX_SHARED : PTX_GLOBAL;
        while (p.of[s]) {
            uint32_t rank, lanes = next_place(&p, s, &rank);
            where(r, access, lanes, NULL, &e.where);
            e.owner = owner_of(r, e.space, rank);
            tell_window(d, &e);
        }
    }
    // The load's fate is reported even if no observer listened when it was made.
    if (e.speculated) {
        uint32_t held = r->held ? r->held[info->speculated->number].lanes : 0;
        if (mask & ~held)
            gr_vm_hold_load(w, access, address, mask & ~held);
    }
}

void gr_vm_tell_closed(VmWarpRest *r, VmSplit *p) {
    VmWindowEvent e = {.id = p->window};
    p->window = 0;
    tell_window(r->launch->device, &e);
}
