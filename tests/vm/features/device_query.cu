// SPDX-License-Identifier: Apache-2.0
// What deviceQuery asks: count, properties, attributes, versions, limits.
#include "../../check.h"

int main()
{
    int count = 0, driver = 0, runtime = 0, value = 0, device = -1;
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    CHECK(cudaGetDeviceCount(&count));
    EXPECT(driver >= 13000 && runtime >= 13000 && driver >= runtime);
    EXPECT(count >= 1);
    CHECK(cudaSetDevice(0));
    CHECK(cudaGetDevice(&device));
    EXPECT_EQ(device, 0);
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    printf("%s, compute capability %d.%d, %d multiprocessors, %zu MiB\n", p.name, p.major, p.minor,
           p.multiProcessorCount, p.totalGlobalMem >> 20);
    EXPECT(strlen(p.name) > 0);
    EXPECT(p.major >= 7);
    EXPECT_EQ(p.warpSize, 32);
    EXPECT_EQ(p.maxThreadsPerBlock, 1024);
    EXPECT_EQ(p.maxThreadsDim[0], 1024);
    EXPECT_EQ(p.maxThreadsDim[2], 64);
    EXPECT_EQ(p.maxGridSize[0], 0x7fffffff);
    EXPECT_EQ(p.maxGridSize[1], 65535);
    EXPECT_EQ(p.sharedMemPerBlock, 48 * 1024);
    EXPECT(p.sharedMemPerBlockOptin >= p.sharedMemPerBlock);
    EXPECT_EQ(p.regsPerBlock, 65536);
    EXPECT_EQ(p.totalConstMem, 65536);
    EXPECT(p.multiProcessorCount >= 1);
    EXPECT(p.totalGlobalMem > 0);
    EXPECT_EQ(p.unifiedAddressing, 1);
    EXPECT_EQ(p.managedMemory, 1);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
    EXPECT_EQ(value, p.major);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMinor, 0));
    EXPECT_EQ(value, p.minor);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    EXPECT_EQ(value, p.multiProcessorCount);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0));
    EXPECT_EQ(value, 1024);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
    EXPECT_EQ(value, p.maxThreadsPerMultiProcessor);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0));
    EXPECT(value > 0);
    size_t free_bytes = 0, total = 0, limit = 0;
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    EXPECT(free_bytes > 0 && free_bytes <= total);
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    EXPECT(limit >= 1024);
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    EXPECT(limit > 0);
    int least, greatest;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT(least >= greatest);
    EXPECT_EQ(cudaSetDevice(count), cudaErrorInvalidDevice);
    return finish();
}
