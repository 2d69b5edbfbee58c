// SPDX-License-Identifier: Apache-2.0
// Each step sets its mbarrier up anew, without mbarrier.inval: what is in use may not be initialized again (PTX ISA, mbarrier.init).
// MISUSE 1: mbarrier initialized twice -- the second step's mbarrier.init finds a valid object
// FIXED: mbarrier.inval in between
#include "async.h"

template <bool FIXED> __global__ void steps(const int *in, int *out) {
    __shared__ int tile[64];
    __shared__ uint64_t full;
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 2; k++) {
        if (t == 0) {
            if (FIXED && k) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(SHARED(&full)) : "memory"); // FIX
            MBAR_INIT(&full, 64); // SIDE 1
        }
        __syncthreads();
        tile[t] = in[64 * k + t]; // NEVER
        MBAR_ARRIVE(&full);
        MBAR_WAIT(&full, 0);
        sum += tile[63 - t]; // NEVER
        __syncthreads();
    }
    out[t] = sum;
}

static int test(bool fixed) {
    Buffer<int> in(numbers(128)), out(64);
    LAUNCH(steps, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 2 * (64 - i) + 64; });
}

CORPUS_MAIN(test)
