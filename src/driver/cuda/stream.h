// SPDX-License-Identifier: Apache-2.0
// stream — streams, and events, which are points in them.
#ifndef GR_DRIVER_CUDA_STREAM_H
#define GR_DRIVER_CUDA_STREAM_H

#include "driver/cuda/driver.h"

struct Stream {
    HandleKind kind;
    Ctx *ctx;
    uint64_t id;
    unsigned flags; // CU_STREAM_NON_BLOCKING
    int priority;
    bool dying;        // destroyed by the program, work left
    Item *head, *tail; // in order of submission; changed by queue.c alone
    Stream *older, *newer;
    CUstreamAttrValue window, sync_policy;
    Capture *capture;  // work goes there instead
    VEC(Node *) after; // while it captures: what the next node depends on
};

// The point in a stream where an event was recorded: what waits refer to, as the event may be recorded anew.
typedef struct Mark {
    unsigned refs;
    bool done;
    uint64_t ns; // virtual time
    Dev *dev;
} Mark;

typedef struct Event {
    HandleKind kind;
    CtxRef ctx;
    unsigned flags;
    Mark *mark;        // of the last record; NULL: never recorded
    uint64_t captured; // the last record was into the capture of this number; 0: into a stream
    VEC(Node *) after; // the nodes that the mark then stands for
} Event;

// Resolves handle 0 and the special ones in `ctx`.
CUresult gr_stream_get(Ctx *ctx, CUstream handle, Stream **out);
Stream *gr_stream_new(Ctx *ctx, unsigned flags, int priority);
void gr_stream_free(Stream *s); // what is queued is still done
// NULL: no event, or its context was destroyed, so that it can only be destroyed.
Event *gr_event(CUevent handle);
Mark *gr_mark_new(Dev *dev);
Mark *gr_mark_ref(Mark *m);
void gr_mark_unref(Mark *m);
// Records the event behind what is in the stream now.
CUresult gr_event_record(Event *e, Stream *s);

void gr_event_set(Event *e, Mark *m); // takes the reference; NULL: as if never recorded

// The per-thread default stream instead of the legacy one.
static inline CUstream gr_per_thread(CUstream s) { return s == NULL ? CU_STREAM_PER_THREAD : s; }

#endif
