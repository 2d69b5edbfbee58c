// SPDX-License-Identifier: Apache-2.0
// simpleZeroCopy: host memory that kernels use in place, allocated and registered; what pointers are.
#include "../../check.h"

__global__ void add(const int *a, const int *b, int *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

int main()
{
    const int n = 4096;
    int *a, *b, *c, *da, *db, *dc;
    CHECK(cudaHostAlloc(&a, n * sizeof *a, cudaHostAllocMapped));
    CHECK(cudaHostAlloc(&b, n * sizeof *b, cudaHostAllocMapped | cudaHostAllocWriteCombined));
    c = (int *)aligned_alloc(4096, n * sizeof *c);
    CHECK(cudaHostRegister(c, n * sizeof *c, cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(&da, a, 0));
    CHECK(cudaHostGetDevicePointer(&db, b, 0));
    CHECK(cudaHostGetDevicePointer(&dc, c, 0));
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = 3 * i;
        c[i] = -1;
    }
    add<<<n / 256, 256>>>(da, db, dc);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        EXPECT_EQ(c[i], 4 * i);
    cudaPointerAttributes p;
    CHECK(cudaPointerGetAttributes(&p, a));
    EXPECT_EQ(p.type, cudaMemoryTypeHost);
    EXPECT(p.devicePointer == da);
    int *d, local;
    CHECK(cudaMalloc(&d, 64));
    CHECK(cudaPointerGetAttributes(&p, d + 3));
    EXPECT_EQ(p.type, cudaMemoryTypeDevice);
    EXPECT_EQ(p.device, 0);
    EXPECT(p.devicePointer == d + 3);
    CHECK(cudaPointerGetAttributes(&p, &local));
    EXPECT_EQ(p.type, cudaMemoryTypeUnregistered);
    unsigned flags = 0;
    CHECK(cudaHostGetFlags(&flags, a));
    EXPECT(flags & cudaHostAllocMapped);
    CHECK(cudaHostUnregister(c));
    EXPECT_EQ(cudaHostUnregister(c), cudaErrorHostMemoryNotRegistered);
    cudaGetLastError();
    free(c);
    CHECK(cudaFree(d));
    CHECK(cudaFreeHost(a));
    CHECK(cudaFreeHost(b));
    return finish();
}
