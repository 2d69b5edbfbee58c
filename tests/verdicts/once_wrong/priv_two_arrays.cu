// SPDX-License-Identifier: Apache-2.0
// Two threads of different blocks store the same value to one element of each of two arrays (one of int, one of bool). Both are unordered, and both
// are reported.
// expect: privatizer => races only "same-value write" marked says "cost[id] = 7" says "mask[id] = true"
// expect: privatizer --variable nosuch => inconclusive exit 67 says "--variable matches no variable"
// expect: exact => races only "same-value write" marked soak
#include <cstdio>
__global__ void mark(const int *target, int *cost, bool *mask, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < n) {
        int id = target[t];
        cost[id] = 7; //@R
        mask[id] = true; //@R
    }
}
int main() {
    const int n = 1024;
    int *target, *cost; bool *mask;
    cudaMallocManaged(&target, n * sizeof(int)); cudaMalloc(&cost, n * sizeof(int)); cudaMalloc(&mask, n);
    cudaMemset(cost, 0xff, n * sizeof(int)); cudaMemset(mask, 0, n);
    for (int i = 0; i < n; i++) target[i] = i * 37 % 257;
    mark<<<4, 256>>>(target, cost, mask, n);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
