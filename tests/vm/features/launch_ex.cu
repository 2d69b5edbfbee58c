// SPDX-License-Identifier: Apache-2.0
// cudaLaunchKernelEx, cudaLaunchKernelExC, cudaLaunchKernel, and cuLaunchKernelEx found through cudaGetDriverEntryPoint.
#include "../../check.h"

#include <cuda.h>

__global__ void fill(int *a, int value, short step)
{
    a[blockIdx.x * blockDim.x + threadIdx.x] = value + step * (int)threadIdx.x;
}

int main()
{
    const int n = 256;
    int a[n], *d, value = 5;
    short step = 2;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&d, sizeof a));

    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(2);
    config.blockDim = dim3(128);
    config.stream = stream;
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributePriority;
    attribute[0].val.priority = 0;
    config.attrs = attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, fill, d, value, step));
    CHECK(cudaMemcpyAsync(a, d, sizeof a, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; i++)
        EXPECT_EQ(a[i], 5 + 2 * (i % 128));

    void *args[] = {&d, &value, &step};
    value = 7;
    CHECK(cudaLaunchKernelExC(&config, (const void *)fill, args));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(a, d, sizeof a, cudaMemcpyDeviceToHost));
    EXPECT_EQ(a[129], 9);
    value = 8;
    CHECK(cudaLaunchKernel((const void *)fill, dim3(1), dim3(n), args, 0, stream));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(a, d, sizeof a, cudaMemcpyDeviceToHost));
    EXPECT_EQ(a[n - 1], 8 + 2 * (n - 1));

    void *entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuLaunchKernelEx", &entry, 12000, cudaEnableDefault, &found));
    EXPECT_EQ(found, cudaDriverEntryPointSuccess);
    CUfunction function;
    CHECK(cudaGetFuncBySymbol(&function, (const void *)fill));
    CUlaunchConfig driver_config = {};
    driver_config.gridDimX = 2, driver_config.gridDimY = driver_config.gridDimZ = 1;
    driver_config.blockDimX = 128, driver_config.blockDimY = driver_config.blockDimZ = 1;
    driver_config.hStream = stream;
    value = 9;
    typedef CUresult (*LaunchKernelEx)(const CUlaunchConfig *, CUfunction, void **, void **);
    EXPECT_EQ(((LaunchKernelEx)entry)(&driver_config, function, args, nullptr), CUDA_SUCCESS);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(a, d, sizeof a, cudaMemcpyDeviceToHost));
    EXPECT_EQ(a[0], 9);
    EXPECT_EQ(a[255], 9 + 2 * 127);
    EXPECT_EQ(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &entry, 12000, cudaEnableDefault, &found), cudaSuccess);
    EXPECT_EQ(found, cudaDriverEntryPointSymbolNotFound);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(d));
    return finish();
}
