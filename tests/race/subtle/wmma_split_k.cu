// SPDX-License-Identifier: Apache-2.0
// Two warps compute one tile of a product, each over a half of k, and both store the tile: store_matrix_sync adds nothing.
// RACE 1: write-write race, global, can-overlap -- the sums of one warp overwrite the other's
// FIXED: each warp stores a tile of its own, to be added later
#include "../corpus.h"

#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda::wmma;

template <bool FIXED> __global__ void product(const half *a, const half *b, float *c) {
    int warp = threadIdx.x / 32;
    fragment<accumulator, 16, 16, 16, float> sum;
    fragment<matrix_a, 16, 16, 16, half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, half, col_major> fb;
    fill_fragment(sum, 0.0f);
    load_matrix_sync(fa, a + 16 * warp, 32);
    load_matrix_sync(fb, b + 16 * warp, 32);
    mma_sync(sum, fa, fb, sum);
    if constexpr (FIXED) c += 256 * warp; // FIX
    store_matrix_sync(c, sum, 16, mem_row_major); // SIDE 1
}

static int test(bool fixed) {
    std::vector<half> a;
    for (int i = 0; i < 16 * 32; i++) {
        a.push_back(__float2half(i % 32 < 16 ? 1.0f : 2.0f));
    }
    Buffer<half> d_a(a), b(std::vector<half>(16 * 32, __float2half(1.0f)));
    Buffer<float> c(512);
    LAUNCH(product, 1, 64, d_a, b, c);
    return count_wrong(c.host(), [](int i) { return i < 256 ? 16 : 32; });
}

CORPUS_MAIN(test)
