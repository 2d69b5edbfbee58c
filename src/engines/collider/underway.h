// SPDX-License-Identifier: Apache-2.0
// underway — the newest launches and graphs that are held: which of them have begun, and which have ended.
//
// The host waits for a launch to begin before it goes on with work beside it. All waits end: a launch may need what the
// waiting thread is about to do.
#ifndef GR_ENGINES_COLLIDER_UNDERWAY_H
#define GR_ENGINES_COLLIDER_UNDERWAY_H

#include "engines/collider/gate.h"

enum {
    UNDERWAY_NEWEST = 4,    // of so many it is known whether they have ended
    UNDERWAY_NS = 40000000, // one is waited for at most; a quarter of that where it was in vain, and so on
    UNDERWAY_LEAST_NS = 500000, // no less
};

typedef struct Underway {
    const LateDriver *driver;
    Holds *holds;
    Gates *gates;
    pthread_mutex_t lock; // of the fields below
    struct {
        CUevent ended; // behind it; NULL: not needed yet
        CUstream stream;
        uint32_t number; // by what it was told that it is held
    } newest[UNDERWAY_NEWEST];
    unsigned n;
    CUcontext context; // where the events are of
    uint64_t patience; // ns; without the lock
} Underway;

void gr_underway_begin(Underway *u, const LateDriver *d, Holds *h, Gates *g);
void gr_underway_end(Underway *u);
// The driver has taken what was told that number, and there is no gate in front of it. `stream`: as the driver has it;
// each thread has a default stream by one name.
void gr_underway_mark(Underway *u, CUcontext context, CUstream stream, uint32_t number);
// The events are gone, too.
void gr_underway_context_ended(Underway *u, CUcontext context);

bool gr_underway_some(Underway *u);
// Whether there is one in another stream than this one, and none has begun.
bool gr_underway_is_to_begin(Underway *u, CUstream stream);
// Waits until there is none, or one has begun.
void gr_underway_await_one(Underway *u);
// Waits until all of other streams than this one have begun.
void gr_underway_await_others(Underway *u, CUstream stream);

// Each thread has a default stream by one name: yields a name for each.
CUstream gr_stream_of_thread(CUstream stream);

#endif
