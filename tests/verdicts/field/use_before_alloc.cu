// SPDX-License-Identifier: Apache-2.0
// MrNeRF/LichtFeld-Studio#1427, rapidsai/rmm#2156: memory of cudaMallocAsync in one stream is used (and freed) in another one that does not wait for the
// allocation: compute-sanitizer --track-stream-ordered-races calls it use-before-alloc and free-before-alloc
// expect: exact => races class "used before its allocation" marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
#include <vector>
__global__ void to_u8(const unsigned char *b, unsigned char *m, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) m[i] = b[i] ? 255 : 0; //@R
}
int main() {
  const int n = 4096;
  cudaStream_t load, train; cudaEvent_t ready;
  CHECK(cudaStreamCreateWithFlags(&load, cudaStreamNonBlocking)); CHECK(cudaStreamCreateWithFlags(&train, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
  std::vector<unsigned char> h(n, 1);
  unsigned char *src, *mask;
  CHECK(cudaMalloc(&src, n)); CHECK(cudaMemcpy(src, h.data(), n, cudaMemcpyHostToDevice)); CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 3; i++) {
    CHECK(cudaMallocAsync(&mask, n, load)); //@R
#ifdef FIXED
    CHECK(cudaEventRecord(ready, load)); CHECK(cudaStreamWaitEvent(train, ready, 0));
#endif
    to_u8<<<n / 256, 256, 0, train>>>(src, mask, n);
    CHECK(cudaFreeAsync(mask, train));
  }
  CHECK(cudaDeviceSynchronize());
  printf("ok\n");
}
