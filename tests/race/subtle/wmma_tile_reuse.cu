// SPDX-License-Identifier: Apache-2.0
// A product of matrices whose warps share a tile of B in shared memory, and which the next step overwrites: the barrier after
// load_matrix_sync is forgotten, for the fragments are in registers. Those of the other warp may not be yet.
// RACE 1: read-write race, shared, can-overlap -- a warp fills the tile of the next step while the other still loads this one
// FIXED: a barrier at the end of each step
#include "../corpus.h"

#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda::wmma;

template <bool FIXED> __global__ void product(const half *a, const half *b, float *c) {
    __shared__ alignas(32) half tile[256];
    int t = threadIdx.x;
    fragment<accumulator, 16, 16, 16, float> sum;
    fragment<matrix_a, 16, 16, 16, half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, half, row_major> fb;
    fill_fragment(sum, 0.0f);
#pragma unroll 1
    for (int k = 0; k < 48; k += 16) {
#pragma unroll 1
        for (int i = t; i < 256; i += 64) {
            tile[i] = b[16 * k + i]; // SIDE 1
        }
        load_matrix_sync(fa, a + t / 32 * 16 * 48 + k, 48);
        __syncthreads();
        load_matrix_sync(fb, tile, 16); // SIDE 1
        mma_sync(sum, fa, fb, sum);
        if constexpr (FIXED) __syncthreads(); // FIX
    }
    store_matrix_sync(c + t / 32 * 256, sum, 16, mem_row_major);
}

static int test(bool fixed) {
    std::vector<half> b;
    for (int i = 0; i < 48 * 16; i++) {
        b.push_back(__float2half(static_cast<float>(i / 256)));
    }
    Buffer<half> a(std::vector<half>(32 * 48, __float2half(1.0f))), d_b(b);
    Buffer<float> c(512);
    LAUNCH(product, 1, 64, a, d_b, c);
    return count_wrong(c.host(), [](int) { return 16 * (0 + 1 + 2); });
}

CORPUS_MAIN(test)
