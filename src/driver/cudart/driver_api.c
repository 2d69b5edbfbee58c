// SPDX-License-Identifier: Apache-2.0
// driver_api — finds the driver and its entry points.
//
// Two tables come out of one list (driver.def): the entry points for the legacy default stream, and those for the
// per-thread one, asked for with CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM. Each name and flag has a slot, as the
// two functions behind a name differ. A slot that the driver cannot fill gets a function that reports its name. So a
// call to it returns an error to the program and gives a line in the verdict. It is never a jump to NULL.
#include "driver/cudart/runtime.h"

#include <cudaTypedefs.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

typedef CUresult(CUDAAPI *PFN_cuProfilerStart_v4000)(void); // of cudaProfilerTypedefs.h, as in runtime.h
typedef CUresult(CUDAAPI *PFN_cuProfilerStop_v4000)(void);

// The version asked for must be the one whose type cuda.h declares: another would have another ABI.
#define GR_DRIVER(fn, version, per_thread_version)                                                           \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&fn), PFN_##fn##_v##version), "ABI of " #fn);
#include "driver/cudart/driver.def"
#undef GR_DRIVER

DriverApi gr_rt_legacy, gr_rt_per_thread;

static PFN_cuGetProcAddress_v12000 get_proc;
static pthread_once_t loaded = PTHREAD_ONCE_INIT;
static cudaError_t load_result;

void gr_rt_report_absent(const char *name) {
    void (*hook)(const char *) = (void (*)(const char *))dlsym(RTLD_DEFAULT, "gr_api_absent");
    if (hook != NULL)
        hook(name);
}

// Callable through a pointer of any of the table's types: the ABIs we build for let the caller clean up
// arguments.
#define GR_DRIVER(fn, version, per_thread_version)                                                           \
    static CUresult absent_##version##_##fn(void) {                                                          \
        gr_rt_report_absent(#fn);                                                                            \
        return CUDA_ERROR_NOT_SUPPORTED;                                                                     \
    }
#include "driver/cudart/driver.def"
#undef GR_DRIVER

static void *find(const char *name, int version, cuuint64_t flags, CUresult (*absent)(void)) {
    void *fn = NULL;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    if (get_proc(name, &fn, version, flags, &status) != CUDA_SUCCESS || fn == NULL)
        return (void *)absent;
    return fn;
}

static void load(void) {
    load_result = cudaErrorInsufficientDriver;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == NULL)
        return;
    get_proc = (PFN_cuGetProcAddress_v12000)dlsym(driver, "cuGetProcAddress_v2");
    if (get_proc == NULL)
        return;
#define GR_DRIVER(fn, version, per_thread_version)                                                           \
    gr_rt_legacy.fn =                                                                                        \
        (__typeof__(&fn))find(#fn, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM, absent_##version##_##fn);     \
    gr_rt_per_thread.fn =                                                                                    \
        per_thread_version == 0                                                                              \
            ? gr_rt_legacy.fn                                                                                \
            : (__typeof__(&fn))find(#fn, per_thread_version, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,  \
                                    absent_##version##_##fn);
#include "driver/cudart/driver.def"
#undef GR_DRIVER
    load_result = gr_rt_translate(gr_rt_legacy.cuInit(0));
}

cudaError_t gr_rt_load(void) {
    pthread_once(&loaded, load);
    return load_result;
}

CUresult gr_rt_get_proc(const char *symbol, void **fn, int version, cuuint64_t flags,
                        CUdriverProcAddressQueryResult *status) {
    return get_proc == NULL ? CUDA_ERROR_NOT_FOUND : get_proc(symbol, fn, version, flags, status);
}
