// SPDX-License-Identifier: Apache-2.0
// wait_group.read says that the source may be written again, not that the destination is there.
// RACE 1: read-write race, global, can-overlap -- the bytes may not have been written when the thread reads them back
// FIXED: a full wait
#include "async.h"

template <bool FIXED> __global__ void there_and_back(const int *in, int *out) {
    __shared__ alignas(16) int tile[32];
    int t = threadIdx.x;
    tile[t] = in[t];
    FENCE_ASYNC();
    __syncwarp();
    if (t == 0) {
        BULK_STORE(out, tile, 128); // SIDE 1
        BULK_COMMIT();
        if constexpr (FIXED) BULK_WAIT(0); // FIX
        else BULK_WAIT_READ(0);
        tile[0] = out[31]; // SIDE 1
        BULK_WAIT(0);
        out[32] = tile[0];
    }
}

static int test(bool fixed) {
    Buffer<int> in(numbers(32)), out(33);
    LAUNCH(there_and_back, 1, 32, in, out);
    return count_wrong(out.host(), [](int i) { return i == 32 ? 32 : i + 1; });
}

CORPUS_MAIN(test)
