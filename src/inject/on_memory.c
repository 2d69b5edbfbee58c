// SPDX-License-Identifier: Apache-2.0
// Memory, copies, waiting and contexts: told to the engine; waiting also settles which launches have finished.
#include "inject/handlers.h"
#include "inject/session.h"

// ---- allocation ------------------------------------------------------------------------------------------

static CUresult allocated(CUresult rc, const CUdeviceptr *out, size_t size) {
    Session *s = &gr_session;
    if (rc != CUDA_SUCCESS || !out || !s->engine->allocated)
        return rc;
    gr_session_lock();
    s->engine->allocated(s->engine_self, *out, size);
    gr_session_unlock();
    return rc;
}

static void freed(CUdeviceptr p) {
    Session *s = &gr_session;
    if (!s->engine->freed)
        return;
    gr_session_lock();
    s->engine->freed(s->engine_self, p);
    gr_session_unlock();
}

CUresult gr_on_mem_alloc(CUresult (*real)(CUdeviceptr *, size_t), CUdeviceptr *out, size_t size) {
    return allocated(real(out, size), out, size);
}

CUresult gr_on_mem_alloc_pitch(CUresult (*real)(CUdeviceptr *, size_t *, size_t, size_t, unsigned),
                               CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
                               unsigned element) {
    CUresult rc = real(out, pitch, width, height, element);
    return allocated(rc, out, rc == CUDA_SUCCESS ? *pitch * height : 0);
}

CUresult gr_on_mem_alloc_managed(CUresult (*real)(CUdeviceptr *, size_t, unsigned), CUdeviceptr *out,
                                 size_t size, unsigned flags) {
    return allocated(real(out, size, flags), out, size);
}

CUresult gr_on_mem_alloc_async(CUresult (*real)(CUdeviceptr *, size_t, CUstream), CUdeviceptr *out,
                               size_t size, CUstream stream) {
    return allocated(real(out, size, stream), out, size);
}

CUresult gr_on_mem_alloc_from_pool(CUresult (*real)(CUdeviceptr *, size_t, CUmemoryPool, CUstream),
                                   CUdeviceptr *out, size_t size, CUmemoryPool pool, CUstream stream) {
    return allocated(real(out, size, pool, stream), out, size);
}

CUresult gr_on_mem_free(CUresult (*real)(CUdeviceptr), CUdeviceptr p) {
    freed(p);
    return real(p);
}

CUresult gr_on_mem_free_async(CUresult (*real)(CUdeviceptr, CUstream), CUdeviceptr p, CUstream stream) {
    freed(p);
    return real(p, stream);
}

// ---- waiting ---------------------------------------------------------------------------------------------

static void waited(void) {
    Session *s = &gr_session;
    gr_records_sync();
    if (s->engine->synchronized)
        s->engine->synchronized(s->engine_self);
}

static CUresult waited_for_all(CUresult rc) {
    if (rc != CUDA_SUCCESS)
        return rc;
    gr_session_lock();
    gr_everything_waited();
    waited();
    gr_session_unlock();
    return rc;
}

CUresult gr_on_ctx_synchronize(CUresult (*real)(void)) { return waited_for_all(real()); }

CUresult gr_on_ctx_synchronize_v2(CUresult (*real)(CUcontext), CUcontext ctx) {
    return waited_for_all(real(ctx));
}

CUresult gr_on_stream_synchronize(CUresult (*real)(CUstream), CUstream stream) {
    CUresult rc = real(stream);
    if (rc != CUDA_SUCCESS)
        return rc;
    gr_session_lock();
    gr_stream_waited(stream);
    waited();
    gr_session_unlock();
    return rc;
}

CUresult gr_on_event_record(CUresult (*real)(CUevent, CUstream), CUevent event, CUstream stream) {
    CUresult rc = real(event, stream);
    if (rc != CUDA_SUCCESS)
        return rc;
    gr_session_lock();
    gr_event_recorded(event, stream);
    gr_session_unlock();
    return rc;
}

CUresult gr_on_event_synchronize(CUresult (*real)(CUevent), CUevent event) {
    CUresult rc = real(event);
    if (rc != CUDA_SUCCESS)
        return rc;
    gr_session_lock();
    gr_event_waited(event);
    waited();
    gr_session_unlock();
    return rc;
}

// ---- copies ----------------------------------------------------------------------------------------------

static CUresult copied(CUresult rc, CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream) {
    Session *s = &gr_session;
    if (rc != CUDA_SUCCESS || !s->engine->copied)
        return rc;
    gr_session_lock();
    s->engine->copied(s->engine_self, dst, src, size, stream);
    gr_session_unlock();
    return rc;
}

CUresult gr_on_memcpy(CUresult (*real)(CUdeviceptr, CUdeviceptr, size_t), CUdeviceptr dst, CUdeviceptr src,
                      size_t size) {
    return copied(real(dst, src, size), dst, src, size, NULL);
}

CUresult gr_on_memcpy_htod(CUresult (*real)(CUdeviceptr, const void *, size_t), CUdeviceptr dst,
                           const void *src, size_t size) {
    return copied(real(dst, src, size), dst, (CUdeviceptr)(uintptr_t)src, size, NULL);
}

// The host has the bytes: everything before them in the default stream, and in streams that wait for it, is done.
CUresult gr_on_memcpy_dtoh(CUresult (*real)(void *, CUdeviceptr, size_t), void *dst, CUdeviceptr src,
                           size_t size) {
    return waited_for_all(copied(real(dst, src, size), (CUdeviceptr)(uintptr_t)dst, src, size, NULL));
}

CUresult gr_on_memcpy_async(CUresult (*real)(CUdeviceptr, CUdeviceptr, size_t, CUstream), CUdeviceptr dst,
                            CUdeviceptr src, size_t size, CUstream stream) {
    return copied(real(dst, src, size, stream), dst, src, size, stream);
}

CUresult gr_on_memcpy_htod_async(CUresult (*real)(CUdeviceptr, const void *, size_t, CUstream),
                                 CUdeviceptr dst, const void *src, size_t size, CUstream stream) {
    return copied(real(dst, src, size, stream), dst, (CUdeviceptr)(uintptr_t)src, size, stream);
}

CUresult gr_on_memcpy_dtoh_async(CUresult (*real)(void *, CUdeviceptr, size_t, CUstream), void *dst,
                                 CUdeviceptr src, size_t size, CUstream stream) {
    return copied(real(dst, src, size, stream), (CUdeviceptr)(uintptr_t)dst, src, size, stream);
}

// ---- contexts --------------------------------------------------------------------------------------------

CUresult gr_on_init(CUresult (*real)(unsigned), unsigned flags) { return real(flags); }

static CUresult context_began(CUresult rc, const CUcontext *out) {
    Session *s = &gr_session;
    if (rc != CUDA_SUCCESS || !out)
        return rc;
    gr_session_lock();
    if (s->engine->context_begin)
        s->engine->context_begin(s->engine_self, *out);
    gr_session_unlock();
    return rc;
}

// The primary context's handle is not at hand where a device is named: the engine gets NULL for "the device's own".
static void context_ends(CUcontext ctx) {
    Session *s = &gr_session;
    gr_session_lock();
    gr_records_sync();
    if (s->engine->context_end)
        s->engine->context_end(s->engine_self, ctx);
    // A new context may get the same address, with all modules loaded anew.
    for (size_t i = 0; i < s->modules.len; i++)
        s->modules.data[i]->ready.len = 0;
    gr_session_unlock();
}

CUresult gr_on_primary_retain(CUresult (*real)(CUcontext *, CUdevice), CUcontext *out, CUdevice device) {
    return context_began(real(out, device), out);
}

CUresult gr_on_primary_release(CUresult (*real)(CUdevice), CUdevice device) {
    context_ends(NULL);
    return real(device);
}

CUresult gr_on_primary_reset(CUresult (*real)(CUdevice), CUdevice device) {
    context_ends(NULL);
    return real(device);
}

CUresult gr_on_ctx_create(CUresult (*real)(CUcontext *, unsigned, CUdevice), CUcontext *out, unsigned flags,
                          CUdevice device) {
    return context_began(real(out, flags, device), out);
}

CUresult gr_on_ctx_create_v3(CUresult (*real)(CUcontext *, CUexecAffinityParam *, int, unsigned, CUdevice),
                             CUcontext *out, CUexecAffinityParam *affinity, int n, unsigned flags,
                             CUdevice device) {
    return context_began(real(out, affinity, n, flags, device), out);
}

CUresult gr_on_ctx_create_v4(CUresult (*real)(CUcontext *, CUctxCreateParams *, unsigned, CUdevice),
                             CUcontext *out, CUctxCreateParams *create, unsigned flags, CUdevice device) {
    return context_began(real(out, create, flags, device), out);
}

CUresult gr_on_ctx_destroy(CUresult (*real)(CUcontext), CUcontext ctx) {
    context_ends(ctx);
    return real(ctx);
}
