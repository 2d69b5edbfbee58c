// SPDX-License-Identifier: Apache-2.0
// Lanes of one warp count in one word of shared memory by the trick of old histogram samples: write tag|count+1, read back, and repeat unless
// one's own tag is there. Two lanes may read the same count and each find its own tag: counts are lost. The loop looks like one that polls, but it
// stores what it has loaded. -DFIXED: an atomic operation counts.
// expect: exact,tracker => races class "volatile race"
// expect: exact --volatile no => clean soak
// expect: exact,tracker,collider,privatizer -DFIXED => silent soak
#include <cstdio>
__global__ void count(const int *key, int *out) {
    __shared__ volatile unsigned bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    unsigned tag = threadIdx.x << 27, c;
    int k = key[threadIdx.x];
#ifdef FIXED
    (void)tag;
    c = 1;
    atomicAdd((unsigned *)&bins[k], c);
#else
    do {
        c = bins[k] & 0x07ffffff;
        c = tag | (c + 1);
        bins[k] = c;
    } while (bins[k] != c);
#endif
    __syncthreads();
    if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x] & 0x07ffffff;
}
int main() {
    int *key, *out, bad = 0;
    cudaMallocManaged(&key, 128); cudaMallocManaged(&out, 32);
    for (int i = 0; i < 32; i++) key[i] = i % 3;
    for (int round = 0; round < 20; round++) {
        count<<<1, 32>>>(key, out);
        cudaDeviceSynchronize();
        int sum = 0;
        for (int i = 0; i < 8; i++) sum += out[i];
        bad += sum != 32;
    }
    printf("%d of 20 rounds lost counts\n", bad);
}
