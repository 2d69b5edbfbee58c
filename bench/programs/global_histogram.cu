// SPDX-License-Identifier: Apache-2.0
// Histograms of bytes with atomics in global memory: 256 bins that all blocks share, several launches.
// ARGS: 262144 4
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void count(const unsigned char *in, unsigned *bins, int n) {
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[k]], 1);
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 262144, launches = argc > 2 ? atoi(argv[2]) : 4, wrong = 0;
    std::vector<unsigned char> in(n);
    std::vector<unsigned> got(256), want(256);
    for (int k = 0; k < n; k++)
        want[in[k] = (unsigned char)(k * 2654435761u >> 13)] += launches;
    unsigned char *a;
    unsigned *bins;
    cudaMalloc(&a, n);
    cudaMalloc(&bins, 1024);
    cudaMemcpy(a, in.data(), n, cudaMemcpyHostToDevice);
    cudaMemset(bins, 0, 1024);
    for (int k = 0; k < launches; k++)
        count<<<64, 256>>>(a, bins, n);
    cudaMemcpy(got.data(), bins, 1024, cudaMemcpyDeviceToHost);
    for (int k = 0; k < 256; k++)
        wrong += got[k] != want[k];
    puts(wrong ? "FAIL" : "PASS");
}
