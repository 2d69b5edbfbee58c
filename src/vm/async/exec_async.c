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

static bool faulted(const VmWarp *w) { return w->stop == VM_STOP_FAULT; }

// One end of an operation on `bytes` bytes (0: not looked at). False: it is stray (gr_vm_stray), or the launch faulted.
static bool find_end(VmWarp *w, const VmInsn *i, unsigned l, const VmAddress *a, uint32_t align,
                     const char *what, uint64_t bytes, PtxAccess access, VmEnd *out) {
    *out = (VmEnd){0};
    return gr_vm_async_end(w, i, l, a, out) && gr_vm_end_aligned(w, i, l, out->at, align, what) &&
           (!bytes || gr_vm_end_host(w, i, l, *out, bytes, access));
}

// False: the launch has faulted.
static bool copy_lane(VmWarp *w, const VmInsn *i, unsigned l, VmAsyncOp *op) {
    const VmCopyInfo *info = i->extra;
    uint32_t n = info->has_size ? VM_U32(w, i->a)[l] : info->bytes;
    VmEnd dst, src;
    if (info->has_ignore && VM_PRED(w, i->b) >> l & 1)
        n = 0;
    if (n > info->bytes) {
        gr_vm_fault(w, i, VM_FAULT_ILLEGAL_INSTRUCTION, (int)l, 0, "copied %u bytes to a place of %u", n,
                    info->bytes);
        return false;
    }
    bool to =
        find_end(w, i, l, &info->dst, info->bytes, "the destination", info->bytes, PTX_ACCESS_WRITE, &dst);
    bool from =
        !faulted(w) && find_end(w, i, l, &info->src, info->bytes, "the source", n, PTX_ACCESS_READ, &src);
    if (faulted(w))
        return false;
    op->dst[l] = dst.at;
    op->src[l] = src.at;
    op->src_bytes[l] = from ? (uint8_t)n : 0;
    op->zeroed |= (uint32_t)(op->src_bytes[l] == 0) << l;
    op->nowhere |= (uint32_t)!to << l;
    return true;
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
    for (uint32_t m = op->mask; m; m &= m - 1)
        if (!copy_lane(w, i, (unsigned)__builtin_ctz(m), op))
            return false;
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
        if (!gr_vm_bar_end(w, i, l, &info->at, &bar) || (info->has_count && !gr_vm_mbar_pend(w, i, l, bar)))
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
    bool no_dst, no_src; // stray
} Bulk;

// False: the launch has faulted.
static bool bulk_ends(VmWarp *w, const VmInsn *i, unsigned l, Bulk *b) {
    const VmCopyInfo *info = i->extra;
    b->bytes = VM_U32(w, i->a)[l];
    b->byte_mask = info->has_bytes ? VM_U16(w, i->c)[l] : UINT16_MAX;
    b->bar = (VmEnd){0};
    if (info->has_bar && !gr_vm_bar_end(w, i, l, &info->bar, &b->bar))
        return false;
    b->no_dst =
        !find_end(w, i, l, &info->dst, VM_ASYNC_ALIGN, "the destination", 0, PTX_ACCESS_WRITE, &b->dst);
    b->no_dst |= !faulted(w) && !gr_vm_end_aligned(w, i, l, b->bytes, VM_ASYNC_ALIGN, "the size");
    b->no_src = !faulted(w) && !find_end(w, i, l, &info->src, VM_ASYNC_ALIGN, "the source", b->bytes,
                                         PTX_ACCESS_READ, &b->src);
    return !faulted(w);
}

static bool lane_strays(VmWarp *w, const VmInsn *i, unsigned l, bool bulk) {
    const VmCopyInfo *info = i->extra;
    uint32_t align = bulk ? VM_ASYNC_ALIGN : info->bytes, bytes = bulk ? VM_U32(w, i->a)[l] : info->bytes;
    VmEnd end;
    return bytes & (align - 1) ||
           !find_end(w, i, l, &info->dst, align, "the destination", bytes, PTX_ACCESS_WRITE, &end) ||
           !find_end(w, i, l, &info->src, align, "the source", bytes, PTX_ACCESS_READ, &end);
}

bool gr_vm_copy_strays(VmWarp *w, const VmInsn *i) {
    VmWarpRest *r = rest_of(w);
    VmExec x = (i->body[0] ? i->body : i->exec)[0];
    bool strays = false;
    if (!r->launch->device->config.pass_strays || (x != gr_vm_x_cp_async && x != gr_vm_x_bulk))
        return false;
    r->strays = VM_STRAYS_QUIET;
    for (uint32_t m = w->mask; m && !strays; m &= m - 1)
        strays = lane_strays(w, i, (unsigned)__builtin_ctz(m), x == gr_vm_x_bulk);
    r->strays = VM_STRAYS_TOLD;
    return strays;
}

// One piece, of bytes [at, at + n). NULL: out of memory.
static VmAsyncOp *bulk_piece(VmWarp *w, const VmInsn *i, unsigned l, const Bulk *b, uint32_t at, uint32_t n) {
    const VmCopyInfo *info = i->extra;
    VmWarpRest *r = rest_of(w);
    VmAsyncOp *op = gr_vm_async_new(r, i, UINT32_C(1) << l);
    if (!op)
        return NULL;
    op->proxy = VM_PROXY_ASYNC;
    op->completes = info->has_bar ? VM_COMPLETES_MBARRIER : VM_COMPLETES_BULK;
    op->group = group_of(r, 1, l);
    op->bytes = n;
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
    if (b->no_dst || b->no_src)
        op->unread = 0;
    if (b->no_dst)
        op->nowhere = op->mask;
    else if (b->no_src)
        memset(op->data, 0, sizeof op->data);
    return op;
}

// To one destination, in pieces; all at once if nothing moves.
static bool bulk_issue(VmWarp *w, const VmInsn *i, unsigned l, Bulk b) {
    const VmCopyInfo *info = i->extra;
    b.no_dst =
        b.no_dst || !gr_vm_end_host(w, i, l, b.dst, b.bytes, info->apply ? PTX_ACCESS_RMW : PTX_ACCESS_WRITE);
    if (faulted(w))
        return false;
    uint32_t most = b.no_dst ? UINT32_MAX : VM_ASYNC_PIECE;
    for (uint32_t at = 0, n; at < b.bytes; at += n) {
        n = b.bytes - at < most ? b.bytes - at : most;
        VmAsyncOp *op = bulk_piece(w, i, l, &b, at, n);
        if (!op || !gr_vm_async_issue(op))
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
        if (!bulk_issue(w, i, l, *b))
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
        if (!(info->has_blocks ? bulk_multicast(w, i, l, &b) : bulk_issue(w, i, l, b)))
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
        if (info->has_bar && !gr_vm_bar_end(w, i, l, &info->bar, &bar))
            return NULL;
        bool to = find_end(w, i, l, &info->dst, bytes, "the destination", bytes,
                           info->apply ? PTX_ACCESS_RMW : PTX_ACCESS_WRITE, &dst);
        if (faulted(w))
            return NULL;
        VmAsyncOp *op = gr_vm_async_new(r, i, UINT32_C(1) << l);
        if (!op)
            return give_up(w, i);
        op->completes = info->has_bar ? VM_COMPLETES_MBARRIER : VM_COMPLETES_UNSEEN;
        op->unread = 0;
        op->nowhere = to ? 0 : op->mask;
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
        bool found = find_end(w, i, l, dst, 8, "the destination", 0, PTX_ACCESS_WRITE, &end) &&
                     gr_vm_end_aligned(w, i, l, size, 8, "the size");
        uint8_t *to = found ? gr_vm_end_host(w, i, l, end, size, PTX_ACCESS_WRITE) : NULL;
        if (faulted(w))
            return NULL;
        if (!to)
            continue;
        gr_vm_report_range(w, i, l, end, size, PTX_ACCESS_WRITE);
        memset(to, 0, size);
    }
    return i + 1;
}
