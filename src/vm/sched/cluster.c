// SPDX-License-Identifier: Apache-2.0
// cluster — barrier.cluster: one barrier per cluster, at which arriving and waiting are two instructions.
//
// A phase is complete when all threads of the cluster that have not exited have arrived in it (PTX ISA 9.7.13.4). A
// thread that arrived may go on to its wait at leisure: it waits for the end of the phase in which it arrived, which
// its own warp remembers. The next phase cannot end before that wait, as the thread cannot arrive before.
#include "vm/core/block.h"
#include "vm/core/exec.h"
#include "vm/core/fault.h"
#include "vm/core/tell.h"
#include "vm/core/warp.h"

static uint32_t bits(uint32_t m) { return (uint32_t)__builtin_popcount(m); }

static void release(VmBlock *b) {
    for (uint32_t k = 0; k < b->n_warps; k++) {
        VmWarpRest *r = &b->warps[k];
        r->cluster_done |= r->cluster_arrived;
        r->cluster_arrived = 0;
        bool any = false;
        for (uint32_t s = 0; r->live && s < r->n_splits; s++)
            if (r->splits[s].state == VM_SPLIT_CLUSTER) {
                gr_vm_split_set_state(r, s, VM_SPLIT_READY); // it looks again
                any = true;
            }
        if (any && r->n_splits > 1)
            gr_vm_merge_ready(r);
    }
}

void gr_vm_cluster_recheck(VmCluster *c) {
    if (!c->arrived || c->arrived < c->live)
        return;
    c->arrived = 0;
    c->phase++;
    for (uint32_t k = 0; k < c->n; k++)
        if (!c->block[k]->ended)
            release(c->block[k]);
}

// Lanes end: no thread waits for them any more.
void gr_vm_cluster_exit(VmWarpRest *r, uint32_t lanes) {
    VmCluster *c = r->block->cluster;
    c->live -= bits(lanes);
    c->arrived -= bits(r->cluster_arrived & lanes);
    r->cluster_arrived &= ~lanes;
    r->cluster_done &= ~lanes;
}

static void report(VmWarpRest *r, const VmInsn *i, uint32_t mask, VmSyncKind kind, uint32_t phase) {
    gr_vm_report_sync(r, i, mask, kind, phase, (PtxSem)i->imm, PTX_SCOPE_CLUSTER);
}

VM_HANDLER(gr_vm_x_cluster_arrive) {
    VmWarpRest *r = rest_of(w);
    VmCluster *c = r->block->cluster;
    uint32_t twice = w->mask & (r->cluster_arrived | r->cluster_done);
    if (twice)
        return gr_vm_fault_misuse(w, i, VM_MISUSE_CLUSTER_BARRIER, VM_FAULT_ILLEGAL_INSTRUCTION,
                                  __builtin_ctz(twice), 0,
                                  "arrived at the cluster barrier again without waiting at it first");
    r->cluster_arrived |= w->mask;
    c->arrived += bits(w->mask);
    report(r, i, w->mask, VM_SYNC_CLUSTER_ARRIVE, c->phase);
    split_of(w)->pc = i + 1; // before splits of this warp that waited may be merged
    gr_vm_cluster_recheck(c);
    w->stop = VM_STOP_SWITCH;
    return NULL;
}

VM_HANDLER(gr_vm_x_cluster_wait) {
    VmWarpRest *r = rest_of(w);
    uint32_t never = w->mask & ~(r->cluster_arrived | r->cluster_done);
    if (never)
        return gr_vm_fault_misuse(w, i, VM_MISUSE_CLUSTER_BARRIER, VM_FAULT_ILLEGAL_INSTRUCTION,
                                  __builtin_ctz(never), 0,
                                  "waited at the cluster barrier without having arrived at it");
    if (w->mask & ~r->cluster_done) {
        split_of(w)->pc = i;
        gr_vm_split_set_state(r, r->cur, VM_SPLIT_CLUSTER);
        w->stop = VM_STOP_WAIT;
        return NULL;
    }
    r->cluster_done &= ~w->mask;
    report(r, i, w->mask, VM_SYNC_CLUSTER_RELEASE, r->block->cluster->phase - 1);
    return i + 1;
}

// ---- Deadlock ----------------------------------------------------------------------------------------------

bool gr_vm_waits_for_cluster(const VmBlock *b) {
    for (uint32_t k = 0; k < b->n_warps; k++)
        for (uint32_t s = 0; b->warps[k].live && s < b->warps[k].n_splits; s++)
            if (b->warps[k].splits[s].state == VM_SPLIT_CLUSTER)
                return true;
    return false;
}

bool gr_vm_cluster_stuck(const VmBlock *b) {
    const VmCluster *c = b->cluster;
    if (c->n == 1 || !gr_vm_waits_for_cluster(b))
        return true;
    for (uint32_t k = 0; k < c->n; k++)
        if (!c->block[k]->ended && c->block[k]->moving)
            return false;
    return true;
}
