// SPDX-License-Identifier: Apache-2.0
// The two halves of a warp work on different things and synchronize by themselves: __syncwarp with the mask of a half.
// RACE 1: read-write race, shared, can-overlap -- the exchange crosses the halves, whose barriers are separate
// FIXED: the exchange stays in the half
#include "../corpus.h"

template <bool FIXED> __global__ void exchange(int *out) {
    __shared__ int cell[32];
    int lane = threadIdx.x;
    unsigned half = lane < 16 ? 0x0000ffff : 0xffff0000;
    int partner = lane ^ (FIXED ? 15 : 31); // FIX
    cell[lane] = 10 * lane; // SIDE 1
    if (lane < 16) {
        __syncwarp(half);
    } else {
        __syncwarp(half);
    }
    out[lane] = cell[partner]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> out(32);
    LAUNCH(exchange, 1, 32, out);
    return count_wrong(out.host(), [](int i) { return 10 * (i ^ 15); });
}

CORPUS_MAIN(test)
