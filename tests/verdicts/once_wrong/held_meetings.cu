// SPDX-License-Identifier: Apache-2.0
// Lanes exchange values through shared memory and meet in other ways than __syncwarp(). Shuffles, votes, matches, reductions and
// __activemask() order nothing, so each kernel races; with a __syncwarp() beside (-DFIXED), none does. The value that is loaded before a meeting is
// chosen behind it.
// expect: exact => races only "read-write race" says "shuffles(int*)" says "votes(int*)" says "matches(int*)" says "sums(int*)" says "asks(int*)" says "halves(int*)"
// expect: tracker => races only "read-write race" soak
// expect: exact -DFIXED => clean
// expect: tracker -DFIXED => clean soak
#include <cooperative_groups.h>
#include <cstdio>
#ifdef FIXED
#define ORDER() __syncwarp()
#else
#define ORDER()
#endif
#define ALL 0xffffffffu
#define KERNEL(name, meet)                             \
    __global__ void name(int *out) {                   \
        __shared__ int s[32];                          \
        int t = threadIdx.x, v = t * 37 % 101, m = 0;  \
        s[t] = v;                                      \
        __syncwarp();                                  \
        for (int d = 16; d > 0; d >>= 1) {             \
            int o = s[(t + d) & 31];                   \
            m += meet;                                 \
            ORDER();                                   \
            if (t + d < 32) v = v > o ? v : o;         \
            s[t] = v;                                  \
            m += meet;                                 \
            ORDER();                                   \
        }                                              \
        out[blockIdx.x * 32 + t] = v + m;              \
    }
KERNEL(shuffles, __shfl_xor_sync(ALL, t, 1))
KERNEL(votes, (int)__ballot_sync(ALL, t > d) + __any_sync(ALL, t == d) + __all_sync(ALL, t < d))
KERNEL(matches, (int)__match_any_sync(ALL, t / 4))
KERNEL(sums, (int)__reduce_add_sync(ALL, (unsigned)t))
KERNEL(asks, __popc(__activemask()))
// Tiles of 16: each half of the warp meets, but the last exchange is with the other half.
__global__ void halves(int *out) {
    namespace cg = cooperative_groups;
    __shared__ int s[32];
    int t = threadIdx.x, v = t * 37 % 101;
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    s[t] = v;
    tile.sync();
    for (int d = 1; d <= 16; d <<= 1) {
        if (d == 16) ORDER();
        int o = s[t ^ d];
        tile.sync();
        if (d == 16) ORDER();
        if (t & d) v = v > o ? v : o;
        s[t] = v;
        tile.sync();
    }
    out[blockIdx.x * 32 + t] = v;
}
int main() {
    int *o;
    cudaMalloc(&o, 4 * 32 * 4);
    shuffles<<<4, 32>>>(o), votes<<<4, 32>>>(o), matches<<<4, 32>>>(o), sums<<<4, 32>>>(o), asks<<<4, 32>>>(o), halves<<<4, 32>>>(o);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
