// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/memory.h"

#include <stdlib.h>
#include <string.h>

static uint64_t lines_up(uint64_t n) { return (n + GR_LINE - 1) / GR_LINE * GR_LINE; }

bool gr_ranges_add(Ranges *r, const GrRange *range) {
    r->changes++;
    return gr_vec_push(&r->list, *range);
}

void gr_ranges_remove(Ranges *r, const GrRange *range) {
    r->changes++;
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

// Finds the part of the arena that holds the ranges and is not much larger: inserted code looks up its accesses.
static void find_window(Layout *l) {
    uint64_t low = UINT64_MAX, high = 0, sum = 0;
    for (size_t k = 0; k < l->n_inside; k++) {
        const GrPrivExtent *r = &l->extents.data[k];
        low = r->at < low ? r->at : low;
        high = r->at + r->size > high ? r->at + r->size : high;
        sum += r->size;
    }
    if (!l->n_inside || high - low > 2 * sum + ((uint64_t)1 << 16)) {
        l->n_inside = 0;
        return;
    }
    l->arena = low / GR_LINE * GR_LINE;
    l->arena_bytes = lines_up(high - l->arena);
}

static void set_offsets(Layout *l) {
    uint64_t at = l->shared_bytes + l->arena_bytes;
    for (size_t k = 0; k < l->extents.len; k++) {
        GrPrivExtent *e = &l->extents.data[k];
        if (k < l->n_inside) {
            e->offset = l->shared_bytes + (e->at - l->arena);
        } else {
            e->offset = at + e->at % GR_LINE; // so that accesses stay aligned
            at = lines_up(e->offset + e->size);
        }
    }
    l->span = at ? at : GR_LINE; // of no memory, too
}

static bool find_edges(Layout *l) {
    uint64_t next = l->shared_bytes / GR_LINE; // the first line that is not looked at
    bool ok = true;
    for (size_t k = 0; k <= l->extents.len && ok; k++) {
        const GrPrivExtent *e = k < l->extents.len ? &l->extents.data[k] : NULL;
        uint64_t first = (e ? lines_up(e->offset) : l->span) / GR_LINE,
                 end = (e ? e->offset + e->size : l->span) / GR_LINE;
        if (first > next)
            ok = gr_vec_push(&l->edges, ((Edges){next, first - next}));
        next = first > next ? first : next;
        next = end > next ? end : next;
    }
    return ok;
}

bool gr_layout_make(const Ranges *r, CUcontext context, const GrArena *arena, uint64_t shared_bytes,
                    const void *params, size_t bytes, Layout *out) {
    *out = (Layout){.shared_bytes = lines_up(shared_bytes)};
    bool ok = true;
    for (int outside = 0; outside < 2; outside++) {
        for (size_t k = 0; k < r->list.len && ok; k++) {
            const GrRange *one = &r->list.data[k];
            bool wanted = (!one->context || one->context == context) && one->size &&
                          (!params || one->kind == GR_RANGE_GLOBAL || points_into(one, params, bytes));
            if (wanted && outside == !(arena->size && one->at - arena->base < arena->size))
                ok = gr_vec_push(&out->extents, ((GrPrivExtent){one->at, one->size, 0,
                                                                one->kind == GR_RANGE_DEVICE ||
                                                                    one->kind == GR_RANGE_GLOBAL})) &&
                     (!one->name || gr_vec_push(&out->variables, *one));
        }
        if (!outside)
            out->n_inside = (uint32_t)out->extents.len;
    }
    find_window(out);
    GrPrivExtent *all = out->extents.data;
    if (out->n_inside)
        qsort(all, out->n_inside, sizeof *all, by_address);
    if (out->extents.len > out->n_inside)
        qsort(all + out->n_inside, out->extents.len - out->n_inside, sizeof *all, by_address);
    set_offsets(out);
    ok = ok && find_edges(out);
    if (!ok)
        gr_layout_free(out);
    return ok;
}

void gr_layout_free(Layout *l) {
    gr_vec_free(&l->extents);
    gr_vec_free(&l->edges);
    gr_vec_free(&l->variables);
}

const char *gr_layout_variable(const Layout *l, uint64_t address) {
    for (size_t k = 0; k < l->variables.len; k++)
        if (address - l->variables.data[k].at < l->variables.data[k].size)
            return l->variables.data[k].name;
    return NULL;
}

uint64_t gr_layout_address(const Layout *l, uint64_t offset) {
    if (offset < l->shared_bytes)
        return offset;
    for (size_t k = 0; k < l->extents.len; k++)
        if (offset - l->extents.data[k].offset < l->extents.data[k].size)
            return l->extents.data[k].at + (offset - l->extents.data[k].offset);
    return 0;
}

static uint64_t add_number(uint64_t sum, uint64_t n) {
    return (sum ^ n) * UINT64_C(0x9e3779b97f4a7c15) + (sum >> 29);
}

uint64_t gr_layout_number(const Layout *l) {
    uint64_t sum = add_number(add_number(l->arena, l->arena_bytes), l->shared_bytes);
    for (size_t k = 0; k < l->extents.len; k++)
        sum = add_number(add_number(sum, l->extents.data[k].at), l->extents.data[k].size);
    return sum;
}

CUresult gr_buffer_grow(const PrivatizerDriver *d, Buffer *b, size_t size, CUstream stream) {
    if (size <= b->size)
        return CUDA_SUCCESS;
    if (b->at) {
        (void)d->wait(stream);
        (void)d->release(b->at);
    }
    *b = (Buffer){0, 0};
    CUresult rc = d->alloc(&b->at, size);
    b->size = rc == CUDA_SUCCESS ? size : 0;
    return rc;
}

CUresult gr_layout_tables(const PrivatizerDriver *d, const Layout *l, CUdeviceptr tables, uint64_t bytes,
                          uint64_t n, CUstream stream) {
    CUresult rc = d->fill(tables, 0, bytes, stream);
    for (size_t k = 0; k < l->edges.len && rc == CUDA_SUCCESS; k++)
        rc = d->fill_words(tables + 4 * l->edges.data[k].first, GR_ROW_EDGE, l->edges.data[k].n, stream);
    for (uint64_t have = 1; have < n && rc == CUDA_SUCCESS; have *= 2) // each time as many again
        rc = d->copy(tables + have * bytes, tables, (have < n - have ? have : n - have) * bytes, stream);
    return rc;
}
