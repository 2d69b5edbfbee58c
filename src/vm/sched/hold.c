// SPDX-License-Identifier: Apache-2.0
// hold — the race-directed schedule: a thread that has just made an access is held while others run.
//
// An engine may insert a pause after each access, to look again at what the access touched. By default the pause is
// virtual time, and chance decides which threads meet in it. Here it has no length (gr_vm_hold): the split is held
// until no other split can make progress, on this device or (the driver sees to that) on any. Then one is released; and
// so it is when others have executed so much that they may be polling for something that a held split will write.
//
// A launch takes one of three ways; five consecutive seeds cover all. It releases: any split; or the one held longest,
// except a few that stay until only they are left (so distant accesses meet); or the one held least often.
//
// When an observer knows what should meet (VmWish) a launch takes a fourth way, AIMED. A split is held when it comes to
// an access where the observer wishes that it waits. At other accesses it goes on, except one in eight: else threads at
// which no run aims would always run in the same order. Splits that need not wait come back first. Next come those that
// were to wait (STOPS), as the two sides of a pair may come in either order. Those that were to wait for all others
// (STAYS) come last, and in no launch before all others: when such a thread looks again, all that can come have come.
// The order among equals is chance. The limits below hold here too, so a wish for what cannot happen ends.
//
// Warps may also be held before their first instruction. Some pairs do not meet because the side that cannot be held,
// an atomic operation or a copy, is always first. In an aimed launch warps begin late when the observer wishes that of
// its kernel, three times in four. When the observer says that earlier schedules need not be tried again (NEW), warps
// begin late in some launches, some warps or all, and the ways are the three usual ones.
//
// A warp that pauses together may part (hooks.c), so that lanes meet lanes: into halves and the like, as programs part
// warps, or any sets; mostly both are held. Lanes that wait for held ones at a place where they would rejoin may go
// ahead, as PTX promises no reconvergence. A split may also be held before an access (hooks.c): a thread that never
// pauses, because its accesses are strong, must be late at times, too. Asynchronous operations are held in their way.
// One that would be next, when all are held, mostly comes after a thread, though not when all threads wait for all
// others (sched.c); and some take so long that sleepers cannot wait for them (async.c).
#include "vm/core/device.h"
#include "vm/core/launch.h"
#include "vm/core/policy.h"

#include <stdlib.h>

enum {
    BEFORE_ONE_IN = 2, // holds that are no pauses
    HELD_MAX = 256,    // splits of a launch
    QUIET = 512,       // warp instructions without a hold or a release: a thread polls
    QUIET_PER_WARP = 32,
    QUIET_SHIFTS = 4,
    LONGEST_SHIFT = 5, // after so much longer no thread is held, quiet or not
    IN_VAIN = 64,      // after so many of either all that is halved
    SAME = 8,          // a launch that one is released from is so again, but once in so many times
    NS_SHIFT = 4,      // 16 ns in which all sleep count as one instruction
    PASS_ONE_IN = 8,   // of splits that should go on one in so many is held
    LATE_MOST = 16,    // no warp begins late while so many are held
};

enum { ANYBODY, QUEUE, TOGETHER, AIMED };
#define STAYS (UINT32_C(1) << 31) // in a key: until only such are left
// In keys of an aimed launch: which splits come back first.
enum { RANK_SHIFT = 30, RANK_PASSES = 1, RANK_STOPS, RANK_STAYS };

typedef struct VmHeld {
    VmWarpRest *warp;
    uint64_t id, deadline;
    uint32_t key;
} VmHeld;

static uint64_t quiet(VmLaunch *l) {
    uint64_t n = (uint64_t)(QUIET + QUIET_PER_WARP * l->n_ready) << gr_rng_below(&l->hold_rng, QUIET_SHIFTS);
    uint32_t less = l->held_in_vain / IN_VAIN;
    return n >> (less < 6 ? less : 6);
}

static void release(VmLaunch *l, uint32_t k) {
    VmHeld h = l->held[k];
    l->held[k] = l->held[--l->n_held];
    l->device->n_held--;
    l->device->quiet_until = l->device->executed + quiet(l);
    for (uint32_t s = 0; s < h.warp->n_splits; s++)
        if (h.warp->splits[s].held == h.id) {
            h.warp->splits[s].held = 0;
            gr_vm_split_set_state(h.warp, s, VM_SPLIT_READY);
        }
}

static uint32_t next(VmLaunch *l) {
    uint32_t low = 0;
    if (l->way == ANYBODY)
        return gr_rng_below(&l->hold_rng, l->n_held);
    for (uint32_t k = 1; k < l->n_held; k++)
        if (l->held[k].key < l->held[low].key)
            low = k;
    return low;
}

static VmWish wish(const VmLaunch *l, const VmWarpRest *r, uint32_t site) {
    const VmDevice *d = l->device;
    VmWish most = VM_WISH_NONE;
    VmWhere where = {.launch = l->number, .site = site};
    if (r) {
        const VmFunc *f = site ? r->splits[r->cur].act->func : l->kernel;
        where.block_linear = r->block->linear;
        where.warp = r->index;
        where.module = f->ptx ? f->ptx->module : NULL;
    }
    for (size_t k = 0; k < d->observers.len; k++) {
        const VmObserver *o = &d->observers.data[k];
        VmWish w = o->wish ? o->wish(o->user, &where) : VM_WISH_NONE;
        most = w > most ? w : most;
    }
    return most;
}

static void begin(VmLaunch *l) {
    static const struct {
        uint8_t way, stay;
    } ways[] = {{ANYBODY, 0}, {QUEUE, 2}, {ANYBODY, 0}, {QUEUE, 1}, {TOGETHER, 0}};
    Rng rng = {l->number};
    uint64_t k = (l->device->config.seed + gr_rng_next(&rng) % 5) % 5;
    l->way = ways[k].way;
    l->stay = ways[k].stay;
    l->rank = (uint32_t)gr_rng_next(&l->hold_rng);
    VmWish w = wish(l, NULL, 0);
    if (w == VM_WISH_NEW) {
        static const uint8_t late[] = {1, 4, 4, 8};
        l->late = late[gr_rng_below(&l->hold_rng, 4)];
        l->late_stay = gr_rng_below(&l->hold_rng, 2);
    } else if (w != VM_WISH_NONE) {
        l->way = AIMED;
        l->late = w == VM_WISH_STAYS && gr_rng_below(&l->hold_rng, 4) ? 8 : 0;
    }
}

static bool has_begun(VmLaunch *l) {
    if (l->held)
        return true;
    l->held = calloc(HELD_MAX, sizeof *l->held);
    if (!l->held)
        return false;
    begin(l);
    return true;
}

static uint32_t ranked(uint32_t rank, uint32_t chance) { return rank << RANK_SHIFT | chance >> 2; }

static uint32_t key_of(VmLaunch *l, const VmSplit *p, VmWish wish) {
    uint32_t chance = (uint32_t)(gr_rng_next(&l->hold_rng) >> 32), most = (1 << 20) - 1;
    if (l->way == AIMED)
        return ranked(wish == VM_WISH_STAYS   ? RANK_STAYS
                      : wish == VM_WISH_STOPS ? RANK_STOPS
                                              : RANK_PASSES,
                      chance);
    if (l->way == TOGETHER)
        return (p->pauses < most ? p->pauses : most) << 12 | chance >> 20;
    if (gr_rng_below(&l->hold_rng, 4) < l->stay)
        return STAYS | chance;
    return (uint32_t)l->held_ids & ~STAYS;
}

static void put(VmWarpRest *r, uint32_t s, uint32_t key) {
    VmLaunch *l = r->launch;
    VmDevice *d = l->device;
    if (l->n_held == HELD_MAX)
        release(l, next(l));
    uint64_t n = quiet(l);
    VmHeld h = {.warp = r, .id = ++l->held_ids, .deadline = d->executed + (n << LONGEST_SHIFT), .key = key};
    l->held[l->n_held++] = h;
    d->n_held++;
    d->quiet_until = d->executed + n;
    if (h.deadline < d->held_until)
        d->held_until = h.deadline;
    r->splits[s].held = h.id;
    r->splits[s].until = UINT64_MAX;
    gr_vm_split_set_state(r, s, VM_SPLIT_SLEEP);
}

static bool hold(VmWarpRest *r, uint32_t s, uint32_t site, bool pause) {
    VmLaunch *l = r->launch;
    if (!pause && gr_rng_below(&l->hold_rng, BEFORE_ONE_IN) == 0)
        return false;
    if (!has_begun(l))
        return false;
    VmWish w = l->way == AIMED ? wish(l, r, site) : VM_WISH_NONE;
    if (w == VM_WISH_PASSES && gr_rng_below(&l->hold_rng, PASS_ONE_IN))
        return false;
    put(r, s, key_of(l, &r->splits[s], w));
    r->splits[s].pauses += pause;
    return true;
}

static void begins(VmWarpRest *r) {
    VmLaunch *l = r->launch;
    if (l->device->n_held) // that blocks begin is progress
        l->device->quiet_until = l->device->executed + quiet(l);
    if (!has_begun(l) || gr_rng_below(&l->hold_rng, 8) >= l->late || l->n_held >= LATE_MOST)
        return;
    uint32_t chance = (uint32_t)(gr_rng_next(&l->hold_rng) >> 32);
    put(r, 0, l->way == AIMED ? ranked(RANK_STOPS, chance) : l->late_stay ? STAYS | chance : chance & ~STAYS);
}

// Brings back the splits that have been held for longest.
static void expire(VmDevice *d) {
    d->held_until = UINT64_MAX;
    for (VmLaunch *l = d->active; l; l = l->next)
        for (uint32_t k = 0; k < l->n_held;) {
            if (l->held[k].deadline <= d->executed) {
                release(l, k);
                l->held_in_vain++;
            } else {
                if (l->held[k].deadline < d->held_until)
                    d->held_until = l->held[k].deadline;
                k++;
            }
        }
}

static void count(VmDevice *d, uint64_t n) {
    d->executed += n;
    if (!d->n_held)
        return;
    if (d->executed >= d->held_until)
        expire(d);
    if (d->executed >= d->quiet_until) {
        VmLaunch *l = gr_vm_release(d);
        if (l)
            l->held_in_vain++;
    }
}

static void ran(VmLaunch *l, VmWarpRest *r, uint64_t n, bool yields) {
    (void)r;
    (void)yields;
    count(l->device, n);
}

// Counts time that passed at once: else a thread that sleeps between two looks would let the watchdog's time pass.
static void jumped(VmDevice *d, uint64_t ns) { count(d, ns >> NS_SHIFT); }

static bool leave_behind(VmLaunch *l) { return gr_rng_below(&l->hold_rng, 2) == 0; }

// Launches in which some thread need not wait for all others come before those in which all must.
static uint64_t turn_of(const VmLaunch *l) {
    uint32_t first = l->way == AIMED ? RANK_STAYS : 0;
    for (uint32_t k = 0; k < l->n_held && l->way == AIMED; k++)
        first = l->held[k].key >> RANK_SHIFT < first ? l->held[k].key >> RANK_SHIFT : first;
    return (uint64_t)first << 32 | l->rank;
}

VmLaunch *gr_vm_release(VmDevice *d) {
    VmLaunch *from = NULL;
    for (VmLaunch *l = d->active; l; l = l->next)
        if (l->n_held && (!from || turn_of(l) < turn_of(from)))
            from = l;
    if (!from)
        return NULL;
    if (gr_rng_below(&from->hold_rng, SAME) == 0)
        from->rank = (uint32_t)gr_rng_next(&from->hold_rng);
    release(from, next(from));
    return from;
}

bool gr_vm_all_stay(const VmDevice *d) {
    for (const VmLaunch *l = d->active; l; l = l->next)
        for (uint32_t k = 0; k < l->n_held; k++)
            if (l->way != AIMED || l->held[k].key >> RANK_SHIFT != RANK_STAYS)
                return false;
    return true;
}

void gr_vm_hold_end(VmLaunch *l) {
    l->device->n_held -= l->n_held;
    l->n_held = 0;
    free(l->held);
    l->held = NULL;
}

const VmPolicy gr_vm_policy_directed = {
    .ran = ran, .hold = hold, .begins = begins, .leave_behind = leave_behind, .jumped = jumped};
