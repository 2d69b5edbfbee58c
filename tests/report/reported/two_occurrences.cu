// SPDX-License-Identifier: Apache-2.0
// Four warps; in each, lanes store different values into their warp's own slot, by several stores (unrolled). The thread that the collider
// sees lose its value and the two that a watchpoint sees meet are of different warps.
#include <cstdio>

__global__ void scatter(int *out, const int *slot) {
    __shared__ int s[8 * 40];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 8; i++)
        s[warp * 40 + slot[lane * 8 + i]] = threadIdx.x * 8 + i;
    __syncthreads();
    out[threadIdx.x] = s[warp * 40 + 1];
}

int main() {
    int slots[256], *out, *slot;
    unsigned x = 7;
    for (int i = 0; i < 256; i++) {
        x = x * 1664525u + 1013904223u;
        slots[i] = (x >> 9) % 3 ? 33 : i / 8;
    }
    cudaMalloc(&out, 4096);
    cudaMalloc(&slot, 1024);
    cudaMemcpy(slot, slots, sizeof slots, cudaMemcpyHostToDevice);
    scatter<<<1, 256>>>(out, slot);
    return cudaDeviceSynchronize() != cudaSuccess;
}
