// SPDX-License-Identifier: Apache-2.0
// exec_async — the instructions that start asynchronous operations, group them and wait for groups; st.bulk.
//
// What is wrong with an operation's addresses is found when it is issued, so that the thread to blame is known.
#include "vm/core/block.h"
#include "vm/core/device.h"
#include "vm/core/exec.h"
#include "vm/core/exec_mem.h"
#include "vm/core/fault.h"
#include "vm/core/launch.h"

#include "vm/async/async.h"

#include <string.h>

// An operation could not be issued.
static const VmInsn *give_up(VmWarp *w, const VmInsn *i) {
    return gr_vm_fault(w, i, VM_FAULT_LIMIT, -1, 0, "out of memory"); // unless it has faulted already
}

// PTX does not say so, but an H200 takes these for illegal instructions in kernels that were not launched as clusters.
static bool in_cluster(VmWarp *w, const VmInsn *i) {
    if (rest_of(w)->launch->explicit_cluster)
        return true;
    gr_vm_fault(
        w, i, VM_FAULT_ILLEGAL_INSTRUCTION, -1, 0,
        "executed an asynchronous operation on a cluster's shared memory in a kernel launched without "
        "clusters, which GPUs refuse");
    return false;
}

static uint32_t group_of(const VmWarpRest *r, unsigned bulk, unsigned lane) {
    return r->async ? r->async->groups[bulk][lane] : 0;
}

// ---- cp.async (PTX ISA 9.0, 9.7.9.25.3.1) --------------------------------------------------------------------------

typedef struct CopyLane {
    VmEnd dst, src;
    uint32_t n; // bytes of the source
} CopyLane;

static bool copy_lane(VmWarp *w, const VmInsn *i, unsigned l, CopyLane *out) {
    const VmCopyInfo *info = i->extra;
    out->n = info->has_size ? VM_U32(w, i->a)[l] : info->bytes;
    if (info->has_ignore && VM_PRED(w, i->b) >> l & 1)
        out->n = 0;
    if (out->n > info->bytes) {
        gr_vm_fault(w, i, VM_FAULT_ILLEGAL_INSTRUCTION, (int)l, 0, "copied %u bytes to a place of %u", out->n,
                    info->bytes);
        return false;
    }
    return gr_vm_async_end(w, i, l, &info->dst, &out->dst) &&
           gr_vm_async_end(w, i, l, &info->src, &out->src) &&
           gr_vm_end_aligned(w, i, l, out->dst.at, info->bytes, "the destination") &&
           gr_vm_end_aligned(w, i, l, out->src.at, info->bytes, "the source") &&
           gr_vm_end_host(w, i, l, out->dst, info->bytes, PTX_ACCESS_WRITE) &&
           (!out->n || gr_vm_end_host(w, i, l, out->src, out->n, PTX_ACCESS_READ));
}

// The whole of it at once, where all lanes are in one allocation and nothing is wrong.
static bool copy_lanes(VmWarp *w, const VmInsn *i, VmAsyncOp *op) {
    const VmCopyInfo *info = i->extra;
    uint64_t low = UINT64_MAX, high = 0, far = 0, bits = 0;
    uint32_t ignored = info->has_ignore ? VM_PRED(w, i->b) & op->mask : 0, less = 0;
    if (ignored || info->src.width != 8)
        return false;
    for (uint32_t m = op->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t src = VM_U64(w, info->src.slot)[l] + info->src.offset,
                 dst = address_of(w, &info->dst, l) - w->shared_base;
        op->src[l] = src;
        op->dst[l] = dst;
        low = src < low ? src : low;
        high = src > high ? src : high;
        far = dst > far ? dst : far;
        bits |= src | dst;
        less |= info->has_size ? VM_U32(w, i->a)[l] ^ info->bytes : 0;
    }
    const VmCache *c = &w->caches[i->e];
    if (less || (bits & (info->bytes - 1u)) || far >= w->shared_bytes ||
        w->shared_bytes - far < info->bytes || low < c->lo || high >= c->hi || c->hi - high < info->bytes)
        return false;
    memset(op->src_bytes, info->bytes, sizeof op->src_bytes);
    op->delta = c->delta;
    op->generation = gr_vm_mem_generation(rest_of(w)->launch->device->mem);
    return op->direct = true;
}

static bool copy_each_lane(VmWarp *w, const VmInsn *i, VmAsyncOp *op) {
    for (uint32_t m = op->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        CopyLane c;
        if (!copy_lane(w, i, l, &c))
            return false;
        op->dst[l] = c.dst.at;
        op->src[l] = c.src.at;
        op->src_bytes[l] = (uint8_t)c.n;
        op->zeroed |= (uint32_t)(c.n == 0) << l;
    }
    return true;
}

// Lanes that differ in the number of their groups get a record each.
VM_HANDLER(gr_vm_x_cp_async) {
    const VmCopyInfo *info = i->extra;
    VmWarpRest *r = rest_of(w);
    if (--w->budget <= 0 && gr_vm_access_hook(w, i))
        return NULL;
    for (uint32_t left = w->mask; left;) {
        uint32_t group = group_of(r, 0, (unsigned)__builtin_ctz(left)), lanes = 0;
        for (uint32_t m = left; m; m &= m - 1)
            lanes |= (uint32_t)(group_of(r, 0, (unsigned)__builtin_ctz(m)) == group) << __builtin_ctz(m);
        left &= ~lanes;
        VmAsyncOp *op = gr_vm_async_new(r, i, lanes);
        if (!op)
            return give_up(w, i);
        op->completes = VM_COMPLETES_GROUP;
        op->group = group;
        op->bytes = info->bytes;
        op->dst_block = r->block;
        if (!copy_lanes(w, i, op) && !copy_each_lane(w, i, op))
            return NULL;
        if (!gr_vm_async_issue(op))
            return give_up(w, i);
    }
    return i + 1;
}

// ---- Groups --------------------------------------------------------------------------------------------------------

VM_HANDLER(gr_vm_x_async_commit) {
    const VmGroupInfo *info = i->extra;
    VmAsyncEvent e = {.kind = VM_ASYNC_COMMIT,
                      .completes = info->bulk ? VM_COMPLETES_BULK : VM_COMPLETES_GROUP,
                      .proxy = info->bulk ? VM_PROXY_ASYNC : VM_PROXY_GENERIC};
    if (!gr_vm_async_commit(rest_of(w), w->mask, info->bulk))
        return give_up(w, i);
    gr_vm_report_async(rest_of(w), i, w->mask, &e);
    return i + 1;
}

VM_HANDLER(gr_vm_x_async_wait) {
    const VmGroupInfo *info = i->extra;
    VmWarpRest *r = rest_of(w);
    gr_vm_async_wait(r, w->mask, info->bulk, (uint32_t)i->imm, info->all, info->read_only);
    if (r->launch->faulted)
        return give_up(w, i);
    VmAsyncEvent e = {.kind = VM_ASYNC_WAIT,
                      .completes = info->bulk ? VM_COMPLETES_BULK : VM_COMPLETES_GROUP,
                      .proxy = info->bulk ? VM_PROXY_ASYNC : VM_PROXY_GENERIC,
                      .count = (uint32_t)i->imm,
                      .read_only = info->read_only};
    gr_vm_report_async(r, i, w->mask, &e);
    return i + 1;
}

// cp.async.mbarrier.arrive: an arrival of each lane when its cp.async so far are complete. Without .noinc the phase
// expects one more arrival for it.
VM_HANDLER(gr_vm_x_cp_async_arrive) {
    const VmMbarInfo *info = i->extra;
    VmWarpRest *r = rest_of(w);
    VmAsyncOp *op = gr_vm_async_new(r, i, w->mask);
    if (!op)
        return give_up(w, i);
    op->act = VM_ASYNC_ARRIVE;
    op->completes = VM_COMPLETES_MBARRIER;
    op->unread = 0;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        VmEnd bar;
        if (!gr_vm_async_end(w, i, l, &info->at, &bar) || (info->has_count && !gr_vm_mbar_pend(w, i, l, bar)))
            return NULL;
        op->bar.block = bar.block;
        op->dst[l] = bar.at;
    }
    return gr_vm_async_issue(op) ? i + 1 : give_up(w, i);
}

// ---- Bulk operations (9.7.9.25.4) ----------------------------------------------------------------------------------

typedef struct Bulk {
    VmEnd dst, src, bar;
    uint32_t bytes;
    uint16_t byte_mask;
} Bulk;

static bool bulk_ends(VmWarp *w, const VmInsn *i, unsigned l, Bulk *b) {
    const VmCopyInfo *info = i->extra;
    b->bytes = VM_U32(w, i->a)[l];
    b->byte_mask = info->has_bytes ? VM_U16(w, i->c)[l] : UINT16_MAX;
    b->bar = (VmEnd){0};
    return gr_vm_async_end(w, i, l, &info->dst, &b->dst) && gr_vm_async_end(w, i, l, &info->src, &b->src) &&
           (!info->has_bar || gr_vm_async_end(w, i, l, &info->bar, &b->bar)) &&
           gr_vm_end_aligned(w, i, l, b->dst.at, VM_ASYNC_ALIGN, "the destination") &&
           gr_vm_end_aligned(w, i, l, b->src.at, VM_ASYNC_ALIGN, "the source") &&
           gr_vm_end_aligned(w, i, l, b->bytes, VM_ASYNC_ALIGN, "the size") &&
           gr_vm_end_host(w, i, l, b->src, b->bytes, PTX_ACCESS_READ);
}

// To one destination, in pieces.
static bool bulk_issue(VmWarp *w, const VmInsn *i, unsigned l, const Bulk *b) {
    const VmCopyInfo *info = i->extra;
    VmWarpRest *r = rest_of(w);
    if (!gr_vm_end_host(w, i, l, b->dst, b->bytes, info->apply ? PTX_ACCESS_RMW : PTX_ACCESS_WRITE))
        return false;
    for (uint32_t at = 0; at < b->bytes; at += VM_ASYNC_PIECE) {
        VmAsyncOp *op = gr_vm_async_new(r, i, UINT32_C(1) << l);
        if (!op)
            return false;
        op->proxy = VM_PROXY_ASYNC;
        op->completes = info->has_bar ? VM_COMPLETES_MBARRIER : VM_COMPLETES_BULK;
        op->group = group_of(r, 1, l);
        op->bytes = b->bytes - at < VM_ASYNC_PIECE ? b->bytes - at : VM_ASYNC_PIECE;
        op->src_bytes[l] = VM_ASYNC_ALIGN;
        op->byte_mask = b->byte_mask;
        op->bar = b->bar;
        op->src_block = b->src.block;
        op->dst_block = b->dst.block;
        op->src[l] = b->src.at + at;
        op->dst[l] = b->dst.at + at;
        if (info->apply) {
            op->act = VM_ASYNC_REDUCE;
            op->apply = info->apply;
            op->elem = info->elem;
        }
        if (!gr_vm_async_issue(op))
            return false;
    }
    return true;
}

// .multicast::cluster: the same offset, of data and of the mbarrier, in every block of the mask.
static bool bulk_multicast(VmWarp *w, const VmInsn *i, unsigned l, Bulk *b) {
    uint32_t mask = VM_U16(w, i->b)[l];
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned rank = (unsigned)__builtin_ctz(m);
        const VmCluster *c = rest_of(w)->block->cluster;
        if (rank >= c->n) {
            gr_vm_fault(w, i, VM_FAULT_ILLEGAL_INSTRUCTION, (int)l, mask,
                        "copied to block %u of its cluster, which has %u", rank, c->n);
            return false;
        }
        b->dst.block = b->bar.block = c->block[rank];
        if (!bulk_issue(w, i, l, b))
            return false;
    }
    return true;
}

VM_HANDLER(gr_vm_x_bulk) {
    const VmCopyInfo *info = i->extra;
    if (info->dst.space == PTX_SHARED_CLUSTER && info->src.space == PTX_SHARED_CTA && !in_cluster(w, i))
        return NULL;
    if (--w->budget <= 0 && gr_vm_access_hook(w, i))
        return NULL;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        Bulk b;
        if (!bulk_ends(w, i, l, &b))
            return NULL;
        if (!(info->has_blocks ? bulk_multicast(w, i, l, &b) : bulk_issue(w, i, l, &b)))
            return give_up(w, i);
    }
    return i + 1;
}

// ---- st.async, red.async (9.7.9.12, 9.7.13.8) ----------------------------------------------------------------------

VM_HANDLER(gr_vm_x_store_async) {
    const VmStoreInfo *info = i->extra;
    VmWarpRest *r = rest_of(w);
    if (info->has_bar && !in_cluster(w, i))
        return NULL;
    if (--w->budget <= 0 && gr_vm_access_hook(w, i))
        return NULL;
    unsigned turn = gr_vm_rotation(w);
    for (unsigned k = 0; k < VM_LANES; k++) {
        unsigned l = commit_lane(k, turn);
        if (!(w->mask >> l & 1))
            continue;
        VmEnd dst, bar = {0};
        uint32_t bytes = (uint32_t)info->vec * info->elem;
        if (!gr_vm_async_end(w, i, l, &info->dst, &dst) ||
            (info->has_bar && !gr_vm_async_end(w, i, l, &info->bar, &bar)) ||
            !gr_vm_end_aligned(w, i, l, dst.at, bytes, "the destination") ||
            !gr_vm_end_host(w, i, l, dst, bytes, info->apply ? PTX_ACCESS_RMW : PTX_ACCESS_WRITE))
            return NULL;
        VmAsyncOp *op = gr_vm_async_new(r, i, UINT32_C(1) << l);
        if (!op)
            return give_up(w, i);
        op->completes = info->has_bar ? VM_COMPLETES_MBARRIER : VM_COMPLETES_UNSEEN;
        op->unread = 0;
        op->bytes = bytes;
        op->bar = bar;
        op->dst_block = dst.block;
        op->dst[l] = dst.at;
        op->act = info->apply ? VM_ASYNC_REDUCE : VM_ASYNC_COPY;
        op->apply = info->apply;
        op->elem = info->elem;
        for (unsigned e = 0; e < info->vec; e++) {
            const uint8_t *from = info->reg_bytes[e] == 4 ? (const uint8_t *)&VM_U32(w, info->slot[e])[l]
                                                          : (const uint8_t *)&VM_U64(w, info->slot[e])[l];
            memcpy(async_data(op, l) + e * info->elem, from, info->elem);
        }
        if (!gr_vm_async_issue(op))
            return give_up(w, i);
    }
    return i + 1;
}

// ---- st.bulk (9.7.9.13): not asynchronous --------------------------------------------------------------------------

VM_HANDLER(gr_vm_x_st_bulk) {
    const VmAddress *dst = i->extra;
    if (--w->budget <= 0 && gr_vm_access_hook(w, i))
        return NULL;
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uint64_t size = VM_U64(w, i->a)[l];
        VmEnd end;
        if (!gr_vm_async_end(w, i, l, dst, &end) ||
            !gr_vm_end_aligned(w, i, l, end.at, 8, "the destination") ||
            !gr_vm_end_aligned(w, i, l, size, 8, "the size"))
            return NULL;
        uint8_t *to = gr_vm_end_host(w, i, l, end, size, PTX_ACCESS_WRITE);
        if (!to)
            return NULL;
        gr_vm_report_range(w, i, l, end, size, PTX_ACCESS_WRITE);
        memset(to, 0, size);
    }
    return i + 1;
}
