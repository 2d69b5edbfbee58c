// SPDX-License-Identifier: Apache-2.0
// NVlabs/cuda-oxide#1066: the producer warp publishes tile coordinates in a mailbox and reuses it before all reader warps have copied them
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
#include "tma.h"
struct Info { int m, n, more; };
__global__ void __launch_bounds__(192) persistent(unsigned *next, int tiles, int w, int *owner) {
  __shared__ Info info;
  __shared__ __align__(8) uint64_t ready, taken;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) { mbar_init(&ready, 1); mbar_init(&taken, 5); }
  __syncthreads();
  unsigned phase = 0;
  if (warp == 0) {
    if (lane == 0)
      for (bool more = true; more; phase ^= 1) {
        int t = int(atomicAdd(next, 1u));
        more = t < tiles;
#ifdef FIXED
        mbar_wait(&taken, phase ^ 1);
#endif
        info.m = t / w; info.n = t % w; info.more = more; //@R
        mbar_arrive(&ready);
        for (int spin = 0; spin < 20; spin++) __nanosleep(50);
      }
  } else {
    while (true) {
      mbar_wait(&ready, phase);
      Info i = info; //@R
#ifdef FIXED
      __syncwarp();
      if (lane == 0) mbar_arrive(&taken);
#endif
      if (!i.more) break;
      owner[(i.m * w + i.n) * 160 + threadIdx.x - 32] = blockIdx.x + 1; //@R what was read wrongly leads here
      phase ^= 1;
    }
  }
}
int main() {
  const int tiles = 12;
  int *o, h[tiles * 160]; unsigned *n;
  CHECK(cudaMalloc(&o, sizeof h)); CHECK(cudaMalloc(&n, 4)); CHECK(cudaMemset(n, 0, 4)); CHECK(cudaMemset(o, 0, sizeof h));
  persistent<<<2, 192>>>(n, tiles, 4, o);
  cudaError_t e = cudaDeviceSynchronize();
  CHECK(cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost));
  int bad = 0; for (int i = 0; i < tiles * 160; i++) bad += h[i] == 0;
  printf("%s bad %d\n", cudaGetErrorString(e), bad);
}
