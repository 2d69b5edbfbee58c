// SPDX-License-Identifier: Apache-2.0
// vllm-project/vllm#34991: each block writes all 256 offsets to global memory and reads one back without a barrier
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
constexpr int E = 256;
__global__ void ep_scatter_1(const int *num_tokens, int *start, int *m_indices) {
  __shared__ int warp_sums[E / 32];
  const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  const int c = (num_tokens[t] + 3) / 4 * 4;
  int v = c;
  for (int d = 1; d < 32; d <<= 1) { int o = __shfl_up_sync(~0u, v, d); if (lane >= d) v += o; }
  if (lane == 31) warp_sums[warp] = v;
  __syncthreads();
  for (int w = 0; w < warp; w++) v += warp_sums[w];
  const int expert = blockIdx.x;
#ifdef FIXED
  __shared__ int mine;
  if (t == expert) { mine = v - c; start[expert] = v - c; }
  __syncthreads();
  const int from = mine;
#else
  start[t] = v - c; //@R
  const int from = start[expert]; //@R
#endif
  const int tokens = num_tokens[expert];
  for (int i = t; i < tokens; i += E) m_indices[from + i] = expert;
}
int main() {
  int h[E], *n, *s, *m;
  for (int i = 0; i < E; i++) h[i] = i % 5;
  CHECK(cudaMalloc(&n, sizeof h)); CHECK(cudaMalloc(&s, sizeof h)); CHECK(cudaMalloc(&m, 8 * E * 4)); CHECK(cudaMemset(s, 0, sizeof h));
  CHECK(cudaMemcpy(n, h, sizeof h, cudaMemcpyHostToDevice));
  ep_scatter_1<<<16, E>>>(n, s, m);
  CHECK(cudaMemcpy(h, s, sizeof h, cudaMemcpyDeviceToHost));
  printf("%d\n", h[15]);
}
