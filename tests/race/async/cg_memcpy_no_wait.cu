// SPDX-License-Identifier: Apache-2.0
// cooperative_groups::memcpy_async is over for the group after cooperative_groups::wait, not after a barrier.
// RACE 1: read-write race, shared, can-overlap -- __syncthreads does not wait for copies
// FIXED: cooperative_groups::wait
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include "async.h"

namespace cg = cooperative_groups;

template <bool FIXED> __global__ void copy(const int *in, int *out) {
    __shared__ int tile[64];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile, in, sizeof tile); // SIDE 1
    if constexpr (FIXED) cg::wait(block); // FIX
    else block.sync();
    out[threadIdx.x] = tile[63 - threadIdx.x]; // SIDE 1
    cg::wait(block);
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(copy, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 64 - i; });
}

CORPUS_MAIN(test)
