// SPDX-License-Identifier: Apache-2.0
// JPEG-like coding of an image: discrete cosine transform of 8 x 8 blocks, quantization, and back; in floats (a thread per
// coefficient) and in 16-bit integers with a Loeffler-like butterfly, a thread per row or column.
#include "complete.h"

__constant__ float basis[8][8]; // basis[u][x]
__constant__ int quantum[64];

__global__ void transform(const unsigned char *image, short *out, int width)
{
    __shared__ float block[8][9], half[8][9];
    int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * 8 + y) * width + blockIdx.x * 8 + x;
    block[y][x] = (float)image[at] - 128;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += basis[x][k] * block[y][k];
    half[y][x] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; k++)
        sum += basis[y][k] * half[k][x];
    out[at] = (short)__float2int_rn(sum / quantum[y * 8 + x]);
}

__global__ void restore(const short *in, unsigned char *image, int width)
{
    __shared__ float block[8][9], half[8][9];
    int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * 8 + y) * width + blockIdx.x * 8 + x;
    block[y][x] = (float)in[at] * quantum[y * 8 + x];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += basis[k][x] * block[y][k];
    half[y][x] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; k++)
        sum += basis[k][y] * half[k][x];
    image[at] = (unsigned char)min(max(__float2int_rn(sum + 128), 0), 255);
}

// Walsh-Hadamard in integers: exact, and its own inverse times 8; a thread per row, then per column.
__global__ void hadamard(short *data, int width, int height)
{
    int block = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8, blocks = width / 8 * (height / 8);
    __shared__ short tile[16][8][8];
    int mine = threadIdx.x / 8;
    short *corner = data + block / (width / 8) * 8 * width + block % (width / 8) * 8, v[8];
    for (int pass = 0; pass < 2; pass++) {
        if (block < blocks) {
            for (int k = 0; k < 8; k++)
                v[k] = pass == 0 ? corner[lane * width + k] : tile[mine][k][lane];
            for (int d = 1; d < 8; d *= 2)
                for (int k = 0; k < 8; k++)
                    if (!(k & d)) {
                        short a = v[k], b = v[k + d];
                        v[k] = a + b;
                        v[k + d] = a - b;
                    }
            for (int k = 0; k < 8; k++) {
                if (pass == 0)
                    tile[mine][lane][k] = v[k];
                else
                    corner[k * width + lane] = v[k];
            }
        }
        __syncthreads();
    }
}

int main()
{
    const int width = 104, height = 56;
    float table[8][8];
    int q[64];
    for (int u = 0; u < 8; u++)
        for (int x = 0; x < 8; x++)
            table[u][x] = (float)(cos((2 * x + 1) * u * M_PI / 16) * (u ? 0.5 : sqrt(0.125)));
    for (int i = 0; i < 64; i++)
        q[i] = 3 + (i / 8 + i % 8);
    CHECK(cudaMemcpyToSymbol(basis, table, sizeof table));
    CHECK(cudaMemcpyToSymbol(quantum, q, sizeof q));
    Random random(35);
    std::vector<unsigned char> image(width * height);
    std::vector<short> small(image.size());
    for (int i = 0; i < width * height; i++) {
        image[i] = (unsigned char)(128 + 90 * sin(i % width * 0.11) * cos(i / width * 0.17) + random.below(16));
        small[i] = (short)(image[i] - 128);
    }
    unsigned char *d_image = to_device(image), *back = device_new<unsigned char>(image.size());
    short *coefficients = device_new<short>(image.size()), *h = to_device(small);
    dim3 grid(width / 8, height / 8), block(8, 8);
    transform<<<grid, block>>>(d_image, coefficients, width);
    restore<<<grid, block>>>(coefficients, back, width);
    unsigned half_blocks = blocks_for(image.size() / 64 * 8, 128);
    hadamard<<<half_blocks, 128>>>(h, width, height);
    finish_launches();
    std::vector<short> got = from_device(coefficients, image.size()), want_h(image.size());
    std::vector<double> want(image.size()), want_back(image.size());
    for (int by = 0; by < height; by += 8)
        for (int bx = 0; bx < width; bx += 8)
            for (int v = 0; v < 8; v++)
                for (int u = 0; u < 8; u++) {
                    double sum = 0, restored = 128;
                    int signs = 0;
                    for (int y = 0; y < 8; y++)
                        for (int x = 0; x < 8; x++) {
                            int at = (by + y) * width + bx + x;
                            sum += (double)table[u][x] * table[v][y] * (image[at] - 128);
                            restored += (double)table[x][u] * table[y][v] * got[at] * q[y * 8 + x];
                            signs += __builtin_parity((x & u) | (y & v) << 3) ? -small[at] : small[at];
                        }
                    want[(by + v) * width + bx + u] = sum / q[v * 8 + u];
                    want_back[(by + v) * width + bx + u] = fmin(fmax(restored, 0), 255);
                    want_h[(by + v) * width + bx + u] = (short)signs;
                }
    std::vector<unsigned char> got_back = from_device(back, image.size());
    for (size_t i = 0; i < image.size(); i++) { // to the nearest integer, and ties either way
        EXPECT(fabs(got[i] - want[i]) <= 0.501);
        EXPECT(fabs(got_back[i] - want_back[i]) <= 0.501);
    }
    expect_same("Hadamard", from_device(h, image.size()), want_h);
    hadamard<<<half_blocks, 128>>>(h, width, height);
    for (auto &e : small)
        e *= 64;
    expect_same("Hadamard, back", from_device(h, image.size()), small);
    finish_launches();
    return finish();
}
