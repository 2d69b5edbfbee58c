// SPDX-License-Identifier: Apache-2.0
// malloc, free, new and delete in device code: blocks of many sizes, alive across launches, and exhaustion.
#include "../../check.h"

__device__ int *kept[4];

struct Pair {
    int a, b;
    __device__ Pair(int x) : a(x), b(2 * x) {}
};

__global__ void churn(int *errors)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, n = 1 + t % 50;
    int *p = (int *)malloc(n * sizeof *p);
    if (!p || (size_t)p % 16 != 0) {
        atomicAdd(errors, 1);
        return;
    }
    for (int i = 0; i < n; i++)
        p[i] = t + i;
    Pair *q = new Pair(t);
    __syncthreads();
    for (int i = 0; i < n; i++)
        if (p[i] != t + i)
            atomicAdd(errors, 1);
    if (q->a != t || q->b != 2 * t)
        atomicAdd(errors, 1);
    delete q;
    free(p);
}

__global__ void keep()
{
    kept[threadIdx.x] = (int *)malloc(sizeof(int));
    *kept[threadIdx.x] = 100 + threadIdx.x;
}

__global__ void release(int *errors)
{
    if (*kept[threadIdx.x] != 100 + (int)threadIdx.x)
        atomicAdd(errors, 1);
    free(kept[threadIdx.x]);
    free(nullptr);
}

__global__ void too_much(int *errors)
{
    if (malloc((size_t)1 << 40))
        atomicAdd(errors, 1);
}

int main()
{
    int *d, errors = -1;
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    CHECK(cudaMalloc(&d, sizeof *d));
    CHECK(cudaMemset(d, 0, sizeof *d));
    for (int i = 0; i < 4; i++)
        churn<<<8, 64>>>(d);
    keep<<<1, 4>>>();
    release<<<1, 4>>>(d);
    too_much<<<1, 1>>>(d);
    CHECK(cudaMemcpy(&errors, d, sizeof errors, cudaMemcpyDeviceToHost));
    EXPECT_EQ(errors, 0);
    CHECK(cudaFree(d));
    return finish();
}
