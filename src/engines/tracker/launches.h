// SPDX-License-Identifier: Apache-2.0
// launches — races between launches, and with copies, fills and frees, that no stream, event or wait orders.
//
// The CPU device's driver tells what begins and ends (GrWork), and work.h what comes before what. Of that, device code
// needs little (GrLaunches): the place of each launch in the order of its stream and, while something may run beside
// it, how much of each stream comes before it. So two accesses are compared with one load more than within a launch,
// and with none as long as nothing can run beside the launch. A copy leaves nothing in metadata: as it begins, what is
// there is looked at here; and launches that it is not ordered with hold its box against each of their accesses.
//
// A GPU's driver tells nothing of that kind, and numbers launches in its own way. There `at` is 0, and only accesses of
// one launch are compared.
#ifndef GR_ENGINES_TRACKER_LAUNCHES_H
#define GR_ENGINES_TRACKER_LAUNCHES_H

#include "engines/core/engine.h"

typedef struct TrackerLaunches TrackerLaunches;

// NULL: out of memory. It is never freed: the device may run until the process ends.
TrackerLaunches *gr_tracker_launches_new(GrSession *s);
// From now on hears of work, if the driver that is loaded is the CPU device's. May be called again and again.
// GR_ERR_NOMEM: the device takes no more ears.
gr_status gr_tracker_launches_listen(TrackerLaunches *t, gr_error *err);
// Whether it does.
bool gr_tracker_launches_listens(const TrackerLaunches *t);
// Of GrLaunches, and of GrTrackerControl.numbers in it; 0: there are none on this device.
CUdeviceptr gr_tracker_launches_at(TrackerLaunches *t);
// Metadata of a context lies there (GrTrackerControl.dir).
void gr_tracker_launches_metadata(TrackerLaunches *t, CUdeviceptr dir);
// Whether cells that an access left may go to other memory as they are: all accesses so far come before all that will
// come.
bool gr_tracker_launches_quiet(const TrackerLaunches *t);
// What could not be followed, if anything, for the verdict.
void gr_tracker_launches_finish(const TrackerLaunches *t);

#endif
