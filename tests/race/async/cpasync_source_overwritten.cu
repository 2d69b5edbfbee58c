// SPDX-License-Identifier: Apache-2.0
// The source of a pending copy is written by the thread that issued it.
// RACE 1: read-write race, global, can-overlap -- the copy reads its source at any time before the wait
// FIXED: waits before writing
#include "async.h"

template <bool FIXED> __global__ void move(int *data, int *out) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    CP_ASYNC(&tile[t], &data[t]); // SIDE 1
    CP_COMMIT();
    if constexpr (FIXED) CP_WAIT(0); // FIX
    data[t] = -1; // SIDE 1
    CP_WAIT(0);
    out[t] = tile[t]; // NEVER
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(move, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return i + 1; });
}

CORPUS_MAIN(test)
