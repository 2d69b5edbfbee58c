// SPDX-License-Identifier: Apache-2.0
// Both barriers of a scan are needed: without the second one, a lane reads for the next turn what another lane stores in this one. The value of each
// load is chosen behind the first barrier.
// expect: exact,tracker => races only "read-write race" says "warp(int*)" says "block(int*)"
// expect: privatizer => races soak
// expect: exact,tracker -DFIXED => clean soak
#include <cstdio>
#ifdef FIXED
#define AGAIN(x) x
#else
#define AGAIN(x)
#endif
#define SCAN(name, barrier)                     \
    __global__ void name(int *out) {            \
        __shared__ int s[64];                   \
        int t = threadIdx.x, v = t * 7 % 11;    \
        s[t] = v;                               \
        barrier;                                \
        for (int d = 1; d < 32; d <<= 1) {      \
            int o = s[(t - d) & 31];            \
            barrier;                            \
            if (t >= d) v += o;                 \
            s[t] = v;                           \
            AGAIN(barrier);                     \
        }                                       \
        out[blockIdx.x * 64 + t] = v;           \
    }
SCAN(warp, __syncwarp())
SCAN(block, __syncthreads())
int main() {
    int *o;
    cudaMalloc(&o, 4 * 64 * 4);
    warp<<<4, 32>>>(o), block<<<4, 64>>>(o);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
