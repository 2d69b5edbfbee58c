// SPDX-License-Identifier: Apache-2.0
// EXPECT: clean
// Warps of a block work as producers and consumers that meet at two named barriers: "full" and "empty".
// The producers announce the buffer after they have filled it.
#include "example.h"

#define HALF 64
#define ROUNDS 8

__device__ void arrive(int barrier)
{
    asm volatile("barrier.cta.arrive %0, %1;" ::"r"(barrier), "n"(2 * HALF) : "memory");
}

__device__ void wait(int barrier)
{
    asm volatile("barrier.cta.sync %0, %1;" ::"r"(barrier), "n"(2 * HALF) : "memory");
}

__global__ void pipeline(const int *in, int *out)
{
    enum { FULL = 1, EMPTY = 2 };
    __shared__ int buffer[HALF];
    int t = threadIdx.x % HALF, base = blockIdx.x * ROUNDS * HALF + t;
    if (threadIdx.x < HALF) {
        for (int round = 0; round < ROUNDS; round++) {
            wait(EMPTY);
            buffer[t] = in[base + round * HALF] * 2;
            arrive(FULL);
        }
    } else {
        for (int round = 0; round < ROUNDS; round++) {
            arrive(EMPTY);
            wait(FULL);
            out[base + round * HALF] = buffer[HALF - 1 - t];
        }
    }
}

int main()
{
    const int blocks = 4, n = blocks * ROUNDS * HALF;
    static int in[n], got[n];
    int *d_in, *d_out, wrong = 0;
    for (int i = 0; i < n; i++)
        in[i] = 1 + (int)(scramble(i) % 10000);
    CUDA_CHECK(cudaMalloc(&d_in, sizeof in));
    CUDA_CHECK(cudaMalloc(&d_out, sizeof got));
    CUDA_CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    pipeline<<<blocks, 2 * HALF>>>(d_in, d_out);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(got, d_out, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        wrong += got[i] != 2 * in[i / HALF * HALF + HALF - 1 - i % HALF];
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    return finish("named_barrier", wrong);
}
