// SPDX-License-Identifier: Apache-2.0
// Barriers of the grid, at which blocks end regions. `meetings`: kernels without races, whose results are looked at; `meetings racy`: each has the races that are named.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <utility>

namespace cg = cooperative_groups;

enum { BLOCKS = 4, THREADS = 48, N = BLOCKS * THREADS, ROUNDS = 5 };

__device__ int total, tickets;
__device__ int list[N];

// What a thread has in registers, in local and in shared memory comes over the barriers, and each region begins with it twice.
__global__ void keeps(int *a, int *b, int rounds) {
    __shared__ int mine[THREADS];
    cg::grid_group grid = cg::this_grid();
    int t = threadIdx.x, i = blockIdx.x * THREADS + t, sum = 0, local[ROUNDS];
    mine[t] = t;
    for (int r = 0; r < rounds; r++) {
        a[i] = b[i] + r;
        local[r] = i * r;
        grid.sync();
        mine[t] += a[(i + THREADS) % N];
        __syncthreads();
        sum += mine[(t + 1) % THREADS] + local[(r + i) % (r + 1)];
        b[i] = sum;
        grid.sync();
    }
    b[i] += mine[t];
}

// Atomic operations, their results, and one thread that reads them between two barriers.
__global__ void adds(int *a) {
    cg::grid_group grid = cg::this_grid();
    for (int r = 0; r < ROUNDS; r++) {
        if (grid.thread_rank() == 0)
            total = tickets = 0;
        grid.sync();
        list[atomicAdd(&tickets, 1)] = r;
        atomicAdd(&total, a[grid.thread_rank()]);
        grid.sync();
        a[grid.thread_rank()] = total % 1000 + list[grid.thread_rank()];
        grid.sync();
    }
    if (threadIdx.x > 3)
        return;
    a[grid.thread_rank()]++;
}

// Arrive and wait are apart: between them blocks do what nobody else looks at.
__global__ void apart(int *a, int *b) {
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank();
    a[i] = i;
    auto token = grid.barrier_arrive();
    b[i] = 1;
    grid.barrier_wait(std::move(token));
    b[i] += a[N - 1 - i];
}

// Threads of a block behind a barrier of the grid: they come to different places if they find what other blocks wrote, byte by byte, and what all have added up.
__global__ void finds(int *a, int *b, int racy) {
    __shared__ int mine[THREADS];
    cg::grid_group grid = cg::this_grid();
    unsigned char *bytes = (unsigned char *)b;
    int t = threadIdx.x, i = grid.thread_rank();
    for (int r = 0; r < 3; r++) {
        a[i] = i + r;
        bytes[(i * 5 + r) % N] = t; // 5 and N have no common divisor
        if (i == 0)
            total = r;
        grid.sync();
        atomicAdd(&total, 1);
        if (t == 0 && blockIdx.x == 2)
            atomicMax(&tickets, 100 * r);
        mine[(a[N - 1 - i] - r) % THREADS] = t;
        __syncthreads();
        mine[(bytes[(i * 5 + r) % N] + r) % THREADS] += t;
        grid.sync();
        if (racy && r == 2 && total == N + r && tickets >= 200)
            mine[(a[(i + THREADS) % N] - r) / 2 % THREADS] = t; // RACE
        grid.sync();
    }
    a[i] = mine[t];
}

__global__ void late(int *a, int *b) {
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank();
    a[i] = i;
    grid.sync();
    int other = a[N - 1 - i];
    grid.sync();
    a[i] = other + 1;
    if (other == N - 1 - i)
        b[i] = a[N - 1 - i]; // RACE
    grid.sync();
    if (threadIdx.x == 0)
        b[0] = blockIdx.x + 1; // RACE
}

__global__ void in_shared(int *a, int *b) { // the value is nowhere else where the region ends
    __shared__ int mine[THREADS];
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank();
    b[i] = 0;
    grid.sync();
    a[i] = i + 7;
    mine[threadIdx.x] = a[N - 1 - i]; // RACE
    grid.sync();
    b[i] = mine[threadIdx.x];
}

__global__ void in_register(int *a, int *b, int rounds) { // in one round of a loop
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank(), value = 0;
    for (int r = 0; r < rounds; r++) {
        grid.sync();
        a[i] += i + 1;
        if (r == 3)
            value = a[N - 1 - i]; // RACE
    }
    grid.sync();
    b[i] = value;
}

__global__ void too_early(int *a, int *b) { // behind the arrival, but in front of the wait
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank();
    grid.sync();
    auto token = grid.barrier_arrive();
    a[i] = i + 3;
    grid.barrier_wait(std::move(token));
    b[i] = a[N - 1 - i]; // RACE
}

int main(int argc, char **argv) {
    int *a, *b, rounds = ROUNDS, got[N], want[N], was[N] = {0};
    cudaMalloc(&a, sizeof got);
    cudaMalloc(&b, sizeof got);
    cudaMemset(a, 0, sizeof got);
    cudaMemset(b, 0, sizeof got);
    void *args[] = {&a, &b, &rounds};
    auto launch = [&](const void *kernel) { return cudaLaunchCooperativeKernel(kernel, BLOCKS, THREADS, args, 0, 0); };
    if (argc > 1 && !strcmp(argv[1], "racy")) {
        launch((const void *)finds);
        launch((const void *)late);
        launch((const void *)in_shared);
        launch((const void *)in_register);
        launch((const void *)too_early);
        return cudaDeviceSynchronize() != cudaSuccess;
    }
    bool right = launch((const void *)keeps) == cudaSuccess;
    cudaMemcpy(got, b, sizeof got, cudaMemcpyDeviceToHost);
    int mine[N], sum[N] = {0}, first[N];
    for (int i = 0; i < N; i++)
        mine[i] = i % THREADS;
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < N; i++)
            first[i] = was[i] + r;
        for (int i = 0; i < N; i++)
            mine[i] += first[(i + THREADS) % N];
        for (int i = 0; i < N; i++)
            was[i] = sum[i] += mine[i / THREADS * THREADS + (i % THREADS + 1) % THREADS] + i * ((r + i) % (r + 1));
    }
    for (int i = 0; i < N; i++)
        right = right && got[i] == was[i] + mine[i];
    rounds = 0;
    right = right && launch((const void *)finds) == cudaSuccess;
    cudaMemcpy(got, a, sizeof got, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++) // what the threads put there that have the place in the last round
        right = right && got[i] == (THREADS - 1 - i % THREADS) + (i + THREADS - 2) % THREADS;
    right = right && launch((const void *)apart) == cudaSuccess;
    cudaMemcpy(got, b, sizeof got, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++)
        right = right && got[i] == N - i;
    right = right && launch((const void *)adds) == cudaSuccess;
    cudaMemcpy(got, a, sizeof got, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++)
        want[i] = i;
    for (int r = 0; r < ROUNDS; r++) {
        int all = 0;
        for (int i = 0; i < N; i++)
            all += want[i];
        for (int i = 0; i < N; i++)
            want[i] = all % 1000 + r;
    }
    for (int i = 0; i < N; i++)
        right = right && got[i] == want[i] + (i % THREADS <= 3);
    puts(right ? "PASS" : "FAIL");
    return !right;
}
