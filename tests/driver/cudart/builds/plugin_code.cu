// SPDX-License-Identifier: Apache-2.0
// The library that plugin.cu loads.
#include <cuda_runtime.h>

__device__ int calls;

__global__ void plugin_kernel(int *out)
{
    calls++;
    *out += 10;
}

extern "C" int run(int *out)
{
    int n = -1;
    plugin_kernel<<<1, 1>>>(out);
    if (cudaGetLastError() != cudaSuccess || cudaMemcpyFromSymbol(&n, calls, sizeof n) != cudaSuccess)
        return -1;
    return n;
}
