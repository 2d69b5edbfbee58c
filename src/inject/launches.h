// SPDX-License-Identifier: Apache-2.0
// launches — a launch on its way to the driver: numbered, counted, and shown to an engine that may run it itself.
#ifndef GR_INJECT_LAUNCHES_H
#define GR_INJECT_LAUNCHES_H

#include "inject/session.h"

typedef struct Launching {
    GrRun run; // what the engine is handed: the first member
    // Set by the caller: func, grid, block, shared_bytes, stream, from_graph; attributes and cooperative: the
    // program's.
    GrLaunch launch;
    void **params, **extra; // as the program gave them
    bool unrecorded;        // it is gpurace's own: no line of it is recorded
    // Set by gr_launch_begin.
    Kernel *kernel;
    CUfunction twin; // what the driver is to launch: twins.h
    bool shown;      // to the engine, by gr_launch_around; the caller runs all others
    bool captured;
    GrChoice choice;               // with another than GR_CHOSEN, `twin` is the program's own
    char *line;                    // if launches are recorded (recording.h)
    CUlaunchAttribute *attributes; // copies, one more than there are
    void **pointers;               // to each parameter, for the driver
} Launching;

// Whether the engine is to see what graphs do node by node.
bool gr_engine_wants_graphs(void);
// Graphs run node by node: for the engine, or to record launches.
bool gr_graphs_are_shown(void);
// What is submitted to this stream is only recorded, for a graph. Asks the driver only while a capture is open.
bool gr_stream_is_captured(CUstream stream);
bool gr_a_capture_is_open(void); // in any stream
void gr_capture_began(void);
void gr_capture_ended(void);

// Around the call. gr_launch_end counts the launch and yields `result`.
void gr_launch_begin(Launching *l);
// The driver refused l->twin, and is to launch l->launch.func instead.
bool gr_launch_again(const Launching *l, CUresult result);
CUresult gr_launch_end(Launching *l, CUresult result);

// GrSession.points, of the launch of a Launching.
bool gr_launch_points(const GrLaunch *l, unsigned kinds, GrRange *out);

// In between, if l->shown: the engine's turn.
CUresult gr_launch_around(Launching *l);

#endif
