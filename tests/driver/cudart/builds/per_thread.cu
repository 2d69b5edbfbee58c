// SPDX-License-Identifier: Apache-2.0
// Compiled with -default-stream per-thread: each host thread has its own default stream, reached through the entry
// points with the suffixes _ptds and _ptsz.
// NVCC: -default-stream per-thread
#include "../../../check.h"

#include <thread>

__constant__ int factor = 3;

__global__ void scale(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] *= factor;
}

static void work(int seed)
{
    const int n = 1000;
    int host[n], *device;
    for (int i = 0; i < n; i++)
        host[i] = seed + i;
    CHECK(cudaMalloc(&device, sizeof host));
    CHECK(cudaMemcpyAsync(device, host, sizeof host, cudaMemcpyHostToDevice));
    scale<<<(n + 127) / 128, 128>>>(device, n);
    CHECK(cudaGetLastError());
    scale<<<(n + 127) / 128, 128, 0, cudaStreamPerThread>>>(device, n); // the same stream by its name
    CHECK(cudaMemcpyAsync(host, device, sizeof host, cudaMemcpyDeviceToHost, 0));
    CHECK(cudaStreamSynchronize(0));
    for (int i = 0; i < n; i++)
        EXPECT_EQ(host[i], 9 * (seed + i));
    CHECK(cudaMemset(device, 0, sizeof host));
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT_EQ(host[n - 1], 0);
    int three = 0;
    CHECK(cudaMemcpyFromSymbol(&three, factor, sizeof three));
    EXPECT_EQ(three, 3);
    CHECK(cudaFree(device));
}

int main()
{
    std::thread other(work, 5000);
    work(1);
    other.join();
    CHECK(cudaDeviceSynchronize());
    return finish();
}
