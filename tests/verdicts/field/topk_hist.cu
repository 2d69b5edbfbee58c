// SPDX-License-Identifier: Apache-2.0
// flashinfer-ai/flashinfer#3529: a histogram in shared memory is cleared for the next round while others still read it
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
constexpr int RADIX = 256, THREADS = 512;
struct Buckets { int hist[RADIX + 128]; int threshold; int count; };
__device__ __forceinline__ void suffix_sum(Buckets &b, int tx) {
  for (int d = 1; d < RADIX; d <<= 1) {
    int v = 0;
    if (tx < RADIX) v = b.hist[tx] + (tx + d < RADIX ? b.hist[tx + d] : 0);
    __syncthreads();
    if (tx < RADIX) b.hist[tx] = v;
    __syncthreads();
  }
}
__global__ void __launch_bounds__(THREADS) refine(const unsigned *keys, int n, int k, unsigned *cut) {
  __shared__ Buckets b;
  const int tx = threadIdx.x;
  unsigned prefix = 0, mask = 0;
  int left = k;
  keys += blockIdx.x * n;
  for (int round = 0; round < 4; round++) {
    const int shift = 24 - 8 * round;
    if (tx < RADIX + 1) b.hist[tx] = 0; //@R
    __syncthreads();
    for (int i = tx; i < n; i += THREADS)
      if ((keys[i] & mask) == prefix) atomicAdd(&b.hist[(keys[i] >> shift) & 255], 1);
    __syncthreads();
    suffix_sum(b, tx);
    if (tx < RADIX && b.hist[tx] > left && b.hist[tx + 1] <= left) b.threshold = tx; //@R what was read wrongly leads here
    if (tx == 0 && b.hist[0] <= left) b.threshold = 0; //@R what was read wrongly leads here
    __syncthreads();
    const int th = b.threshold;
    left -= b.hist[th + 1]; //@R
#ifdef FIXED
    __syncthreads();
#endif
    prefix |= unsigned(th) << shift;
    mask |= 255u << shift;
    if (left == 0) break;
  }
  if (tx == 0) cut[blockIdx.x] = prefix;
}
int main() {
  const int n = 2048, rows = 2;
  unsigned *h = new unsigned[n * rows], *d, *c, hc[rows];
  for (int i = 0; i < n * rows; i++) h[i] = (i * 2654435761u) & 0xff0fffffu;
  CHECK(cudaMalloc(&d, n * rows * 4)); CHECK(cudaMalloc(&c, rows * 4));
  CHECK(cudaMemcpy(d, h, n * rows * 4, cudaMemcpyHostToDevice));
  refine<<<rows, THREADS>>>(d, n, 37, c);
  CHECK(cudaMemcpy(hc, c, rows * 4, cudaMemcpyDeviceToHost));
  printf("%08x %08x\n", hc[0], hc[1]);
}
