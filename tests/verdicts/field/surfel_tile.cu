// SPDX-License-Identifier: Apache-2.0
// ORNL/HeCBench#253: structure-of-arrays tile in shared memory; the next tile is loaded while others still read
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
template <typename T, int TILE>
__global__ void render_tile(const T *__restrict__ surf, int n, T focal, T *__restrict__ out, int w, int h) {
  __shared__ T tile[7][TILE];
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  const int me = threadIdx.y * blockDim.x + threadIdx.x;
  T best = 1e30f, color = 0;
  for (int base = 0; base < n; base += TILE) {
    const int here = min(TILE, n - base);
    if (me < here)
      for (int f = 0; f < 7; f++) tile[f][me] = surf[f * n + base + me]; //@R
    __syncthreads();
    for (int s = 0; s < here; s++) {
      T dx = tile[0][s] - T(px), dy = tile[1][s] - T(py); //@R
      T z = tile[2][s] + focal * (dx * tile[3][s] + dy * tile[4][s]); //@R
      if (dx * dx + dy * dy < tile[5][s] && z < best) { best = z; color = tile[6][s]; } //@R
    }
#ifdef FIXED
    __syncthreads();
#endif
  }
  if (px < w && py < h) out[py * w + px] = color;
}
int main() {
  const int n = 600, w = 32, h = 16;
  float *s, *o, *hs = new float[7 * n], ho[w * h];
  for (int i = 0; i < 7 * n; i++) hs[i] = float((i * 2654435761u >> 7) % 61);
  CHECK(cudaMalloc(&s, 7 * n * 4)); CHECK(cudaMalloc(&o, sizeof ho));
  CHECK(cudaMemcpy(s, hs, 7 * n * 4, cudaMemcpyHostToDevice));
  render_tile<float, 256><<<dim3(2, 1), dim3(16, 16)>>>(s, n, 0.1f, o, w, h);
  CHECK(cudaMemcpy(ho, o, sizeof ho, cudaMemcpyDeviceToHost));
  printf("%g\n", ho[5]);
}
