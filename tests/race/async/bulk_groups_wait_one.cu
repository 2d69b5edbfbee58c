// SPDX-License-Identifier: Apache-2.0
// Two bulk stores in two groups from two tiles; wait_group.read 1 frees the first tile, and the second is filled anew.
// RACE 1: read-write race, shared, can-overlap -- the newest group may still read its tile
// FIXED: fills the first tile
#include "async.h"

template <bool FIXED> __global__ void store(int *out) {
    __shared__ alignas(16) int tile[2][32];
    int t = threadIdx.x;
    tile[0][t] = t; // NEVER
    tile[1][t] = 32 + t; // NEVER
    FENCE_ASYNC();
    __syncwarp();
    if (t == 0) {
        BULK_STORE(out, tile[0], 128); // NEVER
        BULK_COMMIT();
        BULK_STORE(out + 32, tile[1], 128); // SIDE 1
        BULK_COMMIT();
        BULK_WAIT_READ(1);
    }
    __syncwarp();
    tile[FIXED ? 0 : 1][t] = 7; // FIX; SIDE 1
    if (t == 0) {
        BULK_WAIT(0);
    }
}

static int test(bool fixed) {
    Buffer<int> out(64);
    LAUNCH(store, 1, 32, out);
    return count_wrong(out.host(), [](int i) { return i; });
}

CORPUS_MAIN(test)
