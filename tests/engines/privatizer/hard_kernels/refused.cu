// SPDX-License-Identifier: Apache-2.0
// Kernels that cannot be run on private copies, in part or at all, one for each reason; each does what it does without gpurace. test_privatizer.py knows the reasons.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_runtime.h>

__device__ int spare[64];
__device__ __noinline__ void stores(int *p, int v) {
    *p = v;
    if (v > 1000) {
        stores(p, v / 2);
        stores(p + 1, *p);
    }
}
__device__ int twice(int v) { return 2 * v; }
__device__ int kept(int v) { return spare[v & 63] += v; }
__device__ int (*const functions[2])(int) = {twice, kept};

__global__ void by_address(int *p) { p[threadIdx.x] = functions[p[threadIdx.x] & 1](threadIdx.x); }
__global__ void allocates(int *p) {
    if (threadIdx.x == 40 && p)
        free(malloc(16));
}
__global__ void calls(int *p) { stores(p + threadIdx.x, threadIdx.x); }
__global__ void result(int *p) {
    p[1 + threadIdx.x] = 0;
    __threadfence();
    int k = atomicAdd(p, 1);
    __threadfence();
    p[1 + threadIdx.x] = k;
}
__global__ void takes_turns(int *p) { // with memory of its own
    int own[4] = {1, 2, 3, 4};
    own[p[threadIdx.x] & 3] = p[threadIdx.x];
    __threadfence();
    int k = atomicAdd(p, 1);
    __threadfence();
    p[1 + threadIdx.x] = own[k & 3];
}
__global__ void wide(int *p) {
    long long a, b;
    asm volatile("{ .reg .b128 v; ld.relaxed.gpu.b128 v, [%2]; mov.b128 {%0, %1}, v; }" : "=l"(a), "=l"(b) : "l"(p) : "memory");
    p[threadIdx.x] = a + b == threadIdx.x;
}
__global__ void async(const int *from, int *p) {
    __shared__ alignas(16) int s[64];
    __shared__ alignas(8) unsigned long long barrier;
    unsigned to = (unsigned)__cvta_generic_to_shared(s), at = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
        asm volatile("{ .reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], 256; }" ::"r"(at) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(to), "l"(from), "r"(at) : "memory");
    }
    __syncthreads();
    asm volatile("{ .reg .pred p; AGAIN: mbarrier.test_wait.parity.shared.b64 p, [%0], 0; @!p bra AGAIN; }" ::"r"(at) : "memory");
    p[threadIdx.x] = s[threadIdx.x];
}
__global__ void partial(int *p) {
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 32;" ::: "memory");
    p[threadIdx.x] = threadIdx.x;
}
__global__ void __cluster_dims__(2, 1, 1) clustered(int *p) {
    cooperative_groups::this_cluster().sync();
    p[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
}
__global__ void fetches(cudaTextureObject_t texture, int *p) { p[threadIdx.x] = texture ? tex1Dfetch<int>(texture, threadIdx.x) : 1; }
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
    cudaMalloc(&p, 4096);
    cudaMalloc(&q, 4096);
    cudaMemset(p, 0, 4096);
    cudaMemset(q, 0, 4096);
    by_address<<<1, 64>>>(p);
    allocates<<<1, 64>>>(p);
    calls<<<1, 64>>>(p);
    result<<<1, 64>>>(p);
    takes_turns<<<1, 64>>>(p);
    wide<<<1, 64>>>(p);
    async<<<1, 64>>>(q, p);
    partial<<<1, 64>>>(p);
    clustered<<<2, 64>>>(p);
    fetches<<<1, 64>>>(0, p);
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
