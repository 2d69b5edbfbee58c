// SPDX-License-Identifier: Apache-2.0
// EXPECT: clean
// Ranks the nodes of a linked list by pointer jumping (Wyllie), one kernel per jump, from one copy of the list to another.
#include "example.h"

#define N 1024

__global__ void jump(const int *next, const int *rank, int *next_out, int *rank_out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int to = next[i]; // NEVER
    rank_out[i] = rank[i] + rank[to]; // NEVER
    next_out[i] = next[to]; // NEVER
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
    int *d_next[2], *d_rank[2];
    for (int k = 0; k < 2; k++) {
        CUDA_CHECK(cudaMalloc(&d_next[k], sizeof next));
        CUDA_CHECK(cudaMalloc(&d_rank[k], sizeof rank));
    }
    CUDA_CHECK(cudaMemcpy(d_next[0], next, sizeof next, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_rank[0], rank, sizeof rank, cudaMemcpyHostToDevice));
    int from = 0;
    for (int reach = 1; reach < N; reach *= 2, from ^= 1) {
        jump<<<N / 128, 128>>>(d_next[from], d_rank[from], d_next[from ^ 1], d_rank[from ^ 1]);
        CUDA_CHECK(cudaGetLastError());
    }
    CUDA_CHECK(cudaMemcpy(rank, d_rank[from], sizeof rank, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += rank[order[i]] != N - 1 - i;
    for (int k = 0; k < 2; k++) {
        CUDA_CHECK(cudaFree(d_next[k]));
        CUDA_CHECK(cudaFree(d_rank[k]));
    }
    return finish("list_rank", wrong);
}
