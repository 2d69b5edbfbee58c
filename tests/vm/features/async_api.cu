// SPDX-License-Identifier: Apache-2.0
// asyncAPI: pinned memory, copies and a kernel in a stream, events that time it, the host polling meanwhile.
#include "../../check.h"

__global__ void increment(int *data, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] += value;
}

int main()
{
    const int n = 1 << 16, value = 26;
    int *a, *d;
    CHECK(cudaMallocHost(&a, n * sizeof *a));
    memset(a, 0, n * sizeof *a);
    CHECK(cudaMalloc(&d, n * sizeof *d));
    CHECK(cudaMemset(d, 255, n * sizeof *d));
    cudaEvent_t start, stop, silent;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventCreateWithFlags(&silent, cudaEventDisableTiming));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(start, 0));
    CHECK(cudaMemcpyAsync(d, a, n * sizeof *a, cudaMemcpyHostToDevice, 0));
    increment<<<n / 512, 512, 0, 0>>>(d, value);
    CHECK(cudaMemcpyAsync(a, d, n * sizeof *a, cudaMemcpyDeviceToHost, 0));
    CHECK(cudaEventRecord(stop, 0));
    long polls = 0;
    while (cudaEventQuery(stop) == cudaErrorNotReady)
        polls++;
    float ms = -1;
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    printf("%.3f ms, polled %s\n", ms, polls ? "some times" : "once");
    EXPECT(ms > 0);
    for (int i = 0; i < n; i++)
        EXPECT_EQ(a[i], value);
    EXPECT_EQ(cudaEventElapsedTime(&ms, start, silent), cudaErrorInvalidResourceHandle);
    CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle ? cudaSuccess : cudaErrorUnknown);
    CHECK(cudaEventRecord(silent));
    CHECK(cudaEventSynchronize(silent));
    EXPECT_EQ(cudaEventQuery(silent), cudaSuccess);
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaEventDestroy(silent));
    CHECK(cudaFreeHost(a));
    CHECK(cudaFree(d));
    return finish();
}
