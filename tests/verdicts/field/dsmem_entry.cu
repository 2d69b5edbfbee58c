// SPDX-License-Identifier: Apache-2.0
// facebookexperimental/triton#2292: a block stores to its peer's shared memory before the peer has initialized it (or has begun)
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(2, 1, 1) exchange(const int *x, int *y) {
  __shared__ int box[128];
  auto cl = cg::this_cluster();
  const unsigned peer = cl.block_rank() ^ 1;
  box[threadIdx.x] = -1; //@R
#ifdef FIXED
  cl.sync();
#else
  __syncthreads();
#endif
  cl.map_shared_rank(box, peer)[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x]; //@R
  cl.sync();
  y[blockIdx.x * 128 + threadIdx.x] = box[127 - threadIdx.x];
}
int main() {
  const int n = 512;
  int h[n], *x, *y;
  for (int i = 0; i < n; i++) h[i] = i;
  CHECK(cudaMalloc(&x, sizeof h)); CHECK(cudaMalloc(&y, sizeof h)); CHECK(cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice));
  exchange<<<4, 128>>>(x, y);
  CHECK(cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost)); printf("%d\n", h[0]);
}
