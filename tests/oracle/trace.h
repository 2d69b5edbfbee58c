// SPDX-License-Identifier: Apache-2.0
// trace — what happened in one execution, as single events of single threads: what the oracle (model.h) judges.
//
// An observer of the CPU device writes down every access of every lane (of every element, for vectors), every fence and
// every meeting at a barrier, in the order in which they happened; and those pairs that PTX says synchronize whatever
// else is the case. Nothing here is shared with src/engines/exact.
#ifndef GR_TEST_ORACLE_TRACE_H
#define GR_TEST_ORACLE_TRACE_H

#include "base/vec.h"
#include "vm/observer.h"

// A thread of a kernel, or of an asynchronous operation (op not 0): those are not in their issuer's program order (PTX
// ISA 9.x, 8.9.1.1).
typedef struct Thread {
    uint64_t launch, block, cluster, op;
    uint32_t warp, lane;
    int device;
    uint32_t last;      // its last event and 1; 0: none yet
    uint32_t groups[2]; // asynchronous groups committed: of cp.async, of bulk operations
} Thread;

typedef enum EventKind {
    EV_ACCESS,
    EV_FENCE,
    EV_PROXY_FENCE, // fence.proxy.async
    EV_MBAR_ARRIVE,
    EV_MBAR_WAIT, // that was told of a phase
    EV_CLUSTER_ARRIVE,
    EV_CLUSTER_WAIT,
    EV_OTHER, // is there for the pairs it is in: barriers, issues, waits for groups, launches
} EventKind;

typedef struct Place {
    PtxSpace space;
    uint64_t launch, block; // of shared memory; else 0
    uint64_t at;
} Place;

typedef struct Event {
    EventKind kind;
    uint32_t thread, step; // step: the event of the device that it is a part of
    uint32_t site, line;
    bool reads, writes; // an atomic operation does both
    bool is_red;        // its read is no acquire pattern (8.8)
    PtxSem sem;         // PTX_WEAK unless strong
    PtxScope scope;
    VmProxy proxy;
    Place place; // of accesses and mbarriers
    uint32_t size;
    const char *what; // for printing
} Event;

typedef struct Pair {
    uint32_t from, to;
} Pair;

typedef struct Trace {
    VEC(Event) events;
    VEC(Thread) threads;
    VEC(Pair) orders; // unconditional synchronization, and what program order is not: issues, launches
    VEC(Pair)
    observes; // an arrival at an mbarrier (a cluster's barrier) and a wait that was told of its phase
    struct Late *late; // late.h
    struct TraceState *state;
    uint32_t steps;
    bool proxy_reads; // model.c: what the generic proxy has only read needs a proxy fence as well
    bool nomem;
} Trace;

Trace *trace_new(void);
// All has been told.
void trace_end(Trace *t);
// The number of the thread; of an event of that thread, which comes after its earlier ones.
uint32_t trace_thread(Trace *t, const VmWhere *w, uint32_t lane);
uint32_t trace_event(Trace *t, uint32_t thread, const VmWhere *w, Event e);
void trace_free(Trace *t);
VmObserver trace_observer(Trace *t);
bool trace_same_place(const Place *a, const Place *b); // they start at the same byte
void trace_print(const Trace *t);

#endif
