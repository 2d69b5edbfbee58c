// SPDX-License-Identifier: Apache-2.0
// Two batches of cooperative_groups::memcpy_async; wait_prior<1> leaves the newer one pending.
// RACE 1: read-write race, shared, can-overlap -- the second batch has not been waited for
// FIXED: waits for both
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include "async.h"

namespace cg = cooperative_groups;

template <bool FIXED> __global__ void copy(const int *in, int *out) {
    __shared__ int low[32], high[32];
    cg::thread_block block = cg::this_thread_block();
    int t = threadIdx.x;
    cg::memcpy_async(block, low, in, sizeof low);        // NEVER
    cg::memcpy_async(block, high, in + 32, sizeof high); // SIDE 1
    if constexpr (FIXED) cg::wait(block); // FIX
    else cg::wait_prior<1>(block);
    out[t] = t < 32 ? low[t] : 0; // NEVER
    if (t >= 32) {
        out[t] = high[t - 32]; // SIDE 1
    }
    cg::wait(block);
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(copy, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return i + 1; });
}

CORPUS_MAIN(test)
