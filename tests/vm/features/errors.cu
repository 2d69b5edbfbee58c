// SPDX-License-Identifier: Apache-2.0
// Errors: names and texts, launches that cannot be, what sticks and what does not, peek and get.
#include "../../check.h"

__global__ void nothing() {}
__global__ void big_shared(int *out)
{
    extern __shared__ int s[];
    s[threadIdx.x] = 1;
    out[threadIdx.x] = s[threadIdx.x];
}

int main()
{
    EXPECT(strcmp(cudaGetErrorName(cudaSuccess), "cudaSuccess") == 0);
    EXPECT(strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
    EXPECT(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
    EXPECT(strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);
    EXPECT(strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation") == 0);
    EXPECT(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
    EXPECT(strcmp(cudaGetErrorName((cudaError_t)12345), "unrecognized error code") == 0);

    nothing<<<1, 2000>>>(); // more threads than a block can have
    EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
    EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
    nothing<<<0, 32>>>();
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
    nothing<<<1, 0>>>();
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
    nothing<<<dim3(1, 70000), 32>>>(); // an H200 says so
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    nothing<<<1, dim3(1, 1, 65)>>>();
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    int *d;
    CHECK(cudaMalloc(&d, 4096));
    big_shared<<<1, 32, 49 * 1024>>>(d); // more than 48 KiB only on request
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);

    void *p = (void *)1;
    EXPECT_EQ(cudaMalloc(&p, (size_t)1 << 60), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
    EXPECT_EQ(cudaMalloc(nullptr, 4), cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK(cudaMalloc(&p, 0));
    EXPECT(p == nullptr);
    int host;
    EXPECT_EQ(cudaFree(&host), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_EQ(cudaMemcpy(d, &host, 4, (cudaMemcpyKind)77), cudaErrorInvalidMemcpyDirection);
    cudaGetLastError();
    EXPECT_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
    cudaGetLastError();
    cudaEvent_t event;
    CHECK(cudaEventCreate(&event));
    float ms;
    EXPECT_EQ(cudaEventElapsedTime(&ms, event, event), cudaErrorInvalidResourceHandle); // never recorded
    cudaGetLastError();

    // None of that was the device's: it still works.
    nothing<<<1, 1024>>>();
    CHECK(cudaGetLastError());
    CHECK(cudaFuncSetAttribute(big_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 49 * 1024));
    big_shared<<<1, 32, 49 * 1024>>>(d);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&host, d, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT_EQ(host, 1);
    CHECK(cudaFree(d));
    CHECK(cudaDeviceReset());
    return finish();
}
