// SPDX-License-Identifier: Apache-2.0
// What launches with clusters, cooperative launches and launch attributes are checked for, and what the occupancy functions
// and attributes say of them. Every error code here is what a device of compute capability 9.0 gave with CUDA 13.
#include "../../check.h"

#include <cooperative_groups.h>

__global__ void plain(int *p) { if (p) p[0] = 1; }
__global__ void __cluster_dims__(2, 1, 1) two(int *p) { if (p) p[0] = 1; }
__global__ void __cluster_dims__(16, 1, 1) sixteen(int *p) { if (p) p[0] = 1; }
__global__ void __launch_bounds__(128, 1, 4) most_four(int *p) { if (p) p[0] = 1; }
__global__ void __launch_bounds__(64) bounded(int *p) { if (p) p[0] = 1; }
__global__ void with_static(int *p)
{
    __shared__ int s[4096];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (p) p[0] = s[threadIdx.x ^ 1];
}
__global__ void count(int *p) { atomicAdd(p, 1); }
__global__ void whole_grid(int *p)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    atomicAdd(p, 1);
    grid.sync();
    if (*(volatile int *)p != (int)grid.size()) atomicAdd(p + 1, 1);
}

const dim3 NONE(0, 0, 0);

static cudaLaunchConfig_t configure(dim3 grid, dim3 block, size_t shared, dim3 cluster, cudaLaunchAttribute a[3])
{
    cudaLaunchConfig_t c = {};
    c.gridDim = grid;
    c.blockDim = block;
    c.dynamicSmemBytes = shared;
    c.attrs = a;
    if (cluster.x || cluster.y || cluster.z) {
        a[0].id = cudaLaunchAttributeClusterDimension;
        a[0].val.clusterDim.x = cluster.x, a[0].val.clusterDim.y = cluster.y, a[0].val.clusterDim.z = cluster.z;
        c.numAttrs = 1;
    }
    return c;
}

static int launch(void (*f)(int *), dim3 grid, dim3 block, size_t shared, dim3 cluster, bool cooperative = false, int *p = nullptr)
{
    cudaLaunchAttribute a[3] = {};
    cudaLaunchConfig_t c = configure(grid, block, shared, cluster, a);
    if (cooperative) {
        a[c.numAttrs].id = cudaLaunchAttributeCooperative;
        a[c.numAttrs++].val.cooperative = 1;
    }
    cudaGetLastError();
    cudaError_t e = cudaLaunchKernelEx(&c, f, p);
    EXPECT_EQ(cudaGetLastError(), e);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return e;
}

static int launch_with(cudaLaunchAttribute attribute, dim3 cluster = NONE, int *p = nullptr)
{
    cudaLaunchAttribute a[3] = {};
    cudaLaunchConfig_t c = configure(8, 32, 0, cluster, a);
    a[c.numAttrs++] = attribute;
    cudaError_t e = cudaLaunchKernelEx(&c, count, p);
    cudaGetLastError();
    return e;
}

static int active(void (*f)(int *), dim3 block, size_t shared, dim3 cluster, int *potential)
{
    cudaLaunchAttribute a[3] = {};
    cudaLaunchConfig_t c = configure(64, block, shared, cluster, a);
    int n = -1;
    *potential = -1;
    cudaError_t e = cudaOccupancyMaxActiveClusters(&n, f, &c);
    EXPECT_EQ(cudaOccupancyMaxPotentialClusterSize(potential, f, &c), e);
    cudaGetLastError();
    return e == cudaSuccess ? n : -(int)e;
}

static void clusters()
{
    const int bad = cudaErrorInvalidClusterSize;
    EXPECT_EQ(launch(plain, 4, 32, 0, 3), bad);
    EXPECT_EQ(launch(plain, 4, 32, 0, 4), cudaSuccess);
    EXPECT_EQ(launch(plain, 32, 32, 0, 16), bad);
    EXPECT_EQ(launch(plain, 4, 32, 0, dim3(0, 1, 1)), bad);
    EXPECT_EQ(launch(plain, 9, 32, 0, 9), bad);
    EXPECT_EQ(cudaFuncSetAttribute(plain, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), cudaSuccess);
    EXPECT_EQ(launch(plain, 32, 32, 0, 16), cudaSuccess);
    EXPECT_EQ(launch(plain, 12, 32, 0, 12), cudaSuccess);
    EXPECT_EQ(launch(plain, 34, 32, 0, 17), bad);
    EXPECT_EQ(launch(plain, dim3(4, 4, 2), 32, 0, dim3(2, 2, 2)), cudaSuccess);
    EXPECT_EQ(launch(plain, dim3(4, 3, 2), 32, 0, dim3(2, 2, 2)), bad);
    EXPECT_EQ(launch(two, 4, 32, 0, 4), bad);
    EXPECT_EQ(launch(two, 4, 32, 0, 2), cudaSuccess);
    EXPECT_EQ(launch(two, 4, 32, 0, 1), bad);
    EXPECT_EQ(launch(two, 3, 32, 0, NONE), bad);
    EXPECT_EQ(launch(two, 4, 32, 0, NONE), cudaSuccess);
    two<<<3, 32>>>(nullptr);
    EXPECT_EQ(cudaGetLastError(), bad);
    EXPECT_EQ(launch(sixteen, 16, 32, 0, NONE), bad);
    EXPECT_EQ(cudaFuncSetAttribute(sixteen, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), cudaSuccess);
    EXPECT_EQ(launch(sixteen, 16, 32, 0, NONE), cudaSuccess);
    EXPECT_EQ(launch(most_four, 8, 32, 0, 4), cudaSuccess);
    EXPECT_EQ(launch(most_four, 8, 32, 0, 8), bad);
    EXPECT_EQ(launch(most_four, 8, 32, 0, NONE), cudaSuccess);
}

static void attributes()
{
    cudaFuncAttributes a;
    CHECK(cudaFuncGetAttributes(&a, plain));
    EXPECT(!a.clusterDimMustBeSet && !a.requiredClusterWidth && a.nonPortableClusterSizeAllowed == 1);
    CHECK(cudaFuncGetAttributes(&a, two));
    EXPECT(a.clusterDimMustBeSet == 1 && a.requiredClusterWidth == 2 && a.requiredClusterHeight == 1 && a.requiredClusterDepth == 1);
    EXPECT(!a.nonPortableClusterSizeAllowed);
    EXPECT_EQ(cudaFuncSetAttribute(two, cudaFuncAttributeRequiredClusterWidth, 4), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFuncSetAttribute(bounded, cudaFuncAttributeRequiredClusterWidth, 4), cudaSuccess);
    EXPECT_EQ(launch(bounded, 4, 32, 0, NONE), cudaErrorInvalidClusterSize); // height and depth are missing
    EXPECT_EQ(cudaFuncSetAttribute(bounded, cudaFuncAttributeRequiredClusterHeight, 1), cudaSuccess);
    EXPECT_EQ(cudaFuncSetAttribute(bounded, cudaFuncAttributeRequiredClusterDepth, 1), cudaSuccess);
    EXPECT_EQ(launch(bounded, 4, 32, 0, NONE), cudaSuccess);
    EXPECT_EQ(launch(bounded, 6, 32, 0, NONE), cudaErrorInvalidClusterSize);
    EXPECT_EQ(launch(bounded, 4, 32, 0, 2), cudaErrorInvalidClusterSize);
    CHECK(cudaFuncGetAttributes(&a, bounded));
    EXPECT(!a.clusterDimMustBeSet && a.requiredClusterWidth == 4);
    EXPECT_EQ(cudaFuncSetAttribute(bounded, cudaFuncAttributeRequiredClusterWidth, -1), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFuncSetAttribute(bounded, cudaFuncAttributeClusterDimMustBeSet, 1), cudaErrorInvalidValue);
    cudaGetLastError();
}

static void occupancy()
{
    int potential, sms, per_sm;
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, plain, 1024, 0));
    EXPECT(active(plain, 128, 0, 2, &potential) >= sms);
    EXPECT_EQ(potential, 16);
    int n = active(plain, 1024, 0, 8, &potential); // bounded by where clusters fit as well
    EXPECT(n >= 1 && n <= sms * per_sm / 8);
    EXPECT_EQ(active(plain, 128, 0, NONE, &potential), 0);
    EXPECT_EQ(potential, 16);
    EXPECT_EQ(active(plain, 2000, 0, 2, &potential), 0);
    EXPECT_EQ(potential, 0);
    EXPECT_EQ(active(plain, 128, 60000, 2, &potential), 0); // not opted in
    EXPECT_EQ(potential, 0);
    EXPECT(active(two, 128, 0, NONE, &potential) >= sms);
    EXPECT_EQ(potential, 8);
    EXPECT_EQ(active(two, 128, 0, 4, &potential), -(int)cudaErrorInvalidClusterSize);
    EXPECT_EQ(active(plain, 128, 0, 3, &potential), -(int)cudaErrorInvalidClusterSize);
    EXPECT_EQ(active(plain, 128, 0, 32, &potential), 0);
    EXPECT_EQ(potential, 16);
}

static void shared_memory()
{
    const int most = 227 * 1024, bad = cudaErrorInvalidValue;
    EXPECT_EQ(launch(plain, 4, 32, 48 * 1024, NONE), cudaSuccess);
    EXPECT_EQ(launch(plain, 4, 32, 48 * 1024 + 1, NONE), bad);
    EXPECT_EQ(cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, most), cudaSuccess);
    EXPECT_EQ(launch(plain, 4, 32, most, NONE), cudaSuccess);
    EXPECT_EQ(launch(plain, 4, 32, most, 4), cudaSuccess);
    EXPECT_EQ(launch(plain, 4, 32, most + 1, NONE), bad);
    EXPECT_EQ(cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, most + 1), bad);
    EXPECT_EQ(cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, -1), bad);
    cudaFuncAttributes a;
    CHECK(cudaFuncGetAttributes(&a, with_static));
    EXPECT_EQ(a.maxDynamicSharedSizeBytes, 32768);
    EXPECT_EQ(launch(with_static, 4, 32, 32768, NONE), cudaSuccess);
    EXPECT_EQ(launch(with_static, 4, 32, 32769, NONE), bad);
    EXPECT_EQ(cudaFuncSetAttribute(with_static, cudaFuncAttributeMaxDynamicSharedMemorySize, most - 16384), cudaSuccess);
    EXPECT_EQ(cudaFuncSetAttribute(with_static, cudaFuncAttributeMaxDynamicSharedMemorySize, most - 16383), bad);
    EXPECT_EQ(launch(with_static, 4, 32, most - 16384, NONE), cudaSuccess);
    EXPECT_EQ(cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024), cudaSuccess);
    EXPECT_EQ(launch(plain, 4, 32, 1024, NONE), cudaSuccess);
    EXPECT_EQ(launch(plain, 4, 32, 1025, NONE), bad);
    cudaGetLastError();
}

static void shapes()
{
    const int bad = cudaErrorInvalidValue;
    EXPECT_EQ(launch(plain, 4, 1025, 0, NONE), bad);
    EXPECT_EQ(launch(most_four, 4, 129, 0, NONE), bad);
    EXPECT_EQ(launch(plain, 0, 32, 0, NONE), bad);
    EXPECT_EQ(launch(plain, 4, 0, 0, NONE), bad);
    EXPECT_EQ(launch(plain, dim3(1, 65536), 32, 0, NONE), bad);
    EXPECT_EQ(launch(plain, 4, dim3(1, 1, 65), 0, NONE), bad);
}

static void cooperative(int *d)
{
    int sms, per_sm, got[2];
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, whole_grid, 128, 0));
    const int most = sms * per_sm, large = cudaErrorCooperativeLaunchTooLarge;
    for (int grid : {most, most / 2, 1}) {
        CHECK(cudaMemset(d, 0, 8));
        EXPECT_EQ(launch(whole_grid, grid, 128, 0, NONE, true, d), cudaSuccess);
        CHECK(cudaMemcpy(got, d, 8, cudaMemcpyDeviceToHost));
        EXPECT_EQ(got[0], grid * 128);
        EXPECT_EQ(got[1], 0);
    }
    EXPECT_EQ(launch(plain, most + 1, 128, 0, NONE, true), large);
    void *args[] = {&d};
    EXPECT_EQ(cudaLaunchCooperativeKernel(whole_grid, dim3(most + 1), dim3(128), args, 0, nullptr), large);
    EXPECT_EQ(cudaGetLastError(), large);
    EXPECT_EQ(launch(plain, 100000, 1024, 0, 2, true), large);
    CHECK(cudaMemset(d, 0, 8));
    EXPECT_EQ(launch(whole_grid, 8, 128, 0, 8, true, d), cudaSuccess);
    EXPECT_EQ(launch(plain, 9, 128, 0, 8, true), cudaErrorInvalidClusterSize);
}

static void launch_attributes(int *d)
{
    cudaLaunchAttribute a = {};
    int got = 0;
    CHECK(cudaMemset(d, 0, 4));
    a.id = (cudaLaunchAttributeID)77;
    EXPECT_EQ(launch_with(a), cudaErrorInvalidValue);
    a.id = cudaLaunchAttributePriority;
    a.val.priority = 1000;
    EXPECT_EQ(launch_with(a, NONE, d), cudaSuccess);
    a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a.val.programmaticStreamSerializationAllowed = 1;
    EXPECT_EQ(launch_with(a, NONE, d), cudaSuccess);
    a.id = cudaLaunchAttributeClusterSchedulingPolicyPreference;
    a.val.clusterSchedulingPolicyPreference = (cudaClusterSchedulingPolicy)9;
    EXPECT_EQ(launch_with(a), cudaErrorInvalidValue);
    a.val.clusterSchedulingPolicyPreference = cudaClusterSchedulingPolicySpread;
    EXPECT_EQ(launch_with(a, NONE, d), cudaSuccess);
    a = {};
    a.id = cudaLaunchAttributeLaunchCompletionEvent;
    EXPECT_EQ(launch_with(a), cudaErrorInvalidResourceHandle);
    a.id = cudaLaunchAttributeProgrammaticEvent;
    EXPECT_EQ(launch_with(a), cudaErrorInvalidResourceHandle);
    a.id = cudaLaunchAttributePreferredClusterDimension;
    a.val.preferredClusterDim.x = 4, a.val.preferredClusterDim.y = a.val.preferredClusterDim.z = 1;
    EXPECT_EQ(launch_with(a), cudaErrorInvalidClusterSize);
    EXPECT_EQ(launch_with(a, 2, d), cudaSuccess);

    // EM-129: an event that a launch records, waited for by another stream, is there when the launch has ended.
    cudaEvent_t event;
    cudaStream_t other;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    a = {};
    a.id = cudaLaunchAttributeLaunchCompletionEvent;
    a.val.launchCompletionEvent.event = event;
    EXPECT_EQ(launch_with(a, NONE, d), cudaSuccess);
    CHECK(cudaStreamWaitEvent(other, event, 0));
    count<<<1, 32, 0, other>>>(d);
    CHECK(cudaStreamSynchronize(other));
    EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
    EXPECT_EQ(cudaStreamQuery(nullptr), cudaSuccess);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&got, d, 4, cudaMemcpyDeviceToHost));
    EXPECT_EQ(got, 5 * 8 * 32 + 32);
    CHECK(cudaEventDestroy(event));
    CHECK(cudaStreamDestroy(other));
}

int main()
{
    int *d;
    CHECK(cudaMalloc(&d, 64));
    clusters();
    attributes();
    occupancy();
    shared_memory();
    shapes();
    cooperative(d);
    launch_attributes(d);
    CHECK(cudaFree(d));
    return finish();
}
