// SPDX-License-Identifier: Apache-2.0
// memory — the tracker's metadata on the device: tables of where it lies, and cells for every range that kernels reach.
//
// Each context has its own; if launches are compared with one another (launches.h), all have the same. The tracker
// takes metadata when the program gets memory, and gives it to other memory when that is gone: an access of an earlier
// launch in a cell shows its launch. So nothing is ever cleared, and a program that allocates again and again takes as
// much metadata as it had memory at once.
#ifndef GR_ENGINES_TRACKER_MEMORY_H
#define GR_ENGINES_TRACKER_MEMORY_H

#include "engines/core/engine.h"
#include "engines/tracker/device/record.h"
#include "engines/tracker/launches.h"

typedef struct TrackerMemory TrackerMemory;

// NULL: out of memory.
TrackerMemory *gr_tracker_memory_new(GrSession *s);
void gr_tracker_memory_free(TrackerMemory *m);

// From now on accesses of several launches, of all contexts, are compared.
void gr_tracker_memory_follow(TrackerMemory *m, const TrackerLaunches *launches);

// Sets where the tables of the current context are. False: the device has no room for them.
bool gr_tracker_memory_control(TrackerMemory *m, GrTrackerControl *c);

// A range has come, or is about to go (GrEngine). The verdict names what gets no metadata.
void gr_tracker_memory_add(TrackerMemory *m, const GrRange *r);
void gr_tracker_memory_remove(TrackerMemory *m, const GrRange *r);

#endif
