// SPDX-License-Identifier: Apache-2.0
// alpaka-group/alpaka#850: kernels in a non-blocking stream, results by cudaMemcpy, which goes through the legacy stream and waits for no such stream
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
#include <vector>
struct Queue { cudaStream_t s; Queue() { CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); } };
template <typename T> void copy_back(Queue &q, T *dst, const T *src, size_t n) {
#ifdef FIXED
  CHECK(cudaMemcpyAsync(dst, src, n * sizeof(T), cudaMemcpyDeviceToHost, q.s));
  CHECK(cudaStreamSynchronize(q.s));
#else
  CHECK(cudaMemcpy(dst, src, n * sizeof(T), cudaMemcpyDeviceToHost)); //@R
#endif
}
__global__ void axpy(float a, const float *x, float *y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i]; //@R
}
int main() {
  const int n = 4096;
  Queue q; std::vector<float> h(n, 1.f); float *x, *y;
  CHECK(cudaMalloc(&x, n * 4)); CHECK(cudaMalloc(&y, n * 4));
  CHECK(cudaMemcpy(x, h.data(), n * 4, cudaMemcpyHostToDevice)); CHECK(cudaMemcpy(y, h.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaDeviceSynchronize());
  axpy<<<4, 128, 0, q.s>>>(2.f, x, y, n);
  copy_back(q, h.data(), y, n);
  printf("%g\n", h[n - 1]);
  CHECK(cudaDeviceSynchronize());
}
