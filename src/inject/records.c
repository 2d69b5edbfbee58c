// SPDX-License-Identifier: Apache-2.0
// How device code gets at a module's area of the results file.
//
// The mapped file is registered with the driver, so that what a kernel writes is in the file at once, whatever happens
// to the program. Where a driver refuses to register a file's pages, pinned memory stands in and is copied over whenever
// the program waits for the device, and at the end; that is said in the report, because a crash then loses the rest.
#include "inject/session.h"

#include <string.h>

static gr_status device_pointer(void *host, CUdeviceptr *out, gr_error *err) {
    CUresult (*get)(CUdeviceptr *, void *, unsigned) =
        (CUresult(*)(CUdeviceptr *, void *, unsigned))gr_driver_function("cuMemHostGetDevicePointer");
    CUresult rc = get ? get(out, host, 0) : CUDA_ERROR_NOT_FOUND;
    return rc == CUDA_SUCCESS
               ? GR_OK
               : gr_fail(err, GR_ERR_UNSUPPORTED, "its results cannot be mapped (CUDA error %d)", (int)rc);
}

// To the CPU device: what memory that host and device share says about repeatability does not go for this.
static void declare_own(const void *host) {
    void (*declare)(const void *) =
        (void (*)(const void *))gr_real_dlsym(gr_driver_library(), "gr_cpu_device_tool_memory");
    if (declare)
        declare(host);
}

gr_status gr_records_map(LoadedModule *m, gr_error *err) {
    if (m->pub.records_device) // portable: every context sees it at the same address
        return GR_OK;
    CUresult (*reg)(void *, size_t, unsigned) =
        (CUresult(*)(void *, size_t, unsigned))gr_driver_function("cuMemHostRegister");
    size_t whole_pages = (m->pub.record_bytes + 4095) / 4096 * 4096;
    CUresult rc =
        reg ? reg(m->pub.records, whole_pages, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP)
            : CUDA_ERROR_NOT_FOUND;
    if (rc == CUDA_SUCCESS) {
        declare_own(m->pub.records);
        return device_pointer(m->pub.records, &m->pub.records_device, err);
    }
    CUresult (*alloc)(void **, size_t, unsigned) =
        (CUresult(*)(void **, size_t, unsigned))gr_driver_function("cuMemHostAlloc");
    CUresult rc2 =
        alloc ? alloc(&m->staging, m->pub.record_bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP)
              : CUDA_ERROR_NOT_FOUND;
    if (rc2 != CUDA_SUCCESS) {
        m->staging = NULL;
        return gr_fail(err, GR_ERR_UNSUPPORTED,
                       "its results can neither be registered (CUDA error %d) nor staged (%d)", (int)rc,
                       (int)rc2);
    }
    declare_own(m->staging);
    memcpy(m->staging, m->pub.records, m->pub.record_bytes);
    gr_session_remarkf(
        "the driver does not register the results file (CUDA error %d): races that are found after the "
        "program last waited for the device are lost if it is killed",
        (int)rc);
    return device_pointer(m->staging, &m->pub.records_device, err);
}

void gr_records_sync(void) {
    for (size_t i = 0; i < gr_session.modules.len; i++) {
        LoadedModule *m = gr_session.modules.data[i];
        if (m->staging)
            memcpy(m->pub.records, m->staging, m->pub.record_bytes);
    }
}
