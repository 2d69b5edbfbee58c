// SPDX-License-Identifier: Apache-2.0
// A box that is filled twice, with a phase of an mbarrier for each filling. The consumer forgets to flip the parity it waits for.
// RACE 1: read-write race, shared, can-overlap -- the second wait returns at once: the phase of that parity is long over
// FIXED: waits for parity 0, then 1
#include "async.h"

template <bool FIXED> __global__ void twice(int *out) {
    __shared__ int box[2];
    __shared__ uint64_t full;
    int t = threadIdx.x;
    if (t == 0) {
        MBAR_INIT(&full, 1);
    }
    __syncthreads();
    for (int k = 0; k < 2; k++) {
        if (t == 0) {
            box[k] = 10 + k; // SIDE 1
            MBAR_ARRIVE(&full);
        } else if (t >= 32) {
            MBAR_WAIT(&full, FIXED ? k : 0); // FIX
            if (t == 32) {
                out[k] = box[k]; // SIDE 1
            }
        }
        if (k == 0) {
            __syncthreads();
        }
    }
    if (!FIXED && t == 0) {
        MBAR_ARRIVE(&full); // lets the consumer out that waits for a second phase of parity 0
    }
}

static int test(bool fixed) {
    Buffer<int> out(2);
    LAUNCH(twice, 1, 64, out);
    return count_wrong(out.host(), [](int i) { return 10 + i; });
}

CORPUS_MAIN(test)
