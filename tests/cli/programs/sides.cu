// SPDX-License-Identifier: Apache-2.0
// sides KERNEL: races whose other side is known to the test by its line, and what poisoned writes must and must not show.
#include <cstdio>
#include <cstring>


enum { BLOCK = 128, BLOCKS = 4 };

// ---- Poisoned writes: who stores one value sees others do so -----------------------------------------------------

// The first lane of every warp: no two lanes of one warp.
__global__ void same(int *out)
{
    if (threadIdx.x % 32 == 0)
        out[blockIdx.x] = 7; // same
}

__global__ void same_shared(int *out)
{
    __shared__ short found;
    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        found = 1; // same_shared
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = found;
}

// Neighbours in one word, in vectors and in all widths: no race, and the same memory afterwards.
__global__ void neighbours(int *out)
{
    __shared__ unsigned char bytes[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    bytes[t] = (unsigned char)(t * 3);
    __syncthreads();
    unsigned char *b = (unsigned char *)(out + 4096);
    short *s = (short *)(out + 8192);
    b[i] = bytes[BLOCK - 1 - t];
    if (t % 3)
        s[i] = (short)(i - 100);
    ((int4 *)(out + 12288))[i] = make_int4(i, -i, 3, 4);
    ((double *)(out + 16384))[i] = i * 0.5;
    int mine[2] = {i, i + 1};
    int *local = mine + i % 2;
    *local += 1;
    out[i] = mine[0] * mine[1];
}

int main(int argc, char **argv)
{
    static int out[32768];
    const char *name = argc > 1 ? argv[1] : "";
    int *d;
    cudaMalloc(&d, sizeof out);
    cudaMemset(d, 0, sizeof out);
    if (!strcmp(name, "same"))
        same<<<BLOCKS, BLOCK>>>(d);
    else if (!strcmp(name, "same_shared"))
        same_shared<<<BLOCKS, BLOCK>>>(d);
    else if (!strcmp(name, "neighbours"))
        neighbours<<<BLOCKS, BLOCK>>>(d);
    else
        return 2;
    cudaError_t e = cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost);
    unsigned sum = 0;
    for (int v : out)
        sum = sum * 31 + (unsigned)v;
    printf("%s: %u\n", cudaGetErrorName(e), sum);
    return e != cudaSuccess;
}
