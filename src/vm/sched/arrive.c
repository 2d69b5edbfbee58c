// SPDX-License-Identifier: Apache-2.0
// arrive — orders of arrival at counters and flags that chance alone would seldom bring about.
//
// "The k-th to arrive does the rest" and "who sees the counter complete resets it" are wrong if a thread that has
// arrived stands for others that are not done, or if others still look at the counter. Both show only when the others
// are late. So the device makes them late:
//
// - A warp arrives when it executes an atomic operation whose result is compared. Then the other ready warps of its
//   block stay away, mostly until all that others can do is done. Warps of the last block come back first, as it may
//   have been the last of all.
// - A warp polls when it executes a load or an atomic operation that a loop repeats until it likes the value. For each
//   such instruction one warp is slow in each launch: it looks rarely, and a little later than others that see another
//   value. If there is a fence behind the loop, those stay there meanwhile. So the slow one leaves the loop last, and
//   others may have done something about the counter by then or not. The slow warp is neither of the first block nor of
//   the last, which have special roles in programs; of two blocks it is in the second. In one block, this goes for
//   warps. Polling by loads has a slow warp only in every other launch, by chance: such a counter is passed on, and a
//   slow warp sees less.
//
// Either happens a few times in each launch, in later launches more rarely. Warps that stay away come back when others
// have looked in vain for long.
#include "vm/core/device.h"
#include "vm/core/exec.h"
#include "vm/core/launch.h"
#include "vm/core/mem_insn.h"
#include "vm/core/policy.h"
#include "vm/core/warp.h"

#include <stdlib.h>

enum {
    PLACES = 4,     // instructions of a launch at which a warp is slow
    LOOKS = 8,      // of such a warp
    SLOW = 1 << 14, // warp instructions of others between two of its looks
    // How long others stay behind a fence; the slow one half as long: longer than threads are held (hooks.c).
    STAY_NS = 20000,
    STAYS = 32,      // of others
    AWAY = 8,        // blocks of a launch whose warps stay away
    ARRIVALS = 4096, // arrivals that are looked at
    RARELY = 8,      // one in so many goes on as if nothing were, one in so many is short
    LONGEST = 1 << 20,
    SHORTEST = 1 << 10,
    SHORTEST_SHIFTS = 8,
    IN_VAIN = 1 << 12, // looks of others, after which all come back
    OFTEN = 64,        // the first launches; of later ones one in
    LATER_ONE_IN = 8,
};

typedef struct VmArrivals {
    bool none; // not in this launch
    uint32_t arrived, n_places, n_away, looks;
    uint64_t last, step; // when the warps that went away first come back; how much earlier the next ones do
    struct {
        const VmInsn *at;
        uint32_t warp, looks, stays; // warp: its id, and 1; 0: none yet
        bool sleeps, none;           // none: of this launch no warp is slow there
        uint64_t until;              // it sleeps so long
    } place[PLACES];
    struct {
        VmBlock *block;
        uint64_t until;
    } away[AWAY];
} VmArrivals;

// What the launch has of this. NULL: the device does nothing about it in this launch.
static VmArrivals *arrivals_of(VmLaunch *l) {
    VmArrivals *a = l->arrivals;
    if (!a) {
        a = l->in || l->device->policy || !l->device->config.split_one_in ? NULL : calloc(1, sizeof *a);
        if (!a)
            return NULL;
        l->arrivals = a;
        a->none = l->number > OFTEN && gr_rng_below(&l->arrive_rng, LATER_ONE_IN);
    }
    return a->none ? NULL : a;
}

void gr_vm_arrivals_end(VmLaunch *l) {
    free(l->arrivals);
    l->arrivals = NULL;
}

static uint64_t after(const VmLaunch *l, uint64_t n) { return *l->clock_ps + gr_vm_time_of(l, n); }

static void arrived(VmWarpRest *r) {
    VmLaunch *l = r->launch;
    VmArrivals *a = arrivals_of(l);
    if (!a || a->n_away == AWAY || a->arrived >= ARRIVALS)
        return;
    a->arrived++;
    uint32_t n = 0;
    if (gr_rng_below(&l->arrive_rng, RARELY) == 0)
        return;
    if (!a->n_away) {
        a->step = gr_vm_time_of(l, LONGEST) / AWAY;
        a->last = *l->clock_ps + 2 * AWAY * a->step;
    }
    uint64_t until = a->last - a->n_away * a->step;
    if (gr_rng_below(&l->arrive_rng, RARELY) == 0 || until <= *l->clock_ps)
        until = after(l, (SHORTEST << gr_rng_below(&l->arrive_rng, SHORTEST_SHIFTS)));
    for (uint32_t k = 0; k < r->block->n_warps; k++)
        if (&r->block->warps[k] != r)
            n += gr_vm_warp_sleeps(&r->block->warps[k], until);
    if (!n)
        return;
    a->away[a->n_away].block = r->block;
    a->away[a->n_away++].until = until;
    a->looks = 0;
}

// Brings all back that stay away. What still sleeps so long is of the same block.
static void come_back(VmLaunch *l, VmArrivals *a) {
    for (uint32_t k = 0; k < a->n_away; k++) {
        if (a->away[k].until <= *l->clock_ps)
            continue;
        for (uint32_t n = 0; n < a->away[k].block->n_warps; n++) {
            VmWarpRest *r = &a->away[k].block->warps[n];
            for (uint32_t s = 0; s < r->n_splits; s++)
                if (r->splits[s].state == VM_SPLIT_SLEEP && r->splits[s].until == a->away[k].until)
                    gr_vm_split_set_state(r, s, VM_SPLIT_READY);
        }
        a->away[k].until = 0;
    }
    a->looks = 0;
}

static bool may_be_slow(const VmWarpRest *r) {
    const VmLaunch *l = r->launch;
    uint64_t n = l->n_blocks > 1 ? l->n_blocks : l->warps_per_block,
             k = l->n_blocks > 1 ? r->block->linear : r->index;
    return k && (k < n - 1 || n == 2);
}

// The number of the instruction's place; PLACES: it has none.
static uint32_t place_of(VmLaunch *l, VmArrivals *a, const VmInsn *i) {
    uint32_t k = 0;
    while (k < a->n_places && a->place[k].at != i)
        k++;
    if (k == a->n_places && k < PLACES) {
        a->place[a->n_places++].at = i;
        a->place[k].none =
            ((const VmMemInfo *)i->extra)->access == PTX_ACCESS_READ && gr_rng_below(&l->arrive_rng, 2);
    }
    return k < PLACES && a->place[k].none ? PLACES : k;
}

// The warp is about to look. True: it must look later.
static bool looks_later(VmWarpRest *r, VmArrivals *a, uint32_t k) {
    VmLaunch *l = r->launch;
    r->leaves = false;
    if (!a->place[k].warp && may_be_slow(r))
        a->place[k].warp = r->id + 1;
    if (a->place[k].warp != r->id + 1 || a->place[k].looks == LOOKS || !may_be_slow(r))
        return false;
    if (a->place[k].sleeps) {
        a->place[k].sleeps = false;
        return false;
    }
    a->place[k].until = after(l, SLOW / 2 + gr_rng_below(&l->arrive_rng, SLOW));
    if (!gr_vm_sleep_until(r, a->place[k].until))
        return false;
    a->place[k].sleeps = true;
    a->place[k].looks++;
    return true;
}

// Lets the slow warp look at that time.
static void put_off(VmLaunch *l, VmArrivals *a, uint32_t k, uint64_t until) {
    VmWarpRest *slow = l->warp[a->place[k].warp - 1];
    for (uint32_t s = 0; s < slow->n_splits; s++)
        if (slow->splits[s].state == VM_SPLIT_SLEEP && slow->splits[s].until == a->place[k].until)
            (void)gr_vm_sleeps_until(slow, s, until);
    a->place[k].until = until;
}

// The warp has looked. If it sees another value than before it may be about to leave.
static void looked(VmWarp *w, const VmInsn *i, VmArrivals *a, uint32_t k) {
    const VmMemInfo *info = i->extra;
    VmWarpRest *r = rest_of(w);
    if (info->vec != 1 || info->slot[0] == VM_NO_SLOT || (info->elem != 4 && info->elem != 8) || !w->mask ||
        (info->access == PTX_ACCESS_READ && info->reg_bytes[0] != info->elem))
        return;
    unsigned lane = (unsigned)__builtin_ctz(w->mask);
    uint64_t value = info->elem == 4 ? VM_U32(w, info->slot[0])[lane] : VM_U64(w, info->slot[0])[lane];
    bool news = !r->looked || r->saw != value;
    r->looked = true;
    r->saw = value;
    if (!news || !a->place[k].sleeps || a->place[k].warp == r->id + 1 || a->place[k].stays == STAYS)
        return;
    r->leaves = true;
    a->place[k].stays++;
    put_off(r->launch, a, k, *r->launch->clock_ps + STAY_NS * UINT64_C(1000) / 2);
}

bool gr_vm_stays(VmWarpRest *r) {
    r->leaves = false;
    return gr_vm_sleep_until(r, *r->launch->clock_ps + STAY_NS * UINT64_C(1000));
}

static inline const VmInsn *arrives(VmWarp *w, const VmInsn *i, bool part) {
    const VmInsn *next = ((const VmMemInfo *)i->extra)->then[part](w, i);
    if (next)
        arrived(rest_of(w));
    return next;
}

static inline const VmInsn *polls(VmWarp *w, const VmInsn *i, bool part) {
    VmExec look = ((const VmMemInfo *)i->extra)->then[part];
    VmLaunch *l = rest_of(w)->launch;
    VmArrivals *a = arrivals_of(l);
    uint32_t k = a ? place_of(l, a, i) : PLACES;
    if (a && a->n_away && ++a->looks == IN_VAIN)
        come_back(l, a);
    if (k == PLACES)
        return look(w, i);
    if (looks_later(rest_of(w), a, k))
        return stop_at(w, i, VM_STOP_WAIT);
    const VmInsn *next = look(w, i);
    if (next)
        looked(w, i, a, k);
    return next;
}

VM_HANDLER(gr_vm_x_arrives) { return arrives(w, i, false); }
VM_HANDLER(gr_vm_x_arrives_part) { return arrives(w, i, true); }
VM_HANDLER(gr_vm_x_polls) { return polls(w, i, false); }
VM_HANDLER(gr_vm_x_polls_part) { return polls(w, i, true); }
