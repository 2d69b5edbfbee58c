// SPDX-License-Identifier: Apache-2.0
// Separate compilation: device functions and variables of another file (linked_other.cu), built with -rdc=true.
#include "../../check.h"

extern __device__ int other_counter;
extern __constant__ int other_table[4];
__device__ int other_work(int x);
typedef int (*Callback)(int);
__device__ int other_apply(Callback f, int x);
void launch_other(int *out);

static __device__ int offset = 1000; // a variable of the same name is in the other file

__device__ int thrice(int x)
{
    return 3 * x;
}

__global__ void use(int *out)
{
    int t = threadIdx.x;
    out[t] = other_work(t) + other_table[t % 4] + other_apply(thrice, t) + offset;
    atomicAdd(&other_counter, 1);
}

int main()
{
    const int n = 32;
    int out[n], *d, count = 0;
    CHECK(cudaMalloc(&d, sizeof out));
    use<<<1, n>>>(d);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost));
    for (int t = 0; t < n; t++)
        EXPECT_EQ(out[t], (t * t + 2000) + (t % 4) * 10 + (3 * t + 7) + 1000);
    CHECK(cudaMemcpyFromSymbol(&count, other_counter, sizeof count));
    EXPECT_EQ(count, n);
    launch_other(d);
    CHECK(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost));
    EXPECT_EQ(out[5], n + 3 * 5);
    CHECK(cudaFree(d));
    return finish();
}
