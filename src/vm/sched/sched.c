// SPDX-License-Identifier: Apache-2.0
// sched — which warp runs next, for how long, and what time it is.
//
// One thread does everything, or one for each share of a launch (spread.h). A turn picks a launch, starts a block or
// picks a ready warp, and runs one of its ready splits for a quantum. All choices come from the launch's own random
// stream, so a launch that is alone behaves the same whatever happened before it. Every sixteenth turn goes to the warp
// that has waited longest, which bounds how long any warp waits: with n ready warps, 16 n turns.
//
// Blocks start late: a new one comes in when no warp is ready, when fewer than two are resident, and now and then, the
// more rarely the more there are, up to what the occupancy allows. Short blocks then reuse the frames of the ones
// before, which are still in the cache; long ones all become resident.
#include "vm/alu/alu.h"
#include "vm/core/block.h"
#include "vm/core/device.h"
#include "vm/core/fault.h"
#include "vm/core/launch.h"
#include "vm/core/policy.h"
#include "vm/core/tell.h"
#include "vm/core/warp.h"
#include "vm/sched/ready.h"
#include "vm/sched/spread.h"
#include "vm/sched/stuck.h"

#include <stdlib.h>

enum {
    FAIR_EVERY = 16,
    SPREAD_SLICE = 1 << 14, // warp instructions of a thread, where another launch wants its turn
    START_ONE_IN = 8,
    ISSUE_PER_SM = 16,   // warp instructions an SM has in flight, for the clock
    WARP_INSN_PS = 4500, // how long one takes
    PUT_OFF = 8 // of so many operations that would be next, all but one come later, if a thread is held
};

// ---- Sleepers: a heap by time ------------------------------------------------------------------------------

static bool earlier(const VmSleeper *a, const VmSleeper *b) {
    return a->until != b->until ? a->until < b->until : a->seq < b->seq;
}

static void swap(VmSleeper *a, VmSleeper *b) {
    VmSleeper t = *a;
    *a = *b;
    *b = t;
}

// Adds a sleeper. Yields its number; 0: out of memory.
static uint64_t push_sleeper(VmLaunch *l, VmSleeper entry) {
    if (l->n_sleepers == l->cap_sleepers) {
        uint32_t cap = l->cap_sleepers ? l->cap_sleepers * 2 : 64;
        VmSleeper *p = realloc(l->sleepers, cap * sizeof *p);
        if (!p)
            return 0;
        l->sleepers = p;
        l->cap_sleepers = cap;
    }
    uint32_t k = l->n_sleepers++;
    entry.seq = ++l->sleeper_seq;
    l->sleepers[k] = entry;
    for (; k && earlier(&l->sleepers[k], &l->sleepers[(k - 1) / 2]); k = (k - 1) / 2)
        swap(&l->sleepers[k], &l->sleepers[(k - 1) / 2]);
    return entry.seq;
}

// Puts the running split to sleep.
bool gr_vm_sleep_until(VmWarpRest *r, uint64_t until) {
    if (!push_sleeper(r->launch, (VmSleeper){.until = until, .warp = r}))
        return false;
    r->splits[r->cur].until = until;
    split_set_state(r, r->cur, VM_SPLIT_SLEEP);
    return true;
}

bool gr_vm_warp_sleeps(VmWarpRest *r, uint64_t until) {
    if (!r->n_ready || !push_sleeper(r->launch, (VmSleeper){.until = until, .warp = r}))
        return false;
    for (uint32_t s = 0; s < r->n_splits; s++)
        if (r->splits[s].state == VM_SPLIT_READY) {
            r->splits[s].until = until;
            split_set_state(r, s, VM_SPLIT_SLEEP);
        }
    return true;
}

bool gr_vm_sleeps_until(VmWarpRest *r, uint32_t s, uint64_t until) {
    if (!push_sleeper(r->launch, (VmSleeper){.until = until, .warp = r}))
        return false;
    r->splits[s].until = until;
    return true;
}

uint64_t gr_vm_alarm(VmLaunch *l, uint64_t until, VmAsyncOp *op) {
    return push_sleeper(l, (VmSleeper){.until = until, .op = op});
}

static void pop_sleeper(VmLaunch *l) {
    l->sleepers[0] = l->sleepers[--l->n_sleepers];
    for (uint32_t k = 0;;) {
        uint32_t c = 2 * k + 1;
        if (c >= l->n_sleepers)
            break;
        if (c + 1 < l->n_sleepers && earlier(&l->sleepers[c + 1], &l->sleepers[c]))
            c++;
        if (!earlier(&l->sleepers[c], &l->sleepers[k]))
            break;
        swap(&l->sleepers[c], &l->sleepers[k]);
        k = c;
    }
}

// Refreshes what the launch has cached of ranges, which may have come or gone since it ran last.
static void refresh_caches(VmLaunch *l) {
    uint64_t g = gr_vm_mem_generation(l->device->mem);
    if (l->caches_generation != g) {
        for (uint32_t k = 0; k < l->module->counts.caches; k++)
            l->caches[k] = (VmCache){0};
        l->caches_generation = g;
    }
}

static void wake_sleepers(VmLaunch *l, uint64_t now) {
    while (l->n_sleepers && l->sleepers[0].until <= now && !l->faulted) {
        VmSleeper first = l->sleepers[0];
        VmWarpRest *r = first.warp;
        pop_sleeper(l);
        if (first.op) {
            refresh_caches(l);
            gr_vm_async_due(first.op, first.seq);
            continue;
        }
        for (uint32_t s = 0; s < r->n_splits; s++)
            if (r->splits[s].state == VM_SPLIT_SLEEP && r->splits[s].until <= now)
                split_set_state(r, s, VM_SPLIT_READY);
    }
}

static inline void wake(VmLaunch *l, uint64_t now) {
    if (l->n_sleepers && l->sleepers[0].until <= now)
        wake_sleepers(l, now);
}

// ---- Running -----------------------------------------------------------------------------------------------

void gr_vm_load_split(VmWarpRest *r) {
    const VmSplit *p = &r->splits[r->cur];
    VmWarp *w = &r->hot;
    w->frame = p->act->frame;
    w->mask = p->mask;
    w->live = p->act->lanes;
    w->partial = p->mask != p->act->lanes;
    w->join = p->top ? p->top->pc : NULL;
    w->stop = VM_STOP_NONE;
}

static uint32_t choose_split(VmLaunch *l, const VmWarpRest *r) {
    if (l->device->policy && l->device->policy->split)
        return l->device->policy->split(l, r);
    uint32_t k = r->n_ready > 1 ? gr_rng_below(&l->rng, r->n_ready) : 0;
    for (uint32_t s = 0; s < r->n_splits; s++)
        if (r->splits[s].state == VM_SPLIT_READY && k-- == 0)
            return s;
    return 0;
}

// How many warp instructions are under way at once.
static uint32_t parallel(const VmLaunch *l) {
    uint32_t sms = l->resident < l->sms ? l->resident : l->sms, most = sms * ISSUE_PER_SM;
    uint32_t n = most > l->n_ready ? l->n_ready : most;
    return n ? n : 1;
}

static void advance(VmLaunch *l, uint64_t n) {
    // A quantum is short: 32 bits divide faster than 64.
    uint64_t now = *l->clock_ps + (uint32_t)n * WARP_INSN_PS / parallel(l);
    __atomic_store_n(l->clock_ps, now, __ATOMIC_RELAXED); // other shares look at it
}

uint64_t gr_vm_time_of(const VmLaunch *l, uint64_t n) { return n * WARP_INSN_PS / parallel(l); }

// Lanes that wait for others, all of which are held, go on without them.
static bool leaves_behind(VmLaunch *l, const VmWarpRest *r) {
    if (!l->n_held || !l->device->policy->leave_behind)
        return false;
    for (uint32_t s = 0; s < r->n_splits; s++)
        if (r->splits[s].state == VM_SPLIT_SLEEP && !r->splits[s].held)
            return false;
    return l->device->policy->leave_behind(l);
}

// Runs splits of the warp for `quantum` warp instructions; yields how many it executed.
static uint64_t run_warp(VmLaunch *l, VmWarpRest *r, uint32_t quantum) {
    int64_t left = quantum;
    uint64_t cut = 0;
    VmWarp *w = &r->hot;
    bool same = false;
    while (left > 0 && r->n_ready && !l->done) {
        if (!same)
            r->cur = choose_split(l, r);
        same = false;
        gr_vm_close_window(r, &r->splits[r->cur]);
        gr_vm_load_split(r);
        uint32_t lanes = count_lanes(w->mask);
        const VmInsn *i = r->splits[r->cur].pc;
        uint64_t weight = 0;
        w->left = (int32_t)left;
        w->budget = l->access_countdown;
        w->listens = l->device->listens_access && (gr_vm_wanted(l->device, false) || r->holding);
        r->resumed = i;
        if (__builtin_expect(l->device->stuck.looking, 0) && !l->in)
            i = gr_vm_look(w, i, &weight);
        else
            do {
                weight += i->weight;
                i = i->exec[w->partial](w, i);
            } while (--w->left > 0 && i);
        l->access_countdown = w->budget;
        uint64_t ran = (uint64_t)(left - w->left) - l->cut;
        cut += l->cut;
        l->cut = 0;
        left = w->left;
        l->instructions += weight * lanes;
        r->executed += ran;
        advance(l, ran);
        if (i)
            r->splits[r->cur].pc = i;
        else if (w->stop == VM_STOP_CLOCK) {
            r->clock_fresh = same = true;
            if (left == 0)
                left = 1;
        } else if (w->stop == VM_STOP_YIELD)
            left = 0;
        if (r->n_joining && !l->done)
            gr_vm_joins_expire(r, r->n_ready == 0 && (r->n_sleeping == 0 || leaves_behind(l, r)));
    }
    return (uint64_t)((int64_t)quantum - left) - cut;
}

// A number below n out of 32 random bits.
static uint32_t scale(uint32_t bits, uint32_t n) { return (uint32_t)((uint64_t)bits * n >> 32); }

// Decides the next turn a turn ahead, so that what it touches first can come into the cache meanwhile: loads that
// depend on each other are most of a switch's cost. If the warp cannot run any more at its turn, another replaces it.
static uint32_t draw_warp(VmLaunch *l, uint32_t chance) {
    return ++l->pick % FAIR_EVERY == 0 ? l->oldest : l->ready[scale(chance, l->n_ready)];
}

static VmWarpRest *choose_warp(VmLaunch *l, uint32_t chance) {
    if (l->device->policy && l->device->policy->warp) {
        uint32_t by_policy = l->device->policy->warp(l);
        unlink_warp(l, by_policy);
        link_newest(l, by_policy);
        return l->warp[by_policy];
    }
    uint32_t id = l->chosen;
    if (id == VM_NO_WARP || l->warp[id]->ready_slot == UINT32_MAX)
        id = draw_warp(l, chance * 2654435761u);
    unlink_warp(l, id);
    link_newest(l, id);
    l->chosen = draw_warp(l, chance);
    const VmWarpRest *next = l->warp[l->chosen];
    __builtin_prefetch(next);
    __builtin_prefetch(&next->n_splits);
    __builtin_prefetch(&next->executed);
    const VmSplit *p = &next->splits[0];
    __builtin_prefetch(p->pc);
    const uint8_t *frame = p->act->frame;
    for (unsigned k = 0; k < 8; k++)
        __builtin_prefetch(frame + 64 * k);
    return l->warp[id];
}

static bool may_start_block(VmLaunch *l) {
    if (l->next_block == l->n_blocks || l->resident + l->cluster_blocks > l->max_resident)
        return false;
    if (!l->n_ready || l->resident < 2 * l->cluster_blocks || l->cooperative ||
        (l->device->policy && l->device->policy->eager))
        return true;
    if (l->start_in) {
        l->start_in--;
        return false;
    }
    l->start_in = gr_rng_below(&l->rng, 2 * START_ONE_IN * l->resident);
    return true;
}

uint64_t gr_vm_turn(VmLaunch *l) {
    VmDevice *d = l->device;
    refresh_caches(l);
    wake(l, *l->clock_ps);
    while (!l->done && may_start_block(l)) {
        gr_error err;
        if (gr_vm_start_cluster(l, &err) != GR_OK) {
            gr_vm_fault_launch(l, VM_FAULT_LIMIT, "%s", err.msg);
            return 0;
        }
    }
    if (!l->n_ready || l->done)
        return 0;
    // One draw decides the whole turn: which warp, how long, in which order lanes commit.
    uint64_t draw = gr_rng_next(&l->rng);
    VmWarpRest *r = choose_warp(l, (uint32_t)(draw >> 32));
    r->rotate = (uint32_t)draw >> 22;
    uint32_t mean = d->config.quantum ? d->config.quantum : VM_QUANTUM;
    mean = mean > 1 << 16 ? 1 << 16 : mean;
    VmBlock *b = r->block;
    const VmPolicy *policy = d->policy;
    uint64_t ran;
    l->turn = &r->hot;
    if (policy) {
        l->running = policy->strict ? &r->hot : NULL;
        ran = run_warp(
            l, r, policy->quantum ? policy->quantum(l, mean) : 1 + scale((uint32_t)draw << 10, 2 * mean));
        l->running = NULL;
        if (policy->ran && !l->done)
            policy->ran(l, r, ran, r->hot.stop == VM_STOP_YIELD);
    } else
        ran = run_warp(l, r, 1 + scale((uint32_t)draw << 10, 2 * mean));
    l->turn = NULL;
    if (!l->in && !l->done)
        gr_vm_stuck_ran(d, ran);
    if (!l->done && !r->n_ready && !r->n_sleeping && !b->moving && !b->ended && gr_vm_cluster_stuck(b))
        gr_vm_deadlock(b);
    if (!l->done && d->config.watchdog_ns && *l->clock_ps / 1000 - l->start_ns > d->config.watchdog_ns &&
        r->live && (!l->in || gr_vm_spread_overdue(l)))
        gr_vm_timeout(r);
    return ran;
}

static void tell_begin(VmLaunch *l) {
    VmLaunchEvent e = gr_vm_launch_event(l);
    for (size_t k = 0; k < l->device->observers.len; k++)
        if (l->device->observers.data[k].launch_begin)
            l->device->observers.data[k].launch_begin(l->device->observers.data[k].user, &e);
}

static void start(VmLaunch *l) {
    l->started = true;
    l->start_ns = l->device->now_ps / 1000;
    tell_begin(l);
    gr_vm_spread(l);
}

static bool can_move(const VmLaunch *l) {
    return l->spread || l->n_ready ||
           (l->next_block < l->n_blocks && l->resident + l->cluster_blocks <= l->max_resident);
}

static VmLaunch *choose_launch(VmDevice *d) {
    if (d->policy && d->policy->launch)
        return d->policy->launch(d);
    uint32_t n = 0;
    for (VmLaunch *l = d->active; l; l = l->next)
        n += can_move(l);
    if (!n)
        return NULL;
    uint32_t k = n > 1 ? gr_rng_below(&d->rng, n) : 0;
    for (VmLaunch *l = d->active; l; l = l->next)
        if (can_move(l) && k-- == 0)
            return l;
    return NULL;
}

// A thread is held, and an asynchronous operation would be next. True: that comes later than a held thread, so that it
// may come while any other thread is held.
static bool puts_off(VmDevice *d) {
    VmLaunch *from = NULL;
    for (VmLaunch *l = d->active; l; l = l->next)
        if (l->n_sleepers && (!from || l->sleepers[0].until < from->sleepers[0].until))
            from = l;
    return from && from->sleepers[0].op && !gr_vm_all_stay(d) && gr_rng_below(&from->hold_rng, PUT_OFF) != 0;
}

// No warp is ready: lets time pass until the first sleeper wakes. False: none sleeps either.
static bool jump(VmDevice *d) {
    uint64_t first = UINT64_MAX;
    for (VmLaunch *l = d->active; l; l = l->next)
        if (l->n_sleepers && l->sleepers[0].until < first)
            first = l->sleepers[0].until;
    if (first == UINT64_MAX)
        return false;
    if (first > d->now_ps) {
        if (d->policy && d->policy->jumped)
            d->policy->jumped(d, (first - d->now_ps) / 1000);
        d->now_ps = first;
    }
    for (VmLaunch *l = d->active; l; l = l->next)
        wake_sleepers(l, first);
    return true;
}

static VmRunResult run(VmDevice *d, uint64_t steps) {
    if (!d->active)
        return VM_RUN_IDLE;
    for (uint64_t ran = 0; ran < steps;) {
        for (VmLaunch *l = d->active; l; l = l->next) {
            wake(l, d->now_ps);
            if (l->done) { // an asynchronous operation faulted
                gr_vm_launch_finish(l);
                return VM_RUN_ENDED;
            }
        }
        VmLaunch *l = choose_launch(d);
        if (!l) {
            if (d->n_held && puts_off(d) && gr_vm_release(d))
                continue;
            if (jump(d))
                continue;
            if (d->n_held)
                return VM_RUN_HELD;
            for (l = d->active; l && !l->blocks; l = l->next)
                ;
            if (!l)
                l = d->active;
            if (l->blocks)
                gr_vm_deadlock(l->blocks);
            else
                gr_vm_fault_launch(l, VM_FAULT_LIMIT, "no block of the launch can start");
        } else {
            if (!l->started)
                start(l);
            if (l->spread) {
                uint64_t slice = d->active->next && steps - ran > SPREAD_SLICE ? SPREAD_SLICE : steps - ran;
                gr_vm_spread_run(l, slice);
                ran += slice;
            } else
                do
                    ran += gr_vm_turn(l) + 1;
                while (d->active == l && !l->next && l->n_ready && !l->done && !d->stuck.found &&
                       ran < steps); // alone
        }
        if (l->done) {
            gr_vm_launch_finish(l);
            return VM_RUN_ENDED;
        }
        if (d->stuck.found) {
            d->stuck.found = false;
            return VM_RUN_STUCK;
        }
    }
    return VM_RUN_PROGRESS;
}

bool gr_vm_all_held(const VmDevice *d) {
    if (!d->n_held)
        return false;
    for (const VmLaunch *l = d->active; l; l = l->next)
        if (l->done || l->n_sleepers || can_move(l))
            return false;
    return true;
}

// The calling thread's rounding mode and flushing of denormals are not the device's.
VmRunResult gr_vm_run(VmDevice *d, uint64_t steps) {
    unsigned saved = gr_alu_fp_enter();
    VmRunResult r = run(d, steps);
    gr_alu_fp_leave(saved);
    return r;
}

uint64_t gr_vm_now_ns(const VmDevice *d) { return d->now_ps / 1000; }
void gr_vm_advance_ns(VmDevice *d, uint64_t ns) { d->now_ps += ns * 1000; }
