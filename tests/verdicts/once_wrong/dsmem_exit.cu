// SPDX-License-Identifier: Apache-2.0
// facebookexperimental/triton#1105: a block of a cluster reads another block's shared memory, which may have exited: no cluster barrier at the end.
// expect: exact => races class "shared memory of a finished block"
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
template <int C, int BINS>
__global__ void __cluster_dims__(C, 1, 1) cluster_hist(const int *x, int n, int *out) {
  __shared__ int hist[BINS];
  auto cl = cg::this_cluster();
  for (int i = threadIdx.x; i < BINS; i += blockDim.x) hist[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&hist[x[i] % BINS], 1);
  cl.sync();
  const unsigned rank = cl.block_rank();
  if (rank == 0)
    for (int i = threadIdx.x; i < BINS; i += blockDim.x) {
      int s = 0;
      for (int r = 0; r < C; r++) s += cl.map_shared_rank(hist, r)[i]; //@R
      atomicAdd(out + i, s);
    }
#ifdef FIXED
  cl.sync();
#endif
}
int main() {
  const int n = 3000;
  int h[n], *x, *o;
  for (int i = 0; i < n; i++) h[i] = i * 13 % 1009;
  CHECK(cudaMalloc(&x, sizeof h)); CHECK(cudaMalloc(&o, 64 * 4)); CHECK(cudaMemset(o, 0, 256)); CHECK(cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice));
  cluster_hist<4, 64><<<8, 128>>>(x, n, o);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(h, o, 256, cudaMemcpyDeviceToHost)); printf("%d\n", h[1]);
}
