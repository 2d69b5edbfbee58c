// SPDX-License-Identifier: Apache-2.0
// ranges — the memory that kernels can reach, as far as the engine was told of it. All with the session's lock.
//
// Who frees memory names only its address, and a context takes memory with it: so what was told is kept here. Nothing is kept for
// an engine that has neither callback.
#ifndef GR_INJECT_RANGES_H
#define GR_INJECT_RANGES_H

#include "engines/core/memory.h"

#include <stdbool.h>

bool gr_ranges_are_told(void);
void gr_range_add(const GrRange *r);
// The range that begins at `at` goes; none may.
void gr_range_remove(CUdeviceptr at);
// All that lie inside of the mapping [at, at + size).
void gr_range_remove_mappings(CUdeviceptr at, size_t size);
void gr_ranges_remove_of_module(const void *owner);
void gr_ranges_remove_of_context(CUcontext ctx);

#endif
