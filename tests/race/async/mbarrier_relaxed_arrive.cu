// SPDX-License-Identifier: Apache-2.0
// mbarrier.arrive.relaxed counts, but does not release: the phase ends, and nothing is passed on (PTX ISA, mbarrier.arrive).
// RACE 1: read-write race, shared, missing-order -- a relaxed arrival and an acquiring wait do not synchronize
// FIXED: .release
#include "async.h"

template <bool FIXED> __global__ void produce(const int *in, int *out) {
    __shared__ int tile[32];
    __shared__ uint64_t full;
    int t = threadIdx.x;
    if (t == 0) {
        MBAR_INIT(&full, 32);
    }
    __syncthreads();
    if (t < 32) {
        tile[t] = in[t] + 5; // SIDE 1
        if constexpr (FIXED) {
            asm volatile("{.reg .b64 s; mbarrier.arrive.release.cta.shared.b64 s, [%0];}" ::"r"(SHARED(&full)) : "memory"); // FIX
        } else {
            asm volatile("{.reg .b64 s; mbarrier.arrive.relaxed.cta.shared.b64 s, [%0];}" ::"r"(SHARED(&full)) : "memory");
        }
    } else {
        MBAR_WAIT(&full, 0);
        out[t - 32] = tile[63 - t]; // SIDE 1
    }
}

static int test(bool fixed) {
    Buffer<int> in(numbers(32)), out(32);
    LAUNCH(produce, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 37 - i; });
}

CORPUS_MAIN(test)
