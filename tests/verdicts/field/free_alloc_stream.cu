// SPDX-License-Identifier: Apache-2.0
// NVlabs/cuda-oxide#619, supranational/sppark#81: a buffer is freed in the stream that allocated it while the last kernel runs in another one
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
struct Buffer {
  float *p; cudaStream_t home;
  Buffer(size_t n, cudaStream_t s) : home(s) { CHECK(cudaMallocAsync(&p, n * 4, s)); }
  ~Buffer() { CHECK(cudaFreeAsync(p, home)); } //@R
};
__global__ void scale(float *x, float f, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = x[i] * f + 1; //@R
}
int main() {
  const int n = 4096;
  cudaStream_t a, b; cudaEvent_t e, done;
  CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking)); CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&e)); CHECK(cudaEventCreate(&done));
  for (int round = 0; round < 3; round++) {
    Buffer x(n, a);
    CHECK(cudaMemsetAsync(x.p, 0, n * 4, a)); //@R
    CHECK(cudaEventRecord(e, a)); CHECK(cudaStreamWaitEvent(b, e, 0));
    scale<<<4, 128, 0, b>>>(x.p, 2.f, n);
#ifdef FIXED
    CHECK(cudaEventRecord(done, b)); CHECK(cudaStreamWaitEvent(a, done, 0));
#endif
  }
  CHECK(cudaDeviceSynchronize());
  printf("ok\n");
}
