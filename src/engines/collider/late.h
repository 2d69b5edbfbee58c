// SPDX-License-Identifier: Apache-2.0
// late — --late-work: on a GPU, work that may run beside other work comes late, and kernels wait for it longer.
//
// A race between a kernel and a copy, the host or another kernel shows when the one comes while a window of the other
// is open. Most kernels are over within microseconds, before whatever comes next has begun. What may come later anyway
// may be made late:
//
//     a launch    is held (hold.h): its kernel waits in a window for other work. One in eight has a gate in front, too
//     a copy to device memory, a fill, a graph
//                 waits, in its call, while a held launch is on its way, until that has begun; else, and in one case of
//                 four, a gate (gate.h) goes before it into its stream
//     the host    goes on late behind a launch that has an address of memory that the host sees, once that has begun
//
// If the host submits launches one after another without waiting, each is held until the next has begun. So its later
// accesses fall into the next launch's windows. One warp of four of the next launch does not wait, but goes on into the
// windows of the earlier one.
//
// Each of these waits has a bound (hold.h, gate.h, underway.h), so whatever a program waits for comes.
//
// Work of one stream cannot run beside other work. So nothing is late unless the program has a non-blocking stream or
// two other ones at a time, uses a thread's own default stream, launches a graph with branches, or launches a kernel
// with an address of memory that the host sees. Frequent work is rarely late: of each kernel the first LATE_LAUNCHES,
// of copies of one size, until another kernel comes, the first LATE_COMING, then one in LATE_SOMETIMES, and behind
// LATE_OFTEN one in LATE_RARELY. Seed, kind and count decide, so that equal programs have the same work late. Nothing
// is late in a stream that is being captured, nor between two launches that may overlap by the program's own wish.
#ifndef GR_ENGINES_COLLIDER_LATE_H
#define GR_ENGINES_COLLIDER_LATE_H

#include "engines/core/engine.h"

enum {
    LATE_LAUNCHES = 8,
    LATE_COMING = 16,
    LATE_GRAPHS = 1,
    LATE_SOMETIMES = 8,
    LATE_OFTEN = 64,
    LATE_RARELY = 64,
    LATE_KINDS = 4096,    // more kinds count as one
    LATE_LEAST_NS = 2000, // where waits are shorter than that nothing is late
    LATE_SOON_NS = 20000, // behind a launch that has begun: mostly the host goes on within this
    LATE_MOST_NS = 1000000
};

typedef struct GrLate GrLate;

// `longest_ns`: the longest wait in a kernel that is held. `always`: whatever streams and memory the program has. NULL:
// out of memory.
GrLate *gr_late_new(GrSession *s, uint64_t seed, uint64_t longest_ns, bool always);
void gr_late_free(GrLate *l);

// With the injection's lock: the program has a stream less, or memory that the host sees.
void gr_late_stream_destroyed(GrLate *l, unsigned flags);
void gr_late_shared(GrLate *l, const GrRange *r);
// Yields what the module's GrControl.hold is to be.
CUdeviceptr gr_late_loaded(GrLate *l, const GrModule *m, CUdeviceptr control);
void gr_late_unloaded(GrLate *l, const GrModule *m);
// What follows is drawn and counted as in a process of its own with that seed.
void gr_late_next_run(GrLate *l, uint64_t seed);
void gr_late_context_ended(GrLate *l, CUcontext context);

// Without it; by any thread.
void gr_late_stream_created(GrLate *l, unsigned flags);
void gr_late_launching(GrLate *l, const GrLaunch *g);
void gr_late_launched(GrLate *l, const GrLaunch *g, CUresult result);
// What GrEngine.submitting yields.
bool gr_late_submitting(GrLate *l, const GrComing *w);
void gr_late_submitted(GrLate *l, const GrComing *w);
void gr_late_ordered(GrLate *l, const GrOrdering *o);
void gr_late_waiting(GrLate *l, const GrWait *w);
void gr_late_waited(GrLate *l, const GrWait *w);

#endif
