// SPDX-License-Identifier: Apache-2.0
// boxes — what launches have left in the metadata of the bytes that a copy, a fill or a free touches. Only where this
// process sees the device's memory (the CPU device). The caller holds the driver's lock.
#ifndef GR_ENGINES_TRACKER_BOXES_H
#define GR_ENGINES_TRACKER_BOXES_H

#include "engines/core/engine.h"
#include "engines/tracker/device/record.h"

// The address behind the box.
uint64_t gr_box_end(const GrBox *b);

// Records a pair with each conflicting access to the same bytes that nothing ordered. `newest`: the number of the last
// launch that has begun; `before` says whether a launch comes before it.
void gr_boxes_look(GrSession *s, GrLaunches *all, uint64_t newest, const GrCopyState *c,
                   bool (*before)(void *user, const GrLaunchState *l), void *user);
// The bytes are freed: the next access to these addresses is to other memory.
void gr_boxes_clear(GrSession *s, GrLaunches *all, const GrCopyState *c);

#endif
