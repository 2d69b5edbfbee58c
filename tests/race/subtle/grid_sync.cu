// SPDX-License-Identifier: Apache-2.0
// A cooperative launch of two phases with grid.sync() between them; a barrier of the block is not enough.
// RACE 1: read-write race, global, can-overlap -- __syncthreads orders the threads of a block only
// FIXED: grid.sync()
#include "../corpus.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <bool FIXED> __global__ void phases(int *data, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    data[i] = 3 * i; // SIDE 1
    if constexpr (FIXED)
        cg::this_grid().sync(); // FIX
    else
        __syncthreads();
    out[i] = data[n - 1 - i]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> data(128), out(128);
    int *d = data, *o = out;
    void *args[] = {&d, &o};
    const void *kernel = fixed ? (const void *)phases<true> : (const void *)phases<false>;
    CHECK(cudaLaunchCooperativeKernel(kernel, 4, 32, args, 0, 0));
    return count_wrong(out.host(), [](int i) { return 3 * (127 - i); });
}

CORPUS_MAIN(test)
