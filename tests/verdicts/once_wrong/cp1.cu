// SPDX-License-Identifier: Apache-2.0
// csarofeen/pytorch#2457: in the main loop the group is committed after the wait, so the wait does not cover the copies that are read next.
// With DEPTH stages an unrolled kernel has DEPTH copies and their waits: the privatizer once followed them up to 96 places, and was clean beyond; now
// up to 2048, and beyond the verdict names the kernel.
// expect: exact,privatizer -DDEPTH=8 => races marked
// expect: privatizer -DDEPTH=48 => inconclusive says "48 asynchronous copies (cp.async) were not looked for"
// expect: exact,privatizer -DDEPTH=4 => races marked soak
// expect: exact,tracker,collider,privatizer -DDEPTH=8 -DFIXED => clean soak
// expect: exact,privatizer -DDEPTH=32 => races marked soak
#include "../../check.h"
__device__ __forceinline__ void cp16(void *s, const void *g) {
  unsigned a = unsigned(__cvta_generic_to_shared(s));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(a), "l"(g) : "memory"); //@R
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
template <int STAGES, int TILE>
__global__ void pipeline(const float *in, float *out, int tiles) {
  __shared__ __align__(16) float buf[STAGES][TILE];
  in += size_t(blockIdx.x) * tiles * TILE;
  float acc = 0;
#pragma unroll
  for (int s = 0; s < STAGES - 1; s++) {
    if (s < tiles) cp16(&buf[s][threadIdx.x * 4], in + s * TILE + threadIdx.x * 4); //@R
    commit();
  }
  wait<STAGES - 2>();
  __syncthreads();
#pragma unroll 1
  for (int t = 0; t < tiles; t++) {
    const int next = t + STAGES - 1;
    if (next < tiles) cp16(&buf[next % STAGES][threadIdx.x * 4], in + next * TILE + threadIdx.x * 4); //@R
#ifdef FIXED
    commit();
#endif
    for (int i = 0; i < 4; i++) acc += buf[t % STAGES][(threadIdx.x + i * 37) % TILE]; //@R
    wait<STAGES - 2>();
#ifndef FIXED
    commit();
#endif
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = acc;
}
int main() {
  const int TILE = 256, tiles = 9, n = 2 * tiles * TILE;
  float h[n], *a, *o;
  for (int i = 0; i < n; i++) h[i] = float(i % 17);
  CHECK(cudaMalloc(&a, sizeof h)); CHECK(cudaMalloc(&o, 2 * 64 * 4)); CHECK(cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice));
  pipeline<DEPTH, TILE><<<2, 64>>>(a, o, tiles);
  CHECK(cudaMemcpy(h, o, 2 * 64 * 4, cudaMemcpyDeviceToHost)); printf("%g\n", h[70]);
}
