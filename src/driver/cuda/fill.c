// SPDX-License-Identifier: Apache-2.0
// fill — memsets. All forms are asynchronous, except that the synchronous ones wait if the memory is the host's too:
// pinned, registered or managed (CUDA, "API synchronization behavior", memset).
#include "driver/cuda/capture.h"
#include "driver/cuda/driver.h"
#include "driver/cuda/memory.h"
#include "driver/cuda/queue.h"
#include "driver/cuda/stream.h"

CUresult gr_fill_item(const CUDA_MEMSET_NODE_PARAMS *p, Item **out) {
    size_t row, last, size;
    if ((p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) || p->width == 0 ||
        p->height == 0 || __builtin_mul_overflow(p->width, p->elementSize, &row) ||
        (p->height > 1 && p->pitch < row) || __builtin_mul_overflow(p->height - 1, p->pitch, &last) ||
        __builtin_add_overflow(last, row, &size) || p->dst % p->elementSize != 0 ||
        (p->height > 1 && p->pitch % p->elementSize != 0))
        return CUDA_ERROR_INVALID_VALUE;
    char *view = gr_mem_device_view(p->dst, size);
    if (!view)
        return CUDA_ERROR_INVALID_VALUE;
    Item *it = gr_item_new(ITEM_FILL);
    if (!it)
        return CUDA_ERROR_OUT_OF_MEMORY;
    it->fill = (FillJob){.dst = view,
                         .width = p->width,
                         .height = p->height,
                         .pitch = p->pitch,
                         .element = p->elementSize,
                         .value = p->value,
                         .addr = p->dst};
    *out = it;
    return CUDA_SUCCESS;
}

static CUresult fill(CUdeviceptr dst, size_t pitch, unsigned element, uint32_t value, size_t width,
                     size_t height, CUstream handle, bool async) {
    Ctx *ctx = NULL;
    Stream *s = NULL;
    Item *it = NULL;
    API_ENTER(API_CONTEXT, &ctx);
    CUresult r = gr_stream_get(ctx, handle, &s);
    if (r != CUDA_SUCCESS || width == 0 || height == 0)
        return gr_cu_leave(r);
    r = gr_fill_item(&(CUDA_MEMSET_NODE_PARAMS){dst, pitch, value, element, width, height}, &it);
    if (r != CUDA_SUCCESS)
        return gr_cu_leave(r);
    bool wait = !async && gr_vm_mem_host_reaches(gr_vm_mem_find(gr_cu.mem, dst));
    r = gr_submit(s, it);
    return gr_cu_leave(wait && r == CUDA_SUCCESS ? gr_queue_drain_stream(s) : r);
}

#define FILLS(bits, type)                                                                                    \
    CUresult cuMemsetD##bits##_v2(CUdeviceptr dst, type value, size_t n) {                                   \
        return fill(dst, 0, bits / 8, value, n, 1, NULL, false);                                             \
    }                                                                                                        \
    CUresult cuMemsetD##bits##_v2_ptds(CUdeviceptr dst, type value, size_t n) {                              \
        return fill(dst, 0, bits / 8, value, n, 1, CU_STREAM_PER_THREAD, false);                             \
    }                                                                                                        \
    CUresult cuMemsetD##bits##Async(CUdeviceptr dst, type value, size_t n, CUstream s) {                     \
        return fill(dst, 0, bits / 8, value, n, 1, s, true);                                                 \
    }                                                                                                        \
    CUresult cuMemsetD##bits##Async_ptsz(CUdeviceptr dst, type value, size_t n, CUstream s) {                \
        return fill(dst, 0, bits / 8, value, n, 1, gr_per_thread(s), true);                                  \
    }                                                                                                        \
    CUresult cuMemsetD2D##bits##_v2(CUdeviceptr dst, size_t pitch, type value, size_t width,                 \
                                    size_t height) {                                                         \
        return fill(dst, pitch, bits / 8, value, width, height, NULL, false);                                \
    }                                                                                                        \
    CUresult cuMemsetD2D##bits##_v2_ptds(CUdeviceptr dst, size_t pitch, type value, size_t width,            \
                                         size_t height) {                                                    \
        return fill(dst, pitch, bits / 8, value, width, height, CU_STREAM_PER_THREAD, false);                \
    }                                                                                                        \
    CUresult cuMemsetD2D##bits##Async(CUdeviceptr dst, size_t pitch, type value, size_t width,               \
                                      size_t height, CUstream s) {                                           \
        return fill(dst, pitch, bits / 8, value, width, height, s, true);                                    \
    }                                                                                                        \
    CUresult cuMemsetD2D##bits##Async_ptsz(CUdeviceptr dst, size_t pitch, type value, size_t width,          \
                                           size_t height, CUstream s) {                                      \
        return fill(dst, pitch, bits / 8, value, width, height, gr_per_thread(s), true);                     \
    }

FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned int)
