// SPDX-License-Identifier: Apache-2.0
// A warp stores its accumulator to shared memory, to add a bias to elements whose place it then knows. store_matrix_sync makes the
// lanes meet, but orders no memory: each lane reads what others stored. (Forgotten in JustVugg/colibri, issue 1099.)
// RACE 1: read-write race, shared, missing-order -- the lanes of a warp, which no implementation parts within the instruction
// FIXED: __syncwarp
#include "../corpus.h"

#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda::wmma;

template <bool FIXED> __global__ void product(const half *a, const half *b, const float *bias, float *c) {
    __shared__ alignas(32) float tile[256];
    int t = threadIdx.x;
    fragment<accumulator, 16, 16, 16, float> sum;
    fragment<matrix_a, 16, 16, 16, half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, half, row_major> fb;
    fill_fragment(sum, 0.0f);
    load_matrix_sync(fa, a, 16);
    load_matrix_sync(fb, b, 16);
    mma_sync(sum, fa, fb, sum);
    store_matrix_sync(tile, sum, 16, mem_row_major); // SIDE 1
    if constexpr (FIXED) __syncwarp(); // FIX
#pragma unroll 1
    for (int i = t; i < 256; i += 32) {
        c[i] = tile[i] + bias[i % 16]; // SIDE 1
    }
}

static int test(bool fixed) {
    Buffer<half> ones(std::vector<half>(256, __float2half(1.0f)));
    Buffer<float> bias(std::vector<float>(16, 0.5f)), c(256);
    LAUNCH(product, 1, 32, ones, ones, bias, c);
    return count_wrong(c.host(), [](int) { return 16.5f; });
}

CORPUS_MAIN(test)
