// SPDX-License-Identifier: Apache-2.0
// The pipeline primitives (__pipeline_memcpy_async): commit and wait_prior(1) where wait_prior(0) is needed after the last stage.
// RACE 1: read-write race, shared, can-overlap -- in the last step the newest batch is the one that is used
// FIXED: commits an empty batch in the last step, so that wait_prior(1) covers it
#include <cuda_pipeline.h>

#include "async.h"

template <bool FIXED> __global__ void sum(const int *in, int *out) {
    __shared__ int tile[2][32];
    int t = threadIdx.x, total = 0;
    __pipeline_memcpy_async(&tile[0][t], &in[t], 4); // NEVER
    __pipeline_commit();
    for (int k = 0; k < 3; k++) {
        if (k < 2) {
            __pipeline_memcpy_async(&tile[(k + 1) % 2][t], &in[32 * (k + 1) + t], 4); // SIDE 1
        }
        if (FIXED || k < 2) { // FIX
            __pipeline_commit();
        }
        __pipeline_wait_prior(1);
        total += tile[k % 2][t]; // SIDE 1
    }
    out[t] = total;
}

static int test(bool fixed) {
    Buffer<int> in(numbers(96)), out(32);
    LAUNCH(sum, 1, 32, in, out);
    return count_wrong(out.host(), [](int i) { return 3 * (i + 1) + 96; });
}

CORPUS_MAIN(test)
