// SPDX-License-Identifier: Apache-2.0
// EXPECT: clean
// Each block elects the first thread whose value is odd: in a warp by ballot, between warps with atomicMin.
#include "example.h"

#define BLOCK 128

__global__ void elect(const int *in, int *winner)
{
    __shared__ int leader;
    int t = threadIdx.x;
    if (t == 0)
        leader = BLOCK;
    __syncthreads();
    bool candidate = in[blockIdx.x * BLOCK + t] % 2 == 1;
    unsigned votes = __ballot_sync(0xffffffffu, candidate);
    if (candidate && __ffs(votes) - 1 == t % 32)
        atomicMin(&leader, t); // NEVER
    __syncthreads();
    if (t == 0)
        winner[blockIdx.x] = leader; // NEVER
}

int main()
{
    const int blocks = 16, n = blocks * BLOCK;
    static int in[n];
    int got[blocks], expected[blocks], wrong = 0;
    for (int b = 0; b < blocks; b++)
        expected[b] = BLOCK;
    for (int i = n - 1; i >= 0; i--) {
        in[i] = (int)(scramble(i) & 0xffff);
        if (in[i] % 2 == 1)
            expected[i / BLOCK] = i % BLOCK;
    }
    int *d_in, *d_winner;
    CUDA_CHECK(cudaMalloc(&d_in, sizeof in));
    CUDA_CHECK(cudaMalloc(&d_winner, sizeof got));
    CUDA_CHECK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    elect<<<blocks, BLOCK>>>(d_in, d_winner);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(got, d_winner, sizeof got, cudaMemcpyDeviceToHost));
    for (int b = 0; b < blocks; b++)
        wrong += got[b] != expected[b];
    printf("block 0 elected %d, expected %d\n", got[0], expected[0]);
    CUDA_CHECK(cudaFree(d_in));
    CUDA_CHECK(cudaFree(d_winner));
    return finish("elect", wrong);
}
