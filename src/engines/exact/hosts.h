// SPDX-License-Identifier: Apache-2.0
// hosts — several threads of the host that give the device work.
//
// Two clocks follow the order between the work of different threads. The clock of work.h takes the host for one thread:
// what any of its threads has waited for comes before every call that began after that wait had returned. Two accesses
// that it leaves unordered are a race. The clock here has only what a thread has waited for itself, and what threads
// told each other in a way that is seen (GrHostThreads: mutexes and their like). Two accesses that only the first clock
// orders are ordered by real time, or by something unseen (atomics, futexes): they are counted and never reported.
//
// A host function is a thread like the others, which has waited for what its stream did before. Functions without an
// order of their own know nothing of each other, though one thread runs them all.
#ifndef GR_ENGINES_EXACT_HOSTS_H
#define GR_ENGINES_EXACT_HOSTS_H

#include "engines/core/work.h"
#include "engines/exact/exact.h"
#include "engines/exact/order/order_internal.h"

typedef struct HostThread {
    uint64_t id;
    Clock *known;        // what it has waited for itself, or been told
    uint64_t version;    // of what it had been told (GrHostThreads.knows)
    VEC(uint64_t) heard; // by number, less 1: up to which wait of that thread
    uint32_t number;     // GrHostThreads.waited; 0: none
} HostThread;

// What a thread knew after some of its waits, the oldest first.
typedef struct HostMoment {
    uint64_t moment;
    Clock *known;
} HostMoment;
typedef VEC(HostMoment) HostMoments;

// Work.host after a wait; the last few are kept.
typedef struct HostWait {
    uint64_t number; // GrWork.waits
    Clock *known;
} HostWait;

enum { HOST_WAITS = 64 };

typedef struct Hosts {
    const GrHostThreads *order; // NULL: nothing is seen
    VEC(HostThread) threads;
    HostThread function;      // of the host function that runs, or ran last
    WorkTurn turn;            // of that one
    uint64_t began;           // which wait its beginning counted as
    bool runs;                // it has not ended
    Clock *functions;         // what all of them knew: one may have told the thread of the next one
    VEC(HostMoments) moments; // by the threads' numbers, less 1
    bool several;             // more than one has submitted work or waited, those of host functions included
    bool callers;             // more than one, those of host functions not included
    bool knows_all;           // everything is over, and the thread that waited last knows for sure
    Work work;                // by what is seen only; while there are several
    Map kernels;              // launch number -> Clock by what is seen only, until the launch begins
    HostWait wait[HOST_WAITS];
    uint64_t waits;     // how many there have been
    Clock *besides;     // what Work.host knows from elsewhere: of the host's own accesses, of what they saw
    uint64_t unsettled; // items submitted since everything was settled
    bool nomem;
} Hosts;

void gr_hosts_free(Hosts *h);
// If Work.host is newer than the call: yields what it was when the call began, a reference of the caller's own.
Clock *gr_hosts_when_begun(const Hosts *h, const Work *w, const GrWork *e);
// Hears each event before Work does.
void gr_hosts_hear(Hosts *h, const Work *w, const GrWork *e);
// Yields what an item that begins comes after for sure, a reference of the caller's own.
Clock *gr_hosts_begins(Hosts *h, const GrWork *e);
// A kernel's launch, once it begins, comes after `sure` for sure. Takes the reference.
void gr_hosts_expect(Hosts *h, uint64_t launch, Clock *sure);
void gr_hosts_launch_begins(Hosts *h, Launch *l);
void gr_hosts_ended(Hosts *h, const GrWork *e, Launch *done);
void gr_hosts_freed(Hosts *h, const GrWork *e);
// Called after a wait that Work has heard of.
void gr_hosts_note_wait(Hosts *h, const Work *w, const GrWork *e);
// A host function begins, and Work.host knows of it; `sure`: what the item comes after for sure (gr_hosts_begins).
void gr_hosts_function_begins(Hosts *h, Work *w, const GrWork *e, Clock *sure);
// The function has done what `c` names: calls that began after the function did may come after that.
void gr_hosts_function_did(Hosts *h, Clock *c);
// Everything is over and one thread knows so. True: accesses are remembered all the same, for the other threads.
bool gr_hosts_keep(const Hosts *h, const GrWork *e);
void gr_hosts_settled(Hosts *h);

static inline bool gr_hosts_tells(const Order *o, const Clock *c, const Point *p, uint32_t lane) {
    const Launch *l = o->launches.data[p->launch];
    return (l->turn && gr_clock_get(c, gr_stream_key(l->stream)) >= l->turn) || gr_clock_has(o, c, p, lane);
}
// The viewer's launch comes after what is at p by real time only.
static inline bool gr_hosts_unsure(const Order *o, const View *v, const Point *p) {
    const Launch *l = o->launches.data[p->launch];
    return v->launch->has_sure && l != v->launch && (l->turn || l->host) &&
           gr_clock_get(v->launch->sure, gr_stream_key(l->stream)) < l->turn + !l->turn &&
           !(l->host && gr_clock_has(o, v->launch->sure, p, 0));
}
// For such a p: the lane knows of it from its launch's beginning, and not from the device since.
static inline bool gr_hosts_by_time(const Order *o, const View *v, const Point *p, uint32_t lane) {
    const Launch *l = v->launch;
    return l->host || gr_hosts_tells(o, l->known, p, lane) || gr_hosts_tells(o, l->prior, p, lane);
}

// Filters the clocks of h.
void gr_hosts_sweep(Hosts *h, Sweep *s);

#endif
