// SPDX-License-Identifier: Apache-2.0
// JustVugg/colibri#1099: store_matrix_sync to shared memory, then other lanes read it, no __syncwarp() between
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
template <int WARPS>
__global__ void grouped(const half *a, const half *b, const float *scale, float *c, int tiles) {
  __shared__ float out[WARPS][16 * 16];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int tile = blockIdx.x * WARPS + warp;
  if (tile >= tiles) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.f);
  for (int k = 0; k < 2; k++) {
    wmma::load_matrix_sync(fa, a + (tile * 2 + k) * 256, 16);
    wmma::load_matrix_sync(fb, b + k * 256, 16);
    wmma::mma_sync(acc, fa, fb, acc);
  }
  wmma::store_matrix_sync(out[warp], acc, 16, wmma::mem_row_major); //@R
#ifdef FIXED
  __syncwarp();
#endif
  for (int z = lane; z < 256; z += 32)
    c[tile * 256 + z] = out[warp][z] * scale[z / 16]; //@R
}
int main() {
  const int tiles = 6;
  half *a, *b; float *c, *s, hc[tiles * 256], hs[16]; half ha[tiles * 512], hb[512];
  for (int i = 0; i < tiles * 512; i++) ha[i] = __float2half(float(i % 5));
  for (int i = 0; i < 512; i++) hb[i] = __float2half(float(i % 3));
  for (int i = 0; i < 16; i++) hs[i] = 1.f + i;
  CHECK(cudaMalloc(&a, sizeof ha)); CHECK(cudaMalloc(&b, sizeof hb)); CHECK(cudaMalloc(&c, sizeof hc)); CHECK(cudaMalloc(&s, sizeof hs));
  CHECK(cudaMemcpy(a, ha, sizeof ha, cudaMemcpyHostToDevice)); CHECK(cudaMemcpy(b, hb, sizeof hb, cudaMemcpyHostToDevice)); CHECK(cudaMemcpy(s, hs, sizeof hs, cudaMemcpyHostToDevice));
  grouped<4><<<2, 128>>>(a, b, s, c, tiles);
  CHECK(cudaMemcpy(hc, c, sizeof hc, cudaMemcpyDeviceToHost));
  printf("%g %g\n", hc[1], hc[tiles * 256 - 1]);
}
