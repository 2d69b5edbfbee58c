// SPDX-License-Identifier: Apache-2.0
// What calls answer that are made in a wrong way, or that ask for what is not granted: as an H200 did (driver 580, CUDA 13.0).
#include "../../../check.h"

__global__ void empty() {}
__global__ void __launch_bounds__(200, 2) bounded() {}

#define FAILS(call, error)                                                                                   \
    do {                                                                                                     \
        EXPECT_EQ(call, error);                                                                              \
        cudaGetLastError();                                                                                  \
    } while (0)

static size_t set_limit(cudaLimit limit, size_t wanted)
{
    size_t got = 0;
    CHECK(cudaDeviceSetLimit(limit, wanted));
    CHECK(cudaDeviceGetLimit(&got, limit));
    return got;
}

static void limits()
{
    size_t n;
    EXPECT_EQ(set_limit(cudaLimitStackSize, 100), 112);
    EXPECT_EQ(set_limit(cudaLimitStackSize, 1000), 1008);
    FAILS(cudaDeviceSetLimit(cudaLimitStackSize, 10000000), cudaErrorInvalidValue);
    EXPECT_EQ(set_limit(cudaLimitMallocHeapSize, 1), 4 << 20);
    EXPECT_EQ(set_limit(cudaLimitPrintfFifoSize, 1), 512 << 10);
    FAILS(cudaDeviceGetLimit(&n, cudaLimitDevRuntimeSyncDepth), cudaErrorUnsupportedLimit);
    FAILS(cudaDeviceGetLimit(&n, (cudaLimit)77), cudaErrorInvalidValue);
}

static void occupancy()
{
    int blocks = -1;
    size_t room = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, empty, 32, 100000)); // more than was asked for
    EXPECT_EQ(blocks, 0);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 201, 0));
    EXPECT_EQ(blocks, 9);
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&room, empty, 1, 256));
    EXPECT_EQ(room, 49152);
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&room, empty, 4, 256));
    EXPECT_EQ(room, 49152);
    FAILS(cudaOccupancyAvailableDynamicSMemPerBlock(&room, empty, 32, 256), cudaErrorInvalidValue);
}

static void memory()
{
    char *p, *h = (char *)aligned_alloc(4096, 8192);
    CHECK(cudaMallocManaged(&p, 0));
    EXPECT(p == nullptr);
    CHECK(cudaHostRegister(h, 8192, 0));
    FAILS(cudaHostRegister(h, 8192, 0), cudaErrorHostMemoryAlreadyRegistered);
    FAILS(cudaHostUnregister(h + 4), cudaErrorInvalidValue);
    CHECK(cudaHostUnregister(h));
    FAILS(cudaHostUnregister(h), cudaErrorHostMemoryNotRegistered);
    CHECK(cudaMalloc(&p, 256));
    FAILS(cudaHostRegister(p, 64, 0), cudaErrorInvalidValue);
    FAILS(cudaMemset2D(p, 16, 3, 17, 2), cudaErrorInvalidValue);
    FAILS(cudaMemcpy2D(p, 4, h, 8, 8, 4, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
    CHECK(cudaFree(p));
    CHECK(cudaMallocManaged(&p, 4096));
    FAILS(cudaStreamAttachMemAsync(0, p, 0, cudaMemAttachSingle), cudaErrorInvalidValue);
    FAILS(cudaMemPrefetchAsync(p, 4096, {cudaMemLocationTypeDevice, 9}, 0, 0), cudaErrorInvalidDevice);
    FAILS(cudaMemPrefetchAsync(p, 4097, {cudaMemLocationTypeDevice, 0}, 0, 0), cudaErrorInvalidValue);
    CHECK(cudaFree(p));
    cudaMemPool_t pool;
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location = {cudaMemLocationTypeDevice, 5};
    FAILS(cudaMemPoolCreate(&pool, &props), cudaErrorInvalidValue);
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    cudaMemAccessDesc none = {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtNone};
    FAILS(cudaMemPoolSetAccess(pool, &none, 1), cudaErrorInvalidDevice);
}

static void events()
{
    cudaEvent_t e;
    CHECK(cudaEventCreate(&e));
    FAILS(cudaEventRecordWithFlags(e, 0, cudaEventRecordExternal), cudaErrorIllegalState);
    FAILS(cudaEventRecordWithFlags(e, 0, 4), cudaErrorInvalidValue);
    CHECK(cudaEventRecordWithFlags(e, 0, cudaEventRecordDefault));
    CHECK(cudaEventDestroy(e));
}

int main()
{
    occupancy();
    limits();
    memory();
    events();
    return finish();
}
