// SPDX-License-Identifier: Apache-2.0
// cub::BlockReduce in a loop with one TempStorage: CUB asks for a barrier before it is used again.
// RACE 1: read-write race, shared, can-overlap -- the next reduction stores while thread 0 still reads of this one
// FIXED: __syncthreads at the end of each round
#include "../corpus.h"

#include <cub/block/block_reduce.cuh>

template <bool FIXED> __global__ void sums(const int *in, int *out) {
    using Reduce = cub::BlockReduce<int, 128>;
    __shared__ typename Reduce::TempStorage storage;
    int t = threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < 2; k++) {
        int sum = Reduce(storage).Sum(in[128 * k + t]); // SIDE 1
        if (t == 0) {
            out[k] = sum;
        }
        if constexpr (FIXED) __syncthreads(); // FIX
    }
}

static int test(bool fixed) {
    Buffer<int> in(std::vector<int>(256, 3)), out(2);
    LAUNCH(sums, 1, 128, in, out);
    return count_wrong(out.host(), [](int) { return 3 * 128; });
}

CORPUS_MAIN(test)
