// SPDX-License-Identifier: Apache-2.0
// MoonshotAI/FlashKDA#24, #25, NVIDIA/cudnn-frontend#784: threads write shared memory, only __syncthreads() before the bulk store reads it
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
#include "tma.h"
template <int D>
__device__ void to_fp32(float *dst, const unsigned short *src) {
  for (int i = threadIdx.x; i < D; i += blockDim.x) dst[i] = __uint_as_float(unsigned(src[i]) << 16); //@R
}
template <int D, bool HAS_STATE>
__global__ void state_out(const unsigned short *state, float *out, int tiles) {
  __shared__ __align__(128) float buf[D];
  __shared__ unsigned short acc[D];
  for (int i = threadIdx.x; i < D; i += blockDim.x) acc[i] = HAS_STATE ? state[blockIdx.x * D + i] : 0;
  __syncthreads();
  for (int t = 0; t < tiles; t++) { for (int i = threadIdx.x; i < D; i += blockDim.x) acc[i] += 1; __syncthreads(); }
  to_fp32<D>(buf, acc);
#ifdef FIXED
  proxy_fence();
#endif
  __syncthreads();
  if (threadIdx.x == 0) {
    bulk_store(out + blockIdx.x * D, buf, D * sizeof(float)); //@R
    bulk_commit();
    bulk_wait<0>();
  }
}
int main() {
  const int D = 512, B = 3;
  unsigned short h[D * B], *s; float *o, ho[D * B];
  for (int i = 0; i < D * B; i++) h[i] = 0x3f80;
  CHECK(cudaMalloc(&s, sizeof h)); CHECK(cudaMalloc(&o, sizeof ho)); CHECK(cudaMemcpy(s, h, sizeof h, cudaMemcpyHostToDevice));
  state_out<D, true><<<B, 128>>>(s, o, 2);
  CHECK(cudaMemcpy(ho, o, sizeof ho, cudaMemcpyDeviceToHost)); printf("%g\n", ho[D]);
}
