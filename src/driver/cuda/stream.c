// SPDX-License-Identifier: Apache-2.0
// stream — streams and what can be put into them without being a kernel, a copy or a memset.
//
// Handle 0 and CU_STREAM_LEGACY are the context's legacy default stream, CU_STREAM_PER_THREAD a stream of the calling
// thread in that context.
#include "driver/cuda/stream.h"
#include "driver/cuda/capture.h"
#include "driver/cuda/driver.h"
#include "driver/cuda/memory.h"
#include "driver/cuda/queue.h"

#include <pthread.h>

typedef struct ThreadStream {
    uint64_t ctx_id, stream_id;
    Stream *stream;
} ThreadStream;

typedef VEC(ThreadStream) ThreadStreams;

// Each thread's default streams, which end with it, as soon as their work has.
static pthread_key_t thread_streams_key;
static pthread_once_t thread_streams_once = PTHREAD_ONCE_INIT;

void gr_stream_free(Stream *s) {
    gr_capture_forget(s);
    gr_cu_handle_remove(s);
    s->dying = true;
    if (!s->head) { // else the stream goes when its work has ended
        gr_queue_remove_stream(s);
        free(s);
    }
}

// The stream, unless it went with its context.
static Stream *live(const ThreadStream *t) {
    Stream *s = gr_cu_handle(t->stream, HANDLE_STREAM);
    return s && s->id == t->stream_id ? s : NULL;
}

static void end_thread(void *arg) {
    ThreadStreams *v = arg;
    gr_cu_lock();
    for (size_t i = 0; i < v->len; i++) {
        Stream *s = live(&v->data[i]);
        if (s)
            gr_stream_free(s);
    }
    gr_cu_unlock();
    gr_vec_free(v);
    free(v);
}

static void make_key(void) { pthread_key_create(&thread_streams_key, end_thread); }

static ThreadStreams *thread_streams(void) {
    pthread_once(&thread_streams_once, make_key);
    ThreadStreams *v = pthread_getspecific(thread_streams_key);
    if (!v && (v = calloc(1, sizeof *v)))
        pthread_setspecific(thread_streams_key, v);
    return v;
}

Stream *gr_stream_new(Ctx *ctx, unsigned flags, int priority) {
    Stream *s = calloc(1, sizeof *s);
    if (!s || !gr_cu_handle_add(s, HANDLE_STREAM)) {
        free(s);
        return NULL;
    }
    s->ctx = ctx;
    s->id = ++gr_cu.next_id;
    s->flags = flags;
    s->priority = priority;
    if (gr_queue_add_stream(s))
        return s;
    gr_cu_handle_remove(s);
    free(s);
    return NULL;
}

// A stream per thread and context, made on first use. NULL when memory is out.
static Stream *thread_stream(Ctx *ctx) {
    ThreadStreams *v = thread_streams();
    if (!v)
        return NULL;
    ThreadStream *t = NULL;
    for (size_t i = 0; i < v->len && !t; i++) {
        if (v->data[i].ctx_id == ctx->id)
            t = &v->data[i];
    }
    if (t && live(t))
        return t->stream;
    Stream *s = gr_stream_new(ctx, 0, 0);
    ThreadStream now = {ctx->id, s ? s->id : 0, s};
    if (s && t) // the context was reset since
        *t = now;
    else if (s && !gr_vec_push(v, now)) {
        gr_stream_free(s);
        s = NULL;
    }
    return s;
}

CUresult gr_stream_get(Ctx *ctx, CUstream handle, Stream **out) {
    if (handle == NULL || handle == CU_STREAM_LEGACY) {
        *out = ctx->legacy;
        return CUDA_SUCCESS;
    }
    if (handle == CU_STREAM_PER_THREAD) {
        *out = thread_stream(ctx);
        return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = gr_cu_handle(handle, HANDLE_STREAM);
    if (!*out)
        return CUDA_ERROR_INVALID_HANDLE;
    return (*out)->ctx->sticky;
}

// Enters, and resolves the stream that the call names.
#define STREAM_ENTER(handle, ctx, s)                                                                         \
    do {                                                                                                     \
        API_ENTER(API_CONTEXT, (ctx));                                                                       \
        CUresult stream_ = gr_stream_get(*(ctx), (handle), (s));                                             \
        if (stream_ != CUDA_SUCCESS)                                                                         \
            return gr_cu_leave(stream_);                                                                     \
    } while (0)

CUresult cuStreamCreateWithPriority(CUstream *out, unsigned int flags, int priority) {
    Ctx *c = NULL;
    API_ENTER(API_CONTEXT, &c);
    if (!out || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
    Stream *s = gr_stream_new(c, flags, priority);
    if (s)
        *out = (CUstream)s;
    return gr_cu_leave(s ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult cuStreamCreate(CUstream *out, unsigned int flags) {
    return cuStreamCreateWithPriority(out, flags, 0);
}

CUresult cuStreamDestroy_v2(CUstream handle) {
    API_ENTER(API_CLEANUP, NULL);
    Stream *s = gr_cu_handle(handle, HANDLE_STREAM);
    if (!s || s == s->ctx->legacy)
        return gr_cu_leave(CUDA_ERROR_INVALID_HANDLE);
    gr_stream_free(s);
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuStreamDestroy(CUstream handle) { return cuStreamDestroy_v2(handle); }

CUresult cuStreamSynchronize(CUstream handle) {
    Ctx *c = NULL;
    Stream *s = NULL;
    STREAM_ENTER(handle, &c, &s);
    CUresult r = gr_capture_stream_forbids(s);
    if (r == CUDA_SUCCESS)
        r = gr_capture_unsafe_in(s);
    return gr_cu_leave(r == CUDA_SUCCESS ? gr_queue_drain_stream(s) : r);
}

CUresult cuStreamQuery(CUstream handle) {
    Ctx *c = NULL;
    Stream *s = NULL;
    STREAM_ENTER(handle, &c, &s);
    CUresult r = gr_capture_stream_forbids(s);
    if (r == CUDA_SUCCESS)
        r = gr_capture_unsafe_in(s);
    if (r != CUDA_SUCCESS)
        return gr_cu_leave(r);
    gr_queue_asked();
    if (!gr_queue_is_done(s))
        return gr_cu_leave(CUDA_ERROR_NOT_READY);
    gr_print_flush();
    gr_work_waited((GrWaited){.stream = s->id, .ctx = s->ctx, .legacy = s == s->ctx->legacy});
    return gr_cu_leave(CUDA_SUCCESS);
}

// ---- Properties --------------------------------------------------------------------------------------------

CUresult cuStreamGetPriority(CUstream handle, int *priority) {
    Ctx *c = NULL;
    Stream *s = NULL;
    STREAM_ENTER(handle, &c, &s);
    if (!priority)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    *priority = s->priority;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuStreamGetFlags(CUstream handle, unsigned int *flags) {
    Ctx *c = NULL;
    Stream *s = NULL;
    STREAM_ENTER(handle, &c, &s);
    if (!flags)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    *flags = s->flags;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuStreamGetId(CUstream handle, unsigned long long *id) {
    Ctx *c = NULL;
    Stream *s = NULL;
    STREAM_ENTER(handle, &c, &s);
    if (!id)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    *id = s->id;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext *ctx) {
    Ctx *c = NULL;
    Stream *s = NULL;
    STREAM_ENTER(handle, &c, &s);
    if (!ctx)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    *ctx = (CUcontext)s->ctx;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext *ctx, CUgreenCtx *green) {
    if (green)
        *green = NULL;
    return cuStreamGetCtx(handle, ctx);
}

CUresult cuStreamGetDevice(CUstream handle, CUdevice *device) {
    Ctx *c = NULL;
    Stream *s = NULL;
    STREAM_ENTER(handle, &c, &s);
    if (!device)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    *device = s->ctx->dev->ordinal;
    return gr_cu_leave(CUDA_SUCCESS);
}

// Attributes are hints to hardware, or the priority: kept and answered.
CUresult cuStreamGetAttribute(CUstream handle, CUstreamAttrID attr, CUstreamAttrValue *value) {
    Ctx *c = NULL;
    Stream *s = NULL;
    STREAM_ENTER(handle, &c, &s);
    if (!value)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    memset(value, 0, sizeof *value);
    switch (attr) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: *value = s->window; break;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: *value = s->sync_policy; break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: value->priority = s->priority; break;
    default: return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    }
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuStreamSetAttribute(CUstream handle, CUstreamAttrID attr, const CUstreamAttrValue *value) {
    Ctx *c = NULL;
    Stream *s = NULL;
    STREAM_ENTER(handle, &c, &s);
    if (!value)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    switch (attr) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: s->window = *value; break;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: s->sync_policy = *value; break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: s->priority = value->priority; break;
    default: return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    }
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuStreamCopyAttributes(CUstream dst, CUstream src) {
    Ctx *c = NULL;
    Stream *s = NULL, *d = NULL;
    STREAM_ENTER(src, &c, &s);
    CUresult r = gr_stream_get(c, dst, &d);
    if (r == CUDA_SUCCESS) {
        d->window = s->window;
        d->sync_policy = s->sync_policy;
        d->priority = s->priority;
    }
    return gr_cu_leave(r);
}

// ---- Items -------------------------------------------------------------------------------------------------

static CUresult submit_host(CUstream handle, HostJob job) {
    Ctx *c = NULL;
    Stream *s = NULL;
    STREAM_ENTER(handle, &c, &s);
    if (!job.fn && !job.callback)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    Item *it = gr_item_new(ITEM_HOST);
    if (!it)
        return gr_cu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    job.stream = handle;
    it->host = job;
    return gr_cu_leave(gr_submit(s, it));
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn fn, void *user) {
    return submit_host(handle, (HostJob){.fn = fn, .user = user});
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void *user, unsigned int flags) {
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    return submit_host(handle, (HostJob){.callback = callback, .user = user});
}

CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr ptr, size_t length, unsigned int flags) {
    Ctx *c = NULL;
    Stream *s = NULL;
    STREAM_ENTER(handle, &c, &s);
    if (s->capture) // no graph has such nodes
        return gr_cu_leave(gr_capture_stream_forbids(s));
    CUresult allowed = gr_capture_unsafe_in(s);
    if (allowed != CUDA_SUCCESS)
        return gr_cu_leave(allowed);
    const VmRange *r = gr_vm_mem_find(gr_cu.mem, ptr);
    if (!r || r->addr != ptr || (length != 0 && length != r->size) || !gr_vm_mem_host_reaches(r) ||
        (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE) ||
        (flags == CU_MEM_ATTACH_SINGLE && s == s->ctx->legacy))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    return gr_cu_leave(CUDA_SUCCESS);
}

static CUresult submit_value(CUstream handle, ItemKind kind, CUdeviceptr addr, uint64_t value, unsigned flags,
                             bool wide) {
    Ctx *c = NULL;
    Stream *s = NULL;
    STREAM_ENTER(handle, &c, &s);
    size_t size = wide ? 8 : 4;
    void *view = addr % size == 0 ? gr_mem_device_view(addr, size) : NULL;
    unsigned known =
        kind == ITEM_WAIT_VALUE ? 3 | CU_STREAM_WAIT_VALUE_FLUSH : CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
    if (!view || (flags & ~known))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    Item *it = gr_item_new(kind);
    if (!it)
        return gr_cu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    it->value = (ValueJob){.view = view, .value = value, .flags = flags, .wide = wide};
    return gr_cu_leave(gr_submit(s, it));
}

CUresult cuStreamWaitValue32_v2(CUstream s, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
    return submit_value(s, ITEM_WAIT_VALUE, addr, value, flags, false);
}

CUresult cuStreamWaitValue64_v2(CUstream s, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
    return submit_value(s, ITEM_WAIT_VALUE, addr, value, flags, true);
}

CUresult cuStreamWriteValue32_v2(CUstream s, CUdeviceptr addr, cuuint32_t value, unsigned int flags) {
    return submit_value(s, ITEM_WRITE_VALUE, addr, value, flags, false);
}

CUresult cuStreamWriteValue64_v2(CUstream s, CUdeviceptr addr, cuuint64_t value, unsigned int flags) {
    return submit_value(s, ITEM_WRITE_VALUE, addr, value, flags, true);
}

// Submits them in the order given; a failed one ends it.
CUresult cuStreamBatchMemOp_v2(CUstream s, unsigned int n, CUstreamBatchMemOpParams *ops,
                               unsigned int flags) {
    if (flags || (n && !ops))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = CUDA_SUCCESS;
    for (unsigned i = 0; i < n && r == CUDA_SUCCESS; i++) {
        const CUstreamBatchMemOpParams *p = &ops[i];
        switch (p->operation) {
        case CU_STREAM_MEM_OP_WAIT_VALUE_32:
            r = cuStreamWaitValue32_v2(s, p->waitValue.address, p->waitValue.value, p->waitValue.flags);
            break;
        case CU_STREAM_MEM_OP_WAIT_VALUE_64:
            r = cuStreamWaitValue64_v2(s, p->waitValue.address, p->waitValue.value64, p->waitValue.flags);
            break;
        case CU_STREAM_MEM_OP_WRITE_VALUE_32:
            r = cuStreamWriteValue32_v2(s, p->writeValue.address, p->writeValue.value, p->writeValue.flags);
            break;
        case CU_STREAM_MEM_OP_WRITE_VALUE_64:
            r = cuStreamWriteValue64_v2(s, p->writeValue.address, p->writeValue.value64, p->writeValue.flags);
            break;
        case CU_STREAM_MEM_OP_BARRIER: // what a stream does is in order anyway, and visible to all
        case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: break;
        default: r = CUDA_ERROR_NOT_SUPPORTED; break;
        }
    }
    return r;
}
