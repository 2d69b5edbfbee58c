// SPDX-License-Identifier: Apache-2.0
// Copies and fills.
#include "inject/handlers.h"
#include "inject/launches.h"
#include "inject/memory.h"
#include "inject/uses.h"

// ---- the form in which they are told ------------------------------------------------------------------------------

static GrBox line(uint64_t at, size_t size) { return (GrBox){at, size, 1, 1, size, size}; }

// CUDA's own description of one side of a copy: where it is, where in it the box begins, and how its rows lie.
typedef struct Side {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    size_t x, y, z, pitch, height;
} Side;

static GrBox box_of(const Side *s, size_t width, size_t height, size_t depth) {
    GrBox b = {.width = width, .height = height, .depth = depth};
    if (s->type == CU_MEMORYTYPE_ARRAY)
        return b;
    b.pitch = s->pitch ? s->pitch : s->x + width;
    b.slice = b.pitch * (s->height ? s->height : s->y + height);
    b.at = s->type == CU_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)s->host : s->device;
    b.at += s->z * b.slice + s->y * b.pitch + s->x;
    return b;
}

#define SIDE(c, which, z, rows)                                                                              \
    (Side) {                                                                                                 \
        (c)->which##MemoryType, (c)->which##Host, (c)->which##Device, (c)->which##XInBytes, (c)->which##Y,   \
            (z), (c)->which##Pitch, (rows)                                                                   \
    }
#define BOX(c, side, depth) box_of(&(side), (c)->WidthInBytes, (c)->Height, (depth))
#define COPY_2D(c)                                                                                           \
    { BOX(c, SIDE(c, dst, 0, 0), 1), BOX(c, SIDE(c, src, 0, 0), 1), NULL, false }
#define COPY_3D(c)                                                                                           \
    {                                                                                                        \
        BOX(c, SIDE(c, dst, (c)->dstZ, (c)->dstHeight), (c)->Depth),                                         \
            BOX(c, SIDE(c, src, (c)->srcZ, (c)->srcHeight), (c)->Depth), NULL, false                         \
    }

GrCopy gr_copy_of(const CUDA_MEMCPY3D *c) { return (GrCopy)COPY_3D(c); }

GrFill gr_fill_of(CUdeviceptr at, size_t pitch, uint64_t value, uint32_t element, size_t width,
                  size_t height) {
    size_t row = height > 1 ? pitch : width * element;
    return (GrFill){{at, width * element, height, 1, row, row * height}, value, element, NULL, false};
}

static void note_use(CUstream stream, bool async) {
    if (async && gr_stream_is_captured(stream))
        return;
    gr_use_stream(stream);
    if (async)
        gr_use_seen(GR_USE_COPIES);
}

void gr_copy_tell(const GrCopy *c) {
    const Session *s = &gr_session;
    note_use(c->stream, c->async);
    if (!s->engine->copied || (c->async && gr_stream_is_captured(c->stream)))
        return;
    gr_session_lock();
    s->engine->copied(s->engine_self, c);
    gr_session_unlock();
}

void gr_fill_tell(const GrFill *f) {
    const Session *s = &gr_session;
    note_use(f->stream, f->async);
    if (!s->engine->filled || (f->async && gr_stream_is_captured(f->stream)))
        return;
    gr_session_lock();
    s->engine->filled(s->engine_self, f);
    gr_session_unlock();
}

static CUresult told_copy(CUresult rc, GrCopy c, CUstream stream, bool async) {
    c.stream = gr_call_stream(stream);
    c.async = async;
    if (rc == CUDA_SUCCESS)
        gr_copy_tell(&c);
    return rc;
}

// For copies of one row. COPIED acts before `call` and after it.
static CUresult copied(CUresult rc, CUdeviceptr dst, CUdeviceptr src, size_t size) {
    return told_copy(rc, (GrCopy){line(dst, size), line(src, size), NULL, false}, NULL, false);
}

static CUresult copied_async(CUresult rc, CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream) {
    return told_copy(rc, (GrCopy){line(dst, size), line(src, size), NULL, true}, stream, true);
}

static bool comes(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream, bool async) {
    return gr_copy_comes(&(GrCopy){line(dst, size), line(src, size), NULL, async}, stream, async);
}

// A copy from pageable memory may return when the bytes are staged, as the driver's asynchronous one does (CUDA runtime
// API, "API synchronization behavior"). The driver's other one waits until they have reached the device.
static CUresult staged(CUdeviceptr dst, CUdeviceptr src, size_t size) {
    CUresult (*copy)(CUdeviceptr, const void *, size_t, CUstream) =
        (CUresult(*)(CUdeviceptr, const void *, size_t, CUstream))gr_driver_function("cuMemcpyHtoDAsync");
    return copy ? copy(dst, (const void *)(uintptr_t)src, size, gr_call_stream(NULL)) : CUDA_ERROR_NOT_FOUND;
}

#define COPIED(call, dst, src, size)                                                                         \
    copied(comes(dst, src, size, NULL, false) ? staged(dst, src, size) : call, dst, src, size)
#define COPIED_ASYNC(call, dst, src, size, stream)                                                           \
    (comes(dst, src, size, stream, true), copied_async(call, dst, src, size, stream))

// Whether a pointer of which CUDA does not say whose it is points to memory of the host.
static bool is_of_host(CUdeviceptr at) {
    CUresult (*get)(void *, CUpointer_attribute, CUdeviceptr) =
        (CUresult(*)(void *, CUpointer_attribute, CUdeviceptr))gr_driver_function("cuPointerGetAttribute");
    unsigned type = 0;
    if (!get)
        return false;
    return get(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) != CUDA_SUCCESS || type == CU_MEMORYTYPE_HOST;
}

// When a copy to the host's memory returns, everything before it in the default stream, and in streams that wait for
// it, is done.
static CUresult brought(CUresult rc, bool to_host) { return to_host ? gr_waited_for_all(rc) : rc; }

static bool brings(bool to_host) {
    if (to_host)
        gr_host_waits(GR_WAIT_ALL, NULL);
    return to_host;
}

#define TO_HOST(c)                                                                                           \
    ((c)->dstMemoryType == CU_MEMORYTYPE_HOST ||                                                             \
     ((c)->dstMemoryType == CU_MEMORYTYPE_UNIFIED && is_of_host((c)->dstDevice)))

// ---- copies of one row -------------------------------------------------------------------------------------------

CUresult gr_on_memcpy(CUresult (*real)(CUdeviceptr, CUdeviceptr, size_t), CUdeviceptr dst, CUdeviceptr src,
                      size_t size) {
    bool to_host = gr_session.engine->waiting && brings(is_of_host(dst));
    CUresult rc =
        to_host ? copied(real(dst, src, size), dst, src, size) : COPIED(real(dst, src, size), dst, src, size);
    return brought(rc, to_host || (rc == CUDA_SUCCESS && is_of_host(dst)));
}

CUresult gr_on_memcpy_htod(CUresult (*real)(CUdeviceptr, const void *, size_t), CUdeviceptr dst,
                           const void *src, size_t size) {
    return COPIED(real(dst, src, size), dst, (CUdeviceptr)(uintptr_t)src, size);
}

CUresult gr_on_memcpy_dtoh(CUresult (*real)(void *, CUdeviceptr, size_t), void *dst, CUdeviceptr src,
                           size_t size) {
    brings(true);
    return brought(copied(real(dst, src, size), (CUdeviceptr)(uintptr_t)dst, src, size), true);
}

CUresult gr_on_memcpy_async(CUresult (*real)(CUdeviceptr, CUdeviceptr, size_t, CUstream), CUdeviceptr dst,
                            CUdeviceptr src, size_t size, CUstream stream) {
    return COPIED_ASYNC(real(dst, src, size, stream), dst, src, size, stream);
}

CUresult gr_on_memcpy_htod_async(CUresult (*real)(CUdeviceptr, const void *, size_t, CUstream),
                                 CUdeviceptr dst, const void *src, size_t size, CUstream stream) {
    return COPIED_ASYNC(real(dst, src, size, stream), dst, (CUdeviceptr)(uintptr_t)src, size, stream);
}

CUresult gr_on_memcpy_dtoh_async(CUresult (*real)(void *, CUdeviceptr, size_t, CUstream), void *dst,
                                 CUdeviceptr src, size_t size, CUstream stream) {
    return copied_async(real(dst, src, size, stream), (CUdeviceptr)(uintptr_t)dst, src, size, stream);
}

CUresult gr_on_memcpy_peer(CUresult (*real)(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t),
                           CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t size) {
    return COPIED(real(dst, to, src, from, size), dst, src, size);
}

CUresult gr_on_memcpy_peer_async(CUresult (*real)(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t,
                                                  CUstream),
                                 CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t size,
                                 CUstream stream) {
    return COPIED_ASYNC(real(dst, to, src, from, size, stream), dst, src, size, stream);
}

CUresult gr_on_memcpy_dtoa(CUresult (*real)(CUarray, size_t, CUdeviceptr, size_t), CUarray dst, size_t offset,
                           CUdeviceptr src, size_t size) {
    return copied(real(dst, offset, src, size), 0, src, size);
}

CUresult gr_on_memcpy_atod(CUresult (*real)(CUdeviceptr, CUarray, size_t, size_t), CUdeviceptr dst,
                           CUarray src, size_t offset, size_t size) {
    return COPIED(real(dst, src, offset, size), dst, 0, size);
}

#if CUDA_VERSION >= 12080
// The first of several copies that come together stands for all.
static void batch_comes(const CUdeviceptr *dsts, const CUdeviceptr *srcs, const size_t *sizes, size_t n,
                        CUstream stream) {
    if (n && dsts && srcs && sizes)
        comes(dsts[0], srcs[0], sizes[0], stream, true);
}

// Tells of one copy after the other, though the device may do them in any order.
static CUresult batch(CUresult rc, const CUdeviceptr *dsts, const CUdeviceptr *srcs, const size_t *sizes,
                      size_t n, CUstream stream) {
    for (size_t i = 0; rc == CUDA_SUCCESS && i < n; i++)
        copied_async(rc, dsts[i], srcs[i], sizes[i], stream);
    return rc;
}

CUresult gr_on_memcpy_batch(CUresult (*real)(CUdeviceptr *, CUdeviceptr *, size_t *, size_t,
                                             CUmemcpyAttributes *, size_t *, size_t, size_t *, CUstream),
                            CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t n,
                            CUmemcpyAttributes *attrs, size_t *indices, size_t n_attrs, size_t *failed,
                            CUstream stream) {
    batch_comes(dsts, srcs, sizes, n, stream);
    return batch(real(dsts, srcs, sizes, n, attrs, indices, n_attrs, failed, stream), dsts, srcs, sizes, n,
                 stream);
}

CUresult gr_on_memcpy_batch_v2(CUresult (*real)(CUdeviceptr *, CUdeviceptr *, size_t *, size_t,
                                                CUmemcpyAttributes *, size_t *, size_t, CUstream),
                               CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t n,
                               CUmemcpyAttributes *attrs, size_t *indices, size_t n_attrs, CUstream stream) {
    batch_comes(dsts, srcs, sizes, n, stream);
    return batch(real(dsts, srcs, sizes, n, attrs, indices, n_attrs, stream), dsts, srcs, sizes, n, stream);
}

// Between pointers an element is a byte. Zero means rows, or layers, as long as the copy's.
static GrBox operand(const CUmemcpy3DOperand *o, const CUextent3D *e) {
    GrBox b = {.width = e->width, .height = e->height, .depth = e->depth};
    if (o->type != CU_MEMCPY_OPERAND_TYPE_POINTER)
        return b;
    b.at = o->op.ptr.ptr;
    b.pitch = o->op.ptr.rowLength ? o->op.ptr.rowLength : e->width;
    b.slice = b.pitch * (o->op.ptr.layerHeight ? o->op.ptr.layerHeight : e->height);
    return b;
}

static CUresult batch_3d(CUresult rc, const CUDA_MEMCPY3D_BATCH_OP *ops, size_t n, CUstream stream) {
    for (size_t i = 0; rc == CUDA_SUCCESS && gr_session.engine->copied && i < n; i++) {
        GrCopy c = {operand(&ops[i].dst, &ops[i].extent), operand(&ops[i].src, &ops[i].extent), NULL, true};
        if (c.to.at && c.from.at)
            told_copy(rc, c, stream, true);
        else
            gr_session_notef("engine %s is not told of copies between arrays and memory in a batch",
                             gr_session.engine->name);
    }
    return rc;
}

CUresult gr_on_memcpy_3d_batch(CUresult (*real)(size_t, CUDA_MEMCPY3D_BATCH_OP *, size_t *,
                                                unsigned long long, CUstream),
                               size_t n, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed,
                               unsigned long long flags, CUstream stream) {
    return batch_3d(real(n, ops, failed, flags, stream), ops, n, stream);
}

CUresult
gr_on_memcpy_3d_batch_v2(CUresult (*real)(size_t, CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream),
                         size_t n, CUDA_MEMCPY3D_BATCH_OP *ops, unsigned long long flags, CUstream stream) {
    return batch_3d(real(n, ops, flags, stream), ops, n, stream);
}
#endif

// ---- boxes -----------------------------------------------------------------------------------------------------

#define BOX_COMES(of, stream, async)                                                                         \
    do {                                                                                                     \
        if (!gr_session.engine->submitting || !(c))                                                          \
            break;                                                                                           \
        if (!TO_HOST(c))                                                                                     \
            gr_copy_comes(&(GrCopy)of(c), stream, async);                                                    \
        else if (!(async))                                                                                   \
            brings(true);                                                                                    \
    } while (0)

CUresult gr_on_memcpy_2d(CUresult (*real)(const CUDA_MEMCPY2D *), const CUDA_MEMCPY2D *c) {
    BOX_COMES(COPY_2D, NULL, false);
    CUresult rc = real(c);
    return rc == CUDA_SUCCESS ? brought(told_copy(rc, (GrCopy)COPY_2D(c), NULL, false), TO_HOST(c)) : rc;
}

CUresult gr_on_memcpy_2d_async(CUresult (*real)(const CUDA_MEMCPY2D *, CUstream), const CUDA_MEMCPY2D *c,
                               CUstream stream) {
    BOX_COMES(COPY_2D, stream, true);
    CUresult rc = real(c, stream);
    return rc == CUDA_SUCCESS ? told_copy(rc, (GrCopy)COPY_2D(c), stream, true) : rc;
}

CUresult gr_on_memcpy_3d(CUresult (*real)(const CUDA_MEMCPY3D *), const CUDA_MEMCPY3D *c) {
    BOX_COMES(COPY_3D, NULL, false);
    CUresult rc = real(c);
    return rc == CUDA_SUCCESS ? brought(told_copy(rc, (GrCopy)COPY_3D(c), NULL, false), TO_HOST(c)) : rc;
}

CUresult gr_on_memcpy_3d_async(CUresult (*real)(const CUDA_MEMCPY3D *, CUstream), const CUDA_MEMCPY3D *c,
                               CUstream stream) {
    BOX_COMES(COPY_3D, stream, true);
    CUresult rc = real(c, stream);
    return rc == CUDA_SUCCESS ? told_copy(rc, (GrCopy)COPY_3D(c), stream, true) : rc;
}

CUresult gr_on_memcpy_3d_peer(CUresult (*real)(const CUDA_MEMCPY3D_PEER *), const CUDA_MEMCPY3D_PEER *c) {
    BOX_COMES(COPY_3D, NULL, false);
    CUresult rc = real(c);
    return rc == CUDA_SUCCESS ? brought(told_copy(rc, (GrCopy)COPY_3D(c), NULL, false), TO_HOST(c)) : rc;
}

CUresult gr_on_memcpy_3d_peer_async(CUresult (*real)(const CUDA_MEMCPY3D_PEER *, CUstream),
                                    const CUDA_MEMCPY3D_PEER *c, CUstream stream) {
    BOX_COMES(COPY_3D, stream, true);
    CUresult rc = real(c, stream);
    return rc == CUDA_SUCCESS ? told_copy(rc, (GrCopy)COPY_3D(c), stream, true) : rc;
}

// ---- fills -----------------------------------------------------------------------------------------------------

static void fill_comes(GrFill f, CUstream stream, bool async) {
    gr_work_comes((GrComing){.kind = GR_COMING_FILL,
                             .stream = stream,
                             .async = async,
                             .to = f.to.at,
                             .size = f.to.width * f.to.height});
}

static CUresult told_fill(CUresult rc, GrFill f, CUstream stream, bool async) {
    f.stream = gr_call_stream(stream);
    f.async = async;
    if (rc == CUDA_SUCCESS)
        gr_fill_tell(&f);
    return rc;
}

#define FILLED(call, f, stream, async) (fill_comes(f, stream, async), told_fill(call, f, stream, async))

#define FILLS(bits, type)                                                                                    \
    CUresult gr_on_memset_d##bits(CUresult (*real)(CUdeviceptr, type, size_t), CUdeviceptr at, type value,   \
                                  size_t n) {                                                                \
        return FILLED(real(at, value, n), gr_fill_of(at, 0, value, (bits) / 8, n, 1), NULL, false);          \
    }                                                                                                        \
    CUresult gr_on_memset_d##bits##_async(CUresult (*real)(CUdeviceptr, type, size_t, CUstream),             \
                                          CUdeviceptr at, type value, size_t n, CUstream stream) {           \
        return FILLED(real(at, value, n, stream), gr_fill_of(at, 0, value, (bits) / 8, n, 1), stream, true); \
    }                                                                                                        \
    CUresult gr_on_memset_d2d##bits(CUresult (*real)(CUdeviceptr, size_t, type, size_t, size_t),             \
                                    CUdeviceptr at, size_t pitch, type value, size_t width, size_t height) { \
        return FILLED(real(at, pitch, value, width, height),                                                 \
                      gr_fill_of(at, pitch, value, (bits) / 8, width, height), NULL, false);                 \
    }                                                                                                        \
    CUresult gr_on_memset_d2d##bits##_async(                                                                 \
        CUresult (*real)(CUdeviceptr, size_t, type, size_t, size_t, CUstream), CUdeviceptr at, size_t pitch, \
        type value, size_t width, size_t height, CUstream stream) {                                          \
        return FILLED(real(at, pitch, value, width, height, stream),                                         \
                      gr_fill_of(at, pitch, value, (bits) / 8, width, height), stream, true);                \
    }
FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)

// A value that a stream writes is a fill of one element.
CUresult gr_on_write_value32(CUresult (*real)(CUstream, CUdeviceptr, cuuint32_t, unsigned), CUstream stream,
                             CUdeviceptr at, cuuint32_t value, unsigned flags) {
    return FILLED(real(stream, at, value, flags), gr_fill_of(at, 0, value, 4, 1, 1), stream, true);
}

CUresult gr_on_write_value64(CUresult (*real)(CUstream, CUdeviceptr, cuuint64_t, unsigned), CUstream stream,
                             CUdeviceptr at, cuuint64_t value, unsigned flags) {
    return FILLED(real(stream, at, value, flags), gr_fill_of(at, 0, value, 8, 1, 1), stream, true);
}

CUresult gr_on_batch_mem_op(CUresult (*real)(CUstream, unsigned, CUstreamBatchMemOpParams *, unsigned),
                            CUstream stream, unsigned n, CUstreamBatchMemOpParams *ops, unsigned flags) {
    CUresult rc = real(stream, n, ops, flags);
    for (unsigned i = 0; rc == CUDA_SUCCESS && i < n; i++) {
        if (ops[i].operation == CU_STREAM_MEM_OP_WRITE_VALUE_32)
            told_fill(rc, gr_fill_of(ops[i].writeValue.address, 0, ops[i].writeValue.value, 4, 1, 1), stream,
                      true);
        else if (ops[i].operation == CU_STREAM_MEM_OP_WRITE_VALUE_64)
            told_fill(rc, gr_fill_of(ops[i].writeValue.address, 0, ops[i].writeValue.value64, 8, 1, 1),
                      stream, true);
    }
    return rc;
}
