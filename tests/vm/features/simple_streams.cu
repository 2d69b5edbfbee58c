// SPDX-License-Identifier: Apache-2.0
// simpleStreams and simpleCallback: slices of an array in streams, events between them, host functions, priorities.
#include "../../check.h"

__global__ void init(int *a, int factor, int times)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < times; k++)
        a[i] += factor;
}

static void CUDART_CB count_up(void *p)
{
    ++*(int *)p;
}

static void CUDART_CB count_status(cudaStream_t, cudaError_t status, void *p)
{
    *(int *)p += status == cudaSuccess ? 10 : 1000;
}

int main()
{
    const int streams = 4, n = 1 << 14, slice = n / streams;
    int *a, *d, called = 0;
    cudaStream_t s[streams], urgent;
    cudaEvent_t done[streams];
    CHECK(cudaHostAlloc(&a, n * sizeof *a, cudaHostAllocDefault));
    CHECK(cudaMalloc(&d, n * sizeof *d));
    CHECK(cudaMemset(d, 0, n * sizeof *d));
    for (int i = 0; i < streams; i++) {
        CHECK(cudaStreamCreate(&s[i]));
        CHECK(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
    }
    for (int i = 0; i < streams; i++) {
        init<<<slice / 256, 256, 0, s[i]>>>(d + i * slice, i + 1, 5);
        CHECK(cudaMemcpyAsync(a + i * slice, d + i * slice, slice * sizeof *a, cudaMemcpyDeviceToHost, s[i]));
        CHECK(cudaEventRecord(done[i], s[i]));
        CHECK(cudaStreamWaitEvent(s[0], done[i], 0));
    }
    CHECK(cudaLaunchHostFunc(s[0], count_up, &called));
    CHECK(cudaStreamAddCallback(s[0], count_status, &called, 0));
    CHECK(cudaStreamSynchronize(s[0]));
    EXPECT_EQ(called, 11);
    EXPECT_EQ(cudaStreamQuery(s[0]), cudaSuccess);
    for (int i = 0; i < n; i++)
        EXPECT_EQ(a[i], 5 * (i / slice + 1));
    int least, greatest, priority;
    unsigned flags;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
    CHECK(cudaStreamGetPriority(urgent, &priority));
    CHECK(cudaStreamGetFlags(urgent, &flags));
    EXPECT_EQ(priority, greatest);
    EXPECT_EQ(flags, cudaStreamNonBlocking);
    // The legacy default stream waits for blocking streams, and they for it.
    init<<<slice / 256, 256, 0, s[1]>>>(d, 1, 100);
    init<<<slice / 256, 256>>>(d, 1, 100);
    init<<<slice / 256, 256, 0, s[2]>>>(d, 1, 100);
    CHECK(cudaMemcpy(a, d, slice * sizeof *a, cudaMemcpyDeviceToHost));
    for (int i = 0; i < slice; i++)
        EXPECT_EQ(a[i], 5 + 300); // the copy is in the default stream too: after all three
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(a, d, slice * sizeof *a, cudaMemcpyDeviceToHost));
    EXPECT_EQ(a[slice - 1], 5 + 300);
    for (int i = 0; i < streams; i++) {
        CHECK(cudaStreamDestroy(s[i]));
        CHECK(cudaEventDestroy(done[i]));
    }
    CHECK(cudaStreamDestroy(urgent));
    CHECK(cudaFreeHost(a));
    CHECK(cudaFree(d));
    return finish();
}
