// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/memory.h"

#include <stdlib.h>
#include <string.h>

// What shared memory holds before it is written: nothing that a program is likely to store first.
enum { UNWRITTEN = 0xcb };

static uint64_t lines_up(uint64_t n) { return (n + GR_LINE - 1) / GR_LINE * GR_LINE; }

bool gr_ranges_add(Ranges *r, const GrRange *range) { return gr_vec_push(&r->list, *range); }

void gr_ranges_remove(Ranges *r, const GrRange *range) {
    for (size_t k = 0; k < r->list.len; k++)
        if (r->list.data[k].at == range->at && r->list.data[k].kind == range->kind) {
            r->list.data[k] = r->list.data[--r->list.len];
            return;
        }
}

static int by_address(const void *a, const void *b) {
    const GrPrivExtent *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool points_into(const GrRange *r, const char *params, size_t bytes) {
    for (size_t k = 0; k + 8 <= bytes; k += 4) {
        uint64_t word;
        memcpy(&word, params + k, sizeof word);
        if (word - r->at <= r->size)
            return true;
    }
    return false;
}

// The part of the arena with the ranges, if it is not much larger than they are: its accesses are redirected by an addition.
static void find_window(Layout *l) {
    uint64_t low = UINT64_MAX, high = 0, sum = 0;
    for (size_t k = 0; k < l->inside.len; k++) {
        const GrRange *r = &l->inside.data[k];
        low = r->at < low ? r->at : low;
        high = r->at + r->size > high ? r->at + r->size : high;
        sum += r->size;
    }
    if (!l->inside.len || high - low > 2 * sum + ((uint64_t)1 << 16))
        return;
    l->arena = low / GR_LINE * GR_LINE;
    l->arena_bytes = lines_up(high - l->arena);
}

bool gr_layout_make(const Ranges *r, CUcontext context, const GrArena *arena, uint64_t shared_bytes,
                    const void *params, size_t bytes, Layout *out) {
    *out = (Layout){.shared_bytes = lines_up(shared_bytes)};
    bool ok = true;
    for (size_t k = 0; k < r->list.len && ok; k++) {
        const GrRange *one = &r->list.data[k];
        if ((one->context && one->context != context) || !one->size ||
            (params && one->kind != GR_RANGE_GLOBAL && !points_into(one, params, bytes)))
            continue;
        if (arena->size && one->at - arena->base < arena->size)
            ok = gr_vec_push(&out->inside, *one);
        else
            ok = gr_vec_push(&out->outside, ((GrPrivExtent){one->at, one->size, 0}));
    }
    find_window(out);
    for (size_t k = 0; k < out->inside.len && ok && !out->arena_bytes; k++) // far apart
        ok =
            gr_vec_push(&out->outside, ((GrPrivExtent){out->inside.data[k].at, out->inside.data[k].size, 0}));
    if (!out->arena_bytes)
        out->inside.len = 0;
    if (out->outside.len)
        qsort(out->outside.data, out->outside.len, sizeof *out->outside.data, by_address);
    uint64_t at = out->shared_bytes + out->arena_bytes;
    for (size_t k = 0; k < out->outside.len; k++) {
        GrPrivExtent *e = &out->outside.data[k];
        e->offset = at + e->at % GR_LINE; // so that accesses stay aligned
        at = lines_up(e->offset + e->size);
    }
    out->span = at ? at : GR_LINE; // of no memory, too
    out->stride = lines_up(out->span + out->span / 4);
    if (!ok)
        gr_layout_free(out);
    return ok;
}

void gr_layout_free(Layout *l) {
    gr_vec_free(&l->inside);
    gr_vec_free(&l->outside);
}

uint64_t gr_layout_address(const Layout *l, uint64_t offset) {
    if (offset < l->shared_bytes)
        return offset;
    offset -= l->shared_bytes;
    if (offset < l->arena_bytes)
        return l->arena + offset;
    offset += l->shared_bytes;
    for (size_t k = 0; k < l->outside.len; k++)
        if (offset - l->outside.data[k].offset < l->outside.data[k].size)
            return l->outside.data[k].at + (offset - l->outside.data[k].offset);
    return 0;
}

CUresult gr_buffer_grow(const PrivatizerDriver *d, Buffer *b, size_t size) {
    if (size <= b->size)
        return CUDA_SUCCESS;
    if (b->at)
        (void)d->release(b->at);
    *b = (Buffer){0, 0};
    CUresult rc = d->alloc(&b->at, size);
    b->size = rc == CUDA_SUCCESS ? size : 0;
    return rc;
}

CUresult gr_layout_fill(const PrivatizerDriver *d, const Layout *l, CUdeviceptr copies, uint64_t n,
                        CUstream stream) {
    CUresult rc = d->fill(copies, UNWRITTEN, l->shared_bytes, stream);
    if (rc == CUDA_SUCCESS || !l->shared_bytes)
        rc = d->fill(copies + l->span, 0, l->stride - l->span, stream);
    for (size_t k = 0; k < l->inside.len && rc == CUDA_SUCCESS; k++)
        rc = d->copy(copies + l->shared_bytes + (l->inside.data[k].at - l->arena), l->inside.data[k].at,
                     l->inside.data[k].size, stream);
    for (size_t k = 0; k < l->outside.len && rc == CUDA_SUCCESS; k++)
        rc = d->copy(copies + l->outside.data[k].offset, l->outside.data[k].at, l->outside.data[k].size,
                     stream);
    for (uint64_t have = 1; have < n && rc == CUDA_SUCCESS; have *= 2) // each time as many again
        rc = d->copy(copies + have * l->stride, copies, (have < n - have ? have : n - have) * l->stride,
                     stream);
    return rc;
}
