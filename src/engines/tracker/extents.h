// SPDX-License-Identifier: Apache-2.0
// extents — a table on the device that says how large an allocation is, by the address where it begins (GrExtent,
// pass/quiet.h).
//
// An address is found only if an allocation begins there. So a kernel never sees an entry change that it asks for: an
// address that a kernel was given was in the table before, and leaves it when the memory is freed. What does not fit in
// is not found.
#ifndef GR_ENGINES_TRACKER_EXTENTS_H
#define GR_ENGINES_TRACKER_EXTENTS_H

#include "engines/core/engine.h"

typedef struct Extents Extents;

// Of the current context. NULL: out of memory, here or on the device.
Extents *gr_extents_new(GrSession *s);
void gr_extents_free(Extents *x);

CUdeviceptr gr_extents_table(const Extents *x); // 0 of NULL

// A range has come. What it overlaps is gone, whoever may have said so. A context's own functions; `x` NULL: nothing
// happens.
void gr_extents_add(Extents *x, const GrRange *r);
void gr_extents_remove(Extents *x, uint64_t at);

#endif
