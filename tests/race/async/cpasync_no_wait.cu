// SPDX-License-Identifier: Apache-2.0
// cp.async (PTX ISA, "Asynchronous data copy"): each thread copies a word to shared memory and reads it before any wait.
// RACE 1: read-write race, shared, can-overlap -- the copy is unordered with its own thread until a wait covers its group
// FIXED: waits for the group
#include "async.h"

template <bool FIXED> __global__ void copy(const int *in, int *out) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    CP_ASYNC(&tile[t], &in[t]); // SIDE 1
    CP_COMMIT();
    if constexpr (FIXED) CP_WAIT(0); // FIX
    out[t] = tile[t] * 2; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(copy, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 2 * (i + 1); });
}

CORPUS_MAIN(test)
