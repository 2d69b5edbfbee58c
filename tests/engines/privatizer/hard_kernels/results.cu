// SPDX-License-Identifier: Apache-2.0
// Kernels that use what atomic operations and strong loads give, without fences. `clean`: nothing races, and the program checks what came out. `racy`: each kernel
// has one race, in the line with RACE.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

constexpr int THREADS = 64, BLOCKS = 3, N = THREADS * BLOCKS;

__global__ void append(int *length, int *list) { // each thread has a place of its own, whichever it is
    list[atomicAdd(length, 1)] = blockIdx.x * THREADS + threadIdx.x;
}

__global__ void sort_by_digit(int *list) { // places from shared memory, which threads of a block draw in some order
    __shared__ int length[4], from[4], own[THREADS];
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    if (t < 4)
        length[t] = 0;
    __syncthreads();
    int digit = i % 4, place = atomicAdd(&length[digit], 1);
    __syncthreads();
    if (t == 0)
        for (int k = 0, sum = 0; k < 4; sum += length[k++])
            from[k] = sum;
    __syncthreads();
    own[from[digit] + place] = i;
    __syncthreads();
    list[i] = own[t];
}

__global__ void claim(int *owner, int *winners) { // one thread has each place
    int t = blockIdx.x * THREADS + threadIdx.x;
    if (atomicCAS(&owner[t % 7], 0, t + 1) == 0)
        winners[t % 7] = t + 1;
}

__global__ void ticket(int *counter, int *last) { // the thread that saw all others come sets the counter back
    if (atomicAdd(counter, 1) == N - 1) {
        *counter = 0;
        *last = 1;
    }
}

__global__ void drawn_twice(int *counter, int *sum) { // a counter of the block, set back between
    __shared__ unsigned next;
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        if (t == 0)
            next = 0;
        __syncthreads();
        atomicAdd(sum, atomicInc(&next, 1000));
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(counter, next);
}

__global__ void flags(volatile int *flag) { // a volatile store, and volatile loads of others'
    int t = blockIdx.x * THREADS + threadIdx.x;
    flag[t] = 1;
    int seen = flag[(t + 1) % N] + flag[(t + 70) % N];
    if (seen > 2)
        flag[0] = 7;
}

__global__ void reads_counter(int *counter, int *out) {
    int mine = atomicAdd(counter, 1);
    out[blockIdx.x * THREADS + threadIdx.x] = mine < 0 ? 0 : counter[0]; // RACE
}

__global__ void same_place(int *counter, int *out) {
    out[atomicAdd(counter, 1) / 2] = threadIdx.x + 1; // RACE
}

__global__ void sets_counter(int *counter, int *out) {
    if (blockIdx.x == 1 && threadIdx.x == 40)
        *counter = 5; // RACE
    out[blockIdx.x * THREADS + threadIdx.x] = atomicAdd(counter, 1) < 0;
}

int main(int argc, char **argv) {
    int *p, *q, got[N], count[8] = {0};
    bool right = true;
    cudaMalloc(&p, 4 * N);
    cudaMalloc(&q, 4 * N);
    cudaMemset(p, 0, 4 * N);
    cudaMemset(q, 0, 4 * N);
    if (argc > 1 && !strcmp(argv[1], "racy")) {
        reads_counter<<<BLOCKS, THREADS>>>(p, q);
        same_place<<<BLOCKS, THREADS>>>(p + 32, q);
        sets_counter<<<BLOCKS, THREADS>>>(p + 64, q);
        return cudaDeviceSynchronize() != cudaSuccess;
    }
    append<<<BLOCKS, THREADS>>>(p, q);
    cudaMemcpy(got, q, sizeof got, cudaMemcpyDeviceToHost);
    int sum = 0;
    for (int k = 0; k < N; k++)
        sum += got[k];
    right = right && sum == N * (N - 1) / 2;
    sort_by_digit<<<BLOCKS, THREADS>>>(q);
    cudaMemcpy(got, q, sizeof got, cudaMemcpyDeviceToHost);
    for (int k = 0; k < N; k++)
        right = right && got[k] % 4 == k % THREADS / (THREADS / 4);
    cudaMemset(p, 0, 4 * N);
    claim<<<BLOCKS, THREADS>>>(p, q);
    cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost);
    cudaMemcpy(count, q, sizeof count, cudaMemcpyDeviceToHost);
    for (int k = 0; k < 7; k++)
        right = right && got[k] && got[k] == count[k];
    cudaMemset(p, 0, 4 * N);
    ticket<<<BLOCKS, THREADS>>>(p, p + 1);
    drawn_twice<<<BLOCKS, THREADS>>>(p + 2, p + 3);
    flags<<<BLOCKS, THREADS>>>(q);
    cudaMemcpy(count, p, sizeof count, cudaMemcpyDeviceToHost);
    right = right && count[0] == 0 && count[1] == 1 && count[2] == N && count[3] == BLOCKS * 2 * (THREADS * (THREADS - 1) / 2);
    printf("%s\n", right && cudaDeviceSynchronize() == cudaSuccess ? "PASS" : "FAIL");
    return !right;
}
