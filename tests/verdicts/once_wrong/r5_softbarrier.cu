// SPDX-License-Identifier: Apache-2.0
// FlashInfer PR 3615 in small: blocks meet at an arrival counter; one resets it with a plain store while others may still poll it. Mode 1: no reset.
// expect: exact -- 0 => races
// expect: exact,tracker,collider,collider+exact,privatizer -- 1 => silent soak
#include <cstdio>
__device__ unsigned cnt;
__global__ void k(int *a, int mode){
  unsigned n = gridDim.x;
  if (threadIdx.x == 0) { a[blockIdx.x] = blockIdx.x; __threadfence(); atomicAdd(&cnt, 1);
    while (atomicAdd(&cnt, 0) < n) ; __threadfence();
    a[n + blockIdx.x] = a[(blockIdx.x + 1) % n];
    if (mode == 0 && blockIdx.x == 0) cnt = 0; }
}
int main(int c, char **v){ int *a; cudaMalloc(&a, 64); k<<<4,32>>>(a, c > 1 ? v[1][0]-'0' : 0); printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize())); }
