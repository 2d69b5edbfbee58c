// SPDX-License-Identifier: Apache-2.0
// Loads a PTX file by the driver API and launches its first kernels, with buffers as parameters: load_ptx FILE [GRID
// BLOCK].
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUFFER = 1 << 16, KERNELS = 4, PARAMS = 100, LARGEST = 4096 };

static int launch(CUfunction f, CUdeviceptr buffer, unsigned grid, unsigned block) {
    static CUdeviceptr params[LARGEST / sizeof(CUdeviceptr)];
    for (size_t k = 0; k < sizeof params / sizeof *params; k++)
        params[k] = buffer + (k & 7) * LARGEST;
    size_t at, size, end = 0;
    for (size_t n = 0; n < PARAMS && cuFuncGetParamInfo(f, n, &at, &size) == CUDA_SUCCESS; n++)
        end = at + size > end ? at + size : end;
    end = end < sizeof params ? end : sizeof params;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, params, CU_LAUNCH_PARAM_BUFFER_SIZE, &end,
                     CU_LAUNCH_PARAM_END};
    const char *name = "?";
    cuFuncGetName(&name, f);
    CUresult launched = cuLaunchKernel(f, grid, 1, 1, block, 1, 1, 0, 0, NULL, extra),
             done = cuCtxSynchronize();
    printf("%s: launch %d, synchronize %d\n", name, (int)launched, (int)done);
    return launched || done;
}

int main(int argc, char **argv) {
    static char text[1 << 24];
    FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!f)
        return 2;
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    CUcontext context;
    CUmodule module;
    CUdeviceptr buffer;
    if (cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuMemAlloc(&buffer, BUFFER) ||
        cuMemsetD8(buffer, 0, BUFFER))
        return 3;
    CUresult rc = cuModuleLoadData(&module, text);
    printf("load %d\n", (int)rc);
    if (rc)
        return 4;
    CUfunction kernels[KERNELS] = {NULL};
    unsigned n = 0;
    cuModuleGetFunctionCount(&n, module);
    n = n < KERNELS ? n : KERNELS;
    cuModuleEnumerateFunctions(kernels, n, module);
    for (unsigned k = 0; k < n; k++)
        if (launch(kernels[k], buffer, argc > 2 ? (unsigned)atoi(argv[2]) : 2,
                   argc > 3 ? (unsigned)atoi(argv[3]) : 40))
            return 5;
    return 0;
}
