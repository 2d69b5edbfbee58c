// SPDX-License-Identifier: Apache-2.0
// memory — tells the engine of memory ranges, copies, fills and waits of the program (engines/core/memory.h).
#ifndef GR_INJECT_MEMORY_H
#define GR_INJECT_MEMORY_H

#include "engines/core/memory.h"

#include <stdbool.h>

// ---- ranges.c, with the session's lock -----------------------------------------------------------------------------
// A call that frees memory names only the address, and a context takes memory with it: so what was told is kept.
// Nothing is kept for an engine that has neither callback, unless launches are recorded.

bool gr_ranges_are_told(void);
// The range that holds the address; NULL: none is known.
const GrRange *gr_range_at(CUdeviceptr address);
void gr_range_add(const GrRange *r);
// Drops the range that begins at `at`; there may be none.
void gr_range_remove(CUdeviceptr at);
// Mappings may be told together and go one by one, and the program may give access again. What is told already in [at,
// at + size) stays as it is; what lies beside it when that goes is told anew.
void gr_range_add_mappings(CUdeviceptr at, size_t size);
void gr_range_remove_mappings(CUdeviceptr at, size_t size);
void gr_ranges_remove_of_module(const void *owner);
void gr_ranges_remove_of_context(CUcontext ctx);

// ---- arena.c: the program's memory for an engine with CAP_ARENA; these need no lock ---------------------------------

// Where the arena of the current context's device is. False: there is none.
bool gr_arena_of_device(GrArena *out);
// Takes device memory of the arena; 0: none, so the driver must allocate.
CUdeviceptr gr_placed_alloc(size_t size);
// The memory becomes the program's with `ticket`, an ordinary allocation by the driver; a failure `rc` frees it. Yields
// `rc`.
CUresult gr_placed_keep(CUresult rc, CUdeviceptr at, CUdeviceptr ticket, size_t ticket_size);
// Notes that the driver has allocated device memory all the same, unless `rc`, the result, is a failure.
CUresult gr_placed_outside(CUresult rc);
// The ticket of memory that is about to be freed, which the driver is to free; 0: no such memory. Sets *clock.
CUdeviceptr gr_placed_leave(CUdeviceptr at, uint64_t *clock);
// Behind gr_placed_leave, with its clock: the memory goes if `rc` is success. Yields `rc`.
CUresult gr_placed_left(CUresult rc, CUdeviceptr at, uint64_t clock, bool in_stream_order);
// The memory that holds the address. False: none does; *inside: the address lies in an arena all the same.
typedef struct GrPlaced {
    CUdeviceptr at, ticket;
    size_t size;
} GrPlaced;
bool gr_placed_at(CUdeviceptr at, GrPlaced *out, bool *inside);
// Drops the arena's memory and tickets, which have gone with the context.
void gr_placed_context_ends(CUcontext context);

// ---- on_copy.c; these take the lock ---------------------------------------------------------------------

GrCopy gr_copy_of(const CUDA_MEMCPY3D *c);
GrFill gr_fill_of(CUdeviceptr at, size_t pitch, uint64_t value, uint32_t element, size_t width,
                  size_t height);

// Tells only of work for the device, not of what is recorded for a graph.
void gr_copy_tell(const GrCopy *c);
void gr_fill_tell(const GrFill *f);

// ---- coming.c, without the lock ------------------------------------------------------------------------------------

// Called before the driver gets the work; `stream` as in the program's call. Work that is only recorded for a graph is
// not told. True: GrEngine.submitting wants the call to return when the bytes are staged.
bool gr_work_comes(GrComing w);
// Called behind each call of the program: tells the engine that the driver has the work that came in it.
void gr_work_came(void);
// Called around a call that waits for the device, in the stream that the program's call says.
void gr_host_waits(GrWaitKind kind, CUstream stream);
void gr_host_waited(GrWaitKind kind, CUstream stream);
// The driver is about to get a copy (gr_work_comes); copies to CUDA arrays are not told.
bool gr_copy_comes(const GrCopy *c, CUstream stream, bool async);

// ---- on_wait.c -----------------------------------------------------------------------------------------------------

// Tells of a call that waited for all of the device's work. Yields `rc`.
CUresult gr_waited_for_all(CUresult rc);

#endif
