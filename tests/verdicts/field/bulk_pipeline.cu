// SPDX-License-Identifier: Apache-2.0
// flash-attention AI/RACECHECK_TMA_HAZARD.md (flash_bwd_sm100, LSE/dPsum): racecheck calls the right pipeline (cp.async.bulk, full/empty mbarriers, dynamic
// loop, another warp reads by ld.shared) a race. FIXED is that pipeline: no alarm allowed. Racy: the producer does not wait until the stage is empty.
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
#include "tma.h"
template <int STAGES, int ROWS>
__global__ void __launch_bounds__(160) bwd(const float *lse, const float *psum, float *out, const int *blocks) {
  __shared__ __align__(128) float sL[STAGES][ROWS], sP[STAGES][ROWS];
  __shared__ __align__(8) uint64_t full[STAGES], empty[STAGES];
  if (threadIdx.x == 0) { for (int s = 0; s < STAGES; s++) { mbar_init(&full[s], 1); mbar_init(&empty[s], 4); } mbar_init_fence(); }
  __syncthreads();
  const int n = blocks[blockIdx.x], warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (warp == 4) {
    if (lane == 0)
      for (int i = 0; i < n; i++) {
        const int s = i % STAGES;
#ifdef FIXED
        mbar_wait(&empty[s], ((i / STAGES) & 1) ^ 1);
#endif
        mbar_expect(&full[s], 2 * ROWS * 4);
        bulk_load(sL[s], lse + i * ROWS, ROWS * 4, &full[s]); //@R
        bulk_load(sP[s], psum + i * ROWS, ROWS * 4, &full[s]); //@R
      }
  } else {
    float a = 0;
    for (int i = 0; i < n; i++) {
      const int s = i % STAGES;
      mbar_wait(&full[s], (i / STAGES) & 1);
      a += sL[s][threadIdx.x] - sP[s][ROWS - 1 - threadIdx.x]; //@R
      __syncwarp();
      if (lane == 0) mbar_arrive(&empty[s]);
    }
    out[blockIdx.x * 128 + threadIdx.x] = a;
  }
}
int main() {
  const int R = 128, n = 7;
  float h[R * n], *l, *p, *o; int hb[2] = {5, 7}, *b;
  for (int i = 0; i < R * n; i++) h[i] = float(i % 19);
  CHECK(cudaMalloc(&l, sizeof h)); CHECK(cudaMalloc(&p, sizeof h)); CHECK(cudaMalloc(&o, 2 * R * 4)); CHECK(cudaMalloc(&b, 8));
  CHECK(cudaMemcpy(l, h, sizeof h, cudaMemcpyHostToDevice)); CHECK(cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice)); CHECK(cudaMemcpy(b, hb, 8, cudaMemcpyHostToDevice));
  bwd<2, R><<<2, 160>>>(l, p, o, b);
  cudaError_t e = cudaDeviceSynchronize();
  CHECK(cudaMemcpy(h, o, 2 * R * 4, cudaMemcpyDeviceToHost)); printf("%s %g\n", cudaGetErrorString(e), h[200]);
}
