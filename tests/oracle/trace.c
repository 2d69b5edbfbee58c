// SPDX-License-Identifier: Apache-2.0
// trace — see trace.h.
#include "trace.h"

#include "late.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, NONE = UINT32_MAX };

typedef struct Meeting { // a phase of a barrier of a block
    uint64_t launch, block;
    uint32_t barrier;
    bool over;
    VEC(uint32_t) arrived;
} Meeting;

typedef struct Phase { // of an mbarrier, or of a cluster's barrier
    Place place;
    VEC(uint32_t) now, before; // arrivals of the phase under way; of the one before
    VEC(uint32_t) now_ops, before_ops;
    uint32_t number;
} Phase;

typedef struct Op { // one lane of an asynchronous operation
    uint64_t launch, block, number;
    uint32_t thread, issuer, group;
    VmCompletion completes;
    uint32_t read, write; // its last events, NONE
} Op;

typedef struct Run {
    uint64_t launch;
    uint32_t grid[3], cluster[3];
    int device;
    uint32_t begin, end; // events; end NONE: runs
} Run;

struct TraceState {
    VEC(Meeting *) meetings;
    VEC(Phase *) phases;
    VEC(Op) ops;
    VEC(Run) runs;
};

Trace *trace_new(void) {
    Trace *t = calloc(1, sizeof *t);
    if (t && (!(t->state = calloc(1, sizeof *t->state)) || !(t->late = late_new()))) {
        free(t->state);
        free(t);
        return NULL;
    }
    return t;
}

void trace_free(Trace *t) {
    if (!t)
        return;
    for (size_t k = 0; k < t->state->meetings.len; k++) {
        gr_vec_free(&t->state->meetings.data[k]->arrived);
        free(t->state->meetings.data[k]);
    }
    for (size_t k = 0; k < t->state->phases.len; k++) {
        Phase *p = t->state->phases.data[k];
        gr_vec_free(&p->now);
        gr_vec_free(&p->before);
        gr_vec_free(&p->now_ops);
        gr_vec_free(&p->before_ops);
        free(p);
    }
    gr_vec_free(&t->state->meetings);
    gr_vec_free(&t->state->phases);
    gr_vec_free(&t->state->ops);
    gr_vec_free(&t->state->runs);
    free(t->state);
    gr_vec_free(&t->events);
    gr_vec_free(&t->threads);
    gr_vec_free(&t->orders);
    gr_vec_free(&t->observes);
    late_free(t->late);
    free(t);
}

// ---- Events --------------------------------------------------------------------------------------------------------

static void pair(Trace *t, uint32_t from, uint32_t to) {
    Pair p = {from, to};
    if (from != NONE && to != NONE && from != to && !gr_vec_push(&t->orders, p))
        t->nomem = true;
}

static void observe(Trace *t, uint32_t from, uint32_t to) {
    Pair p = {from, to};
    if (!gr_vec_push(&t->observes, p))
        t->nomem = true;
}

static Run *run_of(Trace *t, uint64_t launch) {
    for (size_t k = t->state->runs.len; k-- > 0;)
        if (t->state->runs.data[k].launch == launch)
            return &t->state->runs.data[k];
    return NULL;
}

static uint64_t cluster_of(const Run *r, uint64_t block) {
    const uint32_t *g = r->grid, *c = r->cluster;
    uint64_t x = block % g[0] / c[0], y = block / g[0] % g[1] / c[1], z = block / g[0] / g[1] / c[2];
    return x + (g[0] / c[0]) * (y + (uint64_t)(g[1] / c[1]) * z);
}

static uint32_t thread_of(Trace *t, uint64_t launch, uint64_t block, uint32_t warp, uint32_t lane,
                          uint64_t op) {
    for (uint32_t k = 0; k < t->threads.len; k++) {
        const Thread *x = &t->threads.data[k];
        if (x->lane == lane && x->warp == warp && x->op == op && x->block == block && x->launch == launch)
            return k;
    }
    const Run *r = run_of(t, launch);
    Thread x = {.launch = launch, .block = block, .op = op, .warp = warp, .lane = lane};
    if (r) {
        x.cluster = cluster_of(r, block);
        x.device = r->device;
    }
    if (!gr_vec_push(&t->threads, x))
        t->nomem = true;
    return (uint32_t)t->threads.len - 1;
}

// An event of a thread, after its earlier ones; of a thread's first, after its launch has begun.
uint32_t trace_event(Trace *t, uint32_t thread, const VmWhere *w, Event e) {
    e.thread = thread;
    e.step = t->steps;
    e.site = w->site;
    e.line = w->stmt ? w->stmt->line : 0;
    if (t->nomem || !gr_vec_push(&t->events, e)) {
        t->nomem = true;
        return NONE;
    }
    uint32_t n = (uint32_t)t->events.len - 1;
    Thread *x = &t->threads.data[thread];
    const Run *r = run_of(t, x->launch);
    pair(t, x->last ? x->last - 1 : r ? r->begin : NONE, n); // 8.9.1: program order
    x->last = n + 1;
    return n;
}

uint32_t trace_thread(Trace *t, const VmWhere *w, uint32_t lane) {
    return thread_of(t, w->launch, w->block_linear, w->warp, lane, 0);
}

// What a lane does that orders.
static uint32_t ordering_event(Trace *t, const VmWhere *w, uint32_t lane, Event e) {
    uint32_t thread = trace_thread(t, w, lane);
    late_orders(t, thread);
    return trace_event(t, thread, w, e);
}

static uint32_t lane_event(Trace *t, const VmWhere *w, uint32_t lane, Event e) {
    return trace_event(t, thread_of(t, w->launch, w->block_linear, w->warp, lane, 0), w, e);
}

static bool is_strong(PtxSem s) { return s != PTX_SEM_NONE && s != PTX_WEAK; }

// 8.4.2: volatile is relaxed with system scope (mmio: 8.4.1).
static void normalize(Event *e) {
    if (!is_strong(e->sem))
        e->sem = PTX_WEAK;
    if (e->sem == PTX_VOLATILE || e->sem == PTX_MMIO) {
        e->sem = PTX_RELAXED;
        e->scope = PTX_SCOPE_SYS;
    }
    if (e->scope == PTX_SCOPE_NONE) // atom, red and fences without one
        e->scope = PTX_SCOPE_GPU;
}

static void on_access(void *user, const VmAccessEvent *e) {
    Trace *t = user;
    t->steps++;
    if ((e->space != PTX_GLOBAL && e->space != PTX_SHARED) || late_access(t, e))
        return;
    const PtxInstr *i = e->where.stmt->instr;
    uint32_t vec = i->vec ? i->vec : 1, elem = e->size / vec;
    for (unsigned k = 0; k < LANES; k++) {
        uint32_t l = gr_vm_commit_lane(k, e->turn);
        for (uint32_t n = 0; (e->where.mask >> l & 1) && n < vec; n++) { // 8.2.4: vectors are sets of scalars
            Event x = {.kind = EV_ACCESS,
                       .reads = e->access != PTX_ACCESS_WRITE,
                       .writes = e->access != PTX_ACCESS_READ,
                       .is_red = i->op == PTX_OP_RED,
                       .sem = e->sem,
                       .scope = e->scope,
                       .size = elem,
                       .place = {.space = e->space, .at = e->address[l] + n * elem},
                       .what = e->access == PTX_ACCESS_READ    ? "read"
                               : e->access == PTX_ACCESS_WRITE ? "write"
                                                               : "update"};
            if (e->space == PTX_SHARED) {
                x.place.launch = e->where.launch;
                x.place.block = e->owner;
            }
            normalize(&x);
            if (x.sem == PTX_WEAK && e->access != PTX_ACCESS_RMW)
                lane_event(t, &e->where, l, x);
            else
                ordering_event(t, &e->where, l, x);
        }
    }
}

// ---- Barriers (8.9.4) ----------------------------------------------------------------------------------------------

static Meeting *meeting_of(Trace *t, const VmSyncEvent *e) {
    for (size_t k = 0; k < t->state->meetings.len; k++) {
        Meeting *m = t->state->meetings.data[k];
        if (m->launch == e->where.launch && m->block == e->where.block_linear && m->barrier == e->barrier)
            return m;
    }
    Meeting *m = calloc(1, sizeof *m);
    if (!m || !gr_vec_push(&t->state->meetings, m)) {
        free(m);
        t->nomem = true;
        return NULL;
    }
    m->launch = e->where.launch;
    m->block = e->where.block_linear;
    m->barrier = e->barrier;
    return m;
}

static void note(Trace *t, void *list, uint32_t n) {
    VEC(uint32_t) *v = list;
    if (n == NONE || !gr_vec_push(v, n))
        t->nomem = true;
}

// bar.sync, bar.red and bar.arrive synchronize with every bar.sync and bar.red of the same phase.
static void barrier(Trace *t, const VmSyncEvent *e) {
    Meeting *m = meeting_of(t, e);
    bool arrives = e->kind == VM_SYNC_BARRIER_ARRIVE;
    if (m && arrives && m->over) {
        m->arrived.len = 0;
        m->over = false;
    }
    for (uint32_t k = e->where.mask; m && k; k &= k - 1) {
        uint32_t n = ordering_event(t, &e->where, (uint32_t)__builtin_ctz(k),
                                    (Event){.kind = EV_OTHER, .what = arrives ? "arrive" : "leave"});
        if (arrives)
            note(t, &m->arrived, n);
        for (size_t a = 0; !arrives && a < m->arrived.len; a++)
            pair(t, m->arrived.data[a], n);
    }
    if (m)
        m->over |= !arrives || e->last;
}

// bar.warp.sync (9.7.13.3) orders memory accesses among the threads that take part. One event for each place that lanes
// met from; nobody does anything in between.
static void warp_sync(Trace *t, const VmSyncEvent *e) {
    uint32_t in[LANES], n = 0;
    if (!(e->where.mask >> __builtin_ctz(e->barrier) & 1))
        return;
    for (uint32_t k = e->barrier; k; k &= k - 1)
        in[n++] = ordering_event(t, &e->where, (uint32_t)__builtin_ctz(k),
                                 (Event){.kind = EV_OTHER, .what = "meet"});
    for (uint32_t k = e->barrier; k; k &= k - 1) {
        uint32_t out = ordering_event(t, &e->where, (uint32_t)__builtin_ctz(k),
                                      (Event){.kind = EV_OTHER, .what = "part"});
        for (uint32_t a = 0; a < n; a++)
            pair(t, in[a], out);
    }
}

bool trace_same_place(const Place *a, const Place *b) {
    return a->at == b->at && a->space == b->space && a->block == b->block && a->launch == b->launch;
}

static Phase *phase_of(Trace *t, Place p) {
    for (size_t k = 0; k < t->state->phases.len; k++)
        if (trace_same_place(&t->state->phases.data[k]->place, &p))
            return t->state->phases.data[k];
    Phase *x = calloc(1, sizeof *x);
    if (!x || !gr_vec_push(&t->state->phases, x)) {
        free(x);
        t->nomem = true;
        return NULL;
    }
    x->place = p;
    return x;
}

static void next_phase(Phase *p) {
    uint32_t *arrived = p->before.data, *ops = p->before_ops.data;
    size_t cap = p->before.cap, ops_cap = p->before_ops.cap;
    memcpy(&p->before, &p->now, sizeof p->now);
    memcpy(&p->before_ops, &p->now_ops, sizeof p->now_ops);
    p->now.data = arrived;
    p->now.len = 0;
    p->now.cap = cap;
    p->now_ops.data = ops;
    p->now_ops.len = 0;
    p->now_ops.cap = ops_cap;
    p->number++;
}

// barrier.cluster.arrive synchronizes with barrier.cluster.wait; .relaxed leaves that to fences (9.7.13.4).
static void cluster_barrier(Trace *t, const VmSyncEvent *e) {
    bool arrives = e->kind == VM_SYNC_CLUSTER_ARRIVE;
    // Every phase is a place of its own.
    Place at = {PTX_SPACE_OTHER, e->where.launch, e->cluster, e->barrier};
    Phase *p = phase_of(t, at);
    for (uint32_t k = e->where.mask; p && k; k &= k - 1) {
        Event x = {.kind = arrives ? EV_CLUSTER_ARRIVE : EV_CLUSTER_WAIT,
                   .sem = e->sem,
                   .scope = PTX_SCOPE_CLUSTER,
                   .place = at,
                   .size = 8,
                   .reads = !arrives,
                   .writes = arrives,
                   .what = arrives ? "cluster arrive" : "cluster wait"};
        uint32_t n = ordering_event(t, &e->where, (uint32_t)__builtin_ctz(k), x);
        if (arrives)
            note(t, &p->now, n);
        for (size_t a = 0; !arrives && a < p->now.len; a++)
            observe(t, p->now.data[a], n);
    }
}

static void on_sync(void *user, const VmSyncEvent *e) {
    Trace *t = user;
    t->steps++;
    switch (e->kind) {
    case VM_SYNC_BARRIER_ARRIVE:
    case VM_SYNC_BARRIER_RELEASE: barrier(t, e); break;
    case VM_SYNC_WARP: warp_sync(t, e); break;
    case VM_SYNC_CLUSTER_ARRIVE:
    case VM_SYNC_CLUSTER_RELEASE: cluster_barrier(t, e); break;
    case VM_SYNC_GRID_WAIT: break; // there is one stream
    case VM_SYNC_FENCE:
    case VM_SYNC_FENCE_PROXY:
        for (uint32_t k = e->where.mask; k; k &= k - 1) {
            bool proxy = e->kind == VM_SYNC_FENCE_PROXY;
            Event x = {.kind = proxy ? EV_PROXY_FENCE : EV_FENCE,
                       .sem = e->sem,
                       .scope = e->scope,
                       .what = proxy ? "proxy fence" : "fence"};
            if (proxy && e->proxy != VM_PROXY_ASYNC)
                x.kind = EV_OTHER;
            normalize(&x);
            ordering_event(t, &e->where, (uint32_t)__builtin_ctz(k), x);
        }
        break;
    }
}

// ---- Asynchronous operations (8.9.1.1) and mbarriers (9.7.13.15) ---------------------------------------------------

static Op *op_of(Trace *t, const VmAsyncEvent *e, uint32_t lane) {
    for (size_t k = 0; k < t->state->ops.len; k++) {
        Op *o = &t->state->ops.data[k];
        if (o->number == e->op && o->launch == e->where.launch && o->block == e->where.block_linear &&
            t->threads.data[o->thread].lane == lane)
            return o;
    }
    return NULL;
}

static void issue(Trace *t, const VmAsyncEvent *e, uint32_t lane) {
    const VmWhere *w = &e->where;
    uint32_t issuer = trace_thread(t, w, lane);
    late_orders(t, issuer);
    uint32_t n = trace_event(t, issuer, w, (Event){.kind = EV_OTHER, .what = "issue"});
    Op o = {.launch = w->launch,
            .block = w->block_linear,
            .number = e->op,
            .thread = thread_of(t, w->launch, w->block_linear, w->warp, lane, e->op),
            .issuer = issuer,
            .group = t->threads.data[issuer].groups[e->completes == VM_COMPLETES_BULK],
            .completes = e->completes,
            .read = NONE,
            .write = NONE};
    // After prior instructions of the issuer: as if the operation's thread had done the issue too.
    uint32_t first = trace_event(t, o.thread, w, (Event){.kind = EV_OTHER, .what = "start"});
    pair(t, n, first);
    if (!gr_vec_push(&t->state->ops, o))
        t->nomem = true;
}

// What an operation reads and writes: byte by byte as far as moral strength goes, so one event will do, but reductions
// are element by element.
static void op_access(Trace *t, const VmAsyncEvent *e, uint32_t lane) {
    Op *o = op_of(t, e, lane);
    if (!o)
        return;
    bool reduces = e->access == PTX_ACCESS_RMW;
    const PtxInstr *i = e->where.stmt->instr;
    uint32_t elem = reduces ? gr_ptx_type_bits(i->type[0]) / 8 : e->size;
    for (uint32_t at = 0; at < e->size; at += elem) {
        Event x = {.kind = EV_ACCESS,
                   .reads = e->access != PTX_ACCESS_WRITE,
                   .writes = e->access != PTX_ACCESS_READ,
                   .is_red = reduces,
                   .sem = reduces ? PTX_RELAXED : PTX_WEAK, // reductions are relaxed (9.7.9.25.4.2)
                   .scope = PTX_SCOPE_GPU,
                   .proxy = e->proxy,
                   .size = elem,
                   .place = {.space = e->space, .at = e->address[lane] + at},
                   .what = e->kind == VM_ASYNC_READ ? "op reads" : "op writes"};
        if (e->space == PTX_SHARED) {
            x.place.launch = e->where.launch;
            x.place.block = e->block;
        }
        uint32_t n = trace_event(t, o->thread, &e->where, x);
        *(e->kind == VM_ASYNC_READ ? &o->read : &o->write) = n;
    }
}

static void wait_groups(Trace *t, const VmAsyncEvent *e, uint32_t lane) {
    uint32_t me = trace_thread(t, &e->where, lane);
    late_orders(t, me);
    uint32_t n = trace_event(t, me, &e->where, (Event){.kind = EV_OTHER, .what = "wait for groups"});
    bool all = gr_ptx_instr_has(e->where.stmt->instr, PTX_MOD_wait_all);
    uint32_t done = t->threads.data[me].groups[e->completes == VM_COMPLETES_BULK];
    for (size_t k = 0; k < t->state->ops.len; k++) {
        const Op *o = &t->state->ops.data[k];
        if (o->issuer != me || o->completes != e->completes ||
            (!all && (uint64_t)o->group + e->count >= done))
            continue;
        pair(t, o->read, n);
        if (!e->read_only)
            pair(t, o->write, n);
    }
}

static Phase *mbar_of(Trace *t, const VmAsyncEvent *e, Place *at) {
    *at = (Place){PTX_SHARED, e->where.launch, e->bar_block, e->bar};
    return phase_of(t, *at);
}

// What completes on the barrier: the operation, or all cp.async of the thread that came before.
static void op_arrives(Trace *t, Phase *p, const VmAsyncEvent *e, uint32_t lane) {
    for (size_t k = 0; k < t->state->ops.len; k++) {
        const Op *o = &t->state->ops.data[k];
        const Thread *x = &t->threads.data[o->thread];
        if (o->launch != e->where.launch || o->block != e->where.block_linear || x->warp != e->where.warp ||
            x->lane != lane || o->write == NONE)
            continue;
        if (e->kind == VM_MBAR_TX ? o->number == e->op
                                  : o->number < e->op && o->completes == VM_COMPLETES_GROUP)
            note(t, &p->now_ops, o->write);
    }
}

static void mbarrier(Trace *t, const VmAsyncEvent *e, uint32_t lane) {
    Place at;
    Phase *p = mbar_of(t, e, &at);
    Event x = {.sem = e->sem, .scope = e->scope, .place = at, .size = 8};
    uint32_t n;
    if (!p)
        return;
    switch (e->kind) {
    case VM_MBAR_INIT:
    case VM_MBAR_INVAL: p->now.len = p->before.len = p->now_ops.len = p->before_ops.len = 0; break;
    case VM_MBAR_TX:
        if (e->op)
            op_arrives(t, p, e, lane);
        break;
    case VM_MBAR_ARRIVE:
    case VM_MBAR_DROP:
        if (e->op) {
            late_arrives(t, trace_thread(t, &e->where, lane));
            op_arrives(t, p, e, lane);
            break;
        }
        x.kind = EV_MBAR_ARRIVE;
        x.writes = true;
        x.what = "mbarrier arrive";
        note(t, &p->now, ordering_event(t, &e->where, lane, x));
        break;
    case VM_MBAR_PHASE: next_phase(p); break;
    case VM_MBAR_WAIT:
        x.kind = EV_MBAR_WAIT;
        x.reads = true;
        x.what = "mbarrier wait";
        n = ordering_event(t, &e->where, lane, x);
        for (size_t k = 0; k < p->before.len; k++)
            observe(t, p->before.data[k], n);
        for (size_t k = 0; k < p->before_ops.len; k++)
            observe(t, p->before_ops.data[k], n);
        break;
    default: break;
    }
}

static void on_async(void *user, const VmAsyncEvent *e) {
    Trace *t = user;
    uint32_t me;
    t->steps++;
    for (uint32_t k = e->where.mask; k; k &= k - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(k);
        switch (e->kind) {
        case VM_ASYNC_ISSUE: issue(t, e, lane); break;
        case VM_ASYNC_READ:
        case VM_ASYNC_WRITE: op_access(t, e, lane); break;
        case VM_ASYNC_COMMIT:
            me = trace_thread(t, &e->where, lane);
            t->threads.data[me].groups[e->completes == VM_COMPLETES_BULK]++;
            break;
        case VM_ASYNC_WAIT: wait_groups(t, e, lane); break;
        default: mbarrier(t, e, lane);
        }
    }
}

// ---- Launches (8.9.4, "API synchronization") -----------------------------------------------------------------------

static uint32_t launch_event(Trace *t, const char *what) {
    Event e = {.kind = EV_OTHER, .thread = NONE, .what = what};
    if (!gr_vec_push(&t->events, e)) {
        t->nomem = true;
        return NONE;
    }
    return (uint32_t)t->events.len - 1;
}

// Without anybody who tells of streams, a launch comes after those that ended before it began.
static void on_launch_begin(void *user, const VmLaunchEvent *e) {
    Trace *t = user;
    Run r = {
        .launch = e->launch, .device = e->device, .begin = launch_event(t, "launch begins"), .end = NONE};
    memcpy(r.grid, e->grid, sizeof r.grid);
    memcpy(r.cluster, e->cluster, sizeof r.cluster);
    for (size_t k = 0; k < t->state->runs.len; k++)
        pair(t, t->state->runs.data[k].end, r.begin);
    if (!gr_vec_push(&t->state->runs, r))
        t->nomem = true;
}

static void on_launch_end(void *user, const VmLaunchEvent *e, bool faulted) {
    Trace *t = user;
    Run *r = run_of(t, e->launch);
    (void)faulted;
    if (!r)
        return;
    r->end = launch_event(t, "launch ends");
    for (size_t k = 0; k < t->threads.len; k++)
        if (t->threads.data[k].launch == e->launch && t->threads.data[k].last)
            pair(t, t->threads.data[k].last - 1, r->end);
}

VmObserver trace_observer(Trace *t) {
    return (VmObserver){.user = t,
                        .launch_begin = on_launch_begin,
                        .launch_end = on_launch_end,
                        .access = on_access,
                        .sync = on_sync,
                        .async = on_async};
}

void trace_end(Trace *t) { late_end(t); }

// ---- Printing ------------------------------------------------------------------------------------------------------

void trace_print(const Trace *t) {
    static const char *const sems[] = {"", "weak", "relaxed", "acquire", "release", "acq_rel", "sc", "", ""};
    static const char *const scopes[] = {"", "cta", "cluster", "gpu", "sys"};
    for (uint32_t k = 0; k < t->events.len; k++) {
        const Event *e = &t->events.data[k];
        if (e->thread == NONE) {
            printf("%4u  %s\n", k, e->what);
            continue;
        }
        const Thread *x = &t->threads.data[e->thread];
        printf("%4u  launch %u block %u thread %u", k, (unsigned)x->launch, (unsigned)x->block,
               x->warp * LANES + x->lane);
        if (x->op)
            printf(" op %u", (unsigned)x->op);
        printf(", line %u: %s", e->line, e->what);
        if (e->kind != EV_OTHER)
            printf(" %s.%s", sems[e->sem], scopes[e->scope]);
        if (e->size)
            printf(" %s+0x%llx, %u bytes", e->place.space == PTX_GLOBAL ? "global" : "shared",
                   (unsigned long long)e->place.at, e->size);
        printf("\n");
    }
}
