// SPDX-License-Identifier: Apache-2.0
// Exchanges of a warp through shared memory, all between __syncwarp(): none of the kernels has a race.
// expect: exact => clean
// expect: tracker => clean soak
// expect: collider,privatizer => clean soak
#include <cstdio>
#include <cuda_runtime.h>
__global__ void tree(int *out) { // if (t < d) s[t] += s[t + d]
  __shared__ int s[64];
  int t = threadIdx.x; s[t] = t; s[t + 32] = t; __syncwarp();
  for (int d = 16; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncwarp(); }
  if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void scan(int *out) { // Hillis-Steele
  __shared__ int s[32];
  int t = threadIdx.x, v = t * 7 % 11; s[t] = v; __syncwarp();
  for (int d = 1; d < 32; d <<= 1) {
    int o = t >= d ? s[t - d] : 0;
    __syncwarp();
    v += o; s[t] = v;
    __syncwarp();
  }
  out[blockIdx.x * 32 + t] = v;
}
__global__ void scan2(int *out) { // the guard behind the barrier
  __shared__ int s[32];
  int t = threadIdx.x, v = t * 7 % 11; s[t] = v; __syncwarp();
  for (int d = 1; d < 32; d <<= 1) {
    int o = s[(t - d) & 31];
    __syncwarp();
    if (t >= d) v += o;
    s[t] = v;
    __syncwarp();
  }
  out[blockIdx.x * 32 + t] = v;
}
__global__ void argmax(float *out) { // value and index
  __shared__ float sv[32]; __shared__ int si[32];
  int t = threadIdx.x; float v = (t * 37 % 101) * 0.5f; int i = t;
  for (int d = 16; d > 0; d >>= 1) {
    sv[t] = v; si[t] = i; __syncwarp();
    float ov = sv[t ^ d]; int oi = si[t ^ d];
    __syncwarp();
    if (ov > v || (ov == v && oi < i)) { v = ov; i = oi; }
  }
  if (t == 0) out[blockIdx.x] = v + i;
}
__global__ void bitonic(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x, v = t * 37 % 101; s[t] = v; __syncwarp();
  for (int k = 2; k <= 32; k <<= 1)
    for (int j = k >> 1; j > 0; j >>= 1) {
      int o = s[t ^ j];
      __syncwarp();
      bool up = ((t & k) == 0) == ((t & j) == 0);
      v = up ? min(v, o) : max(v, o);
      s[t] = v;
      __syncwarp();
    }
  out[blockIdx.x * 32 + t] = v;
}
int main() {
  int *o; cudaMalloc(&o, 4 * 32 * 4);
  tree<<<4, 32>>>(o); scan<<<4, 32>>>(o); scan2<<<4, 32>>>(o); argmax<<<4, 32>>>((float *)o); bitonic<<<4, 32>>>(o);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
