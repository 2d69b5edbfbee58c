// SPDX-License-Identifier: Apache-2.0
// hooks — the interposed entry points as a table: which exported wrapper stands before which real function.
//
//     program ──▶ wrapper (exported under the driver's own name) ──▶ handler ──▶ real function of this row
//
// A program gets at a wrapper in three ways, and none is left out: by linking (our library comes first), by dlsym and
// dlvsym (interposed: dl.c), and by cuGetProcAddress (its results are exchanged). The real function is what the way
// that the program took would have given it.
#ifndef GR_INJECT_HOOKS_H
#define GR_INJECT_HOOKS_H

#include <cuda.h>
// Of these an older version is exported as well, under the plain name.
#undef cuGetProcAddress
#undef cuMemcpyBatchAsync
#undef cuMemcpy3DBatchAsync
#undef cuStreamBeginCapture
#undef cuGraphInstantiate
#undef cuGraphExecUpdate
#undef cuGraphExecKernelNodeSetParams
#include <stdbool.h>
#include <stddef.h>

typedef void (*GrFn)(void);

typedef enum GrFlavor { ANY, LEGACY, PERTHREAD } GrFlavor;

typedef enum GrHookId {
#define HOOK(base, since, flavor, symbol, handler, params, args) GR_HOOK_##symbol,
#include "inject/hooks.def"
#undef HOOK
    GR_HOOK_COUNT
} GrHookId;

typedef struct GrHook {
    const char *base, *symbol;
    int since;
    GrFlavor flavor;
    GrFn wrapper;
    GrFn real; // atomic; NULL until it was asked for
} GrHook;

extern GrHook gr_hooks[GR_HOOK_COUNT];

// The row of an exported symbol, or NULL.
GrHook *gr_hook_by_symbol(const char *symbol);

// The row that cuGetProcAddress(base, version, flags) means, or NULL when none is interposed.
GrHook *gr_hook_by_version(const char *base, int version, cuuint64_t flags);

// The real function of a row, looked up in the driver's library if need be; NULL when there is no such thing.
GrFn gr_hook_real(GrHook *h);

// Tells a row its real function, unless it knows one.
void gr_hook_learn(GrHook *h, GrFn real);

// A driver function by its cuda.h name, interposed or not; never a wrapper. NULL when the driver lacks it.
GrFn gr_driver_function(const char *base);

// The stream that the program's call in this thread means by `s`: of an entry point for per-thread default streams,
// NULL is CU_STREAM_PER_THREAD. Our own calls go to the other twin.
CUstream gr_call_stream(CUstream s);

// ---- The dynamic linker (dl.c) -----------------------------------------------------------------------------

// The C library's own dlsym.
void *gr_real_dlsym(void *handle, const char *name);
// The library whose name begins with `prefix` among those with which the program or library at `caller` was linked;
// NULL: none. dlsym(RTLD_NEXT) would find the first of such a name, and none in a library that was opened with
// RTLD_LOCAL.
void *gr_needed_library(const void *caller, const char *prefix);
// The driver's library when it is loaded, NULL when it is not.
void *gr_driver_library(void);

#endif
