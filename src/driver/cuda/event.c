// SPDX-License-Identifier: Apache-2.0
// event — events, and the marks that they leave in streams. Times are those of the device's virtual clock, which
// only the device's own work moves.
#include "driver/cuda/capture.h"
#include "driver/cuda/driver.h"
#include "driver/cuda/queue.h"
#include "driver/cuda/stream.h"

Mark *gr_mark_new(Dev *dev) {
    Mark *m = calloc(1, sizeof *m);
    if (m)
        *m = (Mark){.refs = 1, .dev = dev};
    return m;
}

Mark *gr_mark_ref(Mark *m) {
    m->refs++;
    return m;
}

void gr_mark_unref(Mark *m) {
    if (m && --m->refs == 0)
        free(m);
}

Event *gr_event(CUevent handle) {
    Event *e = gr_cu_handle(handle, HANDLE_EVENT);
    return e && gr_ctx_of(e->ctx) ? e : NULL;
}

void gr_event_set(Event *e, Mark *m) {
    gr_mark_unref(e->mark);
    e->mark = m;
    e->captured = 0;
    gr_vec_free(&e->after);
}

CUresult cuEventCreate(CUevent *out, unsigned int flags) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    if (!out || (flags & ~known) || ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_DISABLE_TIMING)))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    Event *e = calloc(1, sizeof *e);
    if (!e || !gr_cu_handle_add(e, HANDLE_EVENT)) {
        free(e);
        return gr_cu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    e->ctx = gr_ctx_ref(c);
    e->flags = flags;
    *out = (CUevent)e;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuEventDestroy_v2(CUevent handle) {
    API_ENTER(API_CLEANUP, NULL);
    Event *e = gr_cu_handle(handle, HANDLE_EVENT);
    if (!e)
        return gr_cu_leave(CUDA_ERROR_INVALID_HANDLE);
    gr_cu_handle_remove(e);
    gr_event_set(e, NULL);
    free(e);
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuEventDestroy(CUevent handle) { return cuEventDestroy_v2(handle); }

CUresult gr_event_record(Event *e, Stream *s) {
    if (s->capture)
        return gr_capture_record(s, e);
    CUresult r = gr_capture_implicit(s);
    if (r != CUDA_SUCCESS)
        return r;
    Item *it = gr_item_new(ITEM_RECORD);
    Mark *m = it ? gr_mark_new(s->ctx->dev) : NULL;
    if (!m) {
        free(it);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    it->mark = gr_mark_ref(m);
    gr_event_set(e, m);
    gr_queue_submit(s, it);
    return CUDA_SUCCESS;
}

CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream, unsigned int flags) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    Event *e = gr_event(handle);
    Stream *s = NULL;
    CUresult r = gr_stream_get(c, stream, &s);
    if (r == CUDA_SUCCESS && (!e || e->ctx.ctx->dev != s->ctx->dev))
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && s->capture && (flags & CU_EVENT_RECORD_EXTERNAL))
        return gr_cu_leave(gr_capture_event(s, e, CU_GRAPH_NODE_TYPE_EVENT_RECORD));
    if (r == CUDA_SUCCESS && (flags & CU_EVENT_RECORD_EXTERNAL)) // has a meaning in captures only
        r = CUDA_ERROR_ILLEGAL_STATE;
    return gr_cu_leave(r == CUDA_SUCCESS ? gr_event_record(e, s) : r);
}

CUresult cuEventRecord(CUevent handle, CUstream stream) { return cuEventRecordWithFlags(handle, stream, 0); }

CUresult cuStreamWaitEvent(CUstream stream, CUevent handle, unsigned int flags) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    Event *e = gr_event(handle);
    Stream *s = NULL;
    CUresult r = gr_stream_get(c, stream, &s);
    if (r == CUDA_SUCCESS && !e)
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && (flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && s->capture && (flags & CU_EVENT_WAIT_EXTERNAL))
        return gr_cu_leave(gr_capture_event(s, e, CU_GRAPH_NODE_TYPE_WAIT_EVENT));
    if (r == CUDA_SUCCESS && (s->capture || e->captured))
        return gr_cu_leave(gr_capture_wait(s, e));
    if (r == CUDA_SUCCESS)
        r = gr_capture_implicit(s);
    if (r != CUDA_SUCCESS || !e->mark) // no stream waits for an event that was never recorded
        return gr_cu_leave(r);
    Item *it = gr_item_new(ITEM_WAIT);
    if (!it)
        return gr_cu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    it->mark = gr_mark_ref(e->mark);
    gr_queue_submit(s, it);
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuEventQuery(CUevent handle) {
    API_ENTER(API_CONTEXT, NULL);
    Event *e = gr_event(handle);
    if (!e || e->captured)
        return gr_cu_leave(e ? gr_capture_event_forbids(e) : CUDA_ERROR_INVALID_HANDLE);
    CUresult r = gr_capture_unsafe();
    if (r != CUDA_SUCCESS)
        return gr_cu_leave(r);
    gr_queue_asked();
    if (e->mark && e->mark->done)
        gr_work_waited((GrWaited){.mark = e->mark});
    return gr_cu_leave(e->mark && !e->mark->done ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

CUresult cuEventSynchronize(CUevent handle) {
    API_ENTER(API_CONTEXT, NULL);
    Event *e = gr_event(handle);
    if (!e || e->captured)
        return gr_cu_leave(e ? gr_capture_event_forbids(e) : CUDA_ERROR_INVALID_HANDLE);
    CUresult r = gr_capture_unsafe();
    if (r != CUDA_SUCCESS)
        return gr_cu_leave(r);
    return gr_cu_leave(e->mark ? gr_queue_drain_mark(e->ctx.ctx, e->mark) : CUDA_SUCCESS);
}

CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end) {
    API_ENTER(API_CONTEXT, NULL);
    Event *a = gr_event(start), *b = gr_event(end);
    if (!ms)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    if ((a && a->captured) || (b && b->captured))
        return gr_cu_leave(CUDA_ERROR_CAPTURED_EVENT); // the capture goes on
    if (!a || !b || !a->mark || !b->mark || ((a->flags | b->flags) & CU_EVENT_DISABLE_TIMING) ||
        a->mark->dev != b->mark->dev)
        return gr_cu_leave(CUDA_ERROR_INVALID_HANDLE);
    if (!a->mark->done || !b->mark->done)
        return gr_cu_leave(CUDA_ERROR_NOT_READY);
    *ms = (float)((double)(int64_t)(b->mark->ns - a->mark->ns) * 1e-6);
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end) {
    return cuEventElapsedTime_v2(ms, start, end);
}
