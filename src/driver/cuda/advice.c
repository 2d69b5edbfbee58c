// SPDX-License-Identifier: Apache-2.0
// advice — what the program said about its managed memory, and where it asked for the memory to be. All memory has one
// home here, so advice has no effect; but a program can ask what it said. Kept per piece of an allocation, as advice
// may be for a part of it. An attribute that differs within a range counts as not set.
//
// The answers were compared with an H200's (CUDA 13.0).
#include "driver/cuda/driver.h"
#include "driver/cuda/memory.h"
#include "driver/cuda/queue.h"
#include "driver/cuda/stream.h"

typedef struct Piece {
    uint64_t end; // it begins where the one before ends
    bool read_mostly;
    CUmemLocation preferred, prefetched;
    uint32_t accessed_by; // a bit per device
    bool accessed_by_host;
} Piece;

typedef struct Advice {
    VEC(Piece) pieces;
} Advice;

static Map all; // start of the allocation -> Advice

static const CUmemLocation nowhere = {CU_MEM_LOCATION_TYPE_INVALID, CU_DEVICE_INVALID};

void gr_advice_forget(uint64_t addr) {
    Advice *a = gr_map_remove_u64(&all, addr);
    if (a) {
        gr_vec_free(&a->pieces);
        free(a);
    }
}

static Advice *advice_of(const VmRange *r) {
    Advice *a = gr_map_get_u64(&all, r->addr);
    if (a)
        return a;
    a = calloc(1, sizeof *a);
    Piece whole = {.end = r->addr + r->size, .preferred = nowhere, .prefetched = nowhere};
    if (a && gr_vec_push(&a->pieces, whole) && gr_map_put_u64(&all, r->addr, a))
        return a;
    if (a)
        gr_vec_free(&a->pieces);
    free(a);
    return NULL;
}

// Makes a piece end at `at`, which lies in the allocation.
static bool cut(Advice *a, uint64_t at) {
    size_t i = 0;
    while (i < a->pieces.len && a->pieces.data[i].end < at)
        i++;
    if (i == a->pieces.len || a->pieces.data[i].end == at)
        return true;
    Piece first = a->pieces.data[i];
    first.end = at;
    if (!gr_vec_push(&a->pieces, first))
        return false;
    memmove(&a->pieces.data[i + 1], &a->pieces.data[i], (a->pieces.len - 1 - i) * sizeof first);
    a->pieces.data[i] = first;
    return true;
}

// The managed allocation that holds all of it, or NULL.
static const VmRange *find(CUdeviceptr ptr, size_t count) {
    const VmRange *r = gr_vm_mem_find(gr_cu.mem, ptr);
    return r && r->kind == VM_MEM_MANAGED && count > 0 && count <= r->size - (ptr - r->addr) ? r : NULL;
}

static bool is_location(CUmemLocation l) {
    return l.type == CU_MEM_LOCATION_TYPE_DEVICE ? gr_cu_device(l.id) != NULL
                                                 : l.type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

static CUmemLocation normal(CUmemLocation l) {
    return l.type == CU_MEM_LOCATION_TYPE_HOST ? (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, CU_DEVICE_CPU}
                                               : l;
}

static void advise(Piece *p, CUmem_advise advice, CUmemLocation l) {
    bool yes = advice == CU_MEM_ADVISE_SET_ACCESSED_BY;
    switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY: p->read_mostly = true; break;
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY: p->read_mostly = false; break;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: p->preferred = normal(l); break;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: p->preferred = nowhere; break;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
        if (l.type != CU_MEM_LOCATION_TYPE_DEVICE)
            p->accessed_by_host = yes;
        else if (yes)
            p->accessed_by |= UINT32_C(1) << l.id;
        else
            p->accessed_by &= ~(UINT32_C(1) << l.id);
        break;
    }
}

// Cuts the pieces of [ptr, ptr+count) out of the allocation, and yields them; none if memory is out.
static Piece *pieces(const VmRange *r, CUdeviceptr ptr, size_t count, size_t *n) {
    Advice *a = advice_of(r);
    *n = 0;
    if (!a || !(ptr == r->addr || cut(a, ptr)) || !cut(a, ptr + count))
        return NULL;
    size_t first = 0;
    while (a->pieces.data[first].end <= ptr)
        first++;
    while (first + *n < a->pieces.len && a->pieces.data[first + *n].end <= ptr + count)
        ++*n;
    return &a->pieces.data[first];
}

CUresult cuMemAdvise_v2(CUdeviceptr ptr, size_t count, CUmem_advise advice, CUmemLocation location) {
    API_ENTER(API_CONTEXT, NULL);
    const VmRange *r = find(ptr, count);
    if (!r || advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY ||
        !is_location(location))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    size_t n;
    Piece *p = pieces(r, ptr, count, &n);
    for (size_t i = 0; i < n; i++)
        advise(&p[i], advice, location);
    return gr_cu_leave(n ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

static CUmemLocation location_of(CUdevice device) {
    return (CUmemLocation){.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST
                                                           : CU_MEM_LOCATION_TYPE_DEVICE,
                           .id = device};
}

CUresult cuMemAdvise(CUdeviceptr ptr, size_t count, CUmem_advise advice, CUdevice device) {
    return cuMemAdvise_v2(ptr, count, advice, location_of(device));
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr ptr, size_t count, CUmemLocation location, unsigned int flags,
                               CUstream stream) {
    Ctx *c = NULL;
    Stream *s = NULL;
    API_ENTER(API_CONTEXT, &c);
    const VmRange *r = find(ptr, count);
    CUresult st = gr_stream_get(c, stream, &s);
    if (st == CUDA_SUCCESS && (flags || !r || !is_location(location)))
        st = r && location.type == CU_MEM_LOCATION_TYPE_DEVICE && !is_location(location)
                 ? CUDA_ERROR_INVALID_DEVICE
                 : CUDA_ERROR_INVALID_VALUE;
    Item *it = st == CUDA_SUCCESS ? gr_item_new(ITEM_BARRIER) : NULL;
    if (!it)
        return gr_cu_leave(st != CUDA_SUCCESS ? st : CUDA_ERROR_OUT_OF_MEMORY);
    size_t n;
    Piece *p = pieces(r, ptr, count, &n);
    for (size_t i = 0; i < n; i++)
        p[i].prefetched = normal(location);
    return gr_cu_leave(gr_submit(s, it)); // it takes its turn in the stream all the same
}

CUresult cuMemPrefetchAsync(CUdeviceptr ptr, size_t count, CUdevice device, CUstream stream) {
    return cuMemPrefetchAsync_v2(ptr, count, location_of(device), 0, stream);
}

// ---- Asking ------------------------------------------------------------------------------------------------

static CUmemLocation common(const Piece *p, size_t n, bool prefetched) {
    CUmemLocation first = prefetched ? p->prefetched : p->preferred;
    for (size_t i = 1; i < n; i++) {
        CUmemLocation l = prefetched ? p[i].prefetched : p[i].preferred;
        if (l.type != first.type || l.id != first.id)
            return nowhere;
    }
    return first;
}

// The devices that all pieces have, the host last; the rest of the list is filled with CU_DEVICE_INVALID.
static void list_accessing(const Piece *p, size_t n, int *out, size_t room) {
    uint32_t devices = UINT32_MAX;
    bool host = true;
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        devices &= p[i].accessed_by;
        host = host && p[i].accessed_by_host;
    }
    for (; devices && used < room; devices &= devices - 1)
        out[used++] = __builtin_ctz(devices);
    if (host && used < room)
        out[used++] = CU_DEVICE_CPU;
    for (; used < room; used++)
        out[used] = CU_DEVICE_INVALID;
}

static CUresult range_attribute(const VmRange *r, CUdeviceptr ptr, size_t count, void *data, size_t size,
                                CUmem_range_attribute attribute) {
    if (!data || size == 0 || size % sizeof(int) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    size_t n;
    const Piece *p = pieces(r, ptr, count, &n);
    if (n == 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    int *out = data;
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        *out = 1;
        for (size_t i = 0; i < n; i++)
            *out = *out && p[i].read_mostly;
        break;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: list_accessing(p, n, out, size / sizeof *out); break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: *out = common(p, n, false).id; break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID: *out = common(p, n, true).id; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: *out = (int)common(p, n, false).type; break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: *out = (int)common(p, n, true).type; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult cuMemRangeGetAttribute(void *data, size_t size, CUmem_range_attribute attribute, CUdeviceptr ptr,
                                size_t count) {
    API_ENTER(API_CONTEXT, NULL);
    const VmRange *r = find(ptr, count);
    return gr_cu_leave(r ? range_attribute(r, ptr, count, data, size, attribute) : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemRangeGetAttributes(void **data, size_t *sizes, CUmem_range_attribute *attributes, size_t n,
                                 CUdeviceptr ptr, size_t count) {
    API_ENTER(API_CONTEXT, NULL);
    const VmRange *r = find(ptr, count);
    CUresult st = data && sizes && attributes && n && r ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < n && st == CUDA_SUCCESS; i++)
        st = range_attribute(r, ptr, count, data[i], sizes[i], attributes[i]);
    return gr_cu_leave(st);
}
