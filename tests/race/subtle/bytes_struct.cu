// SPDX-License-Identifier: Apache-2.0
// Fields of one struct, a byte, a byte and a short in one word, each written by a warp of its own.
// RACE 1: write-write race, shared, can-overlap -- the racy one widens the store of the short to the whole word
// FIXED: each warp stores its own field only
#include "../corpus.h"

struct Pixel {
    unsigned char red, green;
    unsigned short depth;
};

template <bool FIXED> __global__ void fields(Pixel *out) {
    __shared__ alignas(4) Pixel pixel[32];
    int lane = threadIdx.x % 32;
    switch (threadIdx.x / 32) {
    case 0:
        pixel[lane].red = lane + 1; // SIDE 1
        break;
    case 1:
        pixel[lane].green = 2 * lane + 1; // SIDE 1
        break;
    default:
        if constexpr (FIXED)
            pixel[lane].depth = 1000 + lane; // FIX
        else
            *reinterpret_cast<unsigned *>(&pixel[lane]) = (1000u + lane) << 16; // SIDE 1
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        out[lane] = pixel[lane];
    }
}

static int test(bool fixed) {
    Buffer<Pixel> out(32);
    LAUNCH(fields, 1, 96, out);
    int i = 0, wrong = 0;
    for (Pixel p : out.host()) {
        wrong += p.red != i + 1 || p.green != 2 * i + 1 || p.depth != 1000 + i;
        i++;
    }
    return wrong;
}

CORPUS_MAIN(test)
