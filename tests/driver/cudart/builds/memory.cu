// SPDX-License-Identifier: Apache-2.0
// Managed memory's advice and what can be asked of it, pools with their attributes, copies in batches, and what is known of
// a pointer. The answers are those of an H200.
#include "../../../check.h"

static const size_t size = 1 << 20;

static const cudaMemLocation device = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0};

static int ask(const void *p, size_t n, cudaMemRangeAttribute attribute)
{
    int value = -99;
    CHECK(cudaMemRangeGetAttribute(&value, sizeof value, attribute, p, n));
    return value;
}

static void advice()
{
    char *m;
    CHECK(cudaMallocManaged(&m, size));
    EXPECT_EQ(ask(m, size, cudaMemRangeAttributeReadMostly), 0);
    EXPECT_EQ(ask(m, size, cudaMemRangeAttributePreferredLocation), cudaInvalidDeviceId);
    EXPECT_EQ(ask(m, size, cudaMemRangeAttributePreferredLocationType), cudaMemLocationTypeInvalid);
    EXPECT_EQ(ask(m, size, cudaMemRangeAttributePreferredLocationId), cudaInvalidDeviceId);
    CHECK(cudaMemAdvise(m, size, cudaMemAdviseSetReadMostly, device));
    CHECK(cudaMemAdvise(m, size, cudaMemAdviseSetPreferredLocation, device));
    CHECK(cudaMemAdvise(m, size, cudaMemAdviseSetAccessedBy, device));
    CHECK(cudaMemPrefetchAsync(m, size, device, 0, 0));
    EXPECT_EQ(ask(m, size, cudaMemRangeAttributeReadMostly), 1);
    EXPECT_EQ(ask(m, size, cudaMemRangeAttributePreferredLocation), 0);
    EXPECT_EQ(ask(m, size, cudaMemRangeAttributePreferredLocationType), cudaMemLocationTypeDevice);
    EXPECT_EQ(ask(m, size, cudaMemRangeAttributeAccessedBy), 0);
    EXPECT_EQ(ask(m, size, cudaMemRangeAttributeLastPrefetchLocation), 0);
    CHECK(cudaMemAdvise(m, size, cudaMemAdviseSetPreferredLocation, host));
    CHECK(cudaMemPrefetchAsync(m, size, host, 0, 0));
    CHECK(cudaMemAdvise(m, size, cudaMemAdviseUnsetAccessedBy, device));
    EXPECT_EQ(ask(m, size, cudaMemRangeAttributePreferredLocation), cudaCpuDeviceId);
    EXPECT_EQ(ask(m, size, cudaMemRangeAttributePreferredLocationType), cudaMemLocationTypeHost);
    EXPECT_EQ(ask(m, size, cudaMemRangeAttributeLastPrefetchLocation), cudaCpuDeviceId);
    EXPECT_EQ(ask(m, size, cudaMemRangeAttributeAccessedBy), cudaInvalidDeviceId);
    // Of a part.
    CHECK(cudaMemAdvise(m + size / 4, size / 4, cudaMemAdviseUnsetReadMostly, device));
    EXPECT_EQ(ask(m, size, cudaMemRangeAttributeReadMostly), 0);
    EXPECT_EQ(ask(m, size / 4, cudaMemRangeAttributeReadMostly), 1);
    EXPECT_EQ(ask(m + size / 2, size / 2, cudaMemRangeAttributeReadMostly), 1);
    int value;
    EXPECT_EQ(cudaMemAdvise(&value, sizeof value, cudaMemAdviseSetReadMostly, device), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK(cudaFree(m));
}

static void pointers()
{
    int *managed, *pinned, pageable, *device_memory;
    cudaPointerAttributes a;
    unsigned flags;
    CHECK(cudaMallocManaged(&managed, 4));
    CHECK(cudaHostAlloc(&pinned, 100, cudaHostAllocDefault));
    CHECK(cudaMalloc(&device_memory, 4));
    CHECK(cudaPointerGetAttributes(&a, managed));
    EXPECT(a.type == cudaMemoryTypeManaged && a.devicePointer == managed && a.hostPointer == managed);
    CHECK(cudaPointerGetAttributes(&a, pinned + 3));
    EXPECT(a.type == cudaMemoryTypeHost && a.devicePointer == pinned + 3 && a.hostPointer == pinned + 3);
    CHECK(cudaPointerGetAttributes(&a, device_memory));
    EXPECT(a.type == cudaMemoryTypeDevice && a.devicePointer == device_memory && a.hostPointer == nullptr);
    CHECK(cudaPointerGetAttributes(&a, &pageable));
    EXPECT(a.type == cudaMemoryTypeUnregistered && a.device == -2 && a.hostPointer == &pageable);
    CHECK(cudaHostGetFlags(&flags, pinned));
    EXPECT_EQ(flags, cudaHostAllocMapped);
    CHECK(cudaFree(managed));
    CHECK(cudaFreeHost(pinned));
    EXPECT_EQ(cudaFreeHost(&pageable), cudaErrorInvalidValue);
    EXPECT_EQ(cudaHostUnregister(&pageable), cudaErrorHostMemoryNotRegistered);
    cudaGetLastError();
}

static unsigned long long of(cudaMemPool_t pool, cudaMemPoolAttr attribute)
{
    unsigned long long value = ~0ull;
    CHECK(cudaMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

static void pools()
{
    cudaMemPool_t pool, own;
    void *p, *q;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cudaMallocAsync(&p, size, 0));
    EXPECT_EQ(of(pool, cudaMemPoolAttrUsedMemCurrent), size);
    EXPECT_EQ(of(pool, cudaMemPoolAttrReservedMemCurrent), 32 << 20);
    CHECK(cudaFreeAsync(p, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT_EQ(of(pool, cudaMemPoolAttrUsedMemCurrent), 0);
    EXPECT_EQ(of(pool, cudaMemPoolAttrReservedMemCurrent), 0);
    EXPECT_EQ(of(pool, cudaMemPoolAttrUsedMemHigh), size);
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaMemPoolCreate(&own, &props));
    CHECK(cudaMallocFromPoolAsync(&q, 100, own, 0));
    EXPECT_EQ(of(own, cudaMemPoolAttrUsedMemCurrent) > 0, 1);
    EXPECT_EQ(of(pool, cudaMemPoolAttrUsedMemCurrent), 0);
    unsigned long long keep = 1 << 24;
    CHECK(cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &keep));
    EXPECT_EQ(of(own, cudaMemPoolAttrReleaseThreshold), keep);
    cudaMemAccessFlags access;
    cudaMemLocation where = device;
    CHECK(cudaMemPoolGetAccess(&access, own, &where));
    EXPECT_EQ(access, cudaMemAccessFlagsProtReadWrite);
    cudaMemPool_t current;
    CHECK(cudaMemGetDefaultMemPool(&current, &where, cudaMemAllocationTypePinned));
    EXPECT(current == pool);
    CHECK(cudaMemSetMemPool(&where, cudaMemAllocationTypePinned, own));
    CHECK(cudaMemGetMemPool(&current, &where, cudaMemAllocationTypePinned));
    EXPECT(current == own);
    CHECK(cudaDeviceSetMemPool(0, pool));
    CHECK(cudaFreeAsync(q, 0));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemPoolDestroy(own));
}

static void batches()
{
    char from[2][100], to[2][100], *on_device[2];
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    for (int i = 0; i < 2; i++) {
        memset(from[i], 5 + i, sizeof from[i]);
        CHECK(cudaMalloc(&on_device[i], 100));
    }
    cudaMemcpyAttributes how = {};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    size_t first = 0, sizes[] = {100, 60};
    const void *sources[] = {from[0], from[1]};
    void *destinations[] = {on_device[0], on_device[1]};
    CHECK(cudaMemcpyBatchAsync(destinations, sources, sizes, 2, &how, &first, 1, s));
    EXPECT_EQ(cudaMemcpyBatchAsync(destinations, sources, sizes, 2, &how, &first, 1, 0), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK(cudaStreamSynchronize(s));
    for (int i = 0; i < 2; i++)
        CHECK(cudaMemcpy(to[i], on_device[i], sizes[i], cudaMemcpyDeviceToHost));
    EXPECT(memcmp(to[0], from[0], 100) == 0 && memcmp(to[1], from[1], 60) == 0);
}

int main()
{
    advice();
    pointers();
    pools();
    batches();
    return finish();
}
