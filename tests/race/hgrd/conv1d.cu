// SPDX-License-Identifier: Apache-2.0
// 1dconv (HGRD, table 3; ScoR): a convolution in which every input adds to the outputs around it. The elements
// near a tile's border get shares from two blocks, the others from one; which atomics have block scope is the question.
// RACE 1: insufficient scope, global, can-overlap, scope cta -- two blocks add to an output with atomics of block scope
// FIXED: outputs within RADIUS of the tile's border are added to with device scope
#include "../corpus.h"

constexpr int TILE = 32, TILES = 4, N = TILE * TILES, RADIUS = 3;
__constant__ int WEIGHT[2 * RADIUS + 1];

template <bool FIXED> __global__ void scatter(const int *in, int *out) {
    int t = threadIdx.x, i = blockIdx.x * TILE + t, value = in[i]; // NEVER
    for (int k = -RADIUS; k <= RADIUS; k++) {
        int to = i + k, inner = RADIUS;
        if constexpr (!FIXED) inner = 1; // without the FIX: only what lies outside of the tile is another block's
        if (to < 0 || to >= N) {
            continue;
        }
        if (t + k >= inner && t + k < TILE - inner) {
            atomicAdd_block(out + to, value * WEIGHT[k + RADIUS]); // SIDE 1
        } else {
            atomicAdd(out + to, value * WEIGHT[k + RADIUS]); // SIDE 1
        }
    }
}

static int test(bool fixed) {
    const int weight[2 * RADIUS + 1] = {1, -2, 3, 7, 5, -1, 2};
    CHECK(cudaMemcpyToSymbol(WEIGHT, weight, sizeof weight));
    std::vector<int> in(N), expected(N);
    for (int i = 0; i < N; i++) {
        in[i] = i * 29 % 31;
    }
    for (int i = 0; i < N; i++) {
        for (int k = -RADIUS; k <= RADIUS; k++) {
            if (i + k >= 0 && i + k < N) {
                expected[i + k] += in[i] * weight[k + RADIUS];
            }
        }
    }
    Buffer<int> from(in), out(N);
    LAUNCH(scatter, TILES, TILE, from, out);
    return count_wrong(out.host(), [&](int i) { return expected[i]; });
}

CORPUS_MAIN(test)
