// SPDX-License-Identifier: Apache-2.0
// vectorAddDrv: the driver API alone. Arguments: the kernels as PTX text and as a fatbinary.
// ARGS: kernels.ptx kernels.fatbin
#include "../../check.h"

#include <cuda.h>
#include <vector>

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
    CHECK_DRIVER(cuModuleGetFunction(&add, module, "add"));
    CHECK_DRIVER(cuMemAlloc(&A, bytes));
    CHECK_DRIVER(cuMemAlloc(&B, bytes));
    CHECK_DRIVER(cuMemAlloc(&C, bytes));
    CHECK_DRIVER(cuMemcpyHtoD(A, a.data(), bytes));
    CHECK_DRIVER(cuMemcpyHtoD(B, b.data(), bytes));
    CHECK_DRIVER(cuMemsetD32(C, 0, n));
    CHECK_DRIVER(cuModuleGetGlobal(&var, &size, module, "scale"));
    EXPECT_EQ(size, 8);
    float scale[2] = {1.0f, half};
    if (!first)
        CHECK_DRIVER(cuMemcpyHtoD(var, scale, sizeof scale));
    void *params[] = {&A, &B, &C, &count};
    CHECK_DRIVER(cuLaunchKernel(add, (n + 127) / 128, 1, 1, 128, 1, 1, 128 * sizeof(float), nullptr, params, nullptr));
    CHECK_DRIVER(cuCtxSynchronize());
    // The same through a packed buffer of parameters.
    struct {
        CUdeviceptr a, b, c;
        int n;
    } packed = {A, B, C, n};
    size_t packed_size = 3 * sizeof(CUdeviceptr) + sizeof(int);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &packed_size,
                     CU_LAUNCH_PARAM_END};
    CHECK_DRIVER(cuLaunchKernel(add, (n + 127) / 128, 1, 1, 128, 1, 1, 128 * sizeof(float), nullptr, nullptr, extra));
    CHECK_DRIVER(cuMemcpyDtoH(c.data(), C, bytes));
    for (int i = 0; i < n; i++)
        EXPECT(c[i] == a[i] + b[i] * half);
    CHECK_DRIVER(cuModuleGetGlobal(&var, &size, module, "calls"));
    CHECK_DRIVER(cuMemcpyDtoH(&calls, var, sizeof calls));
    EXPECT_EQ(calls, 2);
    CHECK_DRIVER(cuMemFree(A));
    CHECK_DRIVER(cuMemFree(B));
    CHECK_DRIVER(cuMemFree(C));
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    int version = 0, count = 0, major = 0;
    EXPECT_EQ(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_DRIVER(cuInit(0));
    CHECK_DRIVER(cuDriverGetVersion(&version));
    EXPECT(version >= 13000);
    CHECK_DRIVER(cuDeviceGetCount(&count));
    EXPECT(count >= 1);
    CUdevice device;
    CUcontext context, current;
    char name[100] = "";
    size_t memory = 0;
    CHECK_DRIVER(cuDeviceGet(&device, 0));
    CHECK_DRIVER(cuDeviceGetName(name, sizeof name, device));
    CHECK_DRIVER(cuDeviceTotalMem(&memory, device));
    CHECK_DRIVER(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    EXPECT(strlen(name) > 0 && memory > 0 && major >= 7);
    CHECK_DRIVER(cuCtxCreate(&context, nullptr, 0, device));
    CHECK_DRIVER(cuCtxGetCurrent(&current));
    EXPECT(current == context);

    CUmodule module;
    CHECK_DRIVER(cuModuleLoad(&module, argv[1]));
    use_module(module, 0.5f, true);
    CUfunction none;
    EXPECT_EQ(cuModuleGetFunction(&none, module, "no_such_kernel"), CUDA_ERROR_NOT_FOUND);
    CHECK_DRIVER(cuModuleUnload(module));
    CHECK_DRIVER(cuModuleLoad(&module, argv[2]));
    use_module(module, 0.25f, false);
    CHECK_DRIVER(cuModuleUnload(module));

    FILE *file = fopen(argv[1], "rb");
    std::vector<char> ptx(1 << 20);
    ptx[fread(ptx.data(), 1, ptx.size() - 1, file)] = 0;
    fclose(file);
    char log[1000] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    CHECK_DRIVER(cuModuleLoadDataEx(&module, ptx.data(), 2, options, values));
    use_module(module, 0.5f, true);
    CHECK_DRIVER(cuModuleUnload(module));
    EXPECT_EQ(cuModuleLoadData(&module, ".version 8.0\n.target sm_90\n.address_size 64\n.entry k() { ret }\n"),
              CUDA_ERROR_INVALID_PTX);
    EXPECT_EQ(cuModuleLoad(&module, "/no/such/file"), CUDA_ERROR_FILE_NOT_FOUND);
    CHECK_DRIVER(cuCtxDestroy(context));
    return finish();
}
