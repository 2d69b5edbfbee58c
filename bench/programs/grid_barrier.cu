// SPDX-License-Identifier: Apache-2.0
// A barrier of the whole grid made of an atomic and a loop that looks at it, between the steps of one kernel.
// ARGS: 8 20
// GROWS: 8 20 | 8 40 | 8 80
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <vector>

enum { THREADS = 128 };

__device__ void meet(unsigned *count, unsigned goal) {
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> c(*count);
        c.fetch_add(1, cuda::memory_order_release);
        while (c.load(cuda::memory_order_acquire) < goal)
            ;
    }
    __syncthreads();
}

__device__ void meet_fenced(unsigned *count, unsigned goal) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (*(volatile unsigned *)count < goal)
            ;
        __threadfence();
    }
    __syncthreads();
}

__global__ void smooth(int *a, int *b, unsigned *count, int steps, bool fenced) {
    int n = gridDim.x * THREADS, k = blockIdx.x * THREADS + threadIdx.x;
    for (int s = 1; s <= steps; s++) {
        b[k] = a[(k + n - 1) % n] + 1;
        fenced ? meet_fenced(count, gridDim.x * s) : meet(count, gridDim.x * s);
        int *t = a;
        a = b;
        b = t;
    }
}

int main(int argc, char **argv) {
    int blocks = argc > 1 ? atoi(argv[1]) : 8, steps = argc > 2 ? atoi(argv[2]) : 20, n = blocks * THREADS, wrong = 0;
    std::vector<int> got(n);
    for (int fenced = 0; fenced < 2; fenced++) {
        int *a, *b;
        unsigned *count;
        cudaMalloc(&a, n * 4);
        cudaMalloc(&b, n * 4);
        cudaMalloc(&count, 4);
        cudaMemset(a, 0, n * 4);
        cudaMemset(count, 0, 4);
        smooth<<<blocks, THREADS>>>(a, b, count, steps, fenced);
        cudaMemcpy(got.data(), steps % 2 ? b : a, n * 4, cudaMemcpyDeviceToHost);
        for (int k = 0; k < n; k++)
            wrong += got[k] != steps;
    }
    puts(wrong ? "FAIL" : "PASS");
}
