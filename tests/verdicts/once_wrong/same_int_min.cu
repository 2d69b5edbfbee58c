// SPDX-License-Identifier: Apache-2.0
// One warp, two store instructions, all stores of 1 to words of zeroed memory. No store ever stores another value.
// expect: exact => races only "same-value write" soak
// expect: tracker,collider => races not "write-write race" soak
#include <cstdio>
__global__ void k(int *m, int a) {
    m[threadIdx.x & 3] = 1;
    m[(threadIdx.x >> 1) & a] = 1;
}
int main() {
    int *m; cudaMalloc(&m, 32); cudaMemset(m, 0, 32);
    k<<<1, 32>>>(m, 7); cudaDeviceSynchronize();
}
