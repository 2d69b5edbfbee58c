// SPDX-License-Identifier: Apache-2.0
// The same in PTX: atom.relaxed.cta where blocks meet, a maximum over the grid.
// RACE 1: insufficient scope, global, can-overlap, scope cta -- .cta is not enough between blocks
// FIXED: .gpu
#include "../corpus.h"

template <bool FIXED> __global__ void maximum(const int *in, int *most)
{
    int v = in[blockIdx.x * blockDim.x + threadIdx.x], before;
    if constexpr (FIXED)
        asm volatile("atom.relaxed.gpu.global.max.s32 %0, [%1], %2;" : "=r"(before) : "l"(most), "r"(v)); // FIX
    else
        asm volatile("atom.relaxed.cta.global.max.s32 %0, [%1], %2;" : "=r"(before) : "l"(most), "r"(v)); // SIDE 1
}

static int test(bool fixed)
{
    std::vector<int> values(4 * 32);
    for (size_t i = 0; i < values.size(); i++)
        values[i] = i * 37 % 128;
    Buffer<int> in(values), most(1);
    LAUNCH(maximum, 4, 32, in, most);
    return count_wrong(most.host(), [](size_t) { return 127; });
}

CORPUS_MAIN(test)
