// SPDX-License-Identifier: Apache-2.0
// kokkos/kokkos#2681, matteospanio/torchfx#96: the last block of a scan reads what others left, no __threadfence() in front of the flag
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
template <typename T> struct Tile { T sum; volatile int ready; };
template <int BLOCK, typename T>
__global__ void chained_scan(const T *in, T *out, Tile<T> *tiles, unsigned *ticket, int n) {
  __shared__ T warp_sum[BLOCK / 32];
  __shared__ T before;
  __shared__ unsigned my_tile;
  if (threadIdx.x == 0) my_tile = atomicAdd(ticket, 1u);
  __syncthreads();
  const unsigned tile = my_tile;
  const int i = tile * BLOCK + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  T v = i < n ? in[i] : T(0);
  for (int d = 1; d < 32; d <<= 1) { T o = __shfl_up_sync(~0u, v, d); if (lane >= d) v += o; }
  if (lane == 31) warp_sum[warp] = v;
  __syncthreads();
  for (int w = 0; w < warp; w++) v += warp_sum[w];
  if (threadIdx.x == BLOCK - 1) {
    T prev = 0;
    if (tile > 0) {
      while (tiles[tile - 1].ready == 0) ;
#ifdef FIXED
      __threadfence();
#endif
      prev = tiles[tile - 1].sum; //@R
    }
    tiles[tile].sum = prev + v; //@R
#ifdef FIXED
    __threadfence();
#endif
    tiles[tile].ready = 1;
    before = prev;
  }
  __syncthreads();
  if (i < n) out[i] = v + before;
}
int main() {
  const int n = 128 * 6;
  double h[n], *a, *b; Tile<double> *t; unsigned *k;
  for (int i = 0; i < n; i++) h[i] = 1;
  CHECK(cudaMalloc(&a, sizeof h)); CHECK(cudaMalloc(&b, sizeof h)); CHECK(cudaMalloc(&t, 6 * sizeof *t)); CHECK(cudaMalloc(&k, 4));
  CHECK(cudaMemset(t, 0, 6 * sizeof *t)); CHECK(cudaMemset(k, 0, 4)); CHECK(cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice));
  chained_scan<128, double><<<6, 128>>>(a, b, t, k, n);
  CHECK(cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost));
  printf("%g\n", h[n - 1]);
}
