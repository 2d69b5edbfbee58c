// SPDX-License-Identifier: Apache-2.0
// Grids and blocks of three dimensions: every thread where it says it is, and partial warps.
#include "../../check.h"

__global__ void where(unsigned *out)
{
    unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned size = blockDim.x * blockDim.y * blockDim.z, lane, warp;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    warp = thread / 32;
    atomicAdd(&out[block * size + thread], 1 + (lane == thread % 32 ? 10 : 0) + warp * 100 + warpSize * 10000);
}

int main()
{
    const dim3 shapes[][2] = {{dim3(3, 2, 2), dim3(5, 7, 2)}, {dim3(1), dim3(1)}, {dim3(2), dim3(33)}, {dim3(1, 1, 3), dim3(1, 1, 64)},
                              {dim3(5), dim3(32, 32)}};
    for (auto &s : shapes) {
        const dim3 g = s[0], b = s[1];
        unsigned size = b.x * b.y * b.z, n = g.x * g.y * g.z * size, *d;
        unsigned *out = (unsigned *)malloc(n * sizeof *out);
        CHECK(cudaMalloc(&d, n * sizeof *out));
        CHECK(cudaMemset(d, 0, n * sizeof *out));
        where<<<g, b>>>(d);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(out, d, n * sizeof *out, cudaMemcpyDeviceToHost));
        for (unsigned i = 0; i < n; i++)
            EXPECT_EQ(out[i], 11 + i % size / 32 * 100 + 320000);
        CHECK(cudaFree(d));
        free(out);
    }
    return finish();
}
