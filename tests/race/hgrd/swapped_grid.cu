// SPDX-License-Identifier: Apache-2.0
// A two-dimensional grid made by the host: for an image of 16 x 24, it puts rows where columns belong. No thread leaves
// the image's memory, but the rows of threads are longer than those of the image.
// RACE 1: write-write race, global, can-overlap -- the end of a row of threads is the next row's start
// FIXED: columns first
#include "../corpus.h"

constexpr int WIDTH = 16, HEIGHT = 24;

__global__ void paint(int *image, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    image[y * width + x] = 100 * y + x; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> image(WIDTH * HEIGHT);
    dim3 block(8, 8), grid(HEIGHT / 8, WIDTH / 8);
    if (fixed) grid = dim3(WIDTH / 8, HEIGHT / 8); // FIX
    paint<<<grid, block>>>(image, WIDTH);
    CHECK(cudaGetLastError());
    return count_wrong(image.host(), [](int i) { return 100 * (i / WIDTH) + i % WIDTH; });
}

CORPUS_MAIN(test)
