// SPDX-License-Identifier: Apache-2.0
// virtual — virtual memory management: reserved addresses, memory with a handle, mappings and access.
//
// Answers are those of an H100 (driver 580.159, CUDA 13.0). Memory is mapped as a whole. No call waits for work. Work
// that was submitted before the program unmaps memory still finds it there, as with memory of a pool: that is a race,
// and no fault.
#include "vm/virtual.h"
#include "driver/cuda/driver.h"
#include "driver/cuda/queue.h"

// What a CUmemGenericAllocationHandle is: a live handle while the program has references to it. While there are
// mappings, it can become one again.
typedef struct Pages {
    HandleKind kind;
    CUmemAllocationProp prop;
    VmPages *pages;
    unsigned refs;
} Pages;

static bool is_even(uint64_t n) { return n % VM_GRANULARITY == 0; }

static Pages *pages_of(CUmemGenericAllocationHandle handle) {
    return gr_cu_handle((const void *)(uintptr_t)handle, HANDLE_PAGES);
}

// ---- Addresses -----------------------------------------------------------------------------------------------

CUresult cuMemAddressReserve(CUdeviceptr *out, size_t size, size_t alignment, CUdeviceptr hint,
                             unsigned long long flags) {
    API_ENTER(API_INIT, NULL);
    uint64_t at = 0;
    if (!out || flags)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    if (!gr_cu.config.virtual)
        return gr_cu_leave(CUDA_ERROR_NOT_SUPPORTED);
    CUresult st = gr_cu_status(gr_vm_reserve(gr_cu.mem, size, alignment, hint, &at, NULL));
    if (st == CUDA_SUCCESS)
        *out = at;
    return gr_cu_leave(st);
}

CUresult cuMemAddressFree(CUdeviceptr at, size_t size) {
    API_ENTER(API_INIT, NULL);
    return gr_cu_leave(gr_cu_status(gr_vm_unreserve(gr_cu.mem, at, size, NULL)));
}

// ---- Memory --------------------------------------------------------------------------------------------------

// What kind of memory there is here: pinned, on a device, not shared with other processes.
static CUresult check_kind(const CUmemAllocationProp *p) {
    if (p->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    switch (p->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: break;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    if (!gr_cu_device(p->location.id))
        return CUDA_ERROR_INVALID_DEVICE;
    return p->requestedHandleTypes || p->allocFlags.usage ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t size, const CUmemAllocationProp *prop,
                     unsigned long long flags) {
    API_ENTER(API_INIT, NULL);
    if (!out || !prop || flags || !size || !is_even(size))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    CUresult st = gr_cu.config.virtual ? check_kind(prop) : CUDA_ERROR_NOT_SUPPORTED;
    if (st != CUDA_SUCCESS)
        return gr_cu_leave(st);
    Pages *p = calloc(1, sizeof *p);
    if (!p || !gr_cu_handle_add(p, HANDLE_PAGES)) {
        free(p);
        return gr_cu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    st = gr_cu_status(gr_vm_pages_create(gr_cu.mem, prop->location.id, size, &p->pages, NULL));
    if (st != CUDA_SUCCESS) {
        gr_cu_handle_remove(p);
        free(p);
        return gr_cu_leave(st);
    }
    p->pages->user = p;
    p->refs = 1;
    p->prop.type = prop->type; // what else was asked for, such as compression, is not given
    p->prop.location = prop->location;
    *out = (CUmemGenericAllocationHandle)(uintptr_t)p;
    return gr_cu_leave(CUDA_SUCCESS);
}

// The last reference has gone; mappings may be left.
static void release(Pages *p) {
    bool last = p->pages->mappings == 0;
    gr_cu_handle_remove(p);
    if (last) {
        gr_vm_pages_release(gr_cu.mem, p->pages);
        free(p);
    }
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    API_ENTER(API_INIT, NULL);
    Pages *p = pages_of(handle);
    if (p && --p->refs == 0)
        release(p);
    return gr_cu_leave(p ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *out, void *address) {
    API_ENTER(API_INIT, NULL);
    const VmMapping *x = gr_vm_mapping(gr_cu.mem, (uint64_t)(uintptr_t)address);
    Pages *p = out && x ? x->pages->user : NULL;
    if (!p)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    if (p->refs == 0 && !gr_cu_handle_add(p, HANDLE_PAGES))
        return gr_cu_leave(CUDA_ERROR_OUT_OF_MEMORY);
    p->refs++;
    *out = (CUmemGenericAllocationHandle)(uintptr_t)p;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *out,
                                                CUmemGenericAllocationHandle handle) {
    API_ENTER(API_INIT, NULL);
    const Pages *p = pages_of(handle);
    if (!p || !out)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    *out = p->prop;
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuMemGetAllocationGranularity(size_t *out, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option) {
    API_ENTER(API_INIT, NULL);
    if (!out || !prop ||
        (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM && option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    *out = VM_GRANULARITY;
    return gr_cu_leave(CUDA_SUCCESS);
}

// ---- Mappings ------------------------------------------------------------------------------------------------

CUresult cuMemMap(CUdeviceptr at, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
    API_ENTER(API_INIT, NULL);
    const Pages *p = pages_of(handle);
    if (!p || flags || !size)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    if (offset || size != p->pages->size) // as a GPU's driver says: a part of it
        return gr_cu_leave(CUDA_ERROR_NOT_SUPPORTED);
    return gr_cu_leave(gr_cu_status(gr_vm_map(gr_cu.mem, at, p->pages, NULL)));
}

// [at, at + size) lies in one reservation and cuts no mapping in two.
static bool is_whole(uint64_t at, uint64_t size) {
    const VmReservation *r = gr_vm_reservation(gr_cu.mem, at);
    if (!r || !size || !is_even(at) || !is_even(size) || size > r->size - (at - r->addr))
        return false;
    const VmMapping *first = gr_vm_mapping(gr_cu.mem, at), *last = gr_vm_mapping(gr_cu.mem, at + size - 1);
    return (!first || first->addr == at) && (!last || last->addr + last->size == at + size);
}

static bool is_all_mapped(uint64_t at, uint64_t size) {
    uint64_t end = at + size;
    for (const VmMapping *x; at < end; at = x->addr + x->size)
        if (!(x = gr_vm_mapping(gr_cu.mem, at)))
            return false;
    return true;
}

// Each mapping that begins in [from, to). The loop may remove it.
#define EACH_MAPPING(x, from, to)                                                                            \
    for (VmMapping *x = gr_vm_mapping_from(gr_cu.mem, (from)), *next_;                                       \
         x && x->addr < (to) && (next_ = gr_vm_mapping_from(gr_cu.mem, x->addr + x->size), true); x = next_)

// Tells that what is at `x` can no longer be used there.
static void tell_gone(const VmMapping *x) {
    if (x->readers)
        gr_work_freed(x->addr, x->size);
}

static bool is_accessible(uint64_t at, uint64_t size) {
    EACH_MAPPING(x, at, at + size)
    if (x->readers)
        return true;
    return false;
}

CUresult cuMemUnmap(CUdeviceptr at, size_t size) {
    API_ENTER(API_INIT, NULL);
    if (is_whole(at, size) && is_accessible(at, size))
        gr_queue_outlast();
    if (!is_whole(at, size)) // asked again: other threads were let in
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    EACH_MAPPING(x, at, at + size) {
        Pages *p = x->pages->user;
        tell_gone(x);
        gr_vm_unmap(gr_cu.mem, x);
        if (p->refs == 0 && p->pages->mappings == 0) {
            gr_vm_pages_release(gr_cu.mem, p->pages);
            free(p);
        }
    }
    return gr_cu_leave(CUDA_SUCCESS);
}

// ---- Access --------------------------------------------------------------------------------------------------

static CUresult check_access(const CUmemAccessDesc *desc, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const CUmemAccessDesc *d = &desc[i];
        bool known = d->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || d->flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
                     d->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        if (d->location.type == CU_MEM_LOCATION_TYPE_HOST ||
            d->location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA)
            return CUDA_ERROR_NOT_SUPPORTED;
        if (d->location.type != CU_MEM_LOCATION_TYPE_DEVICE || !gr_cu_device(d->location.id) || !known)
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static void add_access(const CUmemAccessDesc *desc, size_t n, uint32_t *readers, uint32_t *writers) {
    for (size_t i = 0; i < n; i++) {
        uint32_t bit = UINT32_C(1) << desc[i].location.id;
        bool reads = desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
        bool writes = desc[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        *readers = reads ? *readers | bit : *readers & ~bit;
        *writers = writes ? *writers | bit : *writers & ~bit;
    }
}

static CUresult set_access(VmMapping *x, const CUmemAccessDesc *desc, size_t n) {
    uint32_t readers = x->readers, writers = x->writers;
    add_access(desc, n, &readers, &writers);
    if (!readers)
        tell_gone(x);
    CUresult st = gr_cu_status(gr_vm_set_access(gr_cu.mem, x, readers, writers, NULL));
    if (readers && x->pages->mappings > 1)
        gr_cu_hook_note("the program maps the same memory to several addresses: accesses through different "
                        "ones are taken for accesses "
                        "to different memory");
    return st;
}

CUresult cuMemSetAccess(CUdeviceptr at, size_t size, const CUmemAccessDesc *desc, size_t n) {
    API_ENTER(API_INIT, NULL);
    CUresult st = desc && n ? check_access(desc, n) : CUDA_ERROR_INVALID_VALUE;
    bool takes = false;
    for (size_t i = 0; st == CUDA_SUCCESS && i < n; i++)
        takes |= desc[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (takes && is_whole(at, size) && is_accessible(at, size))
        gr_queue_outlast();
    if (st == CUDA_SUCCESS && !(is_whole(at, size) && is_all_mapped(at, size)))
        st = CUDA_ERROR_INVALID_VALUE;
    if (st != CUDA_SUCCESS)
        return gr_cu_leave(st);
    EACH_MAPPING(x, at, at + size) {
        st = set_access(x, desc, n);
        if (st != CUDA_SUCCESS)
            break;
    }
    return gr_cu_leave(st);
}

CUresult cuMemGetAccess(unsigned long long *out, const CUmemLocation *location, CUdeviceptr at) {
    API_ENTER(API_INIT, NULL);
    if (!out || !location)
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    bool device = location->type == CU_MEM_LOCATION_TYPE_DEVICE;
    if (device && !gr_cu_device(location->id))
        return gr_cu_leave(CUDA_ERROR_INVALID_DEVICE);
    const VmMapping *x = gr_vm_mapping(gr_cu.mem, at);
    uint32_t bit = device ? UINT32_C(1) << location->id : 0; // the host has none
    *out = !x                 ? CU_MEM_ACCESS_FLAGS_PROT_NONE
           : x->writers & bit ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
           : x->readers & bit ? CU_MEM_ACCESS_FLAGS_PROT_READ
                              : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return gr_cu_leave(x ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}
