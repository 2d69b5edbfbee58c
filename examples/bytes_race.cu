// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// Colours and their alpha are computed by different warps. The colour is stored as a whole word, alpha byte included, and
// so overwrites the byte that the other warp stores.
#include "example.h"

__global__ void shade(unsigned char *pixels, int n)
{
    int half = blockDim.x / 2;
    int i = blockIdx.x * half + threadIdx.x % half;
    unsigned char level = (unsigned char)(i * 7 + 1);
    unsigned char *pixel = pixels + 4 * i;
    if (threadIdx.x < half) {
        *(unsigned *)pixel = level * 0x010203u; // RACE: lost update
    } else {
        pixel[3] = level | 1; // RACE: lost update
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
    return finish_undefined("bytes", wrong);
}
