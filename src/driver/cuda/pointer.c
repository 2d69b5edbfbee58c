// SPDX-License-Identifier: Apache-2.0
// pointer — what is known of an address.
#include "driver/cuda/driver.h"
#include "vm/virtual.h"

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

// Answers for a mapping, which is known before any device has access. The range is the reservation.
static CUresult get_mapped(void *data, CUpointer_attribute attribute, CUdeviceptr ptr, const VmMapping *x) {
    const VmReservation *all = gr_vm_reservation(gr_cu.mem, ptr);
    const VmRange r = {.addr = x->addr,
                       .size = x->size,
                       .kind = VM_MEM_MAPPED,
                       .device = x->pages->device,
                       .serial = x->serial};
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(CUdeviceptr *)data = all->addr; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)data = all->size; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)data = x->readers ? ptr : 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        *(CUDA_POINTER_ATTRIBUTE_ACCESS_FLAGS *)data = x->writers ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE
                                                       : x->readers ? CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READ
                                                                    : CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: *(bool *)data = false; return CUDA_SUCCESS;
    default: return get(data, attribute, ptr, &r);
    }
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr) {
    API_ENTER(API_CONTEXT, NULL);
    const VmRange *r = gr_vm_mem_find(gr_cu.mem, ptr);
    const VmMapping *x = gr_vm_mapping(gr_cu.mem, ptr);
    if (!data || (!r && !x))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    if (x && ((attribute == CU_POINTER_ATTRIBUTE_DEVICE_POINTER && !x->readers) ||
              attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER))
        return gr_cu_leave(CUDA_ERROR_INVALID_VALUE);
    return gr_cu_leave(x ? get_mapped(data, attribute, ptr, x) : get(data, attribute, ptr, r));
}

CUresult cuPointerGetAttributes(unsigned int n, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr ptr) {
    API_ENTER(API_CONTEXT, NULL);
    CUresult st = n && attributes && data ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    const VmRange *r = gr_vm_mem_find(gr_cu.mem, ptr);
    const VmMapping *x = gr_vm_mapping(gr_cu.mem, ptr);
    for (unsigned i = 0; i < n && st == CUDA_SUCCESS; i++)
        st = !data[i] ? CUDA_ERROR_INVALID_VALUE
             : x      ? get_mapped(data[i], attributes[i], ptr, x)
                      : get(data[i], attributes[i], ptr, r);
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
    const VmMapping *x = gr_vm_mapping(gr_cu.mem, ptr);
    if (base)
        *base = x ? x->addr : r->addr;
    if (size)
        *size = x ? x->size : r->size;
    return gr_cu_leave(CUDA_SUCCESS);
}
