// SPDX-License-Identifier: Apache-2.0
// launches — races between launches, and with copies, fills and frees, that no stream, event or wait orders.
//
// The CPU device's driver tells what begins and ends (GrWork), and work.h what comes before what. Device code needs
// little of that (GrLaunches): each launch's place in the order of its stream and, while something may run beside it,
// how much of each stream comes before it. So comparing accesses of two launches takes one load more than within a
// launch, and none while nothing can run beside the launch. A copy leaves nothing in metadata: as it begins, the host
// looks at what is there, and launches that nothing orders with it hold each of their accesses against its box.
//
// A GPU's driver tells nothing of that kind, and numbers launches in its own way. There `at` is 0, and only accesses of
// one launch are compared.
#ifndef GR_ENGINES_TRACKER_LAUNCHES_H
#define GR_ENGINES_TRACKER_LAUNCHES_H

#include "engines/core/engine.h"

typedef struct TrackerLaunches TrackerLaunches;

// NULL: out of memory. Never freed, as the device may run until the process ends.
TrackerLaunches *gr_tracker_launches_new(GrSession *s);
// Hears of work from now on, if the loaded driver is the CPU device's. May be called again and again. GR_ERR_NOMEM: the
// device takes no more listeners.
gr_status gr_tracker_launches_listen(TrackerLaunches *t, gr_error *err);
// gr_tracker_launches_listen has found the CPU device's driver.
bool gr_tracker_launches_listens(const TrackerLaunches *t);
// The device address of GrLaunches, which has GrTrackerControl.numbers; 0: there is none on this device.
CUdeviceptr gr_tracker_launches_at(TrackerLaunches *t);
// Metadata of a context lies at `dir` (GrTrackerControl.dir).
void gr_tracker_launches_metadata(TrackerLaunches *t, CUdeviceptr dir);
// All accesses so far come before all that will come: cells that they left may go to other memory as they are.
bool gr_tracker_launches_quiet(const TrackerLaunches *t);
// Tells the verdict what could not be followed, if anything.
void gr_tracker_launches_finish(const TrackerLaunches *t);

#endif
