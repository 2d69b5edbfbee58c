// SPDX-License-Identifier: Apache-2.0
// fake_cuda — a libcuda.so.1 for testing the runtime library alone: device memory is the host's, kernels are C
// functions, calls are logged, and any call can be told to fail.
#ifndef GR_TESTS_UNIT_FAKE_CUDA_H
#define GR_TESTS_UNIT_FAKE_CUDA_H

#include <cuda.h>
#include <stddef.h>

typedef struct FakeKernel {
    const char *name; // NULL ends the list
    void (*run)(void **parameters);
    CUresult outcome; // what the kernel's fault is; the context is lost if it is one
} FakeKernel;

typedef struct FakeGlobal {
    const char *name; // NULL ends the list
    void *address;
    size_t size;
} FakeGlobal;

// What stands where nvcc's fatbinary wrapper would: cuLibraryLoadData gets a pointer to it.
typedef struct FakeImage {
    CUresult load_result;
    FakeKernel *kernels;
    FakeGlobal *globals, *managed;
    int loads, unloads; // counted by the fake
} FakeImage;

// The calls since the last take, "cuMemAlloc(16) cuMemFree()", without the ones that every call makes
// (cuCtxGetCurrent).
const char *fake_take_log(void);

// The entry point fails with r from now on; CUDA_SUCCESS ends that.
void fake_fail(const char *entry_point, CUresult r);

// A context that the fake knows, made current by nobody.
CUcontext fake_context(void);

#endif
