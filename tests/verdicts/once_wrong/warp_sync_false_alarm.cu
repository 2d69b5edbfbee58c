// SPDX-License-Identifier: Apache-2.0
// A maximum over a warp's shared memory, each exchange between two __syncwarp(): no race. The load of each step stands before a barrier and its
// value is chosen behind it, and lanes that the device has parted come to the barrier one after the other.
// expect: exact,tracker => clean
// expect: collider,privatizer => clean soak
#include <cstdio>
__global__ void k(int *out) {
    __shared__ int s[32];
    const int t = threadIdx.x;
    int v = (t * 7919) % 10007;
    s[t] = v;
    __syncwarp();
#pragma unroll
    for (int d = 16; d > 0; d >>= 1) {
        int o = s[(t + d) & 31];
        __syncwarp();
        if (t + d < 32) v = v > o ? v : o;
        s[t] = v;
        __syncwarp();
    }
    if (t == 0) out[blockIdx.x] = v;
}
int main() {
    int *out, o[4];
    cudaMalloc(&out, sizeof o);
    k<<<4, 32>>>(out);
    cudaMemcpy(o, out, sizeof o, cudaMemcpyDeviceToHost);
    printf("%d %s\n", o[0], cudaGetErrorString(cudaDeviceSynchronize()));
}
