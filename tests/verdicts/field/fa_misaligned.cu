// SPDX-License-Identifier: Apache-2.0
// ggml-org/llama.cpp#13469: a __syncthreads() that only some of the warps execute shifts the barriers against each other
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
template <int NWARPS, int NCOMBINE, int TILE>
__global__ void flash(const float *__restrict__ k, const float *__restrict__ q, float *__restrict__ out, int len) {
  __shared__ float tile[TILE];
  __shared__ float part[NWARPS];
  const int lane = threadIdx.x, warp = threadIdx.y, tid = warp * 32 + lane;
  const float qv = q[lane];
  float acc = 0;
  for (int k0 = 0; k0 < len; k0 += TILE) {
    for (int i = tid; i < TILE; i += 32 * NWARPS) tile[i] = k[k0 + i]; //@R
    __syncthreads();
    float dot = 0;
    for (int i = lane; i < TILE; i += 32) dot += tile[i] * qv; //@R
    for (int d = 16; d > 0; d >>= 1) dot += __shfl_xor_sync(~0u, dot, d);
    if (lane == 0) part[warp] = dot; //@R
#ifdef FIXED
    __syncthreads();
    if (warp < NCOMBINE) {
#else
    if (warp < NCOMBINE) {
      __syncthreads();
#endif
      for (int w = 0; w < NWARPS; w++) acc += part[w]; //@R
    }
    __syncthreads();
  }
  if (warp == 0) out[blockIdx.x * 32 + lane] = acc;
}
int main() {
  const int len = 128 * 4;
  float *k, *q, *o, h[len], ho[32];
  for (int i = 0; i < len; i++) h[i] = float(i % 7);
  CHECK(cudaMalloc(&k, sizeof h)); CHECK(cudaMalloc(&q, 128)); CHECK(cudaMalloc(&o, 256));
  CHECK(cudaMemcpy(k, h, sizeof h, cudaMemcpyHostToDevice)); CHECK(cudaMemcpy(q, h, 128, cudaMemcpyHostToDevice));
  flash<4, 2, 128><<<2, dim3(32, 4)>>>(k, q, o, len);
  CHECK(cudaMemcpy(ho, o, 128, cudaMemcpyDeviceToHost));
  printf("%g\n", ho[3]);
}
