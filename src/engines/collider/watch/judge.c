// SPDX-License-Identifier: Apache-2.0
// judge — the class of a race, its two sides, and what would have ordered them.
#include "engines/collider/watch/watch_internal.h"
#include "engines/exact/classes.h"
#include "findings/missing.h"

#include <stdlib.h>
#include <string.h>

uint64_t gr_wp_used_bytes(PtxAccess access, const PtxStmt *stmt, uint32_t size) {
    if (access != PTX_ACCESS_READ || !stmt)
        return WATCH_ALL;
    uint64_t used = gr_ptx_used_bytes(stmt, NULL);
    const PtxOperand *to = stmt->instr->n_operands ? &stmt->instr->operands[0] : NULL;
    uint32_t elem = to && to->kind == PTX_O_VECTOR && to->n_sub ? size / to->n_sub : 0;
    for (uint32_t k = 0; elem && k < to->n_sub && (k + 1) * elem <= 64; k++)
        if (to->sub[k].kind == PTX_O_SINK) // nor is an element that goes nowhere
            used &= ~((elem < 64 ? (UINT64_C(1) << elem) - 1 : UINT64_MAX) << k * elem);
    return used;
}

PtxScope gr_wp_scope(PtxSem sem, PtxScope scope) {
    if (sem == PTX_VOLATILE || sem == PTX_MMIO)
        return PTX_SCOPE_SYS;
    return scope == PTX_SCOPE_NONE ? PTX_SCOPE_GPU : scope;
}

static uint64_t fingerprint(Watch *w, const PtxModule *ptx) {
    if (!w->options.fingerprint || !ptx)
        return (uint64_t)(uintptr_t)ptx;
    for (size_t k = 0; k < w->modules.len; k++)
        if (w->modules.data[k].ptx == ptx)
            return w->modules.data[k].fingerprint;
    Known m = {ptx, w->options.fingerprint(ptx)};
    if (!gr_vec_push(&w->modules, m))
        w->nomem = true;
    return m.fingerprint;
}

// ---- Sides -------------------------------------------------------------------------------------------------

static uint32_t new_place(Watch *w, const Actor *a) {
    uint64_t key = a->by == RACE_BY_HOST     ? a->pc << 2 | 1
                   : a->by != RACE_BY_KERNEL ? (uint64_t)a->by << 2 | 2
                                             : (fingerprint(w, a->where.module) + a->where.site) << 2;
    uint32_t n = (uint32_t)(uintptr_t)gr_map_get_u64(&w->places, key);
    if (n)
        return n;
    n = ++w->n_places;
    if (!gr_map_put_u64(&w->places, key, (void *)(uintptr_t)n)) {
        w->nomem = true;
        return 0;
    }
    return n;
}

// A number for what the report tells apart, of side `n` of a pair; 0: out of memory.
static uint32_t place_of(Watch *w, const Actor *a, unsigned n) {
    const VmWhere *at = &a->where;
    if (!w->before.side[n].place || w->before.side[n].by != a->by || w->before.side[n].module != at->module ||
        w->before.side[n].site != at->site || w->before.side[n].pc != a->pc) {
        w->before.side[n].by = a->by;
        w->before.side[n].module = at->module;
        w->before.side[n].site = at->site;
        w->before.side[n].pc = a->pc;
        w->before.side[n].place = new_place(w, a);
    }
    return w->before.side[n].place;
}

static const Launched *launch_of(const Watch *w, uint64_t number) {
    for (size_t k = 0; k < w->launches.len; k++)
        if (w->launches.data[k].number == number)
            return &w->launches.data[k];
    return NULL;
}

static void fill_side(Watch *w, const Actor *a, unsigned lane, RaceSide *out) {
    *out = (RaceSide){.by = a->by,
                      .module = fingerprint(w, a->where.module),
                      .site = a->where.site,
                      .access = a->access,
                      .strong = a->strong,
                      .is_volatile = a->is_volatile,
                      .async = a->async,
                      .scope = a->scope,
                      .pc = a->pc,
                      .call = a->by == RACE_BY_KERNEL ? 0 : a->call, // of kernels nobody sets it
                      .launch = a->where.launch,
                      .block_linear = a->where.block_linear,
                      .address = a->address[lane],
                      .size = a->size};
    if (a->by != RACE_BY_KERNEL)
        return;
    memcpy(out->block, a->where.block, sizeof out->block);
    const Launched *l = launch_of(w, a->where.launch);
    uint64_t t = (uint64_t)a->where.warp * WATCH_LANES + lane;
    if (l) {
        out->thread[0] = (uint32_t)(t % l->block[0]);
        out->thread[1] = (uint32_t)(t / l->block[0] % l->block[1]);
        out->thread[2] = (uint32_t)(t / l->block[0] / l->block[1]);
    }
}

static const char *host_order(const Actor *host, const Actor *other) {
    bool reads = host->access == PTX_ACCESS_READ;
    if (other->by == RACE_BY_KERNEL)
        return reads ? MISSING_HOST_READ_LAUNCH : MISSING_HOST_WRITE_LAUNCH;
    return reads ? MISSING_HOST_READ_COPY : MISSING_HOST_WRITE_COPY;
}

static const char *no_order(const Actor *a, const Actor *b) {
    if (a->by == RACE_BY_HOST || b->by == RACE_BY_HOST)
        return a->by == RACE_BY_HOST ? host_order(a, b) : host_order(b, a);
    if (a->by != RACE_BY_KERNEL || b->by != RACE_BY_KERNEL)
        return MISSING_STREAM;
    if (a->where.launch != b->where.launch)
        return MISSING_LAUNCHES;
    if ((a->async || b->async) && a->where.block_linear == b->where.block_linear)
        return MISSING_ASYNC;
    if (a->where.block_linear != b->where.block_linear)
        return MISSING_BLOCKS;
    return a->where.warp == b->where.warp ? MISSING_LANES : MISSING_WARPS;
}

// ---- Races -------------------------------------------------------------------------------------------------

// How far apart two of the kernel's accesses are: lanes, warps, blocks, launches. What orders lanes does not order
// warps, so a pair is told at each of these.
static unsigned width_of(const VmWhere *a, const VmWhere *b) {
    return a->launch != b->launch ? 3 : a->block_linear != b->block_linear ? 2 : a->warp != b->warp;
}

static uint64_t key_of(const uint32_t id[2], unsigned class, PtxSpace space, unsigned width) {
    uint32_t lo = id[0] < id[1] ? id[0] : id[1], hi = id[0] < id[1] ? id[1] : id[0];
    // A copy touches both spaces: the same two instructions may race in either.
    return (uint64_t)lo << 35 | (uint64_t)hi << 6 | width << 4 | class | (space == PTX_SHARED ? 8 : 0);
}

// NULL: that race is new.
static Race *race_of(Watch *w, uint64_t key) {
    if (!w->before.race || w->before.key != key) {
        w->before.key = key;
        w->before.race = gr_map_get_u64(&w->pairs, key);
    }
    return w->before.race;
}

// What `lane` did at that moment has raced as `as`.
static void count(Watch *w, uint64_t key, const Race *as, uint64_t moment, uint32_t lane) {
    Race *r = race_of(w, key);
    if (!r) {
        r = malloc(sizeof *r);
        if (!r || !gr_map_put_u64(&w->pairs, key, r) || !gr_vec_push(&w->races, r)) {
            w->nomem = true;
            return;
        }
        *r = *as;
        if (w->options.found)
            w->options.found(w->options.user, r);
    }
    gr_race_count(r, moment, UINT32_C(1) << lane);
}

// Whether the store of lane `l` leaves those bytes as they are, whomever it meets.
static bool is_same_value(Watch *w, const Actor *a, unsigned l, uint64_t at, uint64_t n) {
    const VmAccessEvent *e = a->event;
    Before *b = &w->before;
    if (!e || !e->same)
        return false;
    if (b->moment != w->moment || b->lane != l || b->at != at || b->n != n) {
        b->moment = w->moment;
        b->lane = l;
        b->at = at;
        b->n = n;
        b->same = e->same(e, l, (uint32_t)(at - a->address[l]), (uint32_t)n);
    }
    return b->same;
}

static bool is_wanted(const Watch *w, const Actor *a) {
    return !w->options.wanted_site || a->by != RACE_BY_KERNEL ||
           w->options.wanted_site(w->options.user, a->where.module, a->where.site);
}

static unsigned class_of(Watch *w, const Actor *a, unsigned l, const Actor *b, unsigned k, Window *win,
                         uint64_t at, uint64_t n) {
    unsigned class =
        a->access == PTX_ACCESS_READ || b->access == PTX_ACCESS_READ ? RACE_READ_WRITE : RACE_WRITE_WRITE;
    // Of two plain or strong stores: the bytes are as the window's thread left them, and stay so.
    bool compares = class == RACE_WRITE_WRITE && win && !b->async && a->access == PTX_ACCESS_WRITE;
    if (compares && !(win->changed >> k & 1) && is_same_value(w, a, l, at, n))
        return RACE_SAME_VALUE;
    if (win && a->access != PTX_ACCESS_READ)
        win->changed |= UINT32_C(1) << k;
    return class;
}

static void fill(Watch *w, const Actor *a, unsigned l, const Actor *b, unsigned k, Race *out) {
    out->order = no_order(a, b);
    fill_side(w, a, l, &out->side[0]);
    fill_side(w, b, k, &out->side[1]);
}

void gr_wp_met(Watch *w, const Actor *a, unsigned l, const Actor *b, unsigned k, Window *win, uint64_t at,
               uint64_t n) {
    unsigned class = class_of(w, a, l, b, k, win, at, n);
    if ((class == RACE_SAME_VALUE && w->options.no_same_value) || !is_wanted(w, a) || !is_wanted(w, b))
        return;
    const uint32_t id[2] = {place_of(w, a, 0), place_of(w, b, 1)};
    if (!id[0] || !id[1])
        return;
    uint64_t key = key_of(id, class, a->space, width_of(&a->where, &b->where));
    Race *known = b->speculated ? NULL : race_of(w, key);
    if (known) {
        gr_race_count(known, w->moment, UINT32_C(1) << l);
        return;
    }
    Race r = {.class = class, .space = a->space, .overlap = at, .overlap_bytes = n};
    fill(w, a, l, b, k, &r);
    if (!b->speculated) {
        count(w, key, &r, w->moment, l);
        return;
    }
    Pending p = {
        b->where.stmt, b->where.launch, b->where.block_linear, b->where.warp, k, l, key, w->moment, r};
    if (w->pending.len >= WATCH_PENDING || !gr_vec_push(&w->pending, p))
        w->nomem = true;
}

// ---- Speculated loads --------------------------------------------------------------------------------------

void gr_wp_settle(Watch *w, const VmAccessEvent *e) {
    size_t kept = 0;
    for (size_t k = 0; k < w->pending.len; k++) {
        Pending p = w->pending.data[k];
        if (p.stmt != e->where.stmt || p.launch != e->where.launch || p.block != e->where.block_linear ||
            p.warp != e->where.warp || !(e->where.mask >> p.lane & 1))
            w->pending.data[kept++] = p;
        else if (!(e->discards >> p.lane & 1))
            count(w, p.key, &p.race, p.moment, p.by);
    }
    w->pending.len = kept;
}

void gr_wp_forget_pending(Watch *w, uint64_t launch) {
    size_t kept = 0;
    for (size_t k = 0; k < w->pending.len; k++)
        if (w->pending.data[k].launch != launch)
            w->pending.data[kept++] = w->pending.data[k];
    w->pending.len = kept;
}
