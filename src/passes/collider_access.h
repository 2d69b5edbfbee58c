// SPDX-License-Identifier: Apache-2.0
// collider_access — the collider's code around one load or one store (figures 1 and 3 of the paper).
#ifndef GR_PASSES_COLLIDER_ACCESS_H
#define GR_PASSES_COLLIDER_ACCESS_H

#include "passes/collider.h"
#include "passes/emit.h"
#include "ptx/speculate.h"

// One function under rewriting.
typedef struct ColliderWork {
    PtxModule *module;
    const ColliderOptions *o;
    PtxReg *random; // the generator's state; NULL until the first delay needs it
    gr_error *err;
} ColliderWork;

// Insert the checks around the access; *a was filled by gr_access_read. `spec` tells which lanes use a speculated load's value; NULL: all.
gr_status gr_collider_load(ColliderWork *w, Access *a, const Speculation *spec);
gr_status gr_collider_store(ColliderWork *w, Access *a);

#endif
