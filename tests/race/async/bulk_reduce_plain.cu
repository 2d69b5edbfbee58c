// SPDX-License-Identifier: Apache-2.0
// Blocks add their tiles to one result with cp.reduce.async.bulk, whose additions are relaxed atomics; one block adds with a plain load and store.
// RACE 1: write-write race, global, can-overlap -- the plain store is not atomic
// RACE 2: read-write race, global, can-overlap -- neither is the plain load
// FIXED: all reduce
#include "async.h"

template <bool FIXED> __global__ void add(int *out) {
    __shared__ alignas(16) int tile[32];
    int t = threadIdx.x;
    tile[t] = t;
    FENCE_ASYNC();
    __syncthreads();
    if (FIXED || blockIdx.x < 3) { // FIX
        if (t == 0) {
            BULK_ADD(out, tile, 128); // SIDE 1 2
            BULK_COMMIT();
            BULK_WAIT(0);
        }
    } else {
        int before = out[t]; // SIDE 2
        out[t] = before + tile[t]; // SIDE 1
    }
}

static int test(bool fixed) {
    Buffer<int> out(32);
    LAUNCH(add, 4, 32, out);
    return count_wrong(out.host(), [](int i) { return 4 * i; });
}

CORPUS_MAIN(test)
