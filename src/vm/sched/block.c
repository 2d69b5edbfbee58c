// SPDX-License-Identifier: Apache-2.0
// block — blocks come and go: their warps, frames, stacks and shared memory are kept for the next one.
//
// All blocks of a launch have the same shape, so a block that ended hands everything to the next. Frames keep their
// constants, parameters and thread indices; only values that depend on the block are written again.
#include "vm/core/block.h"
#include "vm/core/launch.h"
#include "vm/core/policy.h"
#include "vm/core/tell.h"
#include "vm/mem/weak.h"
#include "vm/sched/spread.h"

#include <stdlib.h>
#include <string.h>

// Zeroed, aligned to 64, freed with the launch. Large pieces cost nothing until they are touched.
void *gr_vm_own(VmLaunch *l, size_t bytes) {
    void *raw = calloc(1, bytes + 64);
    if (!raw || !gr_vec_push(&l->owned, raw)) {
        free(raw);
        return NULL;
    }
    return (void *)(((uintptr_t)raw + 63) & ~(uintptr_t)63);
}

// ---- Activations -------------------------------------------------------------------------------------------

// Frames carry a 64-byte header, whose first word links free ones.
static uint8_t *new_frame(VmWarpRest *r, VmFunc *f) {
    VmLaunch *l = r->launch;
    void **pool = &l->frame_pools[f->index];
    uint8_t *raw = *pool;
    if (raw) {
        memcpy(pool, raw, sizeof *pool);
        return raw + 64;
    }
    raw = gr_vm_own(l, 64 + (size_t)f->frame_bytes);
    if (!raw)
        return NULL;
    gr_vm_fill(raw + 64, f->fills, f->n_static, r, NULL);
    return raw + 64;
}

VmActivation *gr_vm_activation(VmWarpRest *r, VmFunc *f, VmActivation *caller) {
    VmLaunch *l = r->launch;
    VmActivation *a = l->free_acts;
    if (a)
        l->free_acts = a->next_free;
    else {
        a = gr_vm_own(l, sizeof *a);
        if (!a)
            return NULL;
    }
    *a = (VmActivation){.func = f, .caller = caller};
    if (caller)
        a->sp = caller->sp + caller->func->local_bytes + caller->dynamic + VM_CALL_BYTES;
    a->frame = new_frame(r, f);
    if (!a->frame) {
        a->next_free = l->free_acts;
        l->free_acts = a;
        return NULL;
    }
    gr_vm_fill(a->frame, f->fills + f->n_static, f->n_warp, r, a);
    if (caller)
        gr_vm_fill(a->frame, f->fills + f->n_static + f->n_warp, f->n_block, r, a);
    if (caller &&
        l->cluster_blocks > 1) // its frame may have been one of a block elsewhere in the shared window
        gr_vm_fill(a->frame, f->fills, f->n_static, r, a);
    return a;
}

void gr_vm_activation_free(VmLaunch *l, VmActivation *a) {
    uint8_t *raw = a->frame - 64;
    memcpy(raw, &l->frame_pools[a->func->index], sizeof(void *));
    l->frame_pools[a->func->index] = raw;
    a->next_free = l->free_acts;
    l->free_acts = a;
}

uint8_t *gr_vm_local(VmWarpRest *r) {
    VmWarp *w = &r->hot;
    uint32_t bytes = r->launch->stack_bytes;
    if (!w->local && bytes) {
        // An odd number of lines apart, or the same variable of all lanes would share few sets of the cache.
        w->local_bytes = bytes;
        w->local_stride = bytes <= 64 ? bytes : ((bytes + 63) / 64 | 1) * 64;
        w->local = gr_vm_own(r->launch, (size_t)w->local_stride * VM_LANES);
    }
    return w->local;
}

// ---- Blocks ------------------------------------------------------------------------------------------------

static bool new_warp(VmBlock *b, uint32_t index) {
    VmWarpRest *r = &b->warps[index];
    VmLaunch *l = b->launch;
    uint32_t first = index * VM_LANES, have = l->threads - first;
    r->block = b;
    r->launch = l;
    r->index = index;
    r->exists = have >= VM_LANES ? UINT32_MAX : (UINT32_C(1) << have) - 1;
    r->ready_slot = UINT32_MAX;
    r->id = l->n_warps_made++; // of blocks that are used again and again: at most as many as can be resident
    l->warp[r->id] = r;
    for (unsigned k = 0; k < sizeof r->joins / sizeof *r->joins; k++) {
        r->joins[k].parent = r->free_joins;
        r->free_joins = &r->joins[k];
    }
    r->hot.caches = l->caches;
    r->hot.atomics = l->in != NULL;
    r->hot.shared = b->shared;
    r->hot.shared_bytes = b->shared_bytes;
    r->hot.shared_base = (uint64_t)b->rank << VM_SHARED_SHIFT;
    r->root = gr_vm_activation(r, l->kernel, NULL);
    return r->root != NULL;
}

static VmBlock *new_block(VmLaunch *l, VmCluster *c, uint32_t rank) {
    VmBlock *b = gr_vm_own(l, sizeof *b);
    if (!b)
        return NULL;
    b->launch = l;
    b->cluster = c;
    b->rank = rank;
    b->n_warps = l->warps_per_block;
    b->shared_bytes = l->shared_bytes;
    b->shared = gr_vm_own(l, l->shared_bytes + 64u);
    b->warps = gr_vm_own(l, b->n_warps * sizeof *b->warps);
    if (!b->shared || !b->warps)
        return NULL;
    for (uint32_t k = 0; k < b->n_warps; k++)
        if (!new_warp(b, k))
            return NULL;
    return b;
}

static VmCluster *new_cluster(VmLaunch *l) {
    VmCluster *c = gr_vm_own(l, sizeof *c + l->cluster_blocks * sizeof *c->block);
    if (!c)
        return NULL;
    c->n = l->cluster_blocks;
    for (uint32_t k = 0; k < c->n; k++) {
        c->block[k] = new_block(l, c, k);
        if (!c->block[k])
            return NULL;
    }
    return c;
}

static void start_warp(VmBlock *b, VmWarpRest *r) {
    r->live = r->exists;
    r->hot.cc = 0;
    r->executed = 0;
    r->looked = r->leaves = false;
    r->patience = 1024;
    r->gather_patience = 1 << 16;
    r->rotate = (uint32_t)gr_rng_next(&b->launch->rng);
    r->clock_fresh = false;
    r->moving = false;
    r->cluster_arrived = r->cluster_done = 0;
    memset(r->at_barrier, 0, sizeof r->at_barrier);
    r->root->lanes = r->exists;
    gr_vm_fill(r->root->frame, r->root->func->fills + r->root->func->n_static + r->root->func->n_warp,
               r->root->func->n_block, r, r->root);
    r->n_splits = 1;
    r->cur = 0;
    r->splits[0] = (VmSplit){.pc = b->launch->kernel->code, .act = r->root, .mask = r->exists};
    if (b->launch->device->stuck.looking)
        r->seen[0].look = 0;
    r->n_ready = 0;
    r->n_sleeping = r->n_joining = 0;
    if (b->launch->device->policy && b->launch->device->policy->started)
        b->launch->device->policy->started(r);
    r->splits[0].state = VM_SPLIT_BARRIER; // so that the change of state counts it
    gr_vm_split_set_state(r, 0, VM_SPLIT_READY);
    if (b->launch->device->policy && b->launch->device->policy->begins)
        b->launch->device->policy->begins(r);
}

// Places the block with rank `rank` of the cluster that starts next. Unless they are shuffled, clusters start in the
// order of their linear index, x fastest, and so do the blocks within each (PTX ISA 10.11, %cluster_ctarank).
static void place_block(const VmLaunch *l, uint64_t first, uint32_t rank, VmBlock *b) {
    uint64_t cluster = first / l->cluster_blocks, n = l->n_blocks / l->cluster_blocks;
    if (l->shuffle_by)
        cluster = (uint64_t)(((unsigned __int128)cluster * l->shuffle_by + l->shuffle_from) % n);
    if (l->cluster_blocks == 1) {
        b->linear = cluster;
        b->ctaid[0] = (uint32_t)(b->linear % l->grid[0]);
        b->ctaid[1] = (uint32_t)(b->linear / l->grid[0] % l->grid[1]);
        b->ctaid[2] = (uint32_t)(b->linear / l->grid[0] / l->grid[1]);
        return;
    }
    for (unsigned k = 0; k < 3; k++) {
        uint32_t along = l->grid[k] / l->cluster[k];
        b->ctaid[k] = (uint32_t)(cluster % along) * l->cluster[k] + rank % l->cluster[k];
        cluster /= along;
        rank /= l->cluster[k];
    }
    b->linear = b->ctaid[0] + (uint64_t)l->grid[0] * (b->ctaid[1] + (uint64_t)l->grid[1] * b->ctaid[2]);
}

static void start_block(VmLaunch *l, uint64_t first, VmBlock *b) {
    place_block(l, first, b->rank, b);
    b->weak_since = l->device->weak ? gr_vm_weak_now(l->device->weak) : 0;
    b->sm = (uint32_t)(b->linear % l->device->props.sm_count);
    b->live_warps = b->n_warps;
    b->live_threads = l->threads;
    b->moving = 0;
    b->ended = b->end_told = false;
    b->mbar_waiters = false;
    b->n_mbars = 0;
    memset(b->barrier, 0, sizeof b->barrier);
    b->prev = NULL;
    b->next = l->blocks;
    if (b->next)
        b->next->prev = b;
    l->blocks = b;
    l->resident++;
    for (size_t k = 0; k < l->device->observers.len; k++) {
        const VmObserver *o = &l->device->observers.data[k];
        if (o->block_begin)
            o->block_begin(o->user, l->number, b->linear);
    }
    for (uint32_t k = 0; k < b->n_warps; k++)
        start_warp(b, &b->warps[k]);
}

gr_status gr_vm_start_cluster(VmLaunch *l, gr_error *err) {
    uint64_t first;
    if (!gr_vm_take_blocks(l, &first))
        return GR_OK; // another share was faster
    VmCluster *c = l->free_clusters;
    if (c)
        l->free_clusters = c->next_free;
    else {
        c = new_cluster(l);
        if (!c)
            return gr_fail(err, GR_ERR_NOMEM, "out of memory for a block of %s", l->kernel->name);
    }
    c->running = c->n;
    c->live = c->n * l->threads;
    c->arrived = 0;
    c->phase = 0;
    for (uint32_t k = 0; k < c->n; k++)
        start_block(l, first, c->block[k]);
    return GR_OK;
}

static void tell_end(VmBlock *b) {
    const VmLaunch *l = b->launch;
    b->end_told = true;
    for (size_t k = 0; k < l->device->observers.len; k++) {
        const VmObserver *o = &l->device->observers.data[k];
        if (o->block_end)
            o->block_end(o->user, l->number, b->linear);
    }
}

static bool holds_loads(const VmBlock *b) {
    bool any = false;
    for (uint32_t k = 0; k < b->n_warps && !b->ended && !any; k++)
        any = gr_vm_holds_loads(&b->warps[k]);
    return any;
}

// Blocks of the cluster have ended: tells observers, but first of loads from their shared memory that threads of other
// blocks may hold back (observe/held.c).
static void tell_ends(const VmCluster *c) {
    bool holding = false;
    for (uint32_t k = 0; k < c->n && c->n > 1; k++)
        holding |= holds_loads(c->block[k]);
    for (uint32_t k = 0; k < c->n && !holding; k++)
        if (c->block[k]->ended && !c->block[k]->end_told)
            tell_end(c->block[k]);
}

void gr_vm_block_end(VmBlock *b) {
    VmLaunch *l = b->launch;
    VmCluster *c = b->cluster;
    if (l->device->weak)
        gr_vm_weak_block_end(b);
    gr_vm_async_flush(b);
    if (b->prev)
        b->prev->next = b->next;
    else
        l->blocks = b->next;
    if (b->next)
        b->next->prev = b->prev;
    b->ended = true;
    tell_ends(c);
    if (--c->running == 0) {
        c->next_free = l->free_clusters;
        l->free_clusters = c;
        l->resident -= c->n;
    }
    if (++l->ended_blocks == l->n_blocks && !l->in)
        l->done = true;
}
