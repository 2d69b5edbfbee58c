// SPDX-License-Identifier: Apache-2.0
// The last block sums up what all blocks left, as in many samples: each fences before it counts itself, and the last one has no fence behind its
// count. By PTX it needs one; but it has seen that the others were done, code like this works and is common, so it gets a remark. (Where the last
// block's own fence happens to come first, not even the order of fences says anything, and the race is reported: one seed in twenty.)
// -DFENCE: with that fence. -DRACY: without the first one.
// expect: exact => clean says "with no fence behind it" seed 1 half
// expect: tracker,collider+exact => clean soak
// expect: exact,tracker,collider+exact -DFENCE => clean soak
// expect: exact -DRACY => races
#include "../../check.h"

__device__ unsigned done;

__global__ void sum(const float *in, float *out, int n) {
    __shared__ float s[128];
    __shared__ bool last;
    int t = threadIdx.x;
    float v = 0;
    for (int i = blockIdx.x * 128 + t; i < n; i += gridDim.x * 128)
        v += in[i];
    s[t] = v;
    __syncthreads();
    for (int d = 64; d; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) {
        out[blockIdx.x] = s[0];
#ifndef RACY
        __threadfence();
#endif
        last = atomicInc(&done, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
#ifdef FENCE
        __threadfence();
#endif
        v = 0;
        for (int i = 0; i < gridDim.x; i++)
            v += out[i];
        out[0] = v;
        done = 0;
    }
}

int main() {
    float *in, *out, total;
    CHECK(cudaMalloc(&in, 4096 * 4));
    CHECK(cudaMalloc(&out, 8 * 4));
    CHECK(cudaMemset(in, 0, 4096 * 4));
    sum<<<8, 128>>>(in, out, 4096);
    CHECK(cudaMemcpy(&total, out, 4, cudaMemcpyDeviceToHost));
    printf("%g\n", total);
}
