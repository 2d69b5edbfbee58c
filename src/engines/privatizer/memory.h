// SPDX-License-Identifier: Apache-2.0
// memory — how the program's memory is laid out in a copy of it, and the device memory for slots (device/control.h).
#ifndef GR_ENGINES_PRIVATIZER_MEMORY_H
#define GR_ENGINES_PRIVATIZER_MEMORY_H

#include "base/vec.h"
#include "engines/privatizer/device/control.h"
#include "engines/privatizer/driver.h"

// Device memory that is kept from launch to launch, and grows.
typedef struct Buffer {
    CUdeviceptr at;
    size_t size;
} Buffer;

typedef struct Ranges {
    VEC(GrRange) list;
    uint64_t changes; // so far
} Ranges;

bool gr_ranges_add(Ranges *r, const GrRange *range);
void gr_ranges_remove(Ranges *r, const GrRange *range);

// Lines from `first` on that are not wholly the program's memory.
typedef struct Edges {
    uint64_t first, n;
} Edges;

// The memory of one launch, in lines.
typedef struct Layout {
    uint64_t arena, arena_bytes, shared_bytes, span; // as in GrPrivControl
    VEC(GrPrivExtent) extents;                       // those in the arena first
    uint32_t n_inside;
    VEC(Edges) edges;
    VEC(GrRange) variables; // of modules
} Layout;

// Lays out the memory that kernels in this context reach: all of it; or, with `params` (of so many bytes), variables of
// modules and what a parameter points into. False: out of memory.
bool gr_layout_make(const Ranges *r, CUcontext context, const GrArena *arena, uint64_t shared_bytes,
                    const void *params, size_t bytes, Layout *out);
void gr_layout_free(Layout *l);
// The program's address of an offset; for shared memory the offset itself; 0: there is none.
uint64_t gr_layout_address(const Layout *l, uint64_t offset);
// The variable that the program's address is in. NULL: none.
const char *gr_layout_variable(const Layout *l, uint64_t address);
// A number for all that the layout says. Two layouts with one number are the same, most likely.
uint64_t gr_layout_number(const Layout *l);

// Makes room for `size` bytes, once the work in the stream is over. May yield CUDA_ERROR_OUT_OF_MEMORY.
CUresult gr_buffer_grow(const PrivatizerDriver *d, Buffer *b, size_t size, CUstream stream);

// Sets in the stream n tables, `bytes` apart, in which no line has a row.
CUresult gr_layout_tables(const PrivatizerDriver *d, const Layout *l, CUdeviceptr tables, uint64_t bytes,
                          uint64_t n, CUstream stream);

#endif
