// SPDX-License-Identifier: Apache-2.0
// convSeparable (HGRD, table 3; CUDA samples): rows of a separable convolution. A block loads its tile and a halo;
// each thread writes STEPS outputs a tile apart. Nothing in the kernel says that the image ends where the grid does.
// CLEAN -- the host takes grid and pitch from one image width, a multiple of what a block does
#include "../corpus.h"
#include "../input.h"
#include <cassert>

constexpr int TX = 8, TY = 4, STEPS = 2, RADIUS = 3;
__constant__ int KERNEL[2 * RADIUS + 1];

__global__ void rows(const int *in, int *out, int pitch) {
    __shared__ int tile[TY][(STEPS + 2) * TX];
    int base = blockIdx.x * STEPS * TX, y = blockIdx.y * TY + threadIdx.y;
    for (int s = 0; s < STEPS + 2; s++) {
        int x = base + (s - 1) * TX + threadIdx.x;
        tile[threadIdx.y][s * TX + threadIdx.x] = x >= 0 && x < pitch ? in[y * pitch + x] : 0; // NEVER
    }
    __syncthreads();
    for (int s = 0; s < STEPS; s++) {
        int sum = 0, middle = (s + 1) * TX + threadIdx.x;
        for (int k = -RADIUS; k <= RADIUS; k++) {
            sum += KERNEL[RADIUS - k] * tile[threadIdx.y][middle + k]; // NEVER
        }
        out[y * pitch + base + s * TX + threadIdx.x] = sum; // NEVER
    }
}

static void convolve(const int *in, int *out, int width, int height) {
    assert(width % (STEPS * TX) == 0 && height % TY == 0);
    dim3 grid(width / (STEPS * TX), height / TY), block(TX, TY);
    rows<<<grid, block>>>(in, out, width);
    CHECK(cudaGetLastError());
}

static int test(bool) {
    const int weight[2 * RADIUS + 1] = {1, 2, 3, 4, -3, -2, 5};
    int width = input("WIDTH", "32"), height = input("HEIGHT", "8");
    CHECK(cudaMemcpyToSymbol(KERNEL, weight, sizeof weight));
    std::vector<int> image(width * height);
    for (int i = 0; i < width * height; i++) {
        image[i] = i * i % 97;
    }
    Buffer<int> in(image), out(width * height);
    convolve(in, out, width, height);
    return count_wrong(out.host(), [&](int i) {
        int sum = 0;
        for (int k = -RADIUS; k <= RADIUS; k++) {
            int x = i % width + k;
            sum += x >= 0 && x < width ? weight[RADIUS - k] * image[i + k] : 0;
        }
        return sum;
    });
}

CORPUS_MAIN(test)
