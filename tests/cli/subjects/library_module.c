// SPDX-License-Identifier: Apache-2.0
// library_module: 40 libraries, of texts of their own, come and go twice. cuModuleUnload of a library's module is
// refused each time, so that its kernel, in which all threads store to one word, is still checked. A copy from behind a
// small allocation of pinned memory fails, and reads nothing.
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(x, expected)                                                                                     \
    do {                                                                                                     \
        CUresult rc_ = (x);                                                                                  \
        if (rc_ != (expected)) {                                                                             \
            printf("%d in place of %d: %s\n", (int)rc_, (int)(expected), #x);                                \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)
#define OK(x) TRY(x, CUDA_SUCCESS)

static void come_and_go(int number, CUdeviceptr word) {
    char text[600];
    CUlibrary library;
    CUmodule module;
    CUfunction f;
    void *args[] = {&word};
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry racy_%d(.param .u64 p) {\n"
             ".reg .u64 %%a;\n.reg .u32 %%t;\nld.param.u64 %%a, [p];\nmov.u32 %%t, %%tid.x;\n"
             "st.global.u32 [%%a], %%t;\nret;\n}\n",
             number);
    OK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetModule(&module, library));
    TRY(cuModuleUnload(module), CUDA_ERROR_NOT_PERMITTED);
    snprintf(text, sizeof text, "racy_%d", number);
    OK(cuModuleGetFunction(&f, module, text));
    OK(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
    OK(cuCtxSynchronize());
    OK(cuLibraryUnload(library));
}

int main(void) {
    enum { LIBRARIES = 40 };
    CUcontext context;
    CUdeviceptr word;
    void *pinned;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuMemAlloc(&word, 256));
    OK(cuMemAllocHost(&pinned, 100));
    TRY(cuMemcpyHtoDAsync(word, (char *)pinned + 4095, 128, NULL), CUDA_ERROR_INVALID_VALUE);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < LIBRARIES; i++)
            come_and_go(i, word);
    puts("PASS");
    return 0;
}
