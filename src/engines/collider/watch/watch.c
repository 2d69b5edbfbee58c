// SPDX-License-Identifier: Apache-2.0
// watch — hears what the device does, and asks of each access whether it meets a window. See watch.h.
#include "engines/collider/watch/watch_internal.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

// ---- Accesses ----------------------------------------------------------------------------------------------

static bool is_wanted(const Watch *w, uint64_t launch) {
    for (size_t k = 0; w->n_unwanted && k < w->launches.len; k++)
        if (w->launches.data[k].number == launch)
            return w->launches.data[k].wanted;
    return true;
}

static bool meets(const Watch *w, const VmGlance *g, uint64_t lo, uint64_t hi) {
    bool writes = g->site->access != PTX_ACCESS_READ;
    return gr_wp_meets(w, g->space, g->launch, g->block_linear, lo, hi, writes) ||
           (w->copies.len && g->space == PTX_GLOBAL && gr_wp_meets_copy(w, lo, hi, writes));
}

// True: it meets nothing.
static bool on_glance(void *user, const VmGlance *g) {
    const Watch *w = user;
    uint32_t size = g->site->size, half[2] = {g->mask & 0xffff, g->mask & 0xffff0000};
    if (!w->interest[g->site->access != PTX_ACCESS_READ])
        return true;
    bool one = g->shape[0] == VM_STEPS && g->shape[1] == VM_STEPS && g->base[0] == g->base[1];
    for (unsigned h = 0; h < 2; h++) {
        uint32_t lanes = one ? g->mask : half[h];
        if (!lanes)
            continue;
        unsigned first = (unsigned)__builtin_ctz(lanes), last = 31 - (unsigned)__builtin_clz(lanes);
        if (g->shape[h] == VM_STEPS) {
            if (meets(w, g, g->base[h] + (uint64_t)first * size, g->base[h] + (uint64_t)(last + 1) * size))
                return false;
        } else if (g->shape[h] == VM_SAME) {
            if (meets(w, g, g->base[h], g->base[h] + size))
                return false;
        } else
            for (uint32_t m = lanes; m; m &= m - 1) {
                uint64_t at = gr_vm_glance_at(g, (unsigned)__builtin_ctz(m));
                if (meets(w, g, at, at + size))
                    return false;
            }
        if (one)
            break;
    }
    return true;
}

static void on_access(void *user, const VmAccessEvent *e) {
    Watch *w = user;
    if (w->pending.len)
        gr_wp_settle(w, e);
    uint32_t mask = e->where.mask & ~e->discards;
    if (!w->interest[e->access != PTX_ACCESS_READ] || !mask ||
        (e->space != PTX_GLOBAL && e->space != PTX_SHARED) || !is_wanted(w, e->where.launch))
        return;
    Actor a = {.access = e->access,
               .strong = e->sem != PTX_SEM_NONE && e->sem != PTX_WEAK,
               .is_volatile = e->sem == PTX_VOLATILE,
               .scope = gr_wp_scope(e->sem, e->scope),
               .space = e->space,
               .where = e->where,
               .owner = e->owner,
               .launch = e->where.launch,
               .size = e->size,
               .used = gr_wp_used_bytes(e->access, e->where.stmt, e->size),
               .event = e};
    a.where.mask = mask;
    memcpy(a.address, e->address, sizeof a.address);
    w->moment++;
    gr_wp_check(w, &a);
    gr_wp_check_copies(w, &a);
}

// ---- Windows -----------------------------------------------------------------------------------------------

static void on_window(void *user, const VmWindowEvent *e) {
    Watch *w = user;
    if (!e->opens) {
        gr_wp_close(w, e->id);
        return;
    }
    if (!is_wanted(w, e->where.launch))
        return;
    Window *x = gr_wp_new(w);
    if (!x)
        return;
    Actor *a = &x->actor;
    a->by = RACE_BY_KERNEL;
    a->access = e->access;
    a->strong = a->is_volatile = a->async = false;
    a->speculated = e->speculated;
    a->scope = PTX_SCOPE_NONE;
    a->space = e->space;
    a->where = e->where;
    a->owner = e->owner;
    a->launch = e->where.launch;
    a->op = a->pc = 0;
    a->size = e->size;
    a->used = gr_wp_used_bytes(e->access, e->where.stmt, e->size);
    memcpy(a->address, e->address, sizeof a->address);
    a->event = NULL;
    gr_wp_open(w, e->id, x);
}

// ---- Asynchronous operations -------------------------------------------------------------------------------

// The id of both of an operation's windows; the device's own ids are small numbers.
static uint64_t op_id(const VmAsyncEvent *e) {
    return UINT64_C(1) << 63 |
           gr_mix64(gr_mix64(e->where.launch * UINT64_C(0x9E3779B97F4A7C15) + e->where.block_linear) + e->op);
}

static Actor operation(const VmAsyncEvent *e, PtxAccess access) {
    return (Actor){.access = access,
                   .strong = access == PTX_ACCESS_RMW, // reductions are relaxed
                   .scope = PTX_SCOPE_GPU,
                   .async = true,
                   .where = e->where,
                   .launch = e->where.launch,
                   .op = e->op,
                   .used = WATCH_ALL};
}

static void open_operation(Watch *w, const VmAsyncEvent *e, const Actor *a) {
    Window *x = gr_wp_new(w);
    if (!x)
        return;
    x->actor = *a;
    gr_wp_open(w, op_id(e), x);
}

// What it will read and write.
static void issued(Watch *w, const VmAsyncEvent *e) {
    Actor a = operation(e, PTX_ACCESS_READ);
    a.space = e->source_space;
    a.owner = e->source_block;
    // Lanes whose source is shorter than what they write are windows of their own.
    for (uint32_t left = e->source ? e->where.mask : 0; left; left &= ~a.where.mask) {
        unsigned first = (unsigned)__builtin_ctz(left);
        a.size = e->source_bytes ? e->source_bytes[first] : e->size;
        a.where.mask = left;
        for (uint32_t m = e->source_bytes ? left : 0; m; m &= m - 1)
            if (e->source_bytes[__builtin_ctz(m)] != a.size)
                a.where.mask &= ~(m & -m);
        memcpy(a.address, e->source, sizeof a.address);
        if (a.size)
            open_operation(w, e, &a);
    }
    if (e->partial)
        return;
    a = operation(e, e->access);
    a.space = e->space;
    a.owner = e->block;
    a.size = e->size;
    memcpy(a.address, e->address, sizeof a.address);
    open_operation(w, e, &a);
}

static void on_async(void *user, const VmAsyncEvent *e) {
    Watch *w = user;
    if ((e->kind != VM_ASYNC_ISSUE && e->kind != VM_ASYNC_READ && e->kind != VM_ASYNC_WRITE) ||
        !is_wanted(w, e->where.launch))
        return;
    if (e->kind == VM_ASYNC_ISSUE) {
        issued(w, e);
        return;
    }
    PtxAccess access = e->kind == VM_ASYNC_READ ? PTX_ACCESS_READ : e->access;
    gr_wp_leave(w, op_id(e), access, e->where.mask);
    if (!w->interest[1] || (e->partial && access != PTX_ACCESS_READ))
        return;
    Actor a = operation(e, access);
    a.space = e->space;
    a.owner = e->block;
    a.size = e->size;
    memcpy(a.address, e->address, sizeof a.address);
    w->moment++;
    gr_wp_check(w, &a);
    gr_wp_check_copies(w, &a);
}

// ---- Launches ----------------------------------------------------------------------------------------------

static void on_launch_begin(void *user, const VmLaunchEvent *e) {
    Watch *w = user;
    if (!w->launches.len) { // modules may have come and gone
        w->modules.len = 0;
        w->before.side[0].place = w->before.side[1].place = 0;
    }
    Launched l = {.number = e->launch, .wanted = true};
    memcpy(l.block, e->block, sizeof l.block);
    if (w->options.wanted)
        l.wanted = w->options.wanted(w->options.user, e->kernel->name);
    if (!gr_vec_push(&w->launches, l))
        w->nomem = true;
    else
        w->n_unwanted += !l.wanted;
}

static void on_launch_end(void *user, const VmLaunchEvent *e, bool faulted) {
    Watch *w = user;
    (void)faulted;
    gr_wp_close_launch(w, e->launch);
    gr_wp_forget_pending(w, e->launch);
    for (size_t k = 0; k < w->launches.len; k++)
        if (w->launches.data[k].number == e->launch) {
            w->n_unwanted -= !w->launches.data[k].wanted;
            w->launches.data[k] = w->launches.data[--w->launches.len];
            break;
        }
}

// ---- Creation ----------------------------------------------------------------------------------------------

gr_status gr_watchpoints_create(const WatchOptions *o, Watch **out, gr_error *err) {
    Watch *w = calloc(1, sizeof *w);
    GR_NEED(w, err);
    if (o)
        w->options = *o;
    gr_wp_table_init(w);
    *out = w;
    return GR_OK;
}

void gr_watchpoints_free(Watch *w) {
    if (!w)
        return;
    for (size_t k = 0; k < w->races.len; k++)
        free(w->races.data[k]);
    gr_vec_free(&w->races);
    gr_vec_free(&w->windows);
    gr_vec_free(&w->entries);
    gr_vec_free(&w->copies);
    gr_vec_free(&w->launches);
    gr_vec_free(&w->pending);
    gr_vec_free(&w->modules);
    gr_map_free(&w->places);
    gr_map_free(&w->pairs);
    free(w);
}

VmObserver gr_watchpoints_observer(Watch *w) {
    return (VmObserver){.user = w,
                        .launch_begin = on_launch_begin,
                        .launch_end = on_launch_end,
                        .access = on_access,
                        .glance = on_glance,
                        .interest = w->interest,
                        .window = on_window,
                        .async = on_async};
}

size_t gr_watchpoints_races(const Watch *w) { return w->races.len; }
const Race *gr_watchpoints_race(const Watch *w, size_t k) { return w->races.data[k]; }
bool gr_watchpoints_incomplete(const Watch *w) { return w->nomem; }
