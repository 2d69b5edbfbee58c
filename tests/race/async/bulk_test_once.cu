// SPDX-License-Identifier: Apache-2.0
// mbarrier.test_wait only looks whether the phase is over. Its answer has to be looked at too.
// RACE 1: read-write race, shared, can-overlap -- it may say no, and the threads read all the same
// FIXED: asks again until the answer is yes
#include "async.h"

template <bool FIXED> __global__ void load(const int *in, int *out) {
    __shared__ alignas(16) int tile[64];
    __shared__ uint64_t full;
    int t = threadIdx.x, done;
    if (t == 0) {
        MBAR_INIT(&full, 1);
        MBAR_EXPECT(&full, 256);
        BULK_LOAD(tile, in, 256, &full); // SIDE 1
    }
    __syncthreads();
    do {
        asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p;}" : "=r"(done) : "r"(SHARED(&full)) : "memory");
    } while (FIXED && !done); // FIX
    out[t] = tile[t] - 1; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(load, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return i; });
}

CORPUS_MAIN(test)
