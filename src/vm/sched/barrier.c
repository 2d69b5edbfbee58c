// SPDX-License-Identifier: Apache-2.0
// barrier — bar and barrier of a block, and fences. The barrier of a cluster is in cluster.c.
//
// Threads are counted, not warps: a barrier for all threads is complete when every thread of the block that has
// not exited is at it. With a thread count, a warp whose lanes all arrive together counts as a full warp, as
// in hardware, so that the ragged last warp of a block can take part.
#include "vm/core/block.h"
#include "vm/core/exec.h"
#include "vm/core/fault.h"
#include "vm/core/tell.h"
#include "vm/core/warp.h"
#include "vm/sched/ready.h"

#include "vm/core/sync_insn.h"

static void write_result(VmWarpRest *r, const VmSplit *p, const VmBarrier *b) {
    const VmBarrierInfo *info = p->pc->extra;
    if (info->kind != VM_BAR_RED)
        return;
    uint8_t *frame = p->act->frame;
    (void)r;
    if (info->op == VM_BAR_POPC) {
        for (uint32_t m = p->mask; m; m &= m - 1)
            ((uint32_t *)(void *)(frame + p->pc->d))[__builtin_ctz(m)] = b->popc;
        return;
    }
    uint32_t *pred = (uint32_t *)(void *)(frame + p->pc->d);
    bool v = info->op == VM_BAR_AND ? !b->not_all : b->popc != 0;
    *pred = (*pred & ~p->mask) | (v ? p->mask : 0);
}

// No split that waits at a barrier is elsewhere for the device's own reasons: those that the device parted meet here.
static void check_divergence(VmWarpRest *r, uint32_t n) {
    const VmSplit *first = NULL;
    for (uint32_t s = 0; s < r->n_splits; s++) {
        const VmSplit *p = &r->splits[s];
        if (p->state != VM_SPLIT_BARRIER || !((const VmBarrierInfo *)p->pc->extra)->aligned)
            continue;
        if (!first && p->barrier == n)
            first = p;
    }
    for (uint32_t s = 0; first && s < r->n_splits; s++) {
        const VmSplit *p = &r->splits[s];
        if (p->state != VM_SPLIT_BARRIER || p->pc == first->pc ||
            !((const VmBarrierInfo *)p->pc->extra)->aligned)
            continue;
        uint32_t t[3];
        unsigned lane = (unsigned)__builtin_ctz(p->mask);
        const PtxStmt *there = first->pc->stmt;
        gr_vm_thread_of(r, (unsigned)__builtin_ctz(first->mask), t);
        uint32_t cur = r->cur;
        r->cur = s;
        gr_vm_misuse(&r->hot, p->pc, VM_MISUSE_DIVERGENCE, lane, count_lanes(p->mask),
                     "waited at this barrier, thread (%u,%u,%u) of the same warp at the one of %sline %u",
                     t[0], t[1], t[2], there && there->loc ? "" : "PTX ",
                     there && there->loc ? there->loc->line
                     : there             ? there->line
                                         : 0);
        r->cur = cur;
        return;
    }
}

static void release(VmBlock *blk, uint32_t n) {
    for (uint32_t k = 0; k < blk->n_warps; k++)
        if (blk->warps[k].live && blk->warps[k].n_splits > 1)
            check_divergence(&blk->warps[k], n);
    VmBarrier b = blk->barrier[n];
    blk->barrier[n] = (VmBarrier){0};
    for (uint32_t k = 0; k < blk->n_warps; k++) {
        VmWarpRest *r = &blk->warps[k];
        bool any = false;
        r->at_barrier[n] = 0;
        for (uint32_t s = 0; r->live && s < r->n_splits; s++) {
            VmSplit *p = &r->splits[s];
            if (p->state != VM_SPLIT_BARRIER || p->barrier != n)
                continue;
            write_result(r, p, &b);
            uint32_t cur = r->cur;
            r->cur = s;
            gr_vm_report_sync(r, p->pc, p->mask, VM_SYNC_BARRIER_RELEASE, n, PTX_SEM_NONE, PTX_SCOPE_CTA);
            r->cur = cur;
            p->pc++;
            split_set_state(r, s, VM_SPLIT_READY);
            any = true;
        }
        if (any && r->n_splits > 1)
            gr_vm_merge_ready(r);
    }
}

static bool complete(const VmBlock *blk, const VmBarrier *b) {
    return b->used && b->arrived >= (b->expected ? b->expected : blk->live_threads);
}

bool gr_vm_barrier_complete(const VmBlock *b, uint32_t n) { return complete(b, &b->barrier[n]); }

void gr_vm_barrier_recheck(VmBlock *blk) {
    for (uint32_t n = 0; n < VM_BARRIERS; n++)
        if (blk->barrier[n].used && !blk->barrier[n].expected && complete(blk, &blk->barrier[n]))
            release(blk, n);
}

// The lanes whose value at `slot` is that of the first active one.
static uint32_t same_as_first(const VmWarp *w, uint32_t slot, uint32_t *first) {
    const uint32_t *v = VM_U32(w, slot);
    uint32_t same = 0;
    *first = v[__builtin_ctz(w->mask)];
    for (uint32_t m = w->mask; m; m &= m - 1)
        same |= (uint32_t)(v[__builtin_ctz(m)] == *first) << __builtin_ctz(m);
    return same;
}

#define miscounted(w, i, ...)                                                                                \
    gr_vm_fault_misuse(w, i, VM_MISUSE_BARRIER_COUNT, VM_FAULT_ILLEGAL_INSTRUCTION, -1, 0, __VA_ARGS__)

// How many threads the lanes count for. With a thread count, a warp whose lanes have all come is a full one, even if
// they came one after the other, and some have exited since.
static uint32_t arrive(VmWarpRest *r, uint32_t n, uint32_t mask, bool counted) {
    uint32_t before = r->at_barrier[n] & mask ? 0 : r->at_barrier[n]; // again in this phase: anew
    r->at_barrier[n] = before | mask;
    return counted && !(r->live & ~r->at_barrier[n]) ? VM_LANES - count_lanes(before) : count_lanes(mask);
}

VM_HANDLER(gr_vm_x_barrier) {
    VmWarpRest *r = rest_of(w);
    const VmBarrierInfo *info = i->extra;
    uint32_t n = VM_U32(w, i->a)[0], count = 0, same = info->constant ? w->mask : same_as_first(w, i->a, &n);
    if (same != w->mask) // different barriers: part, and come here again
        return gr_vm_diverge(w, same, i, i, i->rejoin);
    if (n >= VM_BARRIERS)
        return miscounted(w, i, "used barrier %u; there are %u", n, VM_BARRIERS);
    if (info->counted) {
        same_as_first(w, i->b, &count);
        if (count % VM_LANES || count > 1024 || (!count && info->kind == VM_BAR_ARRIVE))
            return miscounted(w, i, "used barrier %u for %u threads", n, count);
    }
    VmBlock *blk = r->block;
    VmBarrier *b = &blk->barrier[n];
    if (b->used && b->expected != count)
        return miscounted(w, i, "used barrier %u for %u threads while others wait at it for %u", n,
                          count ? count : blk->live_threads, b->expected ? b->expected : blk->live_threads);
    b->used = true;
    b->expected = count;
    b->arrived += arrive(r, n, w->mask, count != 0);
    if (info->kind == VM_BAR_RED) {
        uint32_t p = VM_PRED(w, i->c);
        b->popc += count_lanes(p & w->mask);
        b->not_all |= (~p & w->mask) != 0;
    }
    gr_vm_report_sync(r, i, w->mask, VM_SYNC_BARRIER_ARRIVE, n, PTX_SEM_NONE, PTX_SCOPE_CTA);
    if (info->kind == VM_BAR_ARRIVE) {
        split_of(w)->pc = i + 1; // before splits of this warp that waited may be merged
        if (complete(blk, b))
            release(blk, n);
        w->stop = VM_STOP_SWITCH;
        return NULL;
    }
    VmSplit *p = split_of(w);
    p->pc = i;
    p->barrier = (uint8_t)n;
    split_set_state(r, r->cur, VM_SPLIT_BARRIER);
    if (complete(blk, b))
        release(blk, n);
    w->stop = VM_STOP_WAIT;
    return NULL;
}

VM_HANDLER(gr_vm_x_grid_wait) {
    gr_vm_report_sync(rest_of(w), i, w->mask, VM_SYNC_GRID_WAIT, 0, PTX_SEM_NONE, PTX_SCOPE_NONE);
    return i + 1;
}

VM_HANDLER(gr_vm_x_fence) {
    gr_vm_report_sync(rest_of(w), i, w->mask, i->imm >> 16 ? VM_SYNC_FENCE_PROXY : VM_SYNC_FENCE,
                      (uint32_t)(i->imm >> 16), (PtxSem)(i->imm >> 8 & 0xff), (PtxScope)(i->imm & 0xff));
    // Blocks on other threads trust in fences, and the host's threads in fences of scope .sys only.
    if (w->atomics || (PtxScope)(i->imm & 0xff) == PTX_SCOPE_SYS)
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(rest_of(w)->leaves, 0) && gr_vm_stays(rest_of(w)))
        return stop_at(w, i + 1, VM_STOP_WAIT);
    return i + 1;
}
