// SPDX-License-Identifier: Apache-2.0
// Kernels that cannot be run on private copies, one for each reason; each does what it does without gpurace. test_privatizer.py knows the reasons.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>
#include <mma.h>

__device__ int spare[64];
__device__ __noinline__ void stores(int *p, int v) { *p = v; }
__device__ int twice(int v) { return 2 * v; }
__device__ int halve(int v) { return v / 2; }
__device__ int (*const functions[2])(int) = {twice, halve};

__global__ void by_address(int *p) { p[threadIdx.x] = functions[p[threadIdx.x] & 1](threadIdx.x); }
__global__ void prints(int *p) {
    if (threadIdx.x == 40 && p)
        printf("once\n");
}
__global__ void calls(int *p) { stores(p + threadIdx.x, threadIdx.x); }
__global__ void result(int *p) {
    int k = atomicAdd(p, 1);
    __threadfence();
    p[1 + threadIdx.x] = k;
}
__global__ void strong(volatile int *p) {
    p[threadIdx.x] = threadIdx.x;
    __threadfence();
}
__global__ void async(const int *from, int *p) {
    __shared__ int s[64];
    __pipeline_memcpy_async(s + threadIdx.x, from + threadIdx.x, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    p[threadIdx.x] = s[threadIdx.x];
}
__global__ void clocked(int *p) { p[threadIdx.x] = clock() != 0; }
__global__ void partial(int *p) {
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 32;" ::: "memory");
    p[threadIdx.x] = threadIdx.x;
}
__global__ void __cluster_dims__(2, 1, 1) clustered(int *p) {
    cooperative_groups::this_cluster().sync();
    p[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
}
__global__ void matrices(half *p) {
    using namespace nvcuda;
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> c;
    wmma::fill_fragment(c, __float2half(1));
    wmma::store_matrix_sync(p, c, 16, wmma::mem_row_major);
}
__global__ void cooperates(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }
__global__ void loops(int *p, int n) { // nothing is wrong with it, it only takes long
    unsigned v = threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < n; k++)
        v = v * 1664525u + p[v % 32];
    p[32 + threadIdx.x % 32] = v != 0;
}
__global__ void clean(int *p) { p[threadIdx.x] = threadIdx.x; }

int main() {
    int *p, *q;
    half *h;
    cudaMalloc(&p, 4096);
    cudaMalloc(&q, 4096);
    cudaMalloc(&h, 4096);
    cudaMemset(p, 0, 4096);
    cudaMemset(q, 0, 4096);
    by_address<<<1, 64>>>(p);
    prints<<<1, 64>>>(p);
    calls<<<1, 64>>>(p);
    result<<<1, 64>>>(p);
    strong<<<1, 64>>>(p);
    async<<<1, 64>>>(q, p);
    clocked<<<1, 64>>>(p);
    partial<<<1, 64>>>(p);
    clustered<<<2, 64>>>(p);
    matrices<<<1, 32>>>(h);
    void *words[] = {&p};
    cudaLaunchCooperativeKernel(cooperates, 2, 64, words, 0, 0);
    loops<<<1, 32>>>(q, (1 << 18) + 100);
    clean<<<1, 64>>>(p);
    int got[64];
    cudaError_t e = cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost);
    bool right = e == cudaSuccess;
    for (int t = 0; t < 64; t++)
        right = right && got[t] == t;
    printf("%s\n", right ? "PASS" : "FAIL");
    return !right;
}
