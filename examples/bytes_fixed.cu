// SPDX-License-Identifier: Apache-2.0
// EXPECT: clean
// Colours and their alpha are computed by different warps. They are stored as neighbouring bytes of one word, which do
// not overlap: no race.
#include "example.h"

__global__ void shade(unsigned char *pixels, int n)
{
    int half = blockDim.x / 2;
    int i = blockIdx.x * half + threadIdx.x % half;
    unsigned char level = (unsigned char)(i * 7 + 1);
    unsigned char *pixel = pixels + 4 * i;
    if (threadIdx.x < half) {
        for (int c = 0; c < 3; c++)
            pixel[c] = (unsigned char)((level * 0x010203u) >> (8 * c)); // NEVER
    } else {
        pixel[3] = level | 1; // NEVER
    }
}

int main()
{
    const int n = 2048;
    static unsigned pixels[n];
    unsigned *d;
    CUDA_CHECK(cudaMalloc(&d, sizeof pixels));
    CUDA_CHECK(cudaMemset(d, 0, sizeof pixels));
    shade<<<n / 64, 128>>>((unsigned char *)d, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(pixels, d, sizeof pixels, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        unsigned level = (i * 7 + 1) & 0xff;
        wrong += pixels[i] != (((level * 0x010203u) & 0xffffff) | (level | 1) << 24);
    }
    CUDA_CHECK(cudaFree(d));
    return finish("bytes", wrong);
}
