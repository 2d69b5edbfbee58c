// SPDX-License-Identifier: Apache-2.0
// extents — a table on the device that says how large an allocation is, by the address where it begins (GrExtent,
// pass/quiet.h).
//
// A look-up finds only addresses where an allocation begins. So a kernel never sees the entry change that it asks for:
// an address that the kernel got was in the table before, and leaves it when the memory is freed. The table forgets
// what does not fit.
#ifndef GR_ENGINES_TRACKER_EXTENTS_H
#define GR_ENGINES_TRACKER_EXTENTS_H

#include "engines/core/engine.h"

typedef struct Extents Extents;

// The table of the current context. NULL: out of memory, here or on the device.
Extents *gr_extents_new(GrSession *s);
void gr_extents_free(Extents *x);

CUdeviceptr gr_extents_table(const Extents *x); // 0 of NULL

// A range has come: drops what it overlaps, whoever may have said so. x is the current context's; NULL: nothing
// happens.
void gr_extents_add(Extents *x, const GrRange *r);
void gr_extents_remove(Extents *x, uint64_t at);

#endif
