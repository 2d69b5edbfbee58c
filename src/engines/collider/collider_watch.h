// SPDX-License-Identifier: Apache-2.0
// collider_watch — the collider's windows as watchpoints, where the device under it is the CPU device
// (engines/collider/watch/watch.h).
#ifndef GR_ENGINES_COLLIDER_COLLIDER_WATCH_H
#define GR_ENGINES_COLLIDER_COLLIDER_WATCH_H

#include "engines/core/engine.h"
#include "engines/core/selection.h"
#include "options/options.h"

typedef struct ColliderWatch ColliderWatch;

// *out stays NULL where nothing is to be watched.
gr_status gr_collider_watch_begin(GrSession *s, const GrOptions *o, const GrSelection *selection,
                                  ColliderWatch **out, gr_error *err);
// Before the module is rewritten. NULL is no watch.
gr_status gr_collider_watch_module(ColliderWatch *c, const PtxModule *ptx, const GrModule *m, gr_error *err);
void gr_collider_watch_finish(ColliderWatch *c);

#endif
