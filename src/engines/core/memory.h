// SPDX-License-Identifier: Apache-2.0
// memory — the memory that kernels can reach, and the copies and fills of it, as an engine is told of them.
//
// CUDA arrays and textures have no addresses, so nothing is told of them.
#ifndef GR_ENGINES_CORE_MEMORY_H
#define GR_ENGINES_CORE_MEMORY_H

#include "device_api/work.h" // GrBox

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum GrRangeKind {
    GR_RANGE_DEVICE,     // cuMemAlloc, cuMemAllocPitch
    GR_RANGE_POOL,       // stream-ordered: cuMemAllocAsync, cuMemAllocFromPoolAsync
    GR_RANGE_MANAGED,    // cuMemAllocManaged
    GR_RANGE_PINNED,     // the host's, allocated and mapped by the driver: cuMemAllocHost, cuMemHostAlloc
    GR_RANGE_REGISTERED, // the host's, allocated by the program: cuMemHostRegister
    GR_RANGE_GLOBAL,     // a variable of a module
    GR_RANGE_MAPPING,    // virtual memory: cuMemMap, since cuMemSetAccess gave access
    GR_RANGE_IMPORTED, // of another process or API: cuIpcOpenMemHandle, external memory, an imported pool's pointer
    GR_RANGE_GRAPH, // an allocation node of a graph
} GrRangeKind;

typedef struct GrRange {
    CUdeviceptr at;
    size_t size;
    GrRangeKind kind;
    CUcontext context; // that was current; NULL: a mapping, which all contexts of the device share
    const char *name;  // GLOBAL: of the variable; else NULL
    const void *owner; // GLOBAL: the module's handle
} GrRange;

// Where one device has all of the program's memory, but stream-ordered memory and what an engine is told is outside.
typedef struct GrArena {
    CUdevice device;
    CUdeviceptr base;
    size_t size;
} GrArena;

// A copy or a fill that the driver has taken; it may still be waiting in its stream.
typedef struct GrCopy {
    GrBox to, from; // of the same extents; of host memory as well. `at` 0: in a CUDA array
    CUstream stream;
    bool async;
} GrCopy;

// The driver has taken an event into a stream: the stream records it, or what comes next in the stream waits for it.
typedef struct GrOrdering {
    CUevent event;
    CUstream stream; // as GrLaunch.stream
    bool waits;
} GrOrdering;

// Work that the driver is about to be given, besides single launches.
typedef enum GrComingKind {
    GR_COMING_COPY, // to device memory or, by a call that does not say so, to the host's
    GR_COMING_FILL,
    GR_COMING_GRAPH,          // whose nodes follow one another
    GR_COMING_BRANCHING_GRAPH // of whose nodes some may run side by side
} GrComingKind;

typedef struct GrComing {
    GrComingKind kind;
    CUstream stream; // as GrLaunch.stream
    bool async;      // the call has a stream
    CUdeviceptr to, from;
    size_t size; // in bytes; of a graph, in kernels
} GrComing;

// The host is about to wait in a call, or has done so.
typedef enum GrWaitKind {
    GR_WAIT_ALL,    // for all work of the context, as far as the host can order it
    GR_WAIT_STREAM, // for the work of `stream`
    GR_WAIT_EVENT
} GrWaitKind;

typedef struct GrWait {
    GrWaitKind kind;
    CUstream stream; // as GrLaunch.stream
} GrWait;

typedef struct GrFill {
    GrBox to;
    uint64_t value;
    uint32_t element; // its size, again and again
    CUstream stream;
    bool async;
} GrFill;

#endif
