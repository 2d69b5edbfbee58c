// SPDX-License-Identifier: Apache-2.0
// Arguments that belong together (HGRD, figure 3, broken): the grid is made from the image's width, the row's length is
// taken from another variable of the host, the width of the preview. Rows of threads run into the next row.
// RACE 1: write-write race, global, can-overlap -- the second half of a row, and the first of the next
// FIXED: grid and row length from one width
#include "../corpus.h"

constexpr int WIDTH = 32, HEIGHT = 8, CHANNELS = 4;

__global__ void tone_map(const int *in, unsigned char *out, int width, int channels) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int value = in[y * gridDim.x * blockDim.x + x];                                      // NEVER
    out[width * channels * y + x * channels] = (unsigned char)(255 * value / (value + 32)); // SIDE 1
}

static int test(bool fixed) {
    std::vector<int> image(WIDTH * HEIGHT);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        image[i] = i;
    }
    int preview = WIDTH / 2, length = preview;
    if (fixed) length = WIDTH; // FIX
    Buffer<int> in(image);
    Buffer<unsigned char> out(CHANNELS * WIDTH * HEIGHT);
    tone_map<<<dim3(WIDTH / 16, HEIGHT / 4), dim3(16, 4)>>>(in, out, length, CHANNELS);
    CHECK(cudaGetLastError());
    return count_wrong(out.host(), [](int i) { return i % CHANNELS ? 0 : 255 * (i / 4) / (i / 4 + 32); });
}

CORPUS_MAIN(test)
