// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// A device function adds to whatever its pointer points to: a thread's own variable (local memory, never shared)
// or, wrongly, a counter in shared memory that the whole block uses. Its accesses are generic.
#include "example.h"

#define BLOCK 128

__device__ __noinline__ void add_to(int *where, int what)
{
    *where += what; // RACE: clobbered read, lost update, intra-warp lost update; RACE-MAYBE: intra-warp same-value write
}

__global__ void sums(const int *in, int *out)
{
    __shared__ int total;
    int mine = 0, t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    if (t == 0)
        total = 0;
    __syncthreads();
    for (int k = 0; k < 4; k++)
        add_to(&mine, in[i] + k);
    add_to(&total, mine);
    __syncthreads();
    if (t == 0)
        out[blockIdx.x] = total; // NEVER
}

int main()
{
    const int blocks = 8, n = blocks * BLOCK;
    static int in[n];
    int got[blocks], expected[blocks] = {0}, wrong = 0;
    for (int i = 0; i < n; i++) {
        in[i] = 1 + (int)(scramble(i) % 1000);
        expected[i / BLOCK] += 4 * in[i] + 6;
    }
    int *d_in, *d_out;
    CUDA_CHECK(cudaMalloc(&d_in, sizeof in));
    CUDA_CHECK(cudaMalloc(&d_out, sizeof got));
    CUDA_CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    sums<<<blocks, BLOCK>>>(d_in, d_out);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(got, d_out, sizeof got, cudaMemcpyDeviceToHost));
    for (int b = 0; b < blocks; b++)
        wrong += got[b] != expected[b];
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_out));
    return finish_undefined("generic", wrong);
}
