// SPDX-License-Identifier: Apache-2.0
// cp.async SMEM WW (SuperCollider, table 3): two threads copy to the same address.
// RACE 1: write-write race, shared, can-overlap -- two asynchronous writes of different threads, unordered
// FIXED: the second half copies when the first half's copies are done
#include "../async/async.h"

template <bool FIXED> __global__ void load(const int *in, int *out) {
    __shared__ alignas(16) int tile[32];
    int t = threadIdx.x;
    if constexpr (FIXED) {
        if (t < 32) {
            CP_ASYNC(&tile[t], &in[t]);
            asm volatile("cp.async.wait_all;" ::: "memory");
        }
        __syncthreads(); // FIX
        if (t >= 32) {
            CP_ASYNC(&tile[t - 32], &in[t]);
        }
    } else {
        CP_ASYNC(&tile[t % 32], &in[t]); // SIDE 1
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    if (t < 32) {
        out[t] = tile[t];
    }
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(32);
    LAUNCH(load, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return i + 33; });
}

CORPUS_MAIN(test)
