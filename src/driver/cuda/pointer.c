// SPDX-License-Identifier: Apache-2.0
// pointer — what is known of an address, and advice about managed memory, which has one home here: it is checked,
// and otherwise without effect.
#include "driver/cuda/driver.h"

static bool is_host(const VmRange *r) { return r->kind == VM_MEM_PINNED || r->kind == VM_MEM_HOST; }

// Writes the attribute, 0 where it does not apply. Memory unknown to CUDA is `r` == NULL.
static CUresult get(void *data, CUpointer_attribute attribute, CUdeviceptr ptr, const VmRange *r) {
    bool yes = false;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: *(CUcontext *)data = r && r->user ? (CUcontext)r->user : NULL; break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(CUmemorytype *)data = r ? is_host(r) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE : 0;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)data = r ? ptr : 0; break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *(void **)data = r && (is_host(r) || r->kind == VM_MEM_MANAGED) ? (void *)(uintptr_t)ptr : NULL;
        break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: *(unsigned long long *)data = r ? r->serial : 0; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = !r ? -2 : r->device >= 0 ? r->device : r->user ? ((Ctx *)r->user)->dev->ordinal : 0;
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: *(CUdeviceptr *)data = r ? r->addr : 0; break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: *(size_t *)data = r ? r->size : 0; break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: *(unsigned long long *)data = 0; break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS *)data =
            r ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE;
        break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: *(CUmemoryPool *)data = r ? (CUmemoryPool)r->pool : NULL; break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: yes = r && r->kind == VM_MEM_MANAGED; goto flag;
    case CU_POINTER_ATTRIBUTE_MAPPED: yes = r != NULL; goto flag;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
    flag:
        *(bool *)data = yes;
        break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr) {
    API_ENTER(API_CONTEXT, NULL);
    const VmRange *r = gr_vm_mem_find(gr_cu.mem, ptr);
    return gr_cu_leave(data && r ? get(data, attribute, ptr, r) : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuPointerGetAttributes(unsigned int n, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr ptr) {
    API_ENTER(API_CONTEXT, NULL);
    CUresult st = n && attributes && data ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    const VmRange *r = gr_vm_mem_find(gr_cu.mem, ptr);
    for (unsigned i = 0; i < n && st == CUDA_SUCCESS; i++)
        st = data[i] ? get(data[i], attributes[i], ptr, r) : CUDA_ERROR_INVALID_VALUE;
    return gr_cu_leave(st);
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr) {
    API_ENTER(API_CONTEXT, NULL);
    if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !gr_vm_mem_find(gr_cu.mem, ptr))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    return gr_cu_leave(CUDA_SUCCESS);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr ptr) {
    API_ENTER(API_CONTEXT, NULL);
    const VmRange *r = gr_vm_mem_find(gr_cu.mem, ptr);
    if (!r)
        return gr_cu_leave(CUDA_ERROR_NOT_FOUND);
    if (base)
        *base = r->addr;
    if (size)
        *size = r->size;
    return gr_cu_leave(CUDA_SUCCESS);
}

// ---- Managed memory ----------------------------------------------------------------------------------------

static bool is_managed(CUdeviceptr ptr, size_t count) {
    const VmRange *r = gr_vm_mem_find(gr_cu.mem, ptr);
    return r && r->kind == VM_MEM_MANAGED && count > 0 && count <= r->size - (ptr - r->addr);
}

static bool is_location(CUmemLocation l) {
    return l.type == CU_MEM_LOCATION_TYPE_DEVICE ? gr_cu_device(l.id) != NULL
                                                 : l.type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

CUresult cuMemAdvise_v2(CUdeviceptr ptr, size_t count, CUmem_advise advice, CUmemLocation location) {
    API_ENTER(API_CONTEXT, NULL);
    bool ok = is_managed(ptr, count) && advice >= CU_MEM_ADVISE_SET_READ_MOSTLY &&
              advice <= CU_MEM_ADVISE_UNSET_ACCESSED_BY && is_location(location);
    return gr_cu_leave(ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
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
    CUresult st = gr_stream_get(c, stream, &s);
    if (st == CUDA_SUCCESS && (flags || !is_managed(ptr, count) || !is_location(location)))
        st = CUDA_ERROR_INVALID_VALUE;
    Item *it = st == CUDA_SUCCESS ? gr_item_new(ITEM_BARRIER) : NULL;
    if (!it)
        return gr_cu_leave(st != CUDA_SUCCESS ? st : CUDA_ERROR_OUT_OF_MEMORY);
    return gr_cu_leave(gr_submit(s, it)); // it takes its turn in the stream all the same
}

CUresult cuMemPrefetchAsync(CUdeviceptr ptr, size_t count, CUdevice device, CUstream stream) {
    return cuMemPrefetchAsync_v2(ptr, count, location_of(device), 0, stream);
}

// No advice is kept: everything is at its default.
static CUresult range_attribute(void *data, size_t size, CUmem_range_attribute attribute) {
    int value = 0;
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: value = CU_DEVICE_INVALID; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: value = CU_MEM_LOCATION_TYPE_INVALID; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID: value = 0; break;
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: value = CU_DEVICE_INVALID; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    if (!data || size == 0 || size % sizeof value != 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < size / sizeof value; i++)
        ((int *)data)[i] = value;
    return CUDA_SUCCESS;
}

CUresult cuMemRangeGetAttribute(void *data, size_t size, CUmem_range_attribute attribute, CUdeviceptr ptr,
                                size_t count) {
    API_ENTER(API_CONTEXT, NULL);
    return gr_cu_leave(is_managed(ptr, count) ? range_attribute(data, size, attribute)
                                              : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemRangeGetAttributes(void **data, size_t *sizes, CUmem_range_attribute *attributes, size_t n,
                                 CUdeviceptr ptr, size_t count) {
    API_ENTER(API_CONTEXT, NULL);
    CUresult st =
        data && sizes && attributes && n && is_managed(ptr, count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < n && st == CUDA_SUCCESS; i++)
        st = range_attribute(data[i], sizes[i], attributes[i]);
    return gr_cu_leave(st);
}
