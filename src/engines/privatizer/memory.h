// SPDX-License-Identifier: Apache-2.0
// memory — the program's memory as a copy of it is laid out, and the device memory for slots of copies (device/control.h).
#ifndef GR_PRIVATIZER_MEMORY_H
#define GR_PRIVATIZER_MEMORY_H

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
} Ranges;

bool gr_ranges_add(Ranges *r, const GrRange *range);
void gr_ranges_remove(Ranges *r, const GrRange *range);

// How one copy is laid out for one launch.
typedef struct Layout {
    uint64_t arena, arena_bytes, shared_bytes; // as in GrPrivControl
    uint64_t span, stride;
    VEC(GrRange) inside;       // what is copied into the arena's part
    VEC(GrPrivExtent) outside; // by address
} Layout;

// Of the memory that kernels in this context reach: all of it; or, with `params` (bytes of them), variables of modules and what a parameter
// points into. False: out of memory.
bool gr_layout_make(const Ranges *r, CUcontext context, const GrArena *arena, uint64_t shared_bytes,
                    const void *params, size_t bytes, Layout *out);
void gr_layout_free(Layout *l);
// The program's address of an offset in a copy. Of shared memory the offset itself.
uint64_t gr_layout_address(const Layout *l, uint64_t offset);

// Makes room for `size` bytes. CUDA_ERROR_OUT_OF_MEMORY.
CUresult gr_buffer_grow(const PrivatizerDriver *d, Buffer *b, size_t size);

// In the stream: n copies, `stride` bytes apart, become what the program's memory is.
CUresult gr_layout_fill(const PrivatizerDriver *d, const Layout *l, CUdeviceptr copies, uint64_t n,
                        CUstream stream);

#endif
