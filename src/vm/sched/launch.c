// SPDX-License-Identifier: Apache-2.0
// launch — starting kernels, their limits, and what remains of them afterwards.
#include "vm/core/launch.h"
#include "vm/core/device.h"
#include "vm/core/extend.h"
#include "vm/mem/weak.h"
#include "vm/sched/spread.h"

#include <stdlib.h>
#include <string.h>

VmLaunchEvent gr_vm_launch_event(const VmLaunch *l) {
    VmLaunchEvent e = {.launch = l->number,
                       .device = l->device->config.index,
                       .module = l->kernel->ptx->module,
                       .kernel = l->kernel->ptx,
                       .shared_bytes = l->shared_bytes,
                       .orders = l->module->orders,
                       .bulk = l->module->bulk};
    memcpy(e.grid, l->grid, sizeof e.grid);
    memcpy(e.block, l->block, sizeof e.block);
    memcpy(e.cluster, l->cluster, sizeof e.cluster);
    return e;
}

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

uint32_t gr_vm_occupancy(const VmDevice *d, const VmFunc *f, uint32_t threads, uint64_t shared_dynamic) {
    const VmProps *p = &d->props;
    if (!threads || threads > p->max_threads_per_block)
        return 0;
    uint64_t shared = round_up(f->attrs.shared_static + shared_dynamic + p->shared_reserved, 128);
    uint32_t n = p->max_threads_per_sm / (uint32_t)round_up(threads, VM_LANES);
    if (n > p->max_blocks_per_sm)
        n = p->max_blocks_per_sm;
    if (shared > p->shared_per_block_optin + p->shared_reserved)
        return 0;
    if (shared && n > p->shared_per_sm / shared)
        n = (uint32_t)(p->shared_per_sm / shared);
    uint32_t by_regs = p->regs_per_block / (f->attrs.regs * (uint32_t)round_up(threads, VM_LANES));
    return n < by_regs ? n : by_regs;
}

static gr_status check(VmDevice *d, const VmLaunchParams *p, uint64_t *threads, gr_error *err) {
    const VmFunc *f = p->func;
    uint64_t blocks = 1;
    *threads = 1;
    if (!f || !f->ptx || !f->ptx->is_entry)
        return gr_fail(err, GR_ERR_ARGUMENT, "not a kernel");
    for (unsigned k = 0; k < 3; k++) {
        if (!p->grid[k] || !p->block[k] || p->grid[k] > d->props.max_grid[k] ||
            p->block[k] > d->props.max_block[k])
            return gr_fail(err, GR_ERR_ARGUMENT, "%s: a grid of %u x %u x %u blocks of %u x %u x %u threads",
                           f->name, p->grid[0], p->grid[1], p->grid[2], p->block[0], p->block[1],
                           p->block[2]);
        *threads *= p->block[k];
        uint32_t fixed = f->ptx->reqcluster[k], cluster = p->cluster[k] ? p->cluster[k] : fixed ? fixed : 1;
        if (p->grid[k] % cluster)
            return gr_fail(err, GR_ERR_ARGUMENT, "%s: the grid is no multiple of its clusters", f->name);
        if (fixed && cluster != fixed)
            return gr_fail(err, GR_ERR_ARGUMENT, "%s: .reqnctapercluster asks for other clusters", f->name);
        blocks *= cluster;
        if (blocks > VM_CLUSTER_MAX)
            return gr_fail(err, GR_ERR_LIMIT, "%s: clusters of more than %d blocks", f->name, VM_CLUSTER_MAX);
        if (f->ptx->reqntid[0] && p->block[k] != (f->ptx->reqntid[k] ? f->ptx->reqntid[k] : 1))
            return gr_fail(err, GR_ERR_ARGUMENT, "%s: .reqntid asks for another block size", f->name);
    }
    if (*threads > f->attrs.max_threads)
        return gr_fail(err, GR_ERR_LIMIT, "%s: blocks of %llu threads, at most %u", f->name,
                       (unsigned long long)*threads, f->attrs.max_threads);
    if (f->attrs.shared_static + p->shared_dynamic > d->props.shared_per_block_optin)
        return gr_fail(err, GR_ERR_LIMIT, "%s: %llu bytes of shared memory", f->name,
                       (unsigned long long)(f->attrs.shared_static + p->shared_dynamic));
    return GR_OK;
}

void gr_vm_launch_release(VmLaunch *l) {
    gr_vm_hold_end(l);
    for (size_t k = 0; k < l->owned.len; k++)
        free(l->owned.data[k]);
    gr_vec_free(&l->owned);
    free(l->sleepers);
    free(l->ready);
    free(l->warp);
    free(l->link);
    free(l->frame_pools);
    free(l->caches);
    free(l->extension_state);
    l->sleepers = NULL;
    l->ready = NULL;
    l->warp = NULL;
    l->link = NULL;
    l->frame_pools = NULL;
    l->caches = NULL;
    l->extension_state = NULL;
    l->n_sleepers = l->n_ready = 0;
    l->blocks = NULL;
    l->free_clusters = NULL;
}

static void free_launch(VmLaunch *l) {
    gr_vm_spread_free(l);
    gr_vm_arrivals_end(l);
    gr_vm_launch_release(l);
    if (l->param_range)
        gr_vm_mem_free(l->device->mem, l->param_range->addr, NULL);
    l->param_range = NULL;
    if (l->grid_workspace)
        gr_vm_mem_free(l->device->mem, l->grid_workspace->addr, NULL);
    l->grid_workspace = NULL;
}

gr_status gr_vm_launch_reserve(VmLaunch *l, gr_error *err) {
    const VmModule *m = l->module;
    l->frame_pools = calloc(m->n_funcs + 1u, sizeof *l->frame_pools);
    l->caches = calloc(m->counts.caches + 1u, sizeof *l->caches);
    l->extension_state = calloc(1, m->counts.launch_room + 1u);
    size_t warps = (size_t)l->max_resident * l->warps_per_block + 1;
    l->warp = calloc(warps, sizeof *l->warp);
    l->ready = calloc(warps, sizeof *l->ready);
    l->link = calloc(warps, sizeof *l->link);
    l->n_warps_made = 0;
    l->oldest = l->newest = l->chosen = UINT32_MAX;
    memset(&l->owned, 0, sizeof l->owned);
    GR_NEED(l->frame_pools && l->caches && l->extension_state && l->warp && l->ready && l->link, err);
    l->caches_generation = gr_vm_mem_generation(l->device->mem);
    return GR_OK;
}

static gr_status prepare(VmDevice *d, const VmLaunchParams *p, VmLaunch *l, gr_error *err) {
    const VmFunc *f = p->func;
    l->params = calloc(1, f->param_bytes + 16u);
    GR_NEED(l->params, err);
    gr_status reserved = gr_vm_launch_reserve(l, err);
    if (reserved != GR_OK)
        return reserved;
    if (f->param_bytes && p->params)
        memcpy(l->params, p->params, f->param_bytes);
    if (f->wants_param_buffer && f->param_bytes) {
        gr_status st = gr_vm_mem_alloc(d->mem, VM_MEM_INTERNAL, d->config.index, f->param_bytes, 256,
                                       &l->param_range, err);
        if (st != GR_OK)
            return st;
        memcpy(gr_vm_mem_view(d->mem, l->param_range->addr, f->param_bytes), l->params, f->param_bytes);
        l->param_range->read_only = true;
    }
    if (p->cooperative) {
        // Cooperative groups finds its size and the grid barrier through %envreg1 and %envreg2
        // (cooperative_groups/details/driver_abi.h, struct grid_workspace).
        gr_status st =
            gr_vm_mem_alloc(d->mem, VM_MEM_INTERNAL, d->config.index, 8, 256, &l->grid_workspace, err);
        if (st != GR_OK)
            return st;
        *(uint32_t *)gr_vm_mem_view(d->mem, l->grid_workspace->addr, 4) = 8;
    }
    return GR_OK;
}

// An affine cipher (SuperCollider paper, section 3.5.2) of the cluster's number, so that clusters stay whole.
static void draw_block_order(VmLaunch *l) {
    Rng rng = gr_rng_fork(l->device->config.seed, RNG_BLOCK_ORDER, l->number);
    uint64_t n = l->n_blocks / l->cluster_blocks, a = 0, b = 1;
    if (n < 3)
        return;
    while (b != 1 || !a) { // the greatest common divisor of a and n
        a = l->shuffle_by = gr_rng_next(&rng) % n;
        for (b = n; a;) {
            uint64_t rest = b % a;
            b = a;
            a = rest;
        }
        a = l->shuffle_by;
    }
    l->shuffle_from = gr_rng_next(&rng) % n;
}

gr_status gr_vm_begin(VmDevice *d, const VmLaunchParams *p, VmLaunch **out, gr_error *err) {
    uint64_t threads;
    *out = NULL;
    GR_MUST(check(d, p, &threads, err));
    VmFunc *f = p->func;
    uint32_t per_sm = gr_vm_occupancy(d, f, (uint32_t)threads, p->shared_dynamic);
    VmLaunch *l = calloc(1, sizeof *l);
    GR_NEED(l, err);
    l->device = d;
    l->module = f->module;
    l->peers = p->peers;
    l->kernel = f;
    l->number = p->launch;
    l->clock_ps = &d->now_ps;
    l->sms = d->props.sm_count;
    memcpy(l->grid, p->grid, sizeof l->grid);
    memcpy(l->block, p->block, sizeof l->block);
    l->explicit_cluster = p->cluster[0] || f->ptx->reqcluster[0];
    for (unsigned k = 0; k < 3; k++)
        l->cluster[k] = p->cluster[k] ? p->cluster[k] : f->ptx->reqcluster[k] ? f->ptx->reqcluster[k] : 1;
    l->cluster_blocks = l->cluster[0] * l->cluster[1] * l->cluster[2];
    l->cooperative = p->cooperative;
    l->threads = (uint32_t)threads;
    l->warps_per_block = (l->threads + VM_LANES - 1) / VM_LANES;
    l->shared_dynamic = p->shared_dynamic;
    l->shared_bytes = f->shared_static + p->shared_dynamic;
    if (f->wants_reserved)
        l->shared_bytes = ((l->shared_bytes + 15) & ~15u) + VM_SHARED_RESERVED;
    l->n_blocks = (uint64_t)p->grid[0] * p->grid[1] * p->grid[2];
    uint64_t most = (uint64_t)per_sm * d->props.sm_count / l->cluster_blocks * l->cluster_blocks;
    if (!most || (p->cooperative && l->n_blocks > most)) {
        free(l);
        return gr_fail(err, GR_ERR_LIMIT, "%s: %llu blocks cannot all be resident, only %llu", f->name,
                       (unsigned long long)((uint64_t)p->grid[0] * p->grid[1] * p->grid[2]),
                       (unsigned long long)most);
    }
    l->max_resident = (uint32_t)(most < l->n_blocks ? most : l->n_blocks);
    l->stack_bytes = (f->stack_bytes + (f->recursive ? d->stack_limit : 0) + 15u) & ~15u;
    l->rng = gr_rng_fork(d->config.seed, RNG_LAUNCH, p->launch);
    l->sleep_rng = gr_rng_fork(d->config.seed, RNG_SLEEP, p->launch);
    l->hold_rng = gr_rng_fork(d->config.seed, RNG_HOLD, p->launch);
    l->async_rng = gr_rng_fork(d->config.seed, RNG_ASYNC, p->launch);
    l->arrive_rng = gr_rng_fork(d->config.seed, RNG_ARRIVE, p->launch);
    gr_vm_draw_countdown(l);
    if (d->config.shuffle_blocks)
        draw_block_order(l);
    gr_status st = prepare(d, p, l, err);
    if (st != GR_OK) {
        free_launch(l);
        free(l->params);
        free(l);
        return st;
    }
    VmLaunch **at = &d->active;
    while (*at)
        at = &(*at)->next;
    *at = l;
    *out = l;
    return GR_OK;
}

static void unlink_launch(VmLaunch *l) {
    for (VmLaunch **at = &l->device->active; *at; at = &(*at)->next)
        if (*at == l) {
            *at = l->next;
            break;
        }
    l->next = NULL;
}

void gr_vm_launch_finish(VmLaunch *l) {
    VmDevice *d = l->device;
    l->done = true;
    l->end_ns = gr_vm_now_ns(d);
    unlink_launch(l);
    if (d->weak)
        gr_vm_weak_launch_end(l);
    if (!d->active)
        gr_vm_idle(d);
    if (l->started) {
        VmLaunchEvent e = gr_vm_launch_event(l);
        for (size_t k = 0; k < d->observers.len; k++)
            if (d->observers.data[k].launch_end)
                d->observers.data[k].launch_end(d->observers.data[k].user, &e, l->faulted);
    }
    free_launch(l);
}

bool gr_vm_launch_done(const VmLaunch *l) { return l->done; }
const VmFault *gr_vm_launch_fault(const VmLaunch *l) { return l->faulted ? &l->fault : NULL; }

void gr_vm_launch_free(VmLaunch *l) {
    if (!l)
        return;
    if (!l->done)
        gr_vm_launch_finish(l);
    free(l->params);
    free(l);
}
