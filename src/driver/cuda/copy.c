// SPDX-License-Identifier: Apache-2.0
// copy — all memory copies, as boxes between two sides.
//
// What a copy waits for follows CUDA's "API synchronization behavior":
//     pageable host -> device      staged: the host's bytes are taken at the call. The synchronous form first waits for
//                                  what is before it in its stream; the copy to the device itself may come later
//     device -> pageable host      returns when done, asynchronous form included
//     pinned host <-> device       synchronous form: returns when done
//     device -> device             no wait in any form
//     host -> host                 returns when done
// Managed memory counts as device memory, except that the synchronous forms return when done, as those of memset do:
// CUDA's text leaves that open for copies, and an H100 does so (tests/driver/cudart/builds/waits.cu).
#include "driver/cuda/capture.h"
#include "driver/cuda/driver.h"
#include "driver/cuda/memory.h"
#include "driver/cuda/queue.h"
#include "driver/cuda/stream.h"

typedef enum Place { PLACE_PAGEABLE, PLACE_PINNED, PLACE_DEVICE } Place;

typedef struct Side {
    CUmemorytype type; // HOST, DEVICE or UNIFIED
    uint64_t base;
    size_t x, y, z, pitch, height; // pitch 0: the copy's width; height 0: the copy's height
    Place place;                   // resolved
    char *view;
    size_t slice;
    uint64_t addr; // 0: pageable
    int device;    // whose memory it is; -1: none's in particular
    bool managed;
} Side;

// A freed or stray address of the regions that all device memory comes from is no pageable host memory.
static bool is_stray(const VmRange *r, uint64_t addr) { return !r && gr_vm_mem_owns(gr_cu.mem, addr); }

static CUresult resolve(Side *s, size_t width, size_t height, size_t depth) {
    if (s->pitch == 0)
        s->pitch = width + s->x;
    if (s->height == 0)
        s->height = height + s->y;
    size_t offset, size, last, slices;
    s->device = -1;
    if (s->pitch < width || ((height > 1 || s->y) && s->pitch < s->x + width) ||
        (depth > 1 && s->height < height) || __builtin_mul_overflow(s->pitch, s->height, &s->slice) ||
        __builtin_mul_overflow(s->slice, s->z + depth, &slices))
        return CUDA_ERROR_INVALID_VALUE;
    if (__builtin_mul_overflow(s->y, s->pitch, &offset) ||
        __builtin_mul_overflow(height - 1, s->pitch, &last) ||
        __builtin_add_overflow((depth - 1) * s->slice + width, last, &size))
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t start = s->base + s->z * s->slice + offset + s->x;
    const VmRange *r = gr_vm_mem_find(gr_cu.mem, start);
    if (s->base == 0 || start < s->base || start + size < start || is_stray(r, start) ||
        (!r && s->type == CU_MEMORYTYPE_DEVICE))
        return CUDA_ERROR_INVALID_VALUE;
    if (!r) {
        s->place = PLACE_PAGEABLE;
        s->view = (char *)(uintptr_t)start;
        s->addr = 0;
        return CUDA_SUCCESS;
    }
    s->addr = start;
    s->view = gr_vm_mem_view(gr_cu.mem, start, size);
    s->managed = r->kind == VM_MEM_MANAGED;
    if (!s->managed)
        s->device = r->device;
    s->place = r->kind == VM_MEM_PINNED || r->kind == VM_MEM_HOST ? PLACE_PINNED : PLACE_DEVICE;
    if (!s->view || (s->type == CU_MEMORYTYPE_HOST && r->kind != VM_MEM_MANAGED && s->place == PLACE_DEVICE))
        return CUDA_ERROR_INVALID_VALUE;
    if (s->type == CU_MEMORYTYPE_HOST && s->place == PLACE_DEVICE)
        s->place = PLACE_PINNED; // managed memory named as host memory
    return CUDA_SUCCESS;
}

// Copies the source's bytes now, packed; the job then reads the copy.
static CUresult stage(Item *it) {
    CopyJob *c = &it->copy;
    size_t rows, size;
    if (__builtin_mul_overflow(c->height, c->depth, &rows) || __builtin_mul_overflow(rows, c->width, &size))
        return CUDA_ERROR_INVALID_VALUE;
    char *packed = malloc(size);
    if (!packed)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < rows; i++)
        memcpy(packed + i * c->width, c->src + i / c->height * c->src_slice + i % c->height * c->src_pitch,
               c->width);
    c->src = packed;
    c->src_pitch = c->width;
    c->src_slice = c->width * c->height;
    c->src_addr = 0;
    it->owned = packed;
    return CUDA_SUCCESS;
}

// `first` comes before what is submitted to `second` from now on.
static CUresult order_streams(Stream *first, Stream *second) {
    Item *record = gr_item_new(ITEM_RECORD), *wait = gr_item_new(ITEM_WAIT);
    Mark *m = record && wait ? gr_mark_new(first->ctx->dev) : NULL;
    if (!m) {
        free(record);
        free(wait);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    record->mark = m;
    wait->mark = gr_mark_ref(m);
    gr_queue_submit(first, record);
    gr_queue_submit(second, wait);
    return CUDA_SUCCESS;
}

// Orders `s` after (or before) what is submitted to the blocking streams of other contexts of two devices.
static CUresult order_devices(Stream *s, int a, int b, bool after) {
    CUresult r = CUDA_SUCCESS;
    for (Stream *other = gr_queue_stream(NULL); r == CUDA_SUCCESS && other; other = gr_queue_stream(other)) {
        const Dev *dev = other->ctx->dev;
        if (other->ctx != s->ctx && other == other->ctx->legacy &&
            (dev == &gr_cu.devices[a] || dev == &gr_cu.devices[b]))
            r = after ? order_streams(other, s) : order_streams(s, other);
    }
    return r;
}

// Resolves the sides, and makes the item.
static CUresult make_item(Side *dst, Side *src, size_t width, size_t height, size_t depth, Item **out) {
    CUresult r;
    if ((r = resolve(dst, width, height, depth)) != CUDA_SUCCESS ||
        (r = resolve(src, width, height, depth)) != CUDA_SUCCESS)
        return r;
    Item *it = gr_item_new(ITEM_COPY);
    if (!it)
        return CUDA_ERROR_OUT_OF_MEMORY;
    it->copy = (CopyJob){.dst = dst->view,
                         .src = src->view,
                         .width = width,
                         .height = height,
                         .depth = depth,
                         .dst_pitch = dst->pitch,
                         .dst_slice = dst->slice,
                         .src_pitch = src->pitch,
                         .src_slice = src->slice,
                         .dst_addr = dst->addr,
                         .src_addr = src->addr};
    *out = it;
    return CUDA_SUCCESS;
}

// Describes the copy in CUDA's own terms, as graph nodes keep it.
static CUDA_MEMCPY3D describe(const Side *dst, const Side *src, size_t width, size_t height, size_t depth) {
    return (CUDA_MEMCPY3D){.srcXInBytes = src->x,
                           .srcY = src->y,
                           .srcZ = src->z,
                           .srcMemoryType = src->type,
                           .srcHost = (const void *)(uintptr_t)src->base,
                           .srcDevice = src->base,
                           .srcPitch = src->pitch,
                           .srcHeight = src->height,
                           .dstXInBytes = dst->x,
                           .dstY = dst->y,
                           .dstZ = dst->z,
                           .dstMemoryType = dst->type,
                           .dstHost = (void *)(uintptr_t)dst->base,
                           .dstDevice = dst->base,
                           .dstPitch = dst->pitch,
                           .dstHeight = dst->height,
                           .WidthInBytes = width,
                           .Height = height,
                           .Depth = depth};
}

static CUresult copy_locked(Ctx *ctx, Side dst, Side src, size_t width, size_t height, size_t depth,
                            CUstream handle, bool async) {
    Stream *s = NULL;
    Item *it = NULL;
    CUresult r = gr_stream_get(ctx, handle, &s);
    if (r != CUDA_SUCCESS)
        return r;
    if (width == 0 || height == 0 || depth == 0)
        return CUDA_SUCCESS;
    if (!async && (r = gr_capture_stream_forbids(s)) != CUDA_SUCCESS)
        return r;
    if ((r = make_item(&dst, &src, width, height, depth, &it)) != CUDA_SUCCESS)
        return r;
    if (s->capture) {
        gr_item_free(it);
        CUDA_MEMCPY3D c = describe(&dst, &src, width, height, depth);
        return gr_capture_copy(s, &c);
    }
    bool to_host = dst.place != PLACE_DEVICE, from_host = src.place != PLACE_DEVICE;
    bool staged = src.place == PLACE_PAGEABLE && !to_host;
    bool wait = to_host && from_host          ? true
                : dst.managed || src.managed  ? !async || dst.place == PLACE_PAGEABLE
                : staged                      ? false
                : dst.place == PLACE_PAGEABLE ? true
                                              : !async && (to_host || from_host);
    if (staged && !async)
        r = gr_queue_drain_stream(s);
    // A copy from device to device without a stream begins after what was submitted to either has ended, and ends
    // before what is submitted later begins (CUDA C++ Programming Guide, peer-to-peer memory copy).
    bool peers = !async && dst.device >= 0 && src.device >= 0 && dst.device != src.device;
    if (r == CUDA_SUCCESS && peers)
        r = order_devices(s, dst.device, src.device, true);
    if (r == CUDA_SUCCESS && staged)
        r = stage(it);
    if (r != CUDA_SUCCESS) {
        gr_item_free(it);
        return r;
    }
    r = gr_submit(s, it);
    if (r == CUDA_SUCCESS && peers)
        r = order_devices(s, dst.device, src.device, false);
    return wait && r == CUDA_SUCCESS ? gr_queue_drain_stream(s) : r;
}

static CUresult copy(Side dst, Side src, size_t width, size_t height, size_t depth, CUstream s, bool async) {
    Ctx *ctx = NULL;
    API_ENTER(API_CONTEXT, &ctx);
    return gr_cu_leave(copy_locked(ctx, dst, src, width, height, depth, s, async));
}

static Side linear(CUmemorytype type, uint64_t base) { return (Side){.type = type, .base = base}; }
static Side device(CUdeviceptr p) { return linear(CU_MEMORYTYPE_DEVICE, p); }
static Side host(const void *p) { return linear(CU_MEMORYTYPE_HOST, (uint64_t)(uintptr_t)p); }
static Side unified(CUdeviceptr p) { return linear(CU_MEMORYTYPE_UNIFIED, p); }

// ---- One dimension: X(name, arguments of the signature, side, side) -----------------------------------------

#define LINEAR(name, DST, SRC, dst, src)                                                                     \
    CUresult name##_v2(DST to, SRC from, size_t n) {                                                         \
        return copy(dst(to), src(from), n, 1, 1, NULL, false);                                               \
    }                                                                                                        \
    CUresult name##_v2_ptds(DST to, SRC from, size_t n) {                                                    \
        return copy(dst(to), src(from), n, 1, 1, CU_STREAM_PER_THREAD, false);                               \
    }                                                                                                        \
    CUresult name##Async_v2(DST to, SRC from, size_t n, CUstream s) {                                        \
        return copy(dst(to), src(from), n, 1, 1, s, true);                                                   \
    }                                                                                                        \
    CUresult name##Async_v2_ptsz(DST to, SRC from, size_t n, CUstream s) {                                   \
        return copy(dst(to), src(from), n, 1, 1, gr_per_thread(s), true);                                    \
    }

LINEAR(cuMemcpyHtoD, CUdeviceptr, const void *, device, host)
LINEAR(cuMemcpyDtoH, void *, CUdeviceptr, host, device)
LINEAR(cuMemcpyDtoD, CUdeviceptr, CUdeviceptr, device, device)

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t n) {
    return copy(unified(dst), unified(src), n, 1, 1, NULL, false);
}

CUresult cuMemcpy_ptds(CUdeviceptr dst, CUdeviceptr src, size_t n) {
    return copy(unified(dst), unified(src), n, 1, 1, CU_STREAM_PER_THREAD, false);
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s) {
    return copy(unified(dst), unified(src), n, 1, 1, s, true);
}

// All contexts share one address space: they only have to exist.
static CUresult copy_peer(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx, size_t n,
                          CUstream s, bool async) {
    Ctx *ctx = NULL;
    API_ENTER(API_CONTEXT, &ctx);
    if (!gr_cu_handle(dst_ctx, HANDLE_CTX) || !gr_cu_handle(src_ctx, HANDLE_CTX))
        return gr_cu_leave(CUDA_ERROR_INVALID_CONTEXT);
    return gr_cu_leave(copy_locked(ctx, device(dst), device(src), n, 1, 1, s, async));
}

CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx, size_t n) {
    return copy_peer(dst, dst_ctx, src, src_ctx, n, NULL, false);
}

CUresult cuMemcpyPeer_ptds(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx, size_t n) {
    return copy_peer(dst, dst_ctx, src, src_ctx, n, CU_STREAM_PER_THREAD, false);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_ctx, CUdeviceptr src, CUcontext src_ctx, size_t n,
                           CUstream s) {
    return copy_peer(dst, dst_ctx, src, src_ctx, n, s, true);
}

// ---- Two and three dimensions ------------------------------------------------------------------------------

// The two sides of any of CUDA's structures of that kind; arrays are absent.
#define SIDE(p, which, zz, hh)                                                                               \
    (Side) {                                                                                                 \
        .type = (p)->which##MemoryType,                                                                      \
        .base = (p)->which##MemoryType == CU_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)(p)->which##Host         \
                                                             : (p)->which##Device,                           \
        .x = (p)->which##XInBytes, .y = (p)->which##Y, .z = (zz), .pitch = (p)->which##Pitch, .height = (hh) \
    }

static CUresult check_box(Side dst, Side src) {
    if (dst.type == CU_MEMORYTYPE_ARRAY || src.type == CU_MEMORYTYPE_ARRAY) {
        gr_cu_hook_absent("copies to and from CUDA arrays");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (dst.type < CU_MEMORYTYPE_HOST || dst.type > CU_MEMORYTYPE_UNIFIED || src.type < CU_MEMORYTYPE_HOST ||
        src.type > CU_MEMORYTYPE_UNIFIED)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static CUresult copy_box(Side dst, Side src, size_t width, size_t height, size_t depth, CUstream s,
                         bool async) {
    CUresult r = check_box(dst, src);
    return r == CUDA_SUCCESS ? copy(dst, src, width, height, depth, s, async) : r;
}

CUresult gr_copy_item(const CUDA_MEMCPY3D *p, Item **out) {
    if (p->srcLOD || p->dstLOD || p->WidthInBytes == 0 || p->Height == 0 || p->Depth == 0)
        return CUDA_ERROR_INVALID_VALUE;
    Side dst = SIDE(p, dst, p->dstZ, p->dstHeight), src = SIDE(p, src, p->srcZ, p->srcHeight);
    CUresult r = check_box(dst, src);
    return r == CUDA_SUCCESS ? make_item(&dst, &src, p->WidthInBytes, p->Height, p->Depth, out) : r;
}

static CUresult copy_2d(const CUDA_MEMCPY2D *p, CUstream s, bool async) {
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    return copy_box(SIDE(p, dst, 0, 0), SIDE(p, src, 0, 0), p->WidthInBytes, p->Height, 1, s, async);
}

static CUresult copy_3d(const CUDA_MEMCPY3D *p, CUstream s, bool async) {
    if (!p || p->srcLOD || p->dstLOD)
        return CUDA_ERROR_INVALID_VALUE;
    return copy_box(SIDE(p, dst, p->dstZ, p->dstHeight), SIDE(p, src, p->srcZ, p->srcHeight), p->WidthInBytes,
                    p->Height, p->Depth, s, async);
}

static CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER *p, CUstream s, bool async) {
    if (!p || p->srcLOD || p->dstLOD)
        return CUDA_ERROR_INVALID_VALUE;
    return copy_box(SIDE(p, dst, p->dstZ, p->dstHeight), SIDE(p, src, p->srcZ, p->srcHeight), p->WidthInBytes,
                    p->Height, p->Depth, s, async);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *p) { return copy_2d(p, NULL, false); }
CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D *p) { return copy_2d(p, CU_STREAM_PER_THREAD, false); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *p) { return copy_2d(p, NULL, false); }
CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D *p) {
    return copy_2d(p, CU_STREAM_PER_THREAD, false);
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *p, CUstream s) { return copy_2d(p, s, true); }
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *p) { return copy_3d(p, NULL, false); }
CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D *p) { return copy_3d(p, CU_STREAM_PER_THREAD, false); }
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *p, CUstream s) { return copy_3d(p, s, true); }
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *p) { return copy_3d_peer(p, NULL, false); }
CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D_PEER *p) {
    return copy_3d_peer(p, CU_STREAM_PER_THREAD, false);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *p, CUstream s) { return copy_3d_peer(p, s, true); }

// ---- Batches -----------------------------------------------------------------------------------------------

static CUresult copy_batch(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                           CUmemcpyAttributes *attrs, size_t *first, size_t n_attrs, size_t *failed,
                           CUstream s) {
    Ctx *ctx = NULL;
    API_ENTER(API_CONTEXT, &ctx);
    if (failed)
        *failed = SIZE_MAX;
    // CUDA refuses the default stream here.
    if (!dsts || !srcs || !sizes || !count || !attrs || !first || !n_attrs || n_attrs > count ||
        first[0] != 0 || s == NULL || s == CU_STREAM_LEGACY)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    CUresult r = CUDA_SUCCESS;
    for (size_t i = 0; i < count && r == CUDA_SUCCESS; i++) {
        r = copy_locked(ctx, unified(dsts[i]), unified(srcs[i]), sizes[i], 1, 1, s, true);
        if (r != CUDA_SUCCESS && failed)
            *failed = i;
    }
    return gr_cu_leave(r);
}

CUresult cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                            CUmemcpyAttributes *attrs, size_t *first, size_t n_attrs, size_t *failed,
                            CUstream s) {
    return copy_batch(dsts, srcs, sizes, count, attrs, first, n_attrs, failed, s);
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                               CUmemcpyAttributes *attrs, size_t *first, size_t n_attrs, CUstream s) {
    return copy_batch(dsts, srcs, sizes, count, attrs, first, n_attrs, NULL, s);
}
