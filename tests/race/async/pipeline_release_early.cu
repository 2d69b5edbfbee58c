// SPDX-License-Identifier: Apache-2.0
// A cuda::pipeline of two stages for the block: consumer_release says that the stage may be filled again, and comes before the stage is used.
// RACE 1: read-write race, shared, can-overlap -- the producer side fills the stage while slower threads read it
// FIXED: releases after use
// NVCC: -diag-suppress 20054
#include <cooperative_groups.h>
#include <cuda/pipeline>

#include "async.h"

template <bool FIXED> __global__ void sum(const int *in, int *out) {
    __shared__ int tile[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int t = threadIdx.x, total = 0;
    for (int k = 0; k < 5; k++) {
        if (k < 4) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[k % 2][t], &in[64 * k + t], sizeof(int), pipe); // SIDE 1
            pipe.producer_commit();
        }
        if (k > 0) {
            pipe.consumer_wait();
            if constexpr (!FIXED) pipe.consumer_release();
            total += tile[(k - 1) % 2][63 - t]; // SIDE 1
            if constexpr (FIXED) pipe.consumer_release(); // FIX
        }
    }
    out[t] = total;
}

static int test(bool fixed) {
    Buffer<int> in(numbers(256)), out(64);
    LAUNCH(sum, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 4 * (64 - i) + 6 * 64; });
}

CORPUS_MAIN(test)
