// SPDX-License-Identifier: Apache-2.0
// A prefix sum in one pass by decoupled look-back (Merrill and Garland): each block publishes its total, then its prefix, with a flag.
// RACE 1: read-write race, global, missing-order -- the totals are published without a fence before the flag
// FIXED: __threadfence on both sides of the flag
#include "../corpus.h"

template <bool FIXED> __global__ void scan(const int *in, int *out, int *total, int *flag) {
    int b = blockIdx.x, t = threadIdx.x, prefix = 0;
    int sum = in[32 * b + t];
    for (int step = 1; step < 32; step *= 2) {
        int left = __shfl_up_sync(~0u, sum, step);
        sum += t >= step ? left : 0;
    }
    if (t == 31) {
        total[b] = sum; // SIDE 1
        if constexpr (FIXED) __threadfence(); // FIX
        atomicExch(&flag[b], 1);
    }
    if (t == 0) {
        for (int before = b - 1; before >= 0; before--) {
            while (atomicAdd(&flag[before], 0) == 0) {
            }
            if constexpr (FIXED) __threadfence();
            prefix += total[before]; // SIDE 1
        }
    }
    out[32 * b + t] = sum + __shfl_sync(~0u, prefix, 0);
}

static int test(bool fixed) {
    Buffer<int> in(std::vector<int>(128, 2)), out(128), total(4), flag(4);
    LAUNCH(scan, 4, 32, in, out, total, flag);
    return count_wrong(out.host(), [](int i) { return 2 * i + 2; });
}

CORPUS_MAIN(test)
