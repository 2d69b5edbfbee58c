// SPDX-License-Identifier: Apache-2.0
// ORNL/HeCBench#254: one thread writes the block's total, all threads read it, no barrier between
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
constexpr int BLOCK = 128;
__global__ void generate(const unsigned *cubes, unsigned *outv, unsigned *outt, unsigned *counter, int n) {
  __shared__ unsigned vs[32], ts[32];
  const int i = blockIdx.x * BLOCK + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  unsigned c = i < n ? cubes[i] : 0, v = c & 7, t = (c >> 3) & 3, iv = v, it = t;
  if (threadIdx.x < 32) vs[lane] = ts[lane] = 0;
  __syncthreads();
  for (int d = 1; d < 32; d <<= 1) {
    unsigned a = __shfl_up_sync(~0u, iv, d), b = __shfl_up_sync(~0u, it, d);
    if (lane >= d) { iv += a; it += b; }
  }
  if (lane == 31) { vs[warp] = iv; ts[warp] = it; }
  __syncthreads();
  if (threadIdx.x < 32) {
    unsigned a = vs[lane], b = ts[lane];
    for (int d = 1; d < 32; d <<= 1) {
      unsigned p = __shfl_up_sync(~0u, a, d), q = __shfl_up_sync(~0u, b, d);
      if (lane >= d) { a += p; b += q; }
    }
    vs[lane] = a; ts[lane] = b;
  }
  __syncthreads();
  unsigned before_v = warp ? vs[warp - 1] : 0, before_t = warp ? ts[warp - 1] : 0;
  if (threadIdx.x == 0) {
    vs[31] = atomicAdd(counter, vs[31]); //@R
    ts[31] = atomicAdd(counter + 1, ts[31]); //@R
  }
#ifdef FIXED
  __syncthreads();
#endif
  unsigned v0 = vs[31] + before_v + iv - v, t0 = ts[31] + before_t + it - t; //@R
  for (unsigned k = 0; k < v; k++) outv[v0 + k] = i; //@R a wrong v0 leads here
  for (unsigned k = 0; k < t; k++) outt[t0 + k] = i; //@R a wrong t0, too
}
int main() {
  const int n = 1000;
  unsigned h[n], *c, *ov, *ot, *k, hk[2];
  for (int i = 0; i < n; i++) h[i] = i * 2654435761u >> 11;
  CHECK(cudaMalloc(&c, sizeof h)); CHECK(cudaMalloc(&ov, n * 32 * 4)); CHECK(cudaMalloc(&ot, n * 32 * 4)); CHECK(cudaMalloc(&k, 8));
  CHECK(cudaMemset(k, 0, 8)); CHECK(cudaMemcpy(c, h, sizeof h, cudaMemcpyHostToDevice));
  generate<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(c, ov, ot, k, n);
  CHECK(cudaMemcpy(hk, k, 8, cudaMemcpyDeviceToHost));
  printf("%u %u\n", hk[0], hk[1]);
}
