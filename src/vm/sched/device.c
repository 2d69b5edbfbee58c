// SPDX-License-Identifier: Apache-2.0
// device — a device as a whole: its properties, its observers, where its output goes.
#include "vm/core/device.h"
#include "vm/core/extend.h"
#include "vm/core/launch.h"
#include "vm/core/policy.h"
#include "vm/mem/weak.h"
#include "vm/sched/stuck.h"
#include "vm/sched/team.h"

#include <stdio.h>
#include <stdlib.h>

enum { SM_COUNT = 8, STACK_LIMIT = 1024 };

static void print_stdout(void *user, const char *text, size_t len, uint64_t cost) {
    (void)user;
    (void)cost;
    fwrite(text, 1, len, stdout);
}

// The limits are those of a device of compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications per
// Compute Capability"), even if the device says to be of another one; its size is ours.
static void set_props(VmDevice *d) {
    uint64_t used, total;
    gr_vm_mem_info(d->mem, d->config.index, &used, &total);
    uint32_t arch = d->config.arch ? d->config.arch : 90;
    d->props = (VmProps){
        .cc_major = arch / 10,
        .cc_minor = arch % 10,
        .sm_count = d->config.sm_count ? d->config.sm_count : SM_COUNT,
        .warp_size = VM_LANES,
        .max_threads_per_block = 1024,
        .max_threads_per_sm = 2048,
        .max_blocks_per_sm = 32,
        .shared_per_block = 48 << 10,
        .shared_per_block_optin = 227 << 10,
        .shared_per_sm = 228 << 10,
        .shared_reserved = 1024,
        .regs_per_block = 64 << 10,
        .max_grid = {INT32_MAX, 65535, 65535},
        .max_block = {1024, 1024, 64},
        .const_bytes = 64 << 10,
        .total_bytes = total,
        .clock_khz = 1755000,
    };
}

gr_status gr_vm_create(const VmConfig *config, VmDevice **out, gr_error *err) {
    *out = NULL;
    if (!config->mem)
        return gr_fail(err, GR_ERR_ARGUMENT, "a device needs memory");
    VmDevice *d = calloc(1, sizeof *d);
    GR_NEED(d, err);
    d->config = *config;
    d->mem = config->mem;
    d->rng = gr_rng_fork(config->seed, RNG_DEVICE, (uint64_t)config->index);
    d->print = print_stdout;
    d->stack_limit = config->stack_bytes ? config->stack_bytes : STACK_LIMIT;
    if (!d->config.heap_bytes)
        d->config.heap_bytes = 8 << 20;
    if (config->weak) { // which has to hear of everything that orders
        d->weak = gr_vm_weak_new(config->seed, config->index);
        if (!d->weak) {
            free(d);
            return gr_no_memory(err);
        }
        d->listens_access = d->listens_always = d->listens_sync = d->listens_async = true;
    }
    d->policy = gr_vm_policy(config->schedule);
    d->held_until = UINT64_MAX;
    gr_vm_stuck_init(&d->stuck);
    if (config->schedule == VM_SCHEDULE_PCT) {
        d->pct = gr_vm_pct_new(config);
        if (!d->pct) {
            gr_vm_destroy(d);
            return gr_no_memory(err);
        }
    }
    gr_status st = gr_vm_extend(d, err);
    if (st != GR_OK) {
        gr_vm_destroy(d);
        return st;
    }
    set_props(d);
    *out = d;
    return GR_OK;
}

void gr_vm_destroy(VmDevice *d) {
    if (!d)
        return;
    while (d->active)
        gr_vm_launch_finish(d->active);
    while (d->modules)
        gr_vm_module_unload(d->modules);
    gr_vm_team_free(d->team);
    gr_vm_weak_free(d->weak);
    gr_vm_unextend(d);
    gr_vm_pct_free(d->pct);
    gr_vec_free(&d->observers);
    free(d);
}

const VmProps *gr_vm_props(const VmDevice *d) { return &d->props; }
uint32_t gr_vm_jobs(const VmDevice *d) {
    return d->observers.len || d->weak || d->policy || !d->config.jobs ? 1 : d->config.jobs;
}

void gr_vm_set_stack(VmDevice *d, uint32_t bytes) { d->stack_limit = bytes ? bytes : STACK_LIMIT; }
void gr_vm_set_heap(VmDevice *d, uint64_t bytes) {
    d->config.heap_bytes = bytes > d->heap_used ? bytes : d->heap_used;
}

gr_status gr_vm_observe(VmDevice *d, const VmObserver *o, gr_error *err) {
    if (d->observers.len == VM_OBSERVERS)
        return gr_fail(err, GR_ERR_LIMIT, "a device has at most %d observers", VM_OBSERVERS);
    GR_NEED(gr_vec_push(&d->observers, *o), err);
    d->glances |= o->access && o->glance;
    d->listens_access |= o->access != NULL;
    d->listens_always |= o->access && !o->interest;
    d->listens_window |= o->window != NULL;
    d->listens_sync |= o->sync != NULL;
    d->listens_async |= o->async != NULL;
    return GR_OK;
}

void gr_vm_set_print(VmDevice *d, void (*print)(void *user, const char *text, size_t len, uint64_t cost),
                     void *user) {
    d->print = print ? print : print_stdout;
    d->print_user = user;
}
