// SPDX-License-Identifier: Apache-2.0
// policy_pct — probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte: A Randomized Scheduler
// with Probabilistic Guarantees of Finding Bugs, ASPLOS 2010).
//
// Every warp gets a random priority when its block starts, and the ready warp of the highest priority always runs. At
// d-1 random steps among the first k the running warp's priority falls below all those. Then a bug of depth d, one that
// shows when d steps come in a certain order, shows with probability 1 / (n k^(d-1)) at least, n being the number of
// warps. A step is a warp instruction. That presumes programs that do not wait by polling: a warp that polls is put
// below all others, as in the paper, and then no bound is claimed. Nor is a bound claimed when an execution had more
// than k steps.
#include "vm/core/device.h"
#include "vm/core/launch.h"
#include "vm/core/policy.h"

#include <math.h>
#include <stdlib.h>

enum {
    QUANTUM = 64,
    SPINS = 1 << 14, // warp instructions in a row while others are ready: it polls, or might
};

typedef struct Change {
    uint64_t at;
    int64_t to;
} Change;

struct VmPct {
    Rng rng;
    uint64_t steps, limit;  // so far; k
    uint32_t depth, next;   // the change that comes next
    uint64_t warps, spins;  // that were started; how often one was put last
    int64_t last;           // the lowest priority that was given to one that polls
    const VmWarpRest *runs; // and for how long in a row
    uint64_t in_a_row;
    Change change[];
};

static int by_time(const void *x, const void *y) {
    const Change *a = x, *b = y;
    return a->at != b->at ? (a->at < b->at ? -1 : 1) : a->to < b->to ? -1 : a->to > b->to;
}

VmPct *gr_vm_pct_new(const VmConfig *c) {
    uint32_t depth = c->pct_depth ? c->pct_depth : VM_PCT_DEPTH;
    VmPct *p = calloc(1, sizeof *p + depth * sizeof *p->change);
    if (!p)
        return NULL;
    p->rng = gr_rng_fork(c->seed, RNG_PCT, (uint64_t)c->index);
    p->depth = depth;
    p->limit = c->pct_steps ? c->pct_steps : VM_PCT_STEPS;
    for (uint32_t k = 0; k + 1 < depth; k++)
        p->change[k] = (Change){.at = 1 + (uint64_t)gr_rng_below(&p->rng, (uint32_t)p->limit), .to = k + 1};
    qsort(p->change, depth - 1, sizeof *p->change, by_time);
    return p;
}

void gr_vm_pct_free(VmPct *p) { free(p); }

static VmPct *pct(const VmLaunch *l) { return l->device->pct; }

// A new warp's priority is above all that changes give, which are above all that polling gives.
static void started(VmWarpRest *r) {
    VmPct *p = pct(r->launch);
    r->priority = (int64_t)(gr_rng_next(&p->rng) >> 2 | UINT64_C(1) << 62);
    p->warps++;
}

static uint32_t highest(const VmLaunch *l) {
    uint32_t best = l->ready[0];
    for (uint32_t k = 1; k < l->n_ready; k++)
        if (l->warp[l->ready[k]]->priority > l->warp[best]->priority)
            best = l->ready[k];
    return best;
}

static uint32_t warp(VmLaunch *l) { return highest(l); }

// The launch of the warp of highest priority; but a launch that has not begun, or can have more blocks, comes first.
static VmLaunch *launch(VmDevice *d) {
    VmLaunch *best = NULL;
    for (VmLaunch *l = d->active; l; l = l->next) {
        if (l->next_block < l->n_blocks && l->resident + l->cluster_blocks <= l->max_resident)
            return l;
        if (l->n_ready && (!best || l->warp[highest(l)]->priority > best->warp[highest(best)]->priority))
            best = l;
    }
    return best;
}

static uint32_t quantum(VmLaunch *l, uint32_t mean) {
    (void)mean;
    const VmPct *p = pct(l);
    if (p->next + 1 < p->depth && p->change[p->next].at - p->steps < QUANTUM)
        return (uint32_t)(p->change[p->next].at - p->steps);
    return QUANTUM;
}

static void ran(VmLaunch *l, VmWarpRest *r, uint64_t n, bool yields) {
    VmPct *p = pct(l);
    p->steps += n;
    p->in_a_row = p->runs == r ? p->in_a_row + n : n;
    p->runs = r;
    bool spins = p->in_a_row > SPINS || yields, alone = l->n_ready <= (r->n_ready != 0);
    for (const VmLaunch *o = l->device->active; o && alone; o = o->next)
        alone = o == l || !o->n_ready;
    if (spins && !alone) {
        p->in_a_row = 0;
        r->priority = --p->last;
        p->spins++;
    }
    while (p->next + 1 < p->depth && p->change[p->next].at <= p->steps)
        r->priority = p->change[p->next++].to;
}

void gr_vm_pct_preempts(VmLaunch *l, const VmWarpRest *woken) {
    VmWarp *w = l->running;
    if (w && rest_of(w) != woken && woken->priority > rest_of(w)->priority && w->left > 1) {
        l->cut += (uint32_t)w->left - 1;
        w->left = 1;
    }
}

bool gr_vm_bound(const VmDevice *d, VmBound *out) {
    const VmPct *p = d->pct;
    if (!p)
        return false;
    *out = (VmBound){.warps = p->warps,
                     .steps = p->steps,
                     .limit = p->limit,
                     .depth = p->depth,
                     .spins = p->spins,
                     .holds = p->steps <= p->limit && !p->spins};
    out->probability =
        p->warps && out->holds ? 1 / ((double)p->warps * pow((double)p->limit, p->depth - 1)) : 0;
    return true;
}

const VmPolicy gr_vm_policy_pct = {.launch = launch,
                                   .warp = warp,
                                   .quantum = quantum,
                                   .started = started,
                                   .ran = ran,
                                   .eager = true,
                                   .strict = true};
