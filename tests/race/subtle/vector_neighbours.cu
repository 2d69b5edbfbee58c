// SPDX-License-Identifier: Apache-2.0
// 16-byte stores of neighbouring threads: each covers four words that no other thread touches. The racy one has an
// stride of one vector too few between the blocks.
// RACE 1: write-write race, global, can-overlap -- the last vector of block 0 is the first of block 1
// FIXED: block b begins where block b - 1 ends
#include "../corpus.h"

template <bool FIXED> __global__ void fill(float4 *out) {
    unsigned per_block = FIXED ? blockDim.x : blockDim.x - 1; // FIX
    unsigned i = blockIdx.x * per_block + threadIdx.x;
    float v = 1000 * blockIdx.x + threadIdx.x + 1;
    out[i] = make_float4(v, v + 0.25f, v + 0.5f, v + 0.75f); // SIDE 1
}

static int test(bool fixed) {
    Buffer<float4> out(128);
    LAUNCH(fill, 4, 32, out);
    int wrong = 0, i = 0;
    for (float4 v : out.host()) {
        float want = 1000 * (i / 32) + i % 32 + 1;
        wrong += v.x != want || v.y != want + 0.25f || v.z != want + 0.5f || v.w != want + 0.75f;
        i++;
    }
    return wrong;
}

CORPUS_MAIN(test)
