// SPDX-License-Identifier: Apache-2.0
// Exchanges within parts of a warp: by tiles of cooperative groups, coalesced groups and masks of __syncwarp(). No kernel has a race. -DRACY: one
// exchange goes beyond the part that has met.
// expect: exact => clean
// expect: tracker => clean soak
// expect: exact -DRACY => races only "read-write race" says "tiles(int*)" says "masks(int*)" soak
// expect: tracker -DRACY => races only "read-write race" soak
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
#ifdef RACY
enum { BEYOND = 1 };
#else
enum { BEYOND = 0 };
#endif
__global__ void tiles(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x, v = t * 37 % 101;
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    s[t] = v;
    tile.sync();
    for (int d = 4 << BEYOND; d > 0; d >>= 1) {
        int o = s[t ^ d];
        tile.sync();
        if (o > v) v = o;
        s[t] = v;
        tile.sync();
    }
    out[blockIdx.x * 64 + t] = v;
}
__global__ void masks(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x, v = t * 37 % 101;
    unsigned mask = t & 16 ? 0xffff0000u : 0xffffu;
    s[t] = v;
    __syncwarp(mask);
    for (int d = 8 << BEYOND; d > 0; d >>= 1) {
        int o = s[t ^ d];
        __syncwarp(mask);
        v = t & d ? min(v, o) : v;
        s[t] = v;
        __syncwarp(mask);
    }
    out[blockIdx.x * 64 + t] = v;
}
__global__ void coalesced(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x, v = t * 37 % 101;
    s[t] = v;
    __syncwarp();
    if (t % 3) {
        auto g = cg::coalesced_threads();
        int o = s[t], rank = g.thread_rank();
        g.sync();
        s[t] = rank > 2 ? o + v : v;
        g.sync();
    }
    __syncwarp();
    out[blockIdx.x * 64 + t] = s[t ^ 1];
}
int main() {
    int *o;
    cudaMalloc(&o, 4 * 64 * 4);
    tiles<<<4, 64>>>(o), masks<<<4, 64>>>(o), coalesced<<<4, 64>>>(o);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
