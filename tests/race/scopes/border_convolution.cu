// SPDX-License-Identifier: Apache-2.0
// A convolution that scatters (ScoRD's 1dconv; iGUARD, type AS): a block adds to its own tile and to the first elements of the
// next one's. Inside the tile atomics of block scope would do, at the border they do not.
// RACE 1: insufficient scope, global, can-overlap, scope cta -- two blocks add to the border elements
// FIXED: atomics of the device's scope
#include "../corpus.h"

enum { N = 64, TILE = 32 };

template <bool FIXED> __global__ void scatter(const int *in, int *out)
{
    int i = blockIdx.x * TILE + threadIdx.x;
    for (int d = 0; d < 3; d++)
        if (i + d < N) {
            if constexpr (FIXED)
                atomicAdd(&out[i + d], in[i]); // FIX
            else
                atomicAdd_block(&out[i + d], in[i]); // SIDE 1
        }
}

static int test(bool fixed)
{
    std::vector<int> values(N);
    for (int i = 0; i < N; i++)
        values[i] = i;
    Buffer<int> in(values), out(N);
    LAUNCH(scatter, N / TILE, TILE, in, out);
    return count_wrong(out.host(), [](size_t i) { return i < 2 ? i * (i + 1) / 2 : 3 * i - 3; });
}

CORPUS_MAIN(test)
