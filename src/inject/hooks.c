// SPDX-License-Identifier: Apache-2.0
#include "inject/hooks.h"

#include "base/map.h"
#include "inject/handlers.h"
#include "inject/memory.h"
#include "inject/session.h"
#include "inject/stacks.h"

#include <string.h>

#define EXPORT               __attribute__((visibility("default")))
#define PAREN(...)           __VA_ARGS__
#define CALL_WITH(real, ...) (real __VA_OPT__(, ) __VA_ARGS__)

// ---- the wrappers ----------------------------------------------------------------------------------------

#define HOOK(base, since, flavor, symbol, handler, params, args) EXPORT CUresult CUDAAPI symbol params;
#include "inject/hooks.def"
#undef HOOK

GrHook gr_hooks[GR_HOOK_COUNT] = {
#define HOOK(base, since, flavor, symbol, handler, params, args)                                             \
    [GR_HOOK_##symbol] = {base, #symbol, since, flavor, (GrFn)symbol, NULL},
#include "inject/hooks.def"
#undef HOOK
};

static __thread GrFlavor call_flavor; // of the call that a handler is at work for

CUstream gr_call_stream(CUstream s) { return !s && call_flavor == PERTHREAD ? CU_STREAM_PER_THREAD : s; }

// Calls from inside a handler, and the driver's own calls of its exported functions, go straight through.
#define HOOK(base, since, flavor, symbol, handler, params, args)                                             \
    CUresult CUDAAPI symbol params {                                                                         \
        CUresult(*real) params = (CUresult(*) params)gr_hook_real(&gr_hooks[GR_HOOK_##symbol]);              \
        if (!real)                                                                                           \
            return CUDA_ERROR_NOT_SUPPORTED;                                                                 \
        if (!gr_session_enter())                                                                             \
            return real args;                                                                                \
        call_flavor = flavor;                                                                                \
        if (gr_stack_is_wanted(#symbol))                                                                     \
            gr_stack_begin(#symbol, __builtin_frame_address(0));                                             \
        CUresult result_ = gr_on_##handler CALL_WITH(real, PAREN args);                                      \
        if (result_ != CUDA_SUCCESS)                                                                         \
            gr_session_call_failed(result_);                                                                 \
        gr_work_came();                                                                                      \
        gr_stack_end();                                                                                      \
        gr_session_leave();                                                                                  \
        return result_;                                                                                      \
    }
#include "inject/hooks.def"
#undef HOOK

// ---- the table -------------------------------------------------------------------------------------------

GrHook *gr_hook_by_symbol(const char *symbol) {
    for (size_t i = 0; i < GR_HOOK_COUNT; i++)
        if (!strcmp(gr_hooks[i].symbol, symbol))
            return &gr_hooks[i];
    return NULL;
}

GrHook *gr_hook_by_version(const char *base, int version, cuuint64_t flags) {
    GrFlavor twin = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM ? PERTHREAD : LEGACY;
    GrHook *best = NULL;
    for (size_t i = 0; i < GR_HOOK_COUNT; i++) {
        GrHook *h = &gr_hooks[i];
        if (strcmp(h->base, base) || h->since > version || (h->flavor != ANY && h->flavor != twin))
            continue;
        if (!best || h->since > best->since)
            best = h;
    }
    return best;
}

void gr_hook_learn(GrHook *h, GrFn real) {
    GrFn none = NULL;
    if (real && real != h->wrapper)
        __atomic_compare_exchange_n(&h->real, &none, real, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

GrFn gr_hook_real(GrHook *h) {
    GrFn real = __atomic_load_n(&h->real, __ATOMIC_ACQUIRE);
    if (real)
        return real;
    // A program that was linked with -lcuda never asked for it.
    void *library = gr_driver_library();
    if (library)
        gr_hook_learn(h, (GrFn)gr_real_dlsym(library, h->symbol));
    return __atomic_load_n(&h->real, __ATOMIC_ACQUIRE);
}

// The callers' prototypes are those of CUDA 12.0, the oldest that has all of them. A newer version of the same name may
// take other parameters: cuCtxGetDevice has a second one in 13.0.
enum { OUR_API = 12000 };

GrFn gr_driver_function(const char *base) {
    typedef CUresult (*Get)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
    Get get = (Get)gr_hook_real(&gr_hooks[GR_HOOK_cuGetProcAddress_v2]);
    void *p = NULL;
    if (get && get(base, &p, OUR_API, CU_GET_PROC_ADDRESS_LEGACY_STREAM, NULL) == CUDA_SUCCESS && p)
        return (GrFn)p;
    return gr_driver_library() ? (GrFn)gr_real_dlsym(gr_driver_library(), base) : NULL;
}

// ---- cuGetProcAddress ------------------------------------------------------------------------------------

// A driver newer than our table may have a newer version of an entry point, with other parameters. Only what the driver
// exports under the row's own name is known to be what the row describes.
static bool is_row(const GrHook *h, int version, void *p) {
    if (version <= CUDA_VERSION)
        return true;
    void *library = gr_driver_library();
    return library && gr_real_dlsym(library, h->symbol) == p;
}

static void exchange(const char *name, void **out, int version, cuuint64_t flags) {
    if (!name || !out || !*out)
        return;
    GrHook *h = gr_hook_by_version(name, version, flags);
    if (!h || *out == (void *)h->wrapper)
        return;
    if (!is_row(h, version, *out)) {
        gr_session_notef("the program asked for %s of CUDA %d, which is newer than this gpurace: not watched",
                         name, version);
        return;
    }
    gr_hook_learn(h, (GrFn)*out);
    *out = (void *)h->wrapper;
}

CUresult gr_on_get_proc_address(CUresult (*real)(const char *, void **, int, cuuint64_t), const char *name,
                                void **out, int version, cuuint64_t flags) {
    CUresult result = real(name, out, version, flags);
    if (result == CUDA_SUCCESS)
        exchange(name, out, version, flags);
    return result;
}

CUresult gr_on_get_proc_address_v2(CUresult (*real)(const char *, void **, int, cuuint64_t,
                                                    CUdriverProcAddressQueryResult *),
                                   const char *name, void **out, int version, cuuint64_t flags,
                                   CUdriverProcAddressQueryResult *found) {
    CUresult result = real(name, out, version, flags, found);
    if (result == CUDA_SUCCESS)
        exchange(name, out, version, flags);
    return result;
}
