// SPDX-License-Identifier: Apache-2.0
// The block's size chosen by the host: the kernel counts in tiles of a constant size, which it takes for that of its
// blocks. Larger blocks reach into the next tile.
// RACE 1: write-write race, global, can-overlap -- the last threads of a block, and the first ones of the next
// FIXED: blocks of the tile's size
#include "../corpus.h"

constexpr int TILE = 32, TILES = 4;

__global__ void reverse_tiles(const int *in, int *out) {
    int tile = blockIdx.x * TILE, t = threadIdx.x;
    out[tile + t] = in[tile + TILE - 1 - t % TILE]; // SIDE 1
}

static int test(bool fixed) {
    std::vector<int> values(TILES * TILE);
    for (int i = 0; i < TILES * TILE; i++) {
        values[i] = 7 * i;
    }
    Buffer<int> in(values), out(2 * TILES * TILE);
    int threads = 48;
    if (fixed) threads = TILE; // FIX
    reverse_tiles<<<TILES, threads>>>(in, out);
    CHECK(cudaGetLastError());
    return count_wrong(out.host(), [&](int i) {
        return i < TILES * TILE ? values[i / TILE * TILE + TILE - 1 - i % TILE] : 0;
    });
}

CORPUS_MAIN(test)
