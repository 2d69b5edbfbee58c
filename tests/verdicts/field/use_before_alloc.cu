// SPDX-License-Identifier: Apache-2.0
// MrNeRF/LichtFeld-Studio#1427, rapidsai/rmm#2156: memory of cudaMallocAsync in one stream is used (and freed) in another one that does not wait for the
// allocation: compute-sanitizer --track-stream-ordered-races calls it use-before-alloc and free-before-alloc
// expect: exact => races class "used before its allocation" marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "h.h"
#include <vector>
__global__ void to_u8(const unsigned char *b, unsigned char *m, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) m[i] = b[i] ? 255 : 0; //@R
}
int main() {
  const int n = 4096;
  cudaStream_t load, train; cudaEvent_t ready;
  CK(cudaStreamCreateWithFlags(&load, cudaStreamNonBlocking)); CK(cudaStreamCreateWithFlags(&train, cudaStreamNonBlocking));
  CK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
  std::vector<unsigned char> h(n, 1);
  unsigned char *src, *mask;
  CK(cudaMalloc(&src, n)); CK(cudaMemcpy(src, h.data(), n, cudaMemcpyHostToDevice)); CK(cudaDeviceSynchronize());
  for (int i = 0; i < 3; i++) {
    CK(cudaMallocAsync(&mask, n, load)); //@R
#ifdef FIXED
    CK(cudaEventRecord(ready, load)); CK(cudaStreamWaitEvent(train, ready, 0));
#endif
    to_u8<<<n / 256, 256, 0, train>>>(src, mask, n);
    CK(cudaFreeAsync(mask, train));
  }
  CK(cudaDeviceSynchronize());
  printf("ok\n");
}
