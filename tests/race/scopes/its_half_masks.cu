// SPDX-License-Identifier: Apache-2.0
// CLEAN -- each half exchanges within itself, and meets with the mask of that half
// __syncwarp() of parts of a warp, the halves in different branches.
#include "../corpus.h"

__global__ void exchange(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t; // NEVER
    if (t < 16) {
        __syncwarp(0xffff);
        out[blockIdx.x * 32 + t] = s[15 - t]; // NEVER
    } else {
        __syncwarp(0xffff0000);
        out[blockIdx.x * 32 + t] = s[47 - t]; // NEVER
    }
}

static int test(bool)
{
    Buffer<int> out(64);
    exchange<<<2, 32>>>(out);
    CHECK(cudaGetLastError());
    return count_wrong(out.host(), [](size_t i) { return i % 32 < 16 ? 15 - i % 32 : 47 - i % 32; });
}

CORPUS_MAIN(test)
