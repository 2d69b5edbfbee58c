// SPDX-License-Identifier: Apache-2.0
// microsoft/onnxruntime#26512: "race": cudaMemcpyAsync to pageable host memory, read without a wait. CUDA's documentation says that the call
// returns once the copy has completed, so both builds are clean (control).
// expect: exact,tracker,collider,collider+exact,privatizer => silent soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
#include <memory>
__global__ void count_nonzero(const int *x, int n, int *count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int c = __syncthreads_count(i < n && x[i] != 0);
  if (threadIdx.x == 0) atomicAdd(count, c);
}
int main() {
  const int n = 1000;
  std::unique_ptr<int[]> h(new int[n]);
  for (int i = 0; i < n; i++) h[i] = i % 3;
  int *d, *c; cudaStream_t s;
  CHECK(cudaStreamCreate(&s)); CHECK(cudaMalloc(&d, n * 4)); CHECK(cudaMalloc(&c, 4));
  CHECK(cudaMemcpyAsync(d, h.get(), n * 4, cudaMemcpyHostToDevice, s));
  CHECK(cudaMemsetAsync(c, 0, 4, s));
  count_nonzero<<<4, 256, 0, s>>>(d, n, c);
  std::unique_ptr<int[]> total(new int[1]);
  CHECK(cudaMemcpyAsync(total.get(), c, 4, cudaMemcpyDeviceToHost, s));
#ifdef FIXED
  CHECK(cudaStreamSynchronize(s));
#endif
  printf("%d\n", total[0]);
}
