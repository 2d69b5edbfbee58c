// SPDX-License-Identifier: Apache-2.0
// dmlc/xgboost#3293 (issue 3264): cub::BlockReduce in a loop with one temporary storage and no barrier between the rounds
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
#include <cub/block/block_reduce.cuh>
struct Pair { float g, h; __host__ __device__ Pair operator+(const Pair &o) const { return {g + o.g, h + o.h}; } };
template <int THREADS>
__global__ void feature_sums(const Pair *grad, const int *bins, int rows, int features, Pair *sums) {
  using Reduce = cub::BlockReduce<Pair, THREADS, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
  __shared__ typename Reduce::TempStorage temp;
  for (int f = blockIdx.x; f < features; f += gridDim.x) {
    Pair mine{0, 0};
    for (int r = threadIdx.x; r < rows; r += THREADS)
      if (bins[f * rows + r] & 1) mine = mine + grad[r];
    Pair all = Reduce(temp).Sum(mine); //@R
    if (threadIdx.x == 0) sums[f] = all;
#ifdef FIXED
    __syncthreads();
#endif
  }
}
int main() {
  const int rows = 500, features = 6;
  Pair *g, *s, hs[features], hg[rows]; int *b, hb[rows * features];
  for (int i = 0; i < rows; i++) hg[i] = {float(i % 3), 1};
  for (int i = 0; i < rows * features; i++) hb[i] = i * 7 % 11;
  CHECK(cudaMalloc(&g, sizeof hg)); CHECK(cudaMalloc(&s, sizeof hs)); CHECK(cudaMalloc(&b, sizeof hb));
  CHECK(cudaMemcpy(g, hg, sizeof hg, cudaMemcpyHostToDevice)); CHECK(cudaMemcpy(b, hb, sizeof hb, cudaMemcpyHostToDevice));
  feature_sums<128><<<2, 128>>>(g, b, rows, features, s);
  CHECK(cudaMemcpy(hs, s, sizeof hs, cudaMemcpyDeviceToHost));
  printf("%g %g\n", hs[0].g, hs[5].h);
}
