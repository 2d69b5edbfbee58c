// SPDX-License-Identifier: Apache-2.0
// gate — work that comes late in its stream: a host function before it waits until a held launch has begun.
//
// A host function needs no multiprocessor. So it serves even a kernel that fills the device and waits for work behind
// the gate. A gate opens
//
//     when a launch that was held since waits in a window, and `extra` ns have passed
//     when the host waits for the device, or when the next work in its stream must precede a launch
//     at the latest: GATE_LAUNCH_NS or less behind such a launch, which may wait for work behind the gate; GATE_IDLE_NS
//         behind the last call; GATE_BUSY_NS within a call, which may be waiting for it; GATE_MOST_NS in all
#ifndef GR_ENGINES_COLLIDER_GATE_H
#define GR_ENGINES_COLLIDER_GATE_H

#include "engines/collider/hold.h"

enum {
    GATES = 32,
    GATES_BEHIND = 64, // streams and events known to be behind gates, besides the streams with gates
    GATE_LAUNCH_NS = 40000000,
    GATE_LEAST_NS = 400000,
    GATE_IDLE_NS = 200000,
    GATE_BUSY_NS = 5000000,
    GATE_MOST_NS = 100000000
};

typedef struct Gate {
    struct Gates *of;
    CUstream stream;
    uint32_t newest; // launch that was held when the gate was made
    bool for_newest; // that one has not begun, and is waited for
    uint64_t made, extra;
    uint32_t state;
} Gate;

typedef struct Gates {
    Holds *holds;
    const LateDriver *driver;
    uint64_t patience; // with a launch; GATE_LAUNCH_NS, less where it was in vain, GATE_LEAST_NS at least
    Gate all[GATES];
    unsigned n;           // gates that were made
    pthread_mutex_t lock; // of the fields below
    struct {
        const void *what;
        uint32_t gates;
    } behind[GATES_BEHIND];
} Gates;

void gr_gates_begin(Gates *g, Holds *h, const LateDriver *d);
// Puts a gate into the stream, unless too many are shut. `for_newest`: it waits for the newest launch's begin, too.
void gr_gate_put(Gates *g, CUstream stream, uint64_t extra, bool for_newest);
bool gr_gates_are_shut(Gates *g);
// Work behind an event comes behind the gates in front of that event.
void gr_gates_order(Gates *g, const GrOrdering *o);
typedef enum GatesWhich {
    GATES_OF_STREAM, // and of streams that it waits for: by an event, or as legacy and blocking streams do
    GATES_ALONE,     // behind which no launch was told that it is held
    GATES_ALL
} GatesWhich;
void gr_gates_open(Gates *g, CUstream stream, GatesWhich which);
// Opens all and waits for their functions. False: some are still to be called.
bool gr_gates_end(Gates *g);

#endif
