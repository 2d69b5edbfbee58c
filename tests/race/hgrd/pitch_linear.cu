// SPDX-License-Identifier: Apache-2.0
// pitchLinear (HGRD, table 3 and figure 5; CUDA samples): an image is shifted into rows whose distance cudaMallocPitch
// chooses. The kernel divides that distance by 4 and writes without looking where a row ends.
// CLEAN -- cudaMallocPitch gives a pitch of at least the width that was asked for, and the grid is no wider
#include "../corpus.h"
#include "../input.h"
#include <cassert>

__global__ void shift(int *to, const int *from, size_t pitch, int width, int by) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    to[y * (pitch / 4) + x] = from[y * width + (x + by) % width]; // NEVER
}

static int test(bool) {
    int width = input("WIDTH", "32"), height = input("HEIGHT", "8"), by = input("SHIFT", "5");
    std::vector<int> image(width * height), out(width * height);
    for (int i = 0; i < width * height; i++) {
        image[i] = 1000 - i;
    }
    Buffer<int> in(image);
    int *to;
    size_t pitch, row = width * sizeof(int);
    CHECK(cudaMallocPitch(&to, &pitch, row, height));
    assert(width % 16 == 0 && height % 4 == 0);
    shift<<<dim3(width / 16, height / 4), dim3(16, 4)>>>(to, in, pitch, width, by);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy2D(out.data(), row, to, pitch, row, height, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(to));
    return count_wrong(out, [&](int i) { return image[i / width * width + (i % width + by) % width]; });
}

CORPUS_MAIN(test)
