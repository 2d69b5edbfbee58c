// SPDX-License-Identifier: Apache-2.0
// CanReader/FastNN#8, ORNL/HeCBench#91, timemachine#344: the last warp of a reduction trusts volatile and lockstep
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
template <int N> __device__ void tail(volatile float *s, int t) {
#ifdef FIXED
  float v = s[t];
  if (N >= 64) { v += s[t + 32]; __syncwarp(); s[t] = v; __syncwarp(); }
  for (int d = 16; d > 0; d >>= 1) { v += s[t + d]; __syncwarp(); s[t] = v; __syncwarp(); }
#else
  if (N >= 64) s[t] += s[t + 32]; //@R
  s[t] += s[t + 16]; //@R
  s[t] += s[t + 8]; //@R
  s[t] += s[t + 4]; //@R
  s[t] += s[t + 2]; //@R
  s[t] += s[t + 1]; //@R
#endif
}
template <int BLOCK> __global__ void kernel_sum(const float *x, float *out, int n) {
  __shared__ float s[BLOCK];
  const int t = threadIdx.x;
  float v = 0;
  for (int i = blockIdx.x * BLOCK + t; i < n; i += BLOCK * gridDim.x) v += x[i];
  s[t] = v;
  __syncthreads();
  for (int d = BLOCK / 2; d > 32; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t < 32) tail<BLOCK>(s, t);
  if (t == 0) atomicAdd(out, s[0]);
}
int main() {
  const int n = 5000;
  float *x, *o, h[n], r;
  for (int i = 0; i < n; i++) h[i] = 1;
  CHECK(cudaMalloc(&x, sizeof h)); CHECK(cudaMalloc(&o, 4)); CHECK(cudaMemset(o, 0, 4));
  CHECK(cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice));
  kernel_sum<256><<<4, 256>>>(x, o, n);
  CHECK(cudaMemcpy(&r, o, 4, cudaMemcpyDeviceToHost));
  printf("%g\n", r);
}
