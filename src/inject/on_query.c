// SPDX-License-Identifier: Apache-2.0
// What a program asks about a kernel to choose a launch's size: the twin answers, since it is launched (twins.h).
#include "inject/handlers.h"
#include "inject/twins.h"

static CUfunction launched_for(CUfunction f) {
    gr_session_lock();
    CUfunction twin = gr_twins_exist() ? gr_twin_of(gr_kernel_of(f), f) : f;
    gr_session_unlock();
    return twin;
}

// Other attributes are as the program set them, or equal in both.
static bool depends_on_code(CUfunction_attribute a) {
    return a == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK || a == CU_FUNC_ATTRIBUTE_NUM_REGS ||
           a == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES;
}

CUresult gr_on_func_get_attribute(CUresult (*real)(int *, CUfunction_attribute, CUfunction), int *out,
                                  CUfunction_attribute attribute, CUfunction f) {
    return real(out, attribute, depends_on_code(attribute) ? launched_for(f) : f);
}

// A twin is of the current context: another device's kernel is asked as it is.
CUresult gr_on_kernel_get_attribute(CUresult (*real)(int *, CUfunction_attribute, CUkernel, CUdevice),
                                    int *out, CUfunction_attribute attribute, CUkernel kernel,
                                    CUdevice device) {
    CUresult (*current)(CUdevice *) = (CUresult(*)(CUdevice *))gr_driver_function("cuCtxGetDevice");
    CUresult (*ask)(int *, CUfunction_attribute, CUfunction) =
        (CUresult(*)(int *, CUfunction_attribute, CUfunction))gr_driver_function("cuFuncGetAttribute");
    CUdevice here;
    CUfunction f = (CUfunction)(void *)kernel, twin = f;
    if (depends_on_code(attribute) && ask && current && current(&here) == CUDA_SUCCESS && here == device)
        twin = launched_for(f);
    return twin != f ? ask(out, attribute, twin) : real(out, attribute, kernel, device);
}

CUresult gr_on_occupancy_blocks(CUresult (*real)(int *, CUfunction, int, size_t), int *out, CUfunction f,
                                int block, size_t shared) {
    return real(out, launched_for(f), block, shared);
}

CUresult gr_on_occupancy_blocks_flags(CUresult (*real)(int *, CUfunction, int, size_t, unsigned), int *out,
                                      CUfunction f, int block, size_t shared, unsigned flags) {
    return real(out, launched_for(f), block, shared, flags);
}

CUresult gr_on_occupancy_size(CUresult (*real)(int *, int *, CUfunction, CUoccupancyB2DSize, size_t, int),
                              int *grid, int *block, CUfunction f, CUoccupancyB2DSize of, size_t shared,
                              int limit) {
    return real(grid, block, launched_for(f), of, shared, limit);
}

CUresult gr_on_occupancy_size_flags(CUresult (*real)(int *, int *, CUfunction, CUoccupancyB2DSize, size_t,
                                                     int, unsigned),
                                    int *grid, int *block, CUfunction f, CUoccupancyB2DSize of, size_t shared,
                                    int limit, unsigned flags) {
    return real(grid, block, launched_for(f), of, shared, limit, flags);
}

CUresult gr_on_occupancy_shared(CUresult (*real)(size_t *, CUfunction, int, int), size_t *out, CUfunction f,
                                int blocks, int block) {
    return real(out, launched_for(f), blocks, block);
}

CUresult gr_on_occupancy_cluster(CUresult (*real)(int *, CUfunction, const CUlaunchConfig *), int *out,
                                 CUfunction f, const CUlaunchConfig *config) {
    return real(out, launched_for(f), config);
}

CUresult gr_on_occupancy_clusters(CUresult (*real)(int *, CUfunction, const CUlaunchConfig *), int *out,
                                  CUfunction f, const CUlaunchConfig *config) {
    return real(out, launched_for(f), config);
}
