// SPDX-License-Identifier: Apache-2.0
// What a block of a cluster does in another block's shared memory has to come before that block's end: ./dsmem_lifetime MODE FIXED. Modes: an atomic
// operation, a store, a load before a relaxed barrier of the cluster (right), an arrival at an mbarrier, a load before an arrival, a bulk
// copy, stores by st.async. FIXED 0: the other block does not wait.
// expect: exact -- 3 0 => races only "shared memory of a finished block"
// expect: exact -- 0 0 => races only "shared memory of a finished block" soak
// expect: exact -- 1 0 => races only "shared memory of a finished block" soak
// expect: exact -- 4 0 => races only "shared memory of a finished block" soak
// expect: exact -- 5 0 => races only "shared memory of a finished block" soak
// expect: exact -- 6 0 => races only "shared memory of a finished block" soak
// expect: exact -- 4 1 => clean
// expect: exact,tracker -- 0 1 => silent soak
// expect: exact,tracker -- 1 1 => silent soak
// expect: exact,tracker -- 2 1 => silent soak
// expect: exact -- 3 1 => silent soak
// expect: exact -- 5 1 => silent soak
// expect: exact -- 6 1 => silent soak
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ unsigned smem(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ unsigned mapa(unsigned a, unsigned r) { unsigned o; asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(o) : "r"(a), "r"(r)); return o; }
__device__ void wait_bar(unsigned bar, unsigned parity) {
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra W; }" ::"r"(bar), "r"(parity) : "memory");
}
// 0, 1: atomics on, stores to the neighbour's memory; at the end a barrier of the cluster (fixed), or nothing.
__global__ void __cluster_dims__(2) touch(int mode, bool fixed, int *out) {
    __shared__ int box[64];
    auto cl = cg::this_cluster();
    box[threadIdx.x] = 0;
    cl.sync();
    int *far = cl.map_shared_rank(box, cl.block_rank() ^ 1);
    if (mode == 0) atomicAdd(&far[threadIdx.x & 7], 1);
    if (mode == 1) far[threadIdx.x] = 1;
    if (fixed) { cl.sync(); out[blockIdx.x * 64 + threadIdx.x] = box[threadIdx.x]; }
}
// Relaxed barriers keep a block, too.
__global__ void __cluster_dims__(2) relaxed(int *out) {
    __shared__ int box[64];
    auto cl = cg::this_cluster();
    box[threadIdx.x] = threadIdx.x;
    cl.sync();
    out[blockIdx.x * 64 + threadIdx.x] = cl.map_shared_rank(box, cl.block_rank() ^ 1)[threadIdx.x];
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
// 3: block 1 arrives at a barrier in block 0, which waits for it (fixed), or does not. Without .cluster: it does not matter here.
__global__ void __cluster_dims__(2) arrive(bool fixed, int *out) {
    __shared__ uint64_t bar;
    auto cl = cg::this_cluster();
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(smem(&bar)) : "memory");
    cl.sync();
    if (cl.block_rank() == 1 && threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(mapa(smem(&bar), 0)) : "memory");
    }
    if (cl.block_rank() == 0 && fixed) wait_bar(smem(&bar), 0);
    out[blockIdx.x * 64 + threadIdx.x] = 1;
}
// 4: block 1 reads block 0's memory and then arrives there; block 0 waits for the phase before it ends.
__global__ void __cluster_dims__(2) read_arrive(bool fixed, int *out) {
    __shared__ uint64_t bar;
    __shared__ int box[64];
    auto cl = cg::this_cluster();
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;" ::"r"(smem(&bar)) : "memory");
    box[threadIdx.x] = threadIdx.x;
    cl.sync();
    if (cl.block_rank() == 1) {
        out[threadIdx.x] = cl.map_shared_rank(box, 0)[threadIdx.x];
        if (fixed) asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(mapa(smem(&bar), 0)) : "memory");
    } else if (fixed)
        wait_bar(smem(&bar), 0);
}
// 5: block 1 copies to block 0, which waits for the bytes (fixed), or does not. 6: the same by st.async.
__global__ void __cluster_dims__(2) copy(int mode, bool fixed, int *out) {
    __shared__ __align__(16) int box[64], from[64];
    __shared__ uint64_t bar;
    auto cl = cg::this_cluster();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(smem(&bar)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(smem(&bar)) : "memory");
    }
    from[threadIdx.x] = threadIdx.x;
    asm volatile("fence.proxy.async;" ::: "memory");
    cl.sync();
    if (cl.block_rank() == 1) {
        if (mode == 5 && threadIdx.x == 0)
            asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(mapa(smem(box), 0)), "r"(smem(from)), "r"(mapa(smem(&bar), 0)) : "memory");
        if (mode == 6)
            asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(mapa(smem(&box[threadIdx.x]), 0)), "r"(threadIdx.x), "r"(mapa(smem(&bar), 0)) : "memory");
    } else if (fixed) {
        wait_bar(smem(&bar), 0);
        out[threadIdx.x] = box[threadIdx.x];
    }
}
int main(int c, char **v) {
    int mode = atoi(v[1]), fixed = atoi(v[2]), *out;
    cudaMalloc(&out, 4096);
    if (mode < 2) touch<<<2, 64>>>(mode, fixed, out);
    if (mode == 2) relaxed<<<2, 64>>>(out);
    if (mode == 3) arrive<<<2, 64>>>(fixed, out);
    if (mode == 4) read_arrive<<<2, 64>>>(fixed, out);
    if (mode >= 5) copy<<<2, 64>>>(mode, fixed, out);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
