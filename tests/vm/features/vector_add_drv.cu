// SPDX-License-Identifier: Apache-2.0
// vectorAddDrv: the driver API alone. Arguments: the kernels as PTX text and as a fatbinary.
// ARGS: kernels.ptx kernels.fatbin
#include "program.h"

#include <cuda.h>
#include <vector>

#define DRV(call)                                                                                                      \
    do {                                                                                                               \
        CUresult drv_result_ = (call);                                                                                 \
        if (drv_result_ != CUDA_SUCCESS) {                                                                             \
            const char *name_ = "?";                                                                                   \
            cuGetErrorName(drv_result_, &name_);                                                                       \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, name_);                                               \
            exit(2);                                                                                                   \
        }                                                                                                              \
    } while (0)

static void use_module(CUmodule module, float half, bool first)
{
    const int n = 1000;
    std::vector<float> a(n), b(n), c(n);
    for (int i = 0; i < n; i++) {
        a[i] = (float)i;
        b[i] = (float)(2 * i);
    }
    CUfunction add;
    CUdeviceptr A, B, C, var;
    size_t bytes = n * sizeof(float), size = 0;
    int calls = -1, count = n;
    DRV(cuModuleGetFunction(&add, module, "add"));
    DRV(cuMemAlloc(&A, bytes));
    DRV(cuMemAlloc(&B, bytes));
    DRV(cuMemAlloc(&C, bytes));
    DRV(cuMemcpyHtoD(A, a.data(), bytes));
    DRV(cuMemcpyHtoD(B, b.data(), bytes));
    DRV(cuMemsetD32(C, 0, n));
    DRV(cuModuleGetGlobal(&var, &size, module, "scale"));
    EXPECT_EQ(size, 8);
    float scale[2] = {1.0f, half};
    if (!first)
        DRV(cuMemcpyHtoD(var, scale, sizeof scale));
    void *params[] = {&A, &B, &C, &count};
    DRV(cuLaunchKernel(add, (n + 127) / 128, 1, 1, 128, 1, 1, 128 * sizeof(float), nullptr, params, nullptr));
    DRV(cuCtxSynchronize());
    // The same through a packed buffer of parameters.
    struct {
        CUdeviceptr a, b, c;
        int n;
    } packed = {A, B, C, n};
    size_t packed_size = 3 * sizeof(CUdeviceptr) + sizeof(int);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &packed_size,
                     CU_LAUNCH_PARAM_END};
    DRV(cuLaunchKernel(add, (n + 127) / 128, 1, 1, 128, 1, 1, 128 * sizeof(float), nullptr, nullptr, extra));
    DRV(cuMemcpyDtoH(c.data(), C, bytes));
    for (int i = 0; i < n; i++)
        EXPECT(c[i] == a[i] + b[i] * half);
    DRV(cuModuleGetGlobal(&var, &size, module, "calls"));
    DRV(cuMemcpyDtoH(&calls, var, sizeof calls));
    EXPECT_EQ(calls, 2);
    DRV(cuMemFree(A));
    DRV(cuMemFree(B));
    DRV(cuMemFree(C));
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    int version = 0, count = 0, major = 0;
    EXPECT_EQ(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    DRV(cuInit(0));
    DRV(cuDriverGetVersion(&version));
    EXPECT(version >= 13000);
    DRV(cuDeviceGetCount(&count));
    EXPECT(count >= 1);
    CUdevice device;
    CUcontext context, current;
    char name[100] = "";
    size_t memory = 0;
    DRV(cuDeviceGet(&device, 0));
    DRV(cuDeviceGetName(name, sizeof name, device));
    DRV(cuDeviceTotalMem(&memory, device));
    DRV(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    EXPECT(strlen(name) > 0 && memory > 0 && major >= 7);
    DRV(cuCtxCreate(&context, nullptr, 0, device));
    DRV(cuCtxGetCurrent(&current));
    EXPECT(current == context);

    CUmodule module;
    DRV(cuModuleLoad(&module, argv[1]));
    use_module(module, 0.5f, true);
    CUfunction none;
    EXPECT_EQ(cuModuleGetFunction(&none, module, "no_such_kernel"), CUDA_ERROR_NOT_FOUND);
    DRV(cuModuleUnload(module));
    DRV(cuModuleLoad(&module, argv[2]));
    use_module(module, 0.25f, false);
    DRV(cuModuleUnload(module));

    FILE *file = fopen(argv[1], "rb");
    std::vector<char> ptx(1 << 20);
    ptx[fread(ptx.data(), 1, ptx.size() - 1, file)] = 0;
    fclose(file);
    char log[1000] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    DRV(cuModuleLoadDataEx(&module, ptx.data(), 2, options, values));
    use_module(module, 0.5f, true);
    DRV(cuModuleUnload(module));
    EXPECT_EQ(cuModuleLoadData(&module, ".version 8.0\n.target sm_90\n.address_size 64\n.entry k() { ret }\n"),
              CUDA_ERROR_INVALID_PTX);
    EXPECT_EQ(cuModuleLoad(&module, "/no/such/file"), CUDA_ERROR_FILE_NOT_FOUND);
    DRV(cuCtxDestroy(context));
    return finish();
}
