// SPDX-License-Identifier: Apache-2.0
// late_starts — which warps begin late in a launch (collider_halves.h of the pass), for the pass and its runtime.
#ifndef GR_ENGINES_COLLIDER_DEVICE_LATE_STARTS_H
#define GR_ENGINES_COLLIDER_DEVICE_LATE_STARTS_H

typedef enum GrLateStarts { GR_LATE_NONE, GR_LATE_WARPS, GR_LATE_BLOCKS, GR_LATE_FOURTH } GrLateStarts;

#endif
