// SPDX-License-Identifier: Apache-2.0
// cub::BlockReduce twice with one TempStorage: CUB asks for a barrier before it is used again.
// RACE 1: read-write race, shared, can-overlap -- the second reduction stores while thread 0 still reads of the first
// FIXED: __syncthreads between the two
#include "../corpus.h"

#include <cub/block/block_reduce.cuh>

template <bool FIXED> __global__ void sums(const int *in, int *out) {
    using Reduce = cub::BlockReduce<int, 128>;
    __shared__ typename Reduce::TempStorage storage;
    int t = threadIdx.x;
    int first = Reduce(storage).Sum(in[t]); // SIDE 1
    if constexpr (FIXED) __syncthreads(); // FIX
    int second = Reduce(storage).Sum(in[128 + t]); // SIDE 1
    if (t == 0) {
        out[0] = first;
        out[1] = second;
    }
}

static int test(bool fixed) {
    Buffer<int> in(std::vector<int>(256, 3)), out(2);
    LAUNCH(sums, 1, 128, in, out);
    return count_wrong(out.host(), [](int) { return 3 * 128; });
}

CORPUS_MAIN(test)
