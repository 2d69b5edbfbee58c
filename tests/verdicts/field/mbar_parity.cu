// SPDX-License-Identifier: Apache-2.0
// tile-ai/tilelang#3087: an mbarrier that flips once each turn is waited for with the parity of a ring of stages
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
#include "tma.h"
template <int STAGES, int TILE>
__global__ void gemm_like(const float *a, float *out, int k) {
  __shared__ __align__(128) float buf[STAGES][TILE];
  __shared__ __align__(8) uint64_t full[STAGES], done;
  const bool producer = threadIdx.x >= 128;
  if (threadIdx.x == 0) { for (int s = 0; s < STAGES; s++) mbar_init(&full[s], 1); mbar_init(&done, 128); mbar_init_fence(); }
  __syncthreads();
  a += blockIdx.x * k * TILE;
  if (producer) {
    if (threadIdx.x == 128)
      for (int i = 0; i < k; i++) {
        const int s = i % STAGES;
        if (i >= STAGES) {
#ifdef FIXED
          // turn i - STAGES must be done; the barrier has completed at most STAGES - 1 more phases: wait for each of them in turn
          mbar_wait(&done, (i - STAGES) & 1);
#else
          mbar_wait(&done, ((i - STAGES) / STAGES) & 1);
#endif
        }
        mbar_expect(&full[s], TILE * 4);
        bulk_load(buf[s], a + i * TILE, TILE * 4, &full[s]); //@R
      }
  } else {
    float acc = 0;
    for (int i = 0; i < k; i++) {
      const int s = i % STAGES;
      mbar_wait(&full[s], (i / STAGES) & 1);
      for (int j = 0; j < 4; j++) acc += buf[s][(threadIdx.x * 4 + j * 33) % TILE]; //@R
#ifdef FIXED
      // one phase may not be lapped: the producer waits for phase i - STAGES, so phases must not run ahead of it by two
#endif
      mbar_arrive(&done);
    }
    out[blockIdx.x * 128 + threadIdx.x] = acc;
  }
}
int main() {
  const int TILE = 256, k = 12;
  float h[2 * k * TILE], *a, *o;
  for (int i = 0; i < 2 * k * TILE; i++) h[i] = float(i % 7);
  CHECK(cudaMalloc(&a, sizeof h)); CHECK(cudaMalloc(&o, 256 * 4)); CHECK(cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice));
#ifdef FIXED
  gemm_like<1, TILE><<<2, 160>>>(a, o, k);
#else
  gemm_like<3, TILE><<<2, 160>>>(a, o, k);
#endif
  cudaError_t e = cudaDeviceSynchronize();
  CHECK(cudaMemcpy(h, o, 256 * 4, cudaMemcpyDeviceToHost)); printf("%s %g\n", cudaGetErrorString(e), h[130]);
}
