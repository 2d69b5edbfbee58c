// SPDX-License-Identifier: Apache-2.0
// conflicts — the first step: which accesses touch the same bytes, and whether anything may have ordered them.
//
// All tables have a fixed size and are hashed. A collision overlooks a conflict, or notes an ordered one: it costs
// time.
#include "aim/aim_internal.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

enum {
    GRAIN = 2,       // bytes that are looked at together, as a power of two
    CELLS = 1 << 16, // of one grain each
    READS = 2,       // accesses that are remembered of each
    BLOCKS = 4096,
    WARPS = 4096,
    LAUNCHES = 1024,
    LANES = 32,
    GRAINS = 1024, // of one access
    // Once a place has touched OFTEN grains, it looks at one in SOME: every place at the same ones.
    OFTEN = 4096,
    SOME = 16,
};

// The thread that made an access.
typedef struct Actor {
    uint64_t launch, block, time;
    uint32_t thread, place; // of the block; place 0: none
    bool strong, async;
} Actor;

typedef struct Cell {
    uint64_t key;
    Actor wrote[2], read[READS]; // wrote: by weak and by strong accesses
    uint32_t turn;
} Cell;

typedef struct WarpTimes {
    uint64_t issued, waited; // asynchronous operations, last; for its own, or an mbarrier
    uint64_t told;           // by an mbarrier, of any thread's
    uint64_t shared;         // `waited` when it last left a barrier of the block: others know since
    uint64_t ordered[LANES]; // when a lane last did anything that orders
    uint64_t met[LANES];     // when it last met other lanes, and which
    uint32_t with[LANES];
} WarpTimes;

typedef struct LaunchOf {
    uint64_t launch, stream, blocking; // of gr_aim_launch
    uint64_t began, waited;            // when; 0: never
} LaunchOf;

typedef struct Noted {
    Conflict is;
    uint32_t place[2];
    unsigned told; // a bit for each of what was said of it
} Noted;

struct Conflicts {
    Aim *aim;
    uint64_t now;
    Map pairs;
    VEC(Noted) noted;
    uint64_t barrier[BLOCKS], ordered[BLOCKS]; // when the block's threads last did that
    LaunchOf launches[LAUNCHES];
    WarpTimes warps[WARPS];
    Cell cells[CELLS];
};

#define PART 0x9e3779b97f4a7c15u

static size_t block_of(uint64_t launch, uint64_t block) { return gr_mix64(launch * PART + block) % BLOCKS; }

static WarpTimes *warp_of(Conflicts *c, uint64_t launch, uint64_t block, uint32_t warp) {
    return &c->warps[gr_mix64((launch * PART + block) * PART + warp) % WARPS];
}

static WarpTimes *warp_of_actor(Conflicts *c, const Actor *a) {
    return warp_of(c, a->launch, a->block, a->thread / LANES);
}

// ---- Pairs -------------------------------------------------------------------------------------------------

static Noted *pair_of(Conflicts *c, uint32_t x, uint32_t y) {
    uint64_t key = (uint64_t)(x < y ? x : y) << 32 | (x < y ? y : x);
    uintptr_t n = (uintptr_t)gr_map_get_u64(&c->pairs, key);
    if (n)
        return &c->noted.data[n - 1];
    if (c->noted.len == GR_CONFLICTS)
        return NULL;
    SampleSite a = c->aim->places.data[x].name, b = c->aim->places.data[y].name;
    bool turned = a.function != b.function ? a.function > b.function : a.nth > b.nth;
    Noted p = {.place = {turned ? y : x, turned ? x : y}};
    for (unsigned k = 0; k < 2; k++) {
        p.is.side[k].function = c->aim->places.data[p.place[k]].name.function;
        p.is.side[k].nth = c->aim->places.data[p.place[k]].name.nth;
    }
    if (!gr_vec_push(&c->noted, p) || !gr_map_put_u64(&c->pairs, key, (void *)(uintptr_t)c->noted.len))
        return NULL;
    return &c->noted.data[c->noted.len - 1];
}

static void tell(Conflicts *c, Noted *p, unsigned what) {
    if ((p->told | what) == p->told)
        return;
    p->told |= what;
    if (c->aim->options.noted)
        c->aim->options.noted(c->aim->options.user, &p->is);
}

void gr_conflicts_met(Conflicts *c, uint32_t x, uint32_t y) {
    Noted *p = pair_of(c, x, y);
    if (!p)
        return;
    p->is.met = true;
    tell(c, p, 1);
}

// ---- Orders ------------------------------------------------------------------------------------------------

// Whether neither barriers nor waits order the two accesses.
static bool apart(Conflicts *c, const Actor *first, const Actor *later) {
    if (first->launch != later->launch) {
        const LaunchOf *a = &c->launches[first->launch % LAUNCHES],
                       *b = &c->launches[later->launch % LAUNCHES];
        bool waited = a->waited && a->waited < b->began;
        return a->launch == first->launch && b->launch == later->launch && a->stream != b->stream && !waited;
    }
    if (first->block != later->block)
        return true;
    bool one_warp = first->thread / LANES == later->thread / LANES;
    const WarpTimes *w = warp_of_actor(c, later);
    unsigned lane = later->thread % LANES;
    uint64_t since = first->time;
    if (first->async) { // a barrier alone says nothing of it
        if (w->told > since || warp_of_actor(c, first)->shared > since)
            return false;
        if (!one_warp || w->waited < since)
            return true;
        since = w->waited;
    } else if (later->async && w->issued < since)
        return true; // it may have come at any time since it was issued
    if (c->barrier[block_of(first->launch, first->block)] > since)
        return false;
    bool met = w->met[lane] > since && (w->with[lane] >> first->thread % LANES & 1);
    return !one_warp || (first->thread != later->thread && !met);
}

// Whether that side has since done anything that atomics and fences are for; in another block: any of its threads.
static bool ordered_since(Conflicts *c, const Actor *a, bool one_block, uint64_t time) {
    uint64_t last = one_block ? warp_of_actor(c, a)->ordered[a->thread % LANES]
                              : c->ordered[block_of(a->launch, a->block)];
    return last > time;
}

static void conflict(Conflicts *c, const Actor *first, const Actor *later) {
    if (!first->place || (first->strong && later->strong) || !apart(c, first, later))
        return;
    Noted *p = pair_of(c, first->place, later->place);
    if (!p)
        return;
    bool one_block = first->launch == later->launch && first->block == later->block;
    bool likely =
        !ordered_since(c, first, one_block, first->time) || !ordered_since(c, later, one_block, first->time);
    for (unsigned k = 0; k < 2; k++) {
        bool same = p->place[0] == p->place[1];
        const Actor *a = same ? (k ? later : first) : p->place[k] == first->place ? first : later;
        ConflictSide *s = &p->is.side[k];
        s->waits |= !a->strong && !a->async;
        s->first |= same || a == first;
        s->launch = a->launch;
        s->block = a->block;
        s->warp = a->thread / LANES;
    }
    p->is.likely |= likely;
    tell(c, p, (likely ? 2u : 4u) | (p->place[0] == first->place ? 8u : 16u));
}

// ---- Accesses ----------------------------------------------------------------------------------------------

static void touch(Conflicts *c, uint64_t key, const Actor *by, PtxAccess access) {
    uint64_t hash = gr_mix64(key);
    Place *p = &c->aim->places.data[by->place];
    if (p->touched >= OFTEN && (hash >> 32) % SOME)
        return;
    p->touched += p->touched < OFTEN;
    Cell *cell = &c->cells[hash % CELLS];
    if (cell->key != key)
        *cell = (Cell){.key = key};
    for (unsigned k = 0; k < 2; k++)
        conflict(c, &cell->wrote[k], by);
    if (access != PTX_ACCESS_READ) {
        for (unsigned k = 0; k < READS; k++)
            conflict(c, &cell->read[k], by);
        cell->wrote[by->strong] = *by;
    }
    if (access == PTX_ACCESS_WRITE)
        return;
    // Replaces the instruction's last read, unless that is the oldest one that is remembered.
    for (unsigned k = 0; k < READS; k++)
        if (cell->read[k].place == by->place && k != cell->turn % READS) {
            cell->read[k] = *by;
            return;
        }
    cell->read[cell->turn++ % READS] = *by;
}

static void touch_all(Conflicts *c, const VmWhere *w, uint32_t mask, Actor by, PtxAccess access,
                      PtxSpace space, uint64_t owner, const uint64_t *address, uint32_t size) {
    by.launch = w->launch;
    by.block = w->block_linear;
    by.time = ++c->now;
    by.place = gr_aim_place(c->aim, w->module, w->site);
    if (!by.place || !size)
        return;
    uint64_t memory = space == PTX_SHARED ? gr_mix64(w->launch * PART + owner + 1) : 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        by.thread = w->warp * LANES + lane;
        uint64_t from = address[lane] >> GRAIN, n = ((address[lane] + size - 1) >> GRAIN) - from + 1;
        for (uint64_t g = 0; g < n && g < GRAINS; g++)
            touch(c, memory + from + g + 1, &by, access);
    }
}

// These lanes did something that may order accesses before it with accesses after it.
static void order(Conflicts *c, const VmWhere *w) {
    WarpTimes *t = warp_of(c, w->launch, w->block_linear, w->warp);
    ++c->now;
    for (uint32_t m = w->mask; m; m &= m - 1)
        t->ordered[__builtin_ctz(m)] = c->now;
    c->ordered[block_of(w->launch, w->block_linear)] = c->now;
}

static void on_access(void *user, const VmAccessEvent *e) {
    Conflicts *c = ((Aim *)user)->conflicts;
    if (e->space != PTX_GLOBAL && e->space != PTX_SHARED)
        return;
    Actor by = {.strong = e->sem != PTX_SEM_NONE && e->sem != PTX_WEAK};
    if (by.strong)
        order(c, &e->where);
    touch_all(c, &e->where, e->where.mask & ~e->discards, by, e->access, e->space, e->owner, e->address,
              e->size);
}

static void on_async(void *user, const VmAsyncEvent *e) {
    Conflicts *c = ((Aim *)user)->conflicts;
    const VmWhere *w = &e->where;
    WarpTimes *t = warp_of(c, w->launch, w->block_linear, w->warp);
    if (e->kind == VM_MBAR_ARRIVE || e->kind == VM_MBAR_DROP || e->kind == VM_MBAR_WAIT)
        order(c, w);
    if (e->kind == VM_ASYNC_WAIT || e->kind == VM_MBAR_WAIT)
        t->waited = ++c->now;
    if (e->kind == VM_MBAR_WAIT)
        t->told = c->now;
    if (e->kind == VM_ASYNC_ISSUE)
        t->issued = ++c->now;
    if ((e->kind != VM_ASYNC_READ && e->kind != VM_ASYNC_WRITE) ||
        (e->space != PTX_GLOBAL && e->space != PTX_SHARED))
        return;
    PtxAccess access = e->kind == VM_ASYNC_READ ? PTX_ACCESS_READ : e->access;
    touch_all(c, w, w->mask, (Actor){.async = true, .strong = access == PTX_ACCESS_RMW}, access, e->space,
              e->block, e->address, e->size);
}

static void on_sync(void *user, const VmSyncEvent *e) {
    Conflicts *c = ((Aim *)user)->conflicts;
    const VmWhere *w = &e->where;
    WarpTimes *t = warp_of(c, w->launch, w->block_linear, w->warp);
    if (e->kind == VM_SYNC_BARRIER_RELEASE) {
        c->barrier[block_of(w->launch, w->block_linear)] = ++c->now;
        t->shared = t->waited;
    } else if (e->kind == VM_SYNC_FENCE || e->kind == VM_SYNC_CLUSTER_ARRIVE ||
               e->kind == VM_SYNC_CLUSTER_RELEASE)
        order(c, w);
    else if (e->kind == VM_SYNC_WARP) {
        ++c->now;
        for (uint32_t m = w->mask; m; m &= m - 1) {
            t->met[__builtin_ctz(m)] = c->now;
            t->with[__builtin_ctz(m)] = e->barrier;
        }
    }
}

// ---- Launches, creation ------------------------------------------------------------------------------------

void gr_conflicts_launch(Conflicts *c, uint64_t launch, uint64_t stream, uint64_t blocking) {
    c->launches[launch % LAUNCHES] =
        (LaunchOf){.launch = launch, .stream = stream, .blocking = blocking, .began = ++c->now};
}

void gr_conflicts_waited(Conflicts *c, uint64_t stream, uint64_t legacy) {
    ++c->now;
    for (size_t k = 0; k < LAUNCHES; k++) {
        LaunchOf *l = &c->launches[k];
        if (!l->waited && (!stream || l->stream == stream || (legacy && l->blocking == legacy)))
            l->waited = c->now;
    }
}

Conflicts *gr_conflicts_new(Aim *a) {
    Conflicts *c = calloc(1, sizeof *c);
    if (c)
        c->aim = a;
    return c;
}

void gr_conflicts_free(Conflicts *c) {
    if (!c)
        return;
    gr_map_free(&c->pairs);
    gr_vec_free(&c->noted);
    free(c);
}

void gr_conflicts_listen(VmObserver *o) {
    o->access = on_access;
    o->async = on_async;
    o->sync = on_sync;
}
