// SPDX-License-Identifier: Apache-2.0
// toneMapping (HGRD, table 3 and figure 3; HeCBench): an image of `channels` bytes a pixel is mapped to a lower range.
// No thread looks whether it is inside of the image: the host makes grid and argument of one width.
// CLEAN -- grid.x * 16 == width, so that a row of threads ends where the image's row ends
#include "../corpus.h"
#include "../input.h"
#include <cassert>

__global__ void tone_map(const unsigned char *in, unsigned char *out, int width, int channels, int top) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int at = width * channels * y + x * channels;
    for (int c = 0; c < channels - 1; c++) {
        int value = in[at + c];               // NEVER
        out[at + c] = value * 255 / (value + top); // NEVER
    }
    out[at + channels - 1] = in[at + channels - 1]; // NEVER
}

static void compress(const unsigned char *in, unsigned char *out, int width, int height) {
    assert(width % 16 == 0 && height % 4 == 0);
    dim3 grid(width / 16, height / 4), block(16, 4);
    tone_map<<<grid, block>>>(in, out, width, 4, 40);
    CHECK(cudaGetLastError());
}

static int test(bool) {
    int width = input("WIDTH", "32"), height = input("HEIGHT", "8");
    std::vector<unsigned char> image(4 * width * height);
    for (size_t i = 0; i < image.size(); i++) {
        image[i] = (unsigned char)(i * 37);
    }
    Buffer<unsigned char> in(image), out(image.size());
    compress(in, out, width, height);
    return count_wrong(out.host(), [&](int i) {
        return i % 4 == 3 ? image[i] : image[i] * 255 / (image[i] + 40);
    });
}

CORPUS_MAIN(test)
