// SPDX-License-Identifier: Apache-2.0
// bilateralFilter (HGRD, table 3; HeCBench): a filter that weighs neighbours by how near their values are, on an image
// whose size is no multiple of the block; a template parameter is the radius.
// CLEAN -- each thread inside the image writes a pixel of its own, which needs x < width (GPUVerify reports the store)
#include "../corpus.h"

constexpr int WIDTH = 27, HEIGHT = 13;

template <int R> __global__ void filter(const int *in, int *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    int middle = in[y * width + x], sum = 0, weights = 0; // NEVER
    for (int v = max(y - R, 0); v <= min(y + R, height - 1); v++) {
        for (int u = max(x - R, 0); u <= min(x + R, width - 1); u++) {
            int value = in[v * width + u], near = 64 - min(abs(value - middle), 63); // NEVER
            sum += near * value;
            weights += near;
        }
    }
    out[y * width + x] = sum / weights; // NEVER
}

static int test(bool) {
    std::vector<int> image(WIDTH * HEIGHT), flat(WIDTH * HEIGHT, 77);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        image[i] = i * 73 % 256;
    }
    dim3 block(8, 4), grid((WIDTH + 7) / 8, (HEIGHT + 3) / 4);
    Buffer<int> in(image), same(flat), out(WIDTH * HEIGHT), out_flat(WIDTH * HEIGHT);
    filter<0><<<grid, block>>>(in, out, WIDTH, HEIGHT); // a filter that looks no further leaves the image as it is
    filter<2><<<grid, block>>>(same, out_flat, WIDTH, HEIGHT);
    CHECK(cudaGetLastError());
    return count_wrong(out.host(), [&](int i) { return image[i]; }) +
           count_wrong(out_flat.host(), [](int) { return 77; });
}

CORPUS_MAIN(test)
