// SPDX-License-Identifier: Apache-2.0
#include "engines/privatizer/driver.h"

void gr_privatizer_driver(GrSession *s, PrivatizerDriver *d) {
    if (d->there)
        return;
    bool all = true;
#define FIND(field, name)                                                                                    \
    d->field = (__typeof__(d->field))s->driver(s, name);                                                     \
    all = all && d->field;
    FIND(alloc, "cuMemAlloc")
    FIND(release, "cuMemFree")
    FIND(info, "cuMemGetInfo")
    FIND(copy, "cuMemcpyDtoDAsync")
    FIND(fill, "cuMemsetD8Async")
    FIND(fill_words, "cuMemsetD32Async")
    FIND(write, "cuMemcpyHtoDAsync")
    FIND(read, "cuMemcpyDtoHAsync")
    FIND(host_alloc, "cuMemHostAlloc")
    FIND(of_host, "cuMemHostGetDevicePointer")
    FIND(query, "cuStreamQuery")
    FIND(wait, "cuStreamSynchronize")
    FIND(event_new, "cuEventCreate")
    FIND(event_record, "cuEventRecord")
    FIND(event_query, "cuEventQuery")
    FIND(event_wait, "cuEventSynchronize")
    FIND(load, "cuModuleLoadData")
    FIND(function, "cuModuleGetFunction")
    FIND(launch, "cuLaunchKernel")
    FIND(attribute, "cuFuncGetAttribute")
    FIND(set_attribute, "cuFuncSetAttribute")
    FIND(of_device, "cuDeviceGetAttribute")
    FIND(device, "cuCtxGetDevice")
#undef FIND
    d->of_kernel = (CUresult(*)(CUfunction *, CUkernel))s->driver(s, "cuKernelGetFunction");
    d->load_function = (CUresult(*)(CUfunction))s->driver(s, "cuFuncLoad");
    d->is_cpu = s->symbol(s, "gr_cpu_device_view") != NULL;
    d->there = all;
}
