// SPDX-License-Identifier: Apache-2.0
// library — code that the program loads itself (cudaLibrary*), and channel descriptors.
#include "driver/cudart/runtime.h"

_Static_assert((int)cudaJitOptimizationLevel == (int)CU_JIT_OPTIMIZATION_LEVEL, "JIT options");
_Static_assert((int)cudaLibraryBinaryIsPreserved == (int)CU_LIBRARY_BINARY_IS_PRESERVED, "library options");
_Static_assert(sizeof(enum cudaJitOption) == sizeof(CUjit_option), "JIT options");
_Static_assert(sizeof(enum cudaLibraryOption) == sizeof(CUlibraryOption), "library options");

cudaError_t CUDARTAPI cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
                                          enum cudaJitOption *jitOptions, void **jitOptionsValues,
                                          unsigned int numJitOptions, enum cudaLibraryOption *libraryOptions,
                                          void **libraryOptionValues, unsigned int numLibraryOptions) {
    GR_RT_CALL(cuLibraryLoadData((CUlibrary *)library, code, (CUjit_option *)jitOptions, jitOptionsValues,
                                 numJitOptions, (CUlibraryOption *)libraryOptions, libraryOptionValues,
                                 numLibraryOptions));
}

cudaError_t CUDARTAPI cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *fileName,
                                              enum cudaJitOption *jitOptions, void **jitOptionsValues,
                                              unsigned int numJitOptions,
                                              enum cudaLibraryOption *libraryOptions,
                                              void **libraryOptionValues, unsigned int numLibraryOptions) {
    GR_RT_CALL(cuLibraryLoadFromFile((CUlibrary *)library, fileName, (CUjit_option *)jitOptions,
                                     jitOptionsValues, numJitOptions, (CUlibraryOption *)libraryOptions,
                                     libraryOptionValues, numLibraryOptions));
}

cudaError_t CUDARTAPI cudaLibraryUnload(cudaLibrary_t library) {
    GR_RT_CALL(cuLibraryUnload((CUlibrary)library));
}

cudaError_t CUDARTAPI cudaLibraryGetKernel(cudaKernel_t *pKernel, cudaLibrary_t library, const char *name) {
    GR_RT_CALL(cuLibraryGetKernel((CUkernel *)pKernel, (CUlibrary)library, name));
}

cudaError_t CUDARTAPI cudaLibraryGetGlobal(void **dptr, size_t *bytes, cudaLibrary_t library,
                                           const char *name) {
    GR_RT_CALL(cuLibraryGetGlobal((CUdeviceptr *)dptr, bytes, (CUlibrary)library, name));
}

cudaError_t CUDARTAPI cudaLibraryGetManaged(void **dptr, size_t *bytes, cudaLibrary_t library,
                                            const char *name) {
    GR_RT_CALL(cuLibraryGetManaged((CUdeviceptr *)dptr, bytes, (CUlibrary)library, name));
}

cudaError_t CUDARTAPI cudaLibraryGetUnifiedFunction(void **fptr, cudaLibrary_t library, const char *symbol) {
    GR_RT_CALL(cuLibraryGetUnifiedFunction(fptr, (CUlibrary)library, symbol));
}

cudaError_t CUDARTAPI cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t lib) {
    GR_RT_CALL(cuLibraryGetKernelCount(count, (CUlibrary)lib));
}

cudaError_t CUDARTAPI cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int numKernels,
                                                  cudaLibrary_t lib) {
    GR_RT_CALL(cuLibraryEnumerateKernels((CUkernel *)kernels, numKernels, (CUlibrary)lib));
}

struct cudaChannelFormatDesc CUDARTAPI cudaCreateChannelDesc(int x, int y, int z, int w,
                                                             enum cudaChannelFormatKind f) {
    return (struct cudaChannelFormatDesc){.x = x, .y = y, .z = z, .w = w, .f = f};
}
