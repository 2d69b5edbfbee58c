// SPDX-License-Identifier: Apache-2.0
// memory — ranges of memory, copies and fills on their way to the engine (engines/core/memory.h), and the program's waiting.
#ifndef GR_INJECT_MEMORY_H
#define GR_INJECT_MEMORY_H

#include "engines/core/memory.h"

#include <stdbool.h>

// ---- ranges.c, with the session's lock -----------------------------------------------------------------------------
// A call that frees memory names only the address, and a context takes memory with it: so what was told is kept. Nothing is kept for
// an engine that has neither callback.

bool gr_ranges_are_told(void);
void gr_range_add(const GrRange *r);
// The range that begins at `at` goes; none may.
void gr_range_remove(CUdeviceptr at);
// All that lie inside of the mapping [at, at + size).
void gr_range_remove_mappings(CUdeviceptr at, size_t size);
void gr_ranges_remove_of_module(const void *owner);
void gr_ranges_remove_of_context(CUcontext ctx);

// ---- on_copy.c, on_wait.c; these take the lock ---------------------------------------------------------------------

GrCopy gr_copy_of(const CUDA_MEMCPY3D *c);
GrFill gr_fill_of(CUdeviceptr at, size_t pitch, uint64_t value, uint32_t element, size_t width,
                  size_t height);

// Nothing is told of what is only recorded for a graph.
void gr_copy_tell(const GrCopy *c);
void gr_fill_tell(const GrFill *f);

// The host knows that all of the device's work has ended, if `rc` says so, which is yielded.
CUresult gr_waited_for_all(CUresult rc);

#endif
