// SPDX-License-Identifier: Apache-2.0
// alpaka-group/alpaka#850: kernels in a non-blocking stream, results by cudaMemcpy, which goes through the legacy stream and waits for no such stream
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "h.h"
#include <vector>
struct Queue { cudaStream_t s; Queue() { CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); } };
template <typename T> void copy_back(Queue &q, T *dst, const T *src, size_t n) {
#ifdef FIXED
  CK(cudaMemcpyAsync(dst, src, n * sizeof(T), cudaMemcpyDeviceToHost, q.s));
  CK(cudaStreamSynchronize(q.s));
#else
  CK(cudaMemcpy(dst, src, n * sizeof(T), cudaMemcpyDeviceToHost)); //@R
#endif
}
__global__ void axpy(float a, const float *x, float *y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i]; //@R
}
int main() {
  const int n = 4096;
  Queue q; std::vector<float> h(n, 1.f); float *x, *y;
  CK(cudaMalloc(&x, n * 4)); CK(cudaMalloc(&y, n * 4));
  CK(cudaMemcpy(x, h.data(), n * 4, cudaMemcpyHostToDevice)); CK(cudaMemcpy(y, h.data(), n * 4, cudaMemcpyHostToDevice));
  CK(cudaDeviceSynchronize());
  axpy<<<4, 128, 0, q.s>>>(2.f, x, y, n);
  copy_back(q, h.data(), y, n);
  printf("%g\n", h[n - 1]);
  CK(cudaDeviceSynchronize());
}
