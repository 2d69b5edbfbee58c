// SPDX-License-Identifier: Apache-2.0
// Races at lines with comments `gpurace: ok`, for run.py.
#include <cstdio>

__device__ void bump(int *p)
{
    *p += 1; // gpurace: ok benign counter
}

__global__ void count(int *p)
{
    bump(p);
    bump(p + 1);
}

__global__ void flags(int *p)
{
    // gpurace: ok: any thread's number will do
    p[2] = (int)threadIdx.x;
    p[3] = (int)threadIdx.x; /* gpurace: ok the same */
    p[4] = (int)threadIdx.x; // gpurace: ok
    p[5] = (int)threadIdx.x; // gpurace: okay, this is no such comment
    p[6] = (int)threadIdx.x; // the comment above is for its own line
}

int main()
{
    int *p;
    cudaMalloc(&p, 7 * sizeof *p);
    count<<<1, 64>>>(p);
    flags<<<1, 64>>>(p);
    printf("%d\n", (int)cudaDeviceSynchronize());
}
