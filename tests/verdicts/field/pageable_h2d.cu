// SPDX-License-Identifier: Apache-2.0
// Rust-GPU/rust-cuda#15, intel/llvm#1798, risc0#3522: cudaMemcpy from pageable memory may return before the data is on the device;
// a kernel in a non-blocking stream does not wait for it
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
#include <vector>
__global__ void add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i]; //@R
}
struct DeviceBuffer {
  float *p; size_t n;
  explicit DeviceBuffer(const std::vector<float> &v) : n(v.size()) {
    CHECK(cudaMalloc(&p, n * 4));
    CHECK(cudaMemcpy(p, v.data(), n * 4, cudaMemcpyHostToDevice)); //@R
#ifdef FIXED
    CHECK(cudaStreamSynchronize(0));
#endif
  }
};
int main() {
  const int n = 1 << 12;
  cudaStream_t s; CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  DeviceBuffer a(std::vector<float>(n, 1.f)), b(std::vector<float>(n, 2.f));
  float *c; CHECK(cudaMalloc(&c, n * 4));
  add<<<n / 256, 256, 0, s>>>(a.p, b.p, c, n);
  std::vector<float> out(n);
  CHECK(cudaMemcpyAsync(out.data(), c, n * 4, cudaMemcpyDeviceToHost, s)); CHECK(cudaStreamSynchronize(s));
  printf("%g\n", out[3]);
}
