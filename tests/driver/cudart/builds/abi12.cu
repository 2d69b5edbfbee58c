// SPDX-License-Identifier: Apache-2.0
// Compiled with CUDA 12's headers: the entry points and structures that CUDA 13 changed.
#include "../../../check.h"

#include <cuda.h>

static_assert(CUDART_VERSION / 1000 == 12, "these are not CUDA 12's headers");

__managed__ int shared_value = 5;

__global__ void twice(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= 2;
    if (i == 0)
        shared_value += 1;
}

static int attribute(cudaDeviceAttr a)
{
    int value = -1;
    CHECK(cudaDeviceGetAttribute(&value, a, 0));
    return value;
}

static void properties()
{
    struct {
        cudaDeviceProp prop;
        unsigned char guard[64];
    } p;
    memset(&p, 0xa5, sizeof p);
    CHECK(cudaGetDeviceProperties(&p.prop, 0));
    for (unsigned char g : p.guard)
        EXPECT_EQ(g, 0xa5);
    // Fields from all over the structure, those that CUDA 13 took out among them.
    EXPECT_EQ(p.prop.warpSize, 32);
    EXPECT_EQ(p.prop.clockRate, attribute(cudaDevAttrClockRate));
    EXPECT(p.prop.clockRate > 0);
    EXPECT_EQ(p.prop.totalConstMem, 65536);
    EXPECT_EQ(p.prop.major, 9);
    EXPECT_EQ(p.prop.multiProcessorCount, attribute(cudaDevAttrMultiProcessorCount));
    EXPECT_EQ(p.prop.computeMode, cudaComputeModeDefault);
    EXPECT_EQ(p.prop.concurrentKernels, 1);
    EXPECT_EQ(p.prop.memoryClockRate, attribute(cudaDevAttrMemoryClockRate));
    EXPECT_EQ(p.prop.maxThreadsPerMultiProcessor, 2048);
    EXPECT_EQ(p.prop.sharedMemPerBlockOptin, attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    EXPECT_EQ(p.prop.clusterLaunch, attribute(cudaDevAttrClusterLaunch));
    int best = -1;
    CHECK(cudaChooseDevice(&best, &p.prop));
    EXPECT_EQ(best, 0);
}

int main()
{
    int version = 0;
    CHECK(cudaRuntimeGetVersion(&version));
    EXPECT_EQ(version / 1000, 12);
    properties();

    const int n = 1000;
    int *data;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMallocManaged(&data, n * sizeof *data));
    for (int i = 0; i < n; i++)
        data[i] = i;
    CHECK(cudaMemAdvise(data, n * sizeof *data, cudaMemAdviseSetReadMostly, 0));
    CHECK(cudaMemAdvise(data, n * sizeof *data, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
    CHECK(cudaMemPrefetchAsync(data, n * sizeof *data, 0, stream));
    EXPECT_EQ(cudaMemPrefetchAsync(data, n * sizeof *data, 77, stream), cudaErrorInvalidDevice);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
    cudaMemLocation host = {cudaMemLocationTypeHost, 0};
    CHECK(cudaMemPrefetchAsync_v2(data, n * sizeof *data, host, 0, stream));
    CHECK(cudaMemAdvise_v2(data, n * sizeof *data, cudaMemAdviseUnsetPreferredLocation, host));

    cudaEvent_t start, stop;
    float ms = -1;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start, stream));
    twice<<<(n + 127) / 128, 128, 0, stream>>>(data, n);
    CHECK(cudaEventRecord(stop, stream));
    CHECK(cudaThreadSynchronize());
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    EXPECT(ms > 0);
    EXPECT_EQ(data[n - 1], 2 * (n - 1));
    EXPECT_EQ(shared_value, 6);

    // The driver's entry point that this CUDA's headers declare under the name.
    void *fn = nullptr;
    cudaDriverEntryPointQueryResult status;
    CHECK(cudaGetDriverEntryPoint("cuMemAlloc", &fn, cudaEnableDefault, &status));
    EXPECT_EQ(status, cudaDriverEntryPointSuccess);
    CUdeviceptr p = 0;
    EXPECT_EQ(((CUresult(*)(CUdeviceptr *, size_t))fn)(&p, 64), CUDA_SUCCESS);
    CHECK(cudaFree((void *)p));
    CHECK(cudaFree(data));
    CHECK(cudaThreadExit());
    return finish();
}
