// SPDX-License-Identifier: Apache-2.0
// Kernels whose threads may order what they do by more than barriers of the block, or that do more than compute. Nothing races in those that are run without a word. `racy`: each kernel has
// one race, one side of which is in the line with RACE; `partly`: likewise, and it is in front of what is not followed. test_privatizer.py knows which kernels are refused, and where.
#include <cassert>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;
constexpr int THREADS = 64, BLOCKS = 4, N = THREADS * BLOCKS;

struct Cell {
    int lock, count, sum;
};

__device__ void add_locked(Cell *c, int v) {
    for (bool done = false; !done;)
        if (atomicCAS(&c->lock, 0, 1) == 0) {
            __threadfence();
            c->count++;
            c->sum += v;
            __threadfence();
            atomicExch(&c->lock, 0);
            done = true;
        }
}

__global__ void locks(Cell *cells, int *out) { // what a lock guards
    int i = blockIdx.x * THREADS + threadIdx.x;
    add_locked(&cells[i % 5], i);
    out[i] = i;
}

__global__ void hands_over(int *p) { // one thread of the block tells another one
    __shared__ int data;
    __shared__ volatile int ready;
    int t = threadIdx.x;
    if (t == 0)
        ready = 0;
    __syncthreads();
    if (t == 0) {
        data = 7 + blockIdx.x;
        __threadfence_block();
        ready = 1;
    } else if (t == 40) {
        while (!ready)
            ;
        __threadfence_block();
        p[blockIdx.x] = data;
    }
}

__global__ void last_block(int *parts, unsigned *came, int *out) { // threads are checked
    __shared__ bool last;
    int t = threadIdx.x;
    parts[blockIdx.x * THREADS + t] = t;
    __threadfence();
    __syncthreads();
    if (t == 0)
        last = atomicAdd(came, 1) == gridDim.x - 1;
    __syncthreads();
    if (last && t == 0) {
        __threadfence();
        for (int i = 0; i < N; i++)
            *out += parts[i];
    }
}

__global__ void counts(int *p, unsigned *came) { // one thread does, while all others have ended
    int t = threadIdx.x;
    p[blockIdx.x * THREADS + t] = t;
    __syncthreads();
    if (t == 40) {
        __threadfence();
        unsigned before = atomicAdd(came, 1);
        __threadfence();
        if (before % gridDim.x == gridDim.x - 1)
            p[0] = 5;
    }
}

__global__ void releases(int *data, int *flags) { // and nobody acquires
    int i = blockIdx.x * THREADS + threadIdx.x;
    data[i] = i;
    __threadfence();
    atomicExch(&flags[i], 1);
}

__global__ void of_block(int *out) { // what orders threads of a block does not order blocks
    __shared__ int sum, came;
    int t = threadIdx.x;
    if (t == 0)
        came = sum = 0;
    __syncthreads();
    atomicAdd_block(&sum, t);
    __threadfence_block();
    if (atomicAdd_block(&came, 1) == THREADS - 1) {
        __threadfence_block();
        out[blockIdx.x] = sum;
    }
}

__global__ void __cluster_dims__(2, 1, 1) clusters(int *out, int *sums) { // blocks of a cluster tell each other
    __shared__ int mine;
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, first = blockIdx.x / 2 * 2;
    if (t == 0)
        mine = blockIdx.x + 1;
    out[blockIdx.x * THREADS + t] = blockIdx.x;
    cluster.sync();
    int there = *cluster.map_shared_rank(&mine, 1 - cluster.block_rank());
    atomicAdd(cluster.map_shared_rank(&mine, 0), 0);
    sums[blockIdx.x * THREADS + t] = there + out[(first + 1 - blockIdx.x % 2) * THREADS + t];
    cluster.sync();
}

__global__ void meets(int *p) { // at an mbarrier of the block
    __shared__ alignas(8) unsigned long long barrier;
    __shared__ int s[THREADS];
    int t = threadIdx.x;
    unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(THREADS) : "memory");
    __syncthreads();
    s[t] = t;
    asm volatile("{ .reg .b64 state; .reg .pred p; mbarrier.arrive.shared.b64 state, [%0]; AGAIN: mbarrier.test_wait.shared.b64 p, [%0], state; @!p bra AGAIN; }" ::"r"(at) : "memory");
    p[blockIdx.x * THREADS + t] = s[THREADS - 1 - t];
}

__global__ void grid_meets(int *p, int *q) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    p[i] = i;
    cg::this_grid().sync();
    q[i] = p[N - 1 - i];
}

__device__ unsigned ackermann(unsigned m, unsigned n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
__device__ int twice(int v) { return 2 * v; }
__device__ int square(int v) { return v * v; }
__device__ int (*const functions[2])(int) = {twice, square};

__global__ void speaks(int *p) { // prints once, asserts, asks what time it is, and calls itself
    int t = threadIdx.x;
    long long begin = clock64();
    p[t] = ackermann(t % 3, t % 5) + functions[t % 2](t);
    assert(p[t] >= 0);
    while (clock64() - begin < 200)
        ;
    if (t == 40 && printf("once\n") < 0)
        p[t] = 0;
}

__global__ void speaks_twice(int *p) {
    __shared__ int s[THREADS];
    int t = threadIdx.x;
    s[t] = t + (clock() < 0); // RACE
    p[t] = s[THREADS - 1 - t];
    if (t == 3 && p[t] > 1000)
        printf("never\n");
    assert(t < 1000);
}

__global__ void one_place(int *p) { // of the blocks; within a block __threadfence_block orders
    __shared__ int came;
    if (threadIdx.x == 0)
        came = 0;
    __syncthreads();
    __threadfence_block();
    if (atomicAdd_block(&came, 1) == THREADS - 1)
        p[0] = blockIdx.x + 1; // RACE
}

__global__ void __cluster_dims__(2, 1, 1) two_clusters(int *p) {
    __shared__ int mine;
    auto cluster = cg::this_cluster();
    mine = 5;
    cluster.sync();
    if (threadIdx.x == 0 && cluster.block_rank() == 1)
        p[1] = blockIdx.x + *cluster.map_shared_rank(&mine, 0); // RACE
    cluster.sync();
}

__global__ void then_locks(Cell *cells, int *p) {
    __shared__ int s[THREADS];
    int t = threadIdx.x;
    s[t] = t; // RACE
    p[t] = s[THREADS - 1 - t];
    __syncthreads();
    add_locked(cells, t);
}

__global__ void then_last(int *p, unsigned *came) {
    int t = threadIdx.x;
    p[t] = blockIdx.x + 1; // RACE
    __threadfence();
    if (atomicAdd(came, 1) == N - 1) {
        __threadfence();
        p[THREADS] = p[t];
    }
}

__global__ void then_grid(int *p, int *q) {
    __shared__ int s[THREADS];
    int t = threadIdx.x;
    s[t] = t; // RACE
    p[blockIdx.x * THREADS + t] = s[THREADS - 1 - t];
    cg::this_grid().sync();
    q[t] = p[t]; // RACE
}

int main(int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : "";
    int *p, *q, got[N];
    Cell *cells, held[5];
    unsigned *came;
    cudaMalloc(&p, 4 * N);
    cudaMalloc(&q, 4 * N);
    cudaMalloc(&cells, sizeof held);
    cudaMalloc(&came, 4);
    cudaMemset(p, 0, 4 * N);
    cudaMemset(q, 0, 4 * N);
    cudaMemset(cells, 0, sizeof held);
    cudaMemset(came, 0, 4);
    void *both[] = {&p, &q};
    bool right = true;
    auto look = [&](auto want) {
        cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost);
        for (int i = 0; i < N; i++)
            right = right && got[i] == want(i);
    };
    if (!strcmp(word, "racy")) {
        speaks_twice<<<1, THREADS>>>(p);
        one_place<<<BLOCKS, THREADS>>>(p);
        two_clusters<<<BLOCKS, THREADS>>>(p);
        return cudaDeviceSynchronize() != cudaSuccess;
    }
    if (!strcmp(word, "partly")) {
        then_locks<<<1, THREADS>>>(cells, p);
        then_last<<<BLOCKS, THREADS>>>(q, came);
        cudaLaunchCooperativeKernel(then_grid, BLOCKS, THREADS, both, 0, 0);
        return cudaDeviceSynchronize() != cudaSuccess;
    }
    speaks<<<1, THREADS>>>(q);
    releases<<<BLOCKS, THREADS>>>(p, q);
    look([](int i) { return i; });
    meets<<<BLOCKS, THREADS>>>(p);
    look([](int i) { return THREADS - 1 - i % THREADS; });
    clusters<<<BLOCKS, THREADS>>>(q, p);
    look([](int i) { return (i / THREADS ^ 1) * 2 + 1; });
    locks<<<BLOCKS, THREADS>>>(cells, p);
    look([](int i) { return i; });
    hands_over<<<BLOCKS, THREADS>>>(p);
    look([](int i) { return i < BLOCKS ? 7 + i : i; });
    of_block<<<BLOCKS, THREADS>>>(p);
    look([](int i) { return i < BLOCKS ? THREADS * (THREADS - 1) / 2 : i; });
    cudaMemset(p, 0, 4 * N);
    last_block<<<BLOCKS, THREADS>>>(q, came, p);
    look([](int i) { return i ? 0 : BLOCKS * THREADS * (THREADS - 1) / 2; });
    counts<<<BLOCKS, THREADS>>>(p, came);
    look([](int i) { return i ? i % THREADS : 5; });
    void *swapped[] = {&q, &p};
    cudaLaunchCooperativeKernel(grid_meets, BLOCKS, THREADS, swapped, 0, 0);
    look([](int i) { return N - 1 - i; });
    cudaMemcpy(held, cells, sizeof held, cudaMemcpyDeviceToHost);
    int sum = 0, count = 0;
    for (Cell &c : held) {
        sum += c.sum;
        count += c.count;
    }
    right = right && count == N && sum == N * (N - 1) / 2;
    printf("%s\n", right && cudaDeviceSynchronize() == cudaSuccess ? "PASS" : "FAIL");
    return !right;
}
