// SPDX-License-Identifier: Apache-2.0
// NVIDIA/cuml#4157: "only the master thread of the grid barrier executes __threadfence()". By PTX that is enough: the block's barrier is
// in front of it, and fences are cumulative. So both builds are clean (control). FIXED: the fence moved to all threads, as the report asks.
// expect: exact,tracker,collider,collider+exact,privatizer => silent soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
struct GridSync {
  unsigned *count; unsigned expected;
  __device__ void sync() {
#ifdef FIXED
    __threadfence();
#endif
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      unsigned old = atomicAdd(count, blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u);
      while (((old ^ atomicAdd(count, 0u)) & 0x80000000u) == 0) ;
      __threadfence();
    }
    __syncthreads();
  }
};
__global__ void two_phases(unsigned *count, const int *in, int *mid, int *out) {
  GridSync g{count, gridDim.x};
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  mid[i] = in[i] * 2;
  g.sync();
  out[i] = mid[n - 1 - i] + mid[(i + blockDim.x) % n];
  g.sync();
  mid[i] = out[(i + 1) % n];
}
int main() {
  const int n = 4 * 128;
  int h[n], *a, *b, *c; unsigned *k;
  for (int i = 0; i < n; i++) h[i] = i;
  CHECK(cudaMalloc(&a, sizeof h)); CHECK(cudaMalloc(&b, sizeof h)); CHECK(cudaMalloc(&c, sizeof h)); CHECK(cudaMalloc(&k, 4)); CHECK(cudaMemset(k, 0, 4));
  CHECK(cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice));
  two_phases<<<4, 128>>>(k, a, b, c);
  CHECK(cudaMemcpy(h, c, sizeof h, cudaMemcpyDeviceToHost));
  printf("%d\n", h[5]);
}
