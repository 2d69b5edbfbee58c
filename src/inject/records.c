// SPDX-License-Identifier: Apache-2.0
// How device code gets at a module's area of the results file.
//
// The mapped file is registered with the driver, so that what a kernel writes is in the file at once, whatever happens
// to the program. If a driver refuses to register a file's pages, pinned memory stands in, and is copied to the file
// whenever the program waits for the device, and at the end. The report says so, as a crash then loses the rest.
//
// Small modules share a piece of the file, for programs that load a hundred thousand.
#include "inject/session.h"

#include <stdlib.h>
#include <string.h>

enum { POOL_BYTES = 1 << 16, GRAIN = 64 };

typedef struct RecordPool {
    char *bytes; // in the results file
    uint64_t offset, size, used;
    CUdeviceptr device; // 0: not registered yet
    char *staging;      // pinned memory that stands in for `bytes`; NULL: they could be registered
} RecordPool;

// ---- Room in the file ----------------------------------------------------------------------------------------

static RecordPool *new_pool(uint64_t size) {
    Session *s = &gr_session;
    RecordPool *p = calloc(1, sizeof *p);
    if (!p || !gr_vec_push(&s->pools, p)) {
        free(p);
        return NULL;
    }
    p->bytes = gr_results_area(&s->results, size, &p->offset);
    p->size = p->bytes ? size : 0;
    return p->bytes ? p : NULL;
}

// Modules are rewritten one at a time, and only the last small pool has room.
static RecordPool *pool_for(uint64_t need) {
    Session *s = &gr_session;
    if (need > POOL_BYTES / 2)
        return new_pool(need);
    if (!s->pool || s->pool->size - s->pool->used < need)
        s->pool = new_pool(POOL_BYTES);
    return s->pool;
}

bool gr_records_take(LoadedModule *m) {
    uint64_t need = (m->pub.record_bytes + GRAIN - 1) / GRAIN * GRAIN;
    RecordPool *p = pool_for(need);
    if (!p)
        return false;
    m->pool = p;
    m->pub.records = p->bytes + p->used;
    m->records_offset = p->offset + p->used;
    p->used += need;
    return true;
}

// ---- The device's view of it -----------------------------------------------------------------------------------

// False for memory that was registered in a context that has gone.
static bool is_mapped(const RecordPool *p) {
    CUresult (*get)(CUdeviceptr *, void *, unsigned) =
        (CUresult(*)(CUdeviceptr *, void *, unsigned))gr_driver_function("cuMemHostGetDevicePointer");
    CUdeviceptr at = 0;
    return p->device && get && get(&at, p->staging ? p->staging : p->bytes, 0) == CUDA_SUCCESS &&
           at == p->device;
}

static gr_status device_pointer(void *host, CUdeviceptr *out, gr_error *err) {
    CUresult (*get)(CUdeviceptr *, void *, unsigned) =
        (CUresult(*)(CUdeviceptr *, void *, unsigned))gr_driver_function("cuMemHostGetDevicePointer");
    CUresult rc = get ? get(out, host, 0) : CUDA_ERROR_NOT_FOUND;
    return rc == CUDA_SUCCESS
               ? GR_OK
               : gr_fail(err, GR_ERR_UNSUPPORTED, "its results cannot be mapped (CUDA error %d)", (int)rc);
}

// Tells the CPU device that this memory, shared by host and device, does not count for repeatability.
static void declare_own(const void *host) {
    void (*declare)(const void *) =
        (void (*)(const void *))gr_real_dlsym(gr_driver_library(), "gr_cpu_device_tool_memory");
    if (declare)
        declare(host);
}

static gr_status map_pool(RecordPool *p, gr_error *err) {
    CUresult (*reg)(void *, size_t, unsigned) =
        (CUresult(*)(void *, size_t, unsigned))gr_driver_function("cuMemHostRegister");
    size_t whole_pages = (p->size + 4095) / 4096 * 4096;
    CUresult rc = reg ? reg(p->bytes, whole_pages, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP)
                      : CUDA_ERROR_NOT_FOUND;
    if (rc == CUDA_SUCCESS) {
        declare_own(p->bytes);
        return device_pointer(p->bytes, &p->device, err);
    }
    CUresult (*alloc)(void **, size_t, unsigned) =
        (CUresult(*)(void **, size_t, unsigned))gr_driver_function("cuMemHostAlloc");
    CUresult rc2 =
        alloc ? alloc((void **)&p->staging, p->size, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP)
              : CUDA_ERROR_NOT_FOUND;
    if (rc2 != CUDA_SUCCESS) {
        p->staging = NULL;
        return gr_fail(err, GR_ERR_UNSUPPORTED,
                       "its results can neither be registered (CUDA error %d) nor staged (%d)", (int)rc,
                       (int)rc2);
    }
    declare_own(p->staging);
    memcpy(p->staging, p->bytes, p->size);
    gr_session_remarkf("the driver does not register the results file (CUDA error %d): races that are found "
                       "after the program last waited for the device are lost if the program is killed",
                       (int)rc);
    return device_pointer(p->staging, &p->device, err);
}

// Portable: every context sees it at the same address.
gr_status gr_records_map(LoadedModule *m, gr_error *err) {
    RecordPool *p = m->pool;
    gr_status st = is_mapped(p) ? GR_OK : map_pool(p, err);
    if (st == GR_OK)
        m->pub.records_device = p->device + (CUdeviceptr)((char *)m->pub.records - p->bytes);
    return st;
}

void gr_records_sync(void) {
    for (size_t i = 0; i < gr_session.pools.len; i++) {
        RecordPool *p = gr_session.pools.data[i];
        if (p->staging)
            memcpy(p->bytes, p->staging, p->size);
    }
}
