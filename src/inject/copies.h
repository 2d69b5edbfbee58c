// SPDX-License-Identifier: Apache-2.0
// copies — copies and fills in the form in which an engine is told of them.
#ifndef GR_INJECT_COPIES_H
#define GR_INJECT_COPIES_H

#include "engines/core/memory.h"

GrCopy gr_copy_of(const CUDA_MEMCPY3D *c);
GrFill gr_fill_of(CUdeviceptr at, size_t pitch, uint64_t value, uint32_t element, size_t width,
                  size_t height);

// Takes the lock. Nothing is told of what is only recorded for a graph.
void gr_copy_tell(const GrCopy *c);
void gr_fill_tell(const GrFill *f);

// The host knows that all of the device's work has ended, if `rc` says so, which is yielded.
CUresult gr_waited_for_all(CUresult rc);

#endif
