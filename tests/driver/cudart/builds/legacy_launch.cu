// SPDX-License-Identifier: Apache-2.0
// Compiled with __NV_LEGACY_LAUNCH: the launch stub calls cudaLaunchKernel with the host function.
// NVCC: -D__NV_LEGACY_LAUNCH -Xcompiler -D__NV_LEGACY_LAUNCH
#include "../../../check.h"

template <typename T> __global__ void fill(T *out, T value) { out[threadIdx.x] = value; }
__global__ void nothing() {}

int main()
{
    double *device, host[32];
    CHECK(cudaMalloc(&device, sizeof host));
    fill<<<1, 32>>>(device, 2.5);
    nothing<<<2, 2>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 2.5 && host[31] == 2.5);
    nothing<<<1, 4096>>>();
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
    CHECK(cudaFree(device));
    return finish();
}
