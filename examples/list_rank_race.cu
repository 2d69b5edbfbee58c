// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// Ranks the nodes of a linked list by pointer jumping (Wyllie), all jumps in one kernel and in place: a node reads its
// successor's rank and link while that one changes both.
#include "example.h"

#define N 1024

__global__ void rank_all(int *next, int *rank)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int to = next[i]; to != next[to]; to = next[i]) { // RACE-MAYBE: clobbered read
        rank[i] += rank[to]; // RACE: clobbered read
        next[i] = next[to]; // RACE: clobbered read
    }
}

int main()
{
    static int next[N], rank[N], order[N];
    for (int i = 0; i < N; i++)
        order[i] = i;
    for (int i = N - 1; i > 0; i--) {
        int j = (int)(scramble(i) % (unsigned)(i + 1)), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    for (int i = 0; i < N; i++) { // the last node links to itself and has rank 0
        next[order[i]] = order[i + 1 < N ? i + 1 : i];
        rank[order[i]] = i + 1 < N;
    }
    int *d_next, *d_rank;
    CUDA_CHECK(cudaMalloc(&d_next, sizeof next));
    CUDA_CHECK(cudaMalloc(&d_rank, sizeof rank));
    CUDA_CHECK(cudaMemcpy(d_next, next, sizeof next, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_rank, rank, sizeof rank, cudaMemcpyHostToDevice));
    rank_all<<<N / 128, 128>>>(d_next, d_rank);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(rank, d_rank, sizeof rank, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += rank[order[i]] != N - 1 - i;
    CUDA_CHECK(cudaFree(d_next));
    CUDA_CHECK(cudaFree(d_rank));
    return finish_undefined("list_rank", wrong);
}
