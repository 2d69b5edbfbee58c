// SPDX-License-Identifier: Apache-2.0
// Warp collectives: shuffles of every kind, votes, match, redux, masks, in whole and in diverged warps.
#include "../../check.h"

__global__ void collectives(int *out)
{
    const unsigned all = 0xffffffffu;
    int t = threadIdx.x, lane = t % 32, *r = out + 16 * t;
    r[0] = __shfl_sync(all, t, 5);
    r[1] = __shfl_up_sync(all, t, 3);
    r[2] = __shfl_down_sync(all, t, 4);
    r[3] = __shfl_xor_sync(all, t, 9);
    r[4] = __shfl_sync(all, t, 3, 8);
    r[5] = __shfl_down_sync(all, t, 2, 4);
    r[6] = (int)__ballot_sync(all, lane % 5 == 0);
    r[7] = __any_sync(all, lane == 40) * 2 + __all_sync(all, lane < 32);
    r[8] = (int)__match_any_sync(all, lane / 4);
    int same;
    r[9] = (int)__match_all_sync(all, t / 32, &same) == -1 && same;
    r[10] = __reduce_add_sync(all, lane);
    r[11] = __reduce_max_sync(all, lane ^ 21);
    long long wide = (long long)t << 33;
    r[12] = (int)(__shfl_xor_sync(all, wide, 1) >> 33);
    double real = t * 0.5;
    r[13] = (int)(2 * __shfl_sync(all, real, 31 - lane));
    if (lane % 3 == 1) {
        unsigned mine = __activemask();
        r[14] = __popc(__ballot_sync(0x92492492u, 1)) * 100 + __popc(mine);
        r[14] += 10000 * __reduce_min_sync(0x92492492u, lane);
    } else {
        r[14] = -1;
    }
    __syncwarp();
    r[15] = __syncthreads_count(t % 2) + 100 * __syncthreads_or(t == 3) + 1000 * __syncthreads_and(t != 3);
}

int main()
{
    const int n = 64;
    static int out[16 * n];
    int *d;
    CHECK(cudaMalloc(&d, sizeof out));
    collectives<<<1, n>>>(d);
    CHECK(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost));
    for (int t = 0; t < n; t++) {
        int *r = out + 16 * t, lane = t % 32, base = t - lane;
        EXPECT_EQ(r[0], base + 5);
        EXPECT_EQ(r[1], lane < 3 ? t : t - 3);
        EXPECT_EQ(r[2], lane > 27 ? t : t + 4);
        EXPECT_EQ(r[3], base + (lane ^ 9));
        EXPECT_EQ(r[4], t / 8 * 8 + 3);
        EXPECT_EQ(r[5], t % 4 > 1 ? t : t + 2);
        EXPECT_EQ((unsigned)r[6], 0x42108421u);
        EXPECT_EQ(r[7], 1);
        EXPECT_EQ((unsigned)r[8], 0xfu << lane / 4 * 4);
        EXPECT_EQ(r[9], 1);
        EXPECT_EQ(r[10], 496);
        EXPECT_EQ(r[11], 31);
        EXPECT_EQ(r[12], t ^ 1);
        EXPECT_EQ(r[13], base + 31 - lane);
        EXPECT_EQ(r[14] % 10000 / 100, lane % 3 == 1 ? 11 : 0);
        EXPECT_EQ(r[14] / 10000, lane % 3 == 1 ? 1 : 0);
        EXPECT_EQ(r[15], 32 + 100);
    }
    CHECK(cudaFree(d));
    return finish();
}
