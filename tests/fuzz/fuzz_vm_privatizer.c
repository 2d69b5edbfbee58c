// SPDX-License-Identifier: Apache-2.0
// fuzz_vm_privatizer — any text, loaded as a module by the CUDA driver of the CPU device, with libgpurace.so and the
// privatizer in this process, and its kernels launched: nothing of gpurace's crashes, whatever they do on private
// copies. The context and what the privatizer keeps in it stay from input to input, until a kernel fails.
#include "fuzz_api.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { KERNELS = 4, MEMORY = 1 << 13, PARAMS = 1 << 14, PARAM_BYTES = 1 << 17 };

static struct {
    CUcontext context; // NULL: there is none
    CUdeviceptr memory;
} lasting;

static void must(CUresult r) {
    if (r != CUDA_SUCCESS)
        abort();
}

static void begin(void) {
    if (!lasting.context) {
        must(cuCtxCreate_v2(&lasting.context, 0, 0));
        must(cuMemAlloc_v2(&lasting.memory, MEMORY));
    }
    must(cuMemsetD8_v2(lasting.memory, 0, MEMORY));
}

// A kernel that failed takes the context with it.
static void end(void) {
    if (cuCtxSynchronize() == CUDA_SUCCESS)
        return;
    must(cuCtxDestroy_v2(lasting.context));
    lasting.context = NULL;
}

// Every parameter is a pointer to memory that is there.
static void **pointers(void) {
    static uint64_t values[PARAM_BYTES / 8];
    static void *params[PARAMS];
    for (size_t k = 0; k < PARAM_BYTES / 8; k++)
        values[k] = lasting.memory;
    for (size_t k = 0; k < PARAMS; k++)
        params[k] = values;
    return params;
}

static void launch_kernels(CUmodule m, bool twice) {
    CUfunction kernels[KERNELS];
    unsigned n = 0;
    must(cuModuleGetFunctionCount(&n, m));
    n = n < KERNELS ? n : KERNELS;
    if (!n || cuModuleEnumerateFunctions(kernels, n, m) != CUDA_SUCCESS)
        return;
    for (unsigned k = 0; k < n; k++)
        for (unsigned i = 0; i <= twice; i++)
            cuLaunchKernel(kernels[k], 2, 1, 1, 40, 1, 1, 0, NULL, pointers(), NULL);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    setenv("GPURACE_OPTIONS", "engine=privatizer", 0);
    fuzz_attach((*argv)[0]);
    must(cuInit(0));
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    CUmodule module;
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    if (text[0] == '.' || text[0] == '/') { // what is no text has a length of its own
        begin();
        if (cuModuleLoadData(&module, text) == CUDA_SUCCESS) {
            launch_kernels(module, size & 1);
            cuCtxSynchronize();
            cuModuleUnload(module);
        }
        end();
    }
    free(text);
    return 0;
}
