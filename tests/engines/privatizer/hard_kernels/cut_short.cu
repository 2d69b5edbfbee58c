// SPDX-License-Identifier: Apache-2.0
// With lanes as units the first region of each block is cut short: lane 31 does not find what lane 0 has stored, and ends, and the other lanes wait for it. Rows are made by then. With warps as units
// nothing is in the way, but two warps store to the same words.
#include <cstdio>

enum { BLOCKS = 4, LANES = 32, WORDS = 4 * LANES };

__global__ void parted(int *words, int *here, int *out) {
    int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, *to = words + blockIdx.x * WORDS;
    for (int k = lane; k < WORDS; k += LANES)
        to[k] = 100 + warp; // RACE
    if (lane == 0)
        here[blockIdx.x * 2 + warp] = 1; // LANES
    int first =
        __shfl_sync(~0u, lane, 0); // all have come here, but no lane need find what another one stored
    if (lane == LANES - 1 && here[blockIdx.x * 2 + warp] == 0) // LANES
        return;
    int last = first + __shfl_sync(~0u, lane, LANES - 1);
    __syncwarp();
    out[blockIdx.x * 2 * LANES + threadIdx.x] = last;
}

int main() {
    int *words, *here, *out, got[BLOCKS * 2 * LANES], wrong = 0;
    cudaMalloc(&words, BLOCKS * WORDS * sizeof *words);
    cudaMalloc(&here, BLOCKS * 2 * sizeof *here);
    cudaMalloc(&out, sizeof got);
    cudaMemset(words, 7, BLOCKS * WORDS * sizeof *words);
    cudaMemset(here, 0, BLOCKS * 2 * sizeof *here);
    parted<<<BLOCKS, 2 * LANES>>>(words, here, out);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    for (int v : got)
        wrong += v != LANES - 1;
    printf("%s, %d wrong\n", cudaGetErrorName(cudaDeviceSynchronize()), wrong);
}
