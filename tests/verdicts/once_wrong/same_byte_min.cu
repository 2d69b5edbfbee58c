// SPDX-License-Identifier: Apache-2.0
// One warp, two store instructions, all stores of 1 to bytes of zeroed memory. No store ever stores another value.
// expect: exact => races only "same-value write"
// expect: tracker,collider => races not "write-write race" soak
#include <cstdio>
__global__ void k(unsigned char *m, int a) {
    m[threadIdx.x & 3] = 1;
    m[(threadIdx.x >> 1) & a] = 1;
}
int main() {
    unsigned char *m; cudaMalloc(&m, 8); cudaMemset(m, 0, 8);
    k<<<1, 32>>>(m, 7); cudaDeviceSynchronize();
}
