// SPDX-License-Identifier: Apache-2.0
// NVIDIA/cudnn-frontend#426: all lanes of the load warp store to shared memory, one elected lane arrives; its release covers its own stores alone
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
#include "tma.h"
constexpr int HEADS = 64, TOPK = 96;
__global__ void __launch_bounds__(256) indexer_bwd(const float *gw, const float *gg, float *out, int rows) {
  __shared__ float sW[HEADS], sG[TOPK];
  __shared__ __align__(8) uint64_t loaded, consumed;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) { mbar_init(&loaded, 1); mbar_init(&consumed, 128); }
  __syncthreads();
  unsigned phase = 0;
  for (int r = blockIdx.x; r < rows; r += gridDim.x, phase ^= 1) {
    if (warp == 0) {
      mbar_wait(&consumed, phase ^ 1);
      for (int i = lane; i < HEADS; i += 32) sW[i] = gw[r * HEADS + i]; //@R
      for (int i = lane; i < TOPK; i += 32) sG[i] = gg[r * TOPK + i]; //@R
#ifdef FIXED
      __syncwarp();
#endif
      if (lane == 0) mbar_arrive(&loaded);
    } else if (warp >= 4) {
      const int t = threadIdx.x - 128;
      mbar_wait(&loaded, phase);
      float a = 0;
      for (int i = 0; i < HEADS; i++) a += sW[(i + t) % HEADS]; //@R
      out[r * 128 + t] = a * sG[t % TOPK]; //@R
      mbar_arrive(&consumed);
    }
  }
}
int main() {
  const int rows = 6;
  float h[rows * 128], *w, *g, *o;
  for (int i = 0; i < rows * 128; i++) h[i] = float(i % 5);
  CHECK(cudaMalloc(&w, sizeof h)); CHECK(cudaMalloc(&g, sizeof h)); CHECK(cudaMalloc(&o, sizeof h));
  CHECK(cudaMemcpy(w, h, sizeof h, cudaMemcpyHostToDevice)); CHECK(cudaMemcpy(g, h, sizeof h, cudaMemcpyHostToDevice));
  indexer_bwd<<<2, 256>>>(w, g, o, rows);
  CHECK(cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost)); printf("%g\n", h[130]);
}
