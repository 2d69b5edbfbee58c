// SPDX-License-Identifier: Apache-2.0
// Cooperative groups: the block is synchronized where the grid has to be (conjugateGradientMultiBlockCG and reductionMultiBlockCG as
// iGUARD's authors broke them, section 3.3 and table 4, type CG).
// RACE 1: read-write race, global, can-overlap -- other blocks' partial sums are read without waiting for those blocks
// FIXED: grid.sync()
#include "../corpus.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <bool FIXED> __global__ void sum(const int *in, int *partial, int *out)
{
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    int v = __reduce_add_sync(~0u, in[grid.thread_rank()]);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = v; // SIDE 1
    if constexpr (FIXED)
        grid.sync(); // FIX
    else
        block.sync();
    if (grid.thread_rank() == 0) {
        int total = 0;
        for (int b = 0; b < gridDim.x; b++)
            total += partial[b]; // SIDE 1
        *out = total;
    }
}

static int test(bool fixed)
{
    std::vector<int> values(4 * 32, 3);
    Buffer<int> in(values), partial(4), out(1);
    const int *a = in;
    int *b = partial, *c = out;
    void *args[] = {&a, &b, &c};
    void *kernel = fixed ? (void *)sum<true> : (void *)sum<false>;
    CHECK(cudaLaunchCooperativeKernel(kernel, dim3(4), dim3(32), args, 0, 0));
    return count_wrong(out.host(), [](size_t) { return 384; });
}

CORPUS_MAIN(test)
