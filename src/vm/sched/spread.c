// SPDX-License-Identifier: Apache-2.0
// spread — a launch whose blocks run on several threads. See spread.h.
//
// Each share has its own virtual clock. The device's clock is that of the slowest share, so that a share whose warps
// all sleep and which jumps ahead does not bring the watchdog upon the others.
#include "vm/sched/spread.h"

#include "vm/alu/alu.h"
#include "vm/core/device.h"
#include "vm/core/fault.h"
#include "vm/core/launch.h"
#include "vm/sched/team.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_RUN = 16, // clusters that a share takes at a time
    QUOTA = 4096, // warp instructions that a share takes from the slice's budget at a time
    LOOKS = 32,   // how often a share that sleeps looks whether others have caught up with it
};

enum { SHARE_RUNS, SHARE_SLEEPS, SHARE_ENDED };

static uint64_t clock_of(const VmLaunch *s) { return __atomic_load_n(&s->own_clock_ps, __ATOMIC_RELAXED); }
static uint32_t state_of(const VmLaunch *s) { return __atomic_load_n(&s->share_state, __ATOMIC_RELAXED); }
static void set_state(VmLaunch *s, uint32_t state) {
    __atomic_store_n(&s->share_state, state, __ATOMIC_RELAXED);
}

static bool calls_allocator(const VmModule *m) {
    for (uint32_t k = 0; k < m->n_funcs; k++)
        if (m->funcs[k]->builtin &&
            (!strcmp(m->funcs[k]->name, "malloc") || !strcmp(m->funcs[k]->name, "free")))
            return true;
    return false;
}

static void free_share(VmLaunch *s) {
    if (!s)
        return;
    gr_vm_launch_release(s);
    free(s);
}

static VmLaunch *new_share(VmLaunch *l, VmSpread *sp, uint32_t k) {
    VmLaunch *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    *s = *l;
    s->in = sp;
    s->spread = NULL;
    s->next = NULL;
    s->own_clock_ps = l->device->now_ps;
    s->clock_ps = &s->own_clock_ps;
    s->sms = l->sms / sp->n ? l->sms / sp->n : 1;
    uint32_t clusters = l->max_resident / l->cluster_blocks;
    s->max_resident = (clusters / sp->n + (k < clusters % sp->n)) * l->cluster_blocks;
    s->rng = gr_rng_fork(l->device->config.seed, RNG_TEAM, l->number * VM_TEAM_MAX + k);
    s->sleep_rng = gr_rng_fork(l->device->config.seed, RNG_TEAM_SLEEP, l->number * VM_TEAM_MAX + k);
    s->async_rng = gr_rng_fork(l->device->config.seed, RNG_TEAM_ASYNC, l->number * VM_TEAM_MAX + k);
    gr_error err;
    if (gr_vm_launch_reserve(s, &err) != GR_OK) {
        free_share(s);
        return NULL;
    }
    gr_vm_draw_countdown(s);
    return s;
}

void gr_vm_spread(VmLaunch *l) {
    VmDevice *d = l->device;
    uint32_t want = gr_vm_jobs(d), clusters = l->max_resident / l->cluster_blocks;
    if (want < 2 || clusters < 2)
        return;
    if (!d->team)
        d->team = gr_vm_team_new(want);
    if (!d->team || gr_vm_team_size(d->team) < 2)
        return;
    uint32_t n = gr_vm_team_size(d->team) < clusters ? gr_vm_team_size(d->team) : clusters;
    VmSpread *sp = aligned_alloc(64, (sizeof *sp + n * sizeof(VmLaunch *) + 63) & ~(size_t)63);
    if (!sp)
        return;
    memset(sp, 0, sizeof *sp + n * sizeof(VmLaunch *));
    sp->whole = l;
    sp->n = n;
    sp->allocates = calls_allocator(l->module);
    pthread_mutex_init(&sp->lock, NULL);
    for (uint32_t k = 0; k < n; k++) {
        sp->share[k] = new_share(l, sp, k);
        if (!sp->share[k]) { // out of memory: one thread will do
            while (k-- > 0)
                free_share(sp->share[k]);
            pthread_mutex_destroy(&sp->lock);
            free(sp);
            return;
        }
    }
    l->spread = sp;
}

void gr_vm_spread_free(VmLaunch *l) {
    if (!l->spread)
        return;
    for (uint32_t k = 0; k < l->spread->n; k++)
        free_share(l->spread->share[k]);
    pthread_mutex_destroy(&l->spread->lock);
    free(l->spread);
    l->spread = NULL;
}

// Takes several blocks in a row, as neighbours touch neighbouring memory; but no more than the share can make resident
// beside those that it has, so that every block that was taken runs even if no other ever ends.
static bool take_run(VmLaunch *s) {
    VmSpread *sp = s->in;
    uint64_t seen = atomic_load_explicit(&sp->next_block, memory_order_relaxed);
    uint64_t left = seen < s->n_blocks ? (s->n_blocks - seen) / s->cluster_blocks : 0;
    uint64_t run = left / (4 * sp->n), room = (s->max_resident - s->resident) / s->cluster_blocks;
    run = run > MAX_RUN ? MAX_RUN : run;
    run = run > room ? room : run;
    run = (run ? run : 1) * s->cluster_blocks;
    uint64_t first = atomic_fetch_add_explicit(&sp->next_block, run, memory_order_relaxed);
    if (first >= s->n_blocks) {
        s->next_block = s->taken = s->n_blocks; // what the scheduler takes for the end
        return false;
    }
    s->next_block = first;
    s->taken = first + run < s->n_blocks ? first + run : s->n_blocks;
    return true;
}

bool gr_vm_take_blocks(VmLaunch *l, uint64_t *first) {
    uint32_t n = l->cluster_blocks;
    if (l->in && l->next_block == l->taken && !take_run(l))
        return false;
    *first = l->next_block;
    l->next_block += n;
    return true;
}

// The clock of the slowest share that has work; of one that has none when all have ended.
static uint64_t slowest(const VmSpread *sp) {
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t k = 0; k < sp->n; k++) {
        uint64_t t = clock_of(sp->share[k]);
        if (state_of(sp->share[k]) != SHARE_ENDED && t < least)
            least = t;
        most = t > most ? t : most;
    }
    return least == UINT64_MAX ? most : least;
}

bool gr_vm_spread_overdue(const VmLaunch *s) {
    return slowest(s->in) / 1000 - s->start_ns > s->device->config.watchdog_ns;
}

// All warps of the share sleep. If others run right now, they get the chance to bring the time about; then the clock
// jumps. The thread keeps the processor: on a busy machine it would be long until it came back.
static void pass_time(VmLaunch *s) {
    const VmSpread *sp = s->in;
    uint64_t until = s->sleepers[0].until;
    set_state(s, SHARE_SLEEPS);
    for (unsigned n = 0; n < LOOKS; n++) {
        bool wait = false;
        for (uint32_t k = 0; k < sp->n; k++)
            wait |= state_of(sp->share[k]) == SHARE_RUNS && clock_of(sp->share[k]) < until;
        if (!wait)
            break;
        gr_vm_team_relax();
    }
    set_state(s, SHARE_RUNS);
    if (until > s->own_clock_ps)
        __atomic_store_n(&s->own_clock_ps, until, __ATOMIC_RELAXED);
}

static void run_share(VmLaunch *s) {
    VmSpread *sp = s->in;
    int64_t quota = 0;
    while (state_of(s) != SHARE_ENDED && !atomic_load_explicit(&sp->stop, memory_order_relaxed)) {
        if (quota <= 0) {
            if (atomic_fetch_sub(&sp->budget, QUOTA) <= 0)
                return;
            quota += QUOTA;
        }
        quota -= (int64_t)gr_vm_turn(s) + 1;
        if (!s->n_ready && !s->faulted) {
            if (!s->blocks && s->next_block >= s->n_blocks) {
                set_state(s, SHARE_ENDED);
            } else if (s->n_sleepers) {
                pass_time(s);
                quota -= LOOKS;
            } else if (s->blocks) {
                gr_vm_deadlock(s->blocks);
            }
        }
        if (s->faulted)
            atomic_store(&sp->stop, true);
    }
}

static void work(void *arg, unsigned k) {
    VmSpread *sp = arg;
    unsigned saved = gr_alu_fp_enter();
    run_share(sp->share[k]);
    gr_alu_fp_leave(saved);
}

// Adds what the shares have done so far to the launch. Of several faults the first share's is reported.
static void collect(VmLaunch *l) {
    VmSpread *sp = l->spread;
    bool all = true;
    l->instructions = l->undefined_collectives = 0;
    for (uint32_t k = 0; k < sp->n; k++) {
        const VmLaunch *s = sp->share[k];
        l->instructions += s->instructions;
        l->undefined_collectives += s->undefined_collectives;
        all &= s->share_state == SHARE_ENDED;
        if (s->faulted && !l->faulted) {
            l->fault = s->fault;
            l->faulted = true;
        }
    }
    l->done = all || l->faulted;
    uint64_t now = slowest(sp);
    if (now > l->device->now_ps)
        l->device->now_ps = now;
}

void gr_vm_spread_run(VmLaunch *l, uint64_t steps) {
    VmSpread *sp = l->spread;
    VmDevice *d = l->device;
    uint64_t most = (uint64_t)INT64_MAX / 2 / sp->n;
    atomic_store(&sp->budget, (int64_t)((steps < most ? steps : most) * sp->n));
    for (uint32_t k = 0; k < sp->n; k++) {
        VmLaunch *s = sp->share[k];
        s->start_ns = l->start_ns;
        if (s->own_clock_ps < d->now_ps)
            s->own_clock_ps = d->now_ps;
    }
    gr_vm_mem_concurrent(d->mem, true, sp->allocates);
    gr_vm_team_run(d->team, sp->n, work, sp);
    gr_vm_mem_concurrent(d->mem, false, false);
    collect(l);
}

void gr_vm_share_lock(VmLaunch *l) {
    if (l->in)
        pthread_mutex_lock(&l->in->lock);
}

void gr_vm_share_unlock(VmLaunch *l) {
    if (l->in)
        pthread_mutex_unlock(&l->in->lock);
}
