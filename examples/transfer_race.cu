// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// Money moves between accounts, each with a lock. A transfer takes the lock of the account it draws on and forgets the
// lock of the one it pays into.
#include "example.h"

#define ACCOUNTS 16

__device__ void lock(int *l)
{
    while (atomicCAS(l, 0, 1) != 0)
        __nanosleep(2000);
    __threadfence();
}

__device__ void unlock(int *l)
{
    __threadfence();
    atomicExch(l, 0);
}

__global__ void transfer(int *balance, int *locks, const int *amounts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int from = i % ACCOUNTS, to = (i / ACCOUNTS + 1 + from) % ACCOUNTS;
    if (from == to)
        return;
    lock(&locks[from]);
    balance[from] -= amounts[i]; // RACE: clobbered read, lost update
    balance[to] += amounts[i]; // RACE: clobbered read, lost update; RACE-MAYBE: intra-warp lost update, intra-warp same-value write
    unlock(&locks[from]);
}

int main()
{
    const int n = 256;
    int amounts[n], expected[ACCOUNTS], balance[ACCOUNTS], wrong = 0;
    int *d_balance, *d_locks, *d_amounts;
    for (int a = 0; a < ACCOUNTS; a++)
        expected[a] = 1000000;
    CUDA_CHECK(cudaMalloc(&d_balance, sizeof balance));
    CUDA_CHECK(cudaMalloc(&d_locks, sizeof balance));
    CUDA_CHECK(cudaMalloc(&d_amounts, sizeof amounts));
    CUDA_CHECK(cudaMemcpy(d_balance, expected, sizeof expected, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_locks, 0, sizeof balance));
    for (int i = 0; i < n; i++) {
        amounts[i] = 1 + (int)(scramble(i) % 500);
        int from = i % ACCOUNTS, to = (i / ACCOUNTS + 1 + from) % ACCOUNTS;
        expected[from] -= from == to ? 0 : amounts[i];
        expected[to] += from == to ? 0 : amounts[i];
    }
    CUDA_CHECK(cudaMemcpy(d_amounts, amounts, sizeof amounts, cudaMemcpyHostToDevice));
    transfer<<<n / 64, 64>>>(d_balance, d_locks, d_amounts);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(balance, d_balance, sizeof balance, cudaMemcpyDeviceToHost));
    for (int a = 0; a < ACCOUNTS; a++)
        wrong += balance[a] != expected[a];
    printf("account 0: %d, expected %d\n", balance[0], expected[0]);
    CUDA_CHECK(cudaFree(d_balance));
    CUDA_CHECK(cudaFree(d_locks));
    CUDA_CHECK(cudaFree(d_amounts));
    return finish_undefined("transfer", wrong);
}
