// SPDX-License-Identifier: Apache-2.0
// Cooperative groups: tiles of 8 threads that synchronize by themselves, four to a warp.
// RACE 1: read-write race, shared, can-overlap -- tile.sync() of 8 threads does not order the next tile's
// FIXED: the rotation stays in the tile
#include "../corpus.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <bool FIXED> __global__ void rotate(int *out) {
    __shared__ int cell[64];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int t = threadIdx.x, first = t / 8 * 8;
    cell[t] = 7 * t; // SIDE 1
    tile.sync();
    int from = FIXED ? first + (t + 1) % 8 : (t + 1) % 64; // FIX
    out[t] = cell[from]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> out(64);
    LAUNCH(rotate, 1, 64, out);
    return count_wrong(out.host(), [](int i) { return 7 * (i / 8 * 8 + (i + 1) % 8); });
}

CORPUS_MAIN(test)
