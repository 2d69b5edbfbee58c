// SPDX-License-Identifier: Apache-2.0
// What the program waits for, which settles what launches have finished, and the end of contexts.
#include "inject/handlers.h"
#include "inject/memory.h"
#include "inject/session.h"

// ---- waiting ---------------------------------------------------------------------------------------------

CUresult gr_waited_for_all(CUresult rc) {
    gr_host_waited(GR_WAIT_ALL, NULL);
    if (rc != CUDA_SUCCESS)
        return rc;
    gr_session_lock();
    gr_everything_waited();
    gr_records_sync();
    gr_session_unlock();
    return rc;
}

CUresult gr_on_ctx_synchronize(CUresult (*real)(void)) {
    gr_host_waits(GR_WAIT_ALL, NULL);
    return gr_waited_for_all(real());
}

CUresult gr_on_ctx_synchronize_v2(CUresult (*real)(CUcontext), CUcontext ctx) {
    gr_host_waits(GR_WAIT_ALL, NULL);
    return gr_waited_for_all(real(ctx));
}

CUresult gr_on_stream_synchronize(CUresult (*real)(CUstream), CUstream stream) {
    gr_host_waits(GR_WAIT_STREAM, stream);
    CUresult rc = real(stream);
    gr_host_waited(GR_WAIT_STREAM, stream);
    if (rc != CUDA_SUCCESS)
        return rc;
    gr_session_lock();
    gr_stream_waited(gr_call_stream(stream));
    gr_records_sync();
    gr_session_unlock();
    return rc;
}

static CUresult ordered(CUresult rc, GrOrdering o) {
    const Session *s = &gr_session;
    if (rc == CUDA_SUCCESS && s->engine->ordered)
        s->engine->ordered(s->engine_self, &o);
    return rc;
}

CUresult gr_on_event_record(CUresult (*real)(CUevent, CUstream), CUevent event, CUstream stream) {
    CUresult rc = real(event, stream);
    if (rc != CUDA_SUCCESS)
        return rc;
    gr_session_lock();
    gr_event_recorded(event, gr_call_stream(stream));
    gr_session_unlock();
    return ordered(rc, (GrOrdering){event, gr_call_stream(stream), false});
}

CUresult gr_on_stream_wait_event(CUresult (*real)(CUstream, CUevent, unsigned), CUstream stream,
                                 CUevent event, unsigned flags) {
    return ordered(real(stream, event, flags), (GrOrdering){event, gr_call_stream(stream), true});
}

CUresult gr_on_event_synchronize(CUresult (*real)(CUevent), CUevent event) {
    gr_host_waits(GR_WAIT_EVENT, NULL);
    CUresult rc = real(event);
    gr_host_waited(GR_WAIT_EVENT, NULL);
    if (rc != CUDA_SUCCESS)
        return rc;
    gr_session_lock();
    gr_event_waited(event);
    gr_records_sync();
    gr_session_unlock();
    return rc;
}

// ---- contexts --------------------------------------------------------------------------------------------

CUresult gr_on_init(CUresult (*real)(unsigned), unsigned flags) { return real(flags); }

// A new context may get the same address, with all modules loaded anew.
static void context_ends(void) {
    Session *s = &gr_session;
    gr_session_lock();
    gr_records_sync();
    for (size_t i = 0; i < s->modules.len; i++)
        s->modules.data[i]->ready.len = s->modules.data[i]->complete.len = 0;
    gr_session_unlock();
}

static void forget_context(CUcontext ctx) {
    const GrEngine *e = gr_session.engine;
    gr_session_lock();
    gr_ranges_remove_of_context(ctx);
    gr_session_unlock();
    if (e->context_ended)
        e->context_ended(gr_session.engine_self, ctx);
}

static bool is_active(CUdevice device) {
    CUresult (*state)(CUdevice, unsigned *, int *) =
        (CUresult(*)(CUdevice, unsigned *, int *))gr_driver_function("cuDevicePrimaryCtxGetState");
    unsigned flags;
    int active = 0;
    return state && state(device, &flags, &active) == CUDA_SUCCESS && active;
}

// A device's own context while it is active, NULL when it is not, or no engine is told.
static CUcontext primary_of(CUdevice device) {
    CUresult (*retain)(CUcontext *, CUdevice) =
        (CUresult(*)(CUcontext *, CUdevice))gr_driver_function("cuDevicePrimaryCtxRetain");
    CUresult (*release)(CUdevice) = (CUresult(*)(CUdevice))gr_driver_function("cuDevicePrimaryCtxRelease");
    CUcontext ctx = NULL;
    if ((gr_ranges_are_told() || gr_session.engine->caps & CAP_ARENA) && retain && release &&
        is_active(device) && retain(&ctx, device) == CUDA_SUCCESS)
        (void)release(device);
    return ctx;
}

CUresult gr_on_primary_release(CUresult (*real)(CUdevice), CUdevice device) {
    CUcontext ctx = primary_of(device);
    context_ends();
    CUresult rc = real(device);
    if (ctx && !is_active(device)) { // that was the last one
        forget_context(ctx);
        gr_placed_context_ends(ctx);
    }
    return rc;
}

CUresult gr_on_primary_reset(CUresult (*real)(CUdevice), CUdevice device) {
    CUcontext ctx = primary_of(device);
    context_ends();
    if (ctx)
        forget_context(ctx);
    CUresult rc = real(device);
    if (ctx && rc == CUDA_SUCCESS)
        gr_placed_context_ends(ctx);
    return rc;
}

CUresult gr_on_ctx_destroy(CUresult (*real)(CUcontext), CUcontext ctx) {
    context_ends();
    forget_context(ctx);
    CUresult rc = real(ctx);
    if (rc == CUDA_SUCCESS)
        gr_placed_context_ends(ctx);
    return rc;
}
