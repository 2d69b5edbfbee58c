// SPDX-License-Identifier: Apache-2.0
// Kernels without a race. Of the first ones an operation leaves the range of its bits, and no two threads' indices meet all the same. Of the others one
// could leave it for sizes that are too large for any memory.
#include <cassert>
#include <cstdlib>

__device__ __forceinline__ unsigned number() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void odd_factor(int *out) { out[(number() * 2654435761u) & 1023] = 1; }
__global__ void high_bits_again(int *out) { out[(number() << 22) >> 22] = 1; }
__global__ void downwards(int *out) { out[(0u - number()) & 1023] = 1; }
__global__ void far_ahead(int *out) { out[(number() + 4294967040u) % 1024] = 1; }
__global__ void odd_factor_of_64_bits(int *out) { out[((unsigned long long)number() * 11400714819323198485ull) & 1023] = 1; }
__global__ void guarded(int *out) {
    if (number() * 0x80000000u != 0) // each other thread
        out[number() / 2] = 1;
}

__global__ void whole_grid(int *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void rows(int *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = 1;
}
__global__ void row_of_block(int *out, int pitch) { out[blockIdx.x * pitch + threadIdx.x] = 1; }
// Each thread of a block's column writes 8 rows of one column.
__global__ void column_pass(float *out, int pitch) {
    const int x = blockIdx.x * 16 + threadIdx.x, y = (blockIdx.y * 8 - 1) * 8 + threadIdx.y;
    out += y * pitch + x;
#pragma unroll
    for (int s = 1; s < 1 + 8; s++)
        out[s * 8 * pitch] = 1.0f;
}

// What is known of the sizes, more and more: a proof by fewer facts is one by all.
template <int FACTS> static void columns(float *out, int width, int height) {
    if (FACTS > 0)
        assert(width % 16 == 0);
    if (FACTS > 1)
        assert(height % (8 * 8) == 0);
    if (FACTS > 2)
        assert(width % 128 == 0);
    if (FACTS > 3)
        assert(height % 4 == 0);
    column_pass<<<dim3(width / 16, height / 8 / 8), dim3(16, 8)>>>(out, width);
}

int main(int argc, char **argv) {
    if (argc != 4)
        return 1;
    int width = atoi(argv[1]), height = atoi(argv[2]), count = atoi(argv[3]), *out;
    float *image;
    cudaMalloc(&out, 1 << 26);
    odd_factor<<<4, 256>>>(out);
    high_bits_again<<<4, 256>>>(out);
    downwards<<<4, 256>>>(out);
    far_ahead<<<4, 256>>>(out);
    odd_factor_of_64_bits<<<4, 256>>>(out);
    guarded<<<4, 256>>>(out);
    whole_grid<<<count, 256>>>(out);
    rows<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(out, width, height);
    if (count <= width)
        row_of_block<<<height, count>>>(out, width);
    cudaMalloc(&image, sizeof(float) * width * height);
    columns<0>(image, width, height);
    columns<1>(image, width, height);
    columns<2>(image, width, height);
    columns<3>(image, width, height);
    columns<4>(image, width, height);
    return cudaDeviceSynchronize();
}
