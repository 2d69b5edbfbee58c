// SPDX-License-Identifier: Apache-2.0
// A tile in shared memory with a padding column, reused for a second tile: the barrier after reading is easily forgotten.
// RACE 1: read-write race, shared, can-overlap -- a warp stores its row of the next tile while another reads this one
// FIXED: a barrier at the end of each round
#include "../corpus.h"

template <bool FIXED> __global__ void transpose(const int *in, int *out) {
    __shared__ int tile[8][9];
    int x = threadIdx.x, y = threadIdx.y;
#pragma unroll 1
    for (int k = 0; k < 2; k++) {
        tile[y][x] = in[64 * k + 8 * y + x]; // SIDE 1
        __syncthreads();
        out[64 * k + 8 * y + x] = tile[x][y]; // SIDE 1
        if constexpr (FIXED) __syncthreads(); // FIX
    }
}

static int test(bool fixed) {
    std::vector<int> values;
    for (int i = 0; i < 128; i++) {
        values.push_back(i);
    }
    Buffer<int> in(values), out(128);
    LAUNCH(transpose, 1, dim3(8, 8), in, out);
    return count_wrong(out.host(), [](int i) { return i / 64 * 64 + i % 8 * 8 + i / 8 % 8; });
}

CORPUS_MAIN(test)
