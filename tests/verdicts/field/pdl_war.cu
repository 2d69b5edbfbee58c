// SPDX-License-Identifier: Apache-2.0
// CONTROL (clean): NVIDIA/cccl#3131 says that a dependent launch which waits does not wait for the launch before the last one. On an H100 it does
// (three runs, driver 580), so both builds are right. FIXED: each kernel waits.
// expect: exact,tracker,collider,collider+exact,privatizer => silent soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
__global__ void block_sort(const int *a, int *b) {
  __shared__ int s[128];
  cudaGridDependencySynchronize();
  s[threadIdx.x] = a[blockIdx.x * 128 + threadIdx.x];
  cudaTriggerProgrammaticLaunchCompletion();
  __syncthreads();
  for (int k = 2; k <= 128; k <<= 1)
    for (int j = k >> 1; j > 0; j >>= 1) {
      int o = threadIdx.x ^ j;
      if (o > threadIdx.x) { int p = s[threadIdx.x], q = s[o]; if ((p > q) == ((threadIdx.x & k) == 0)) { s[threadIdx.x] = q; s[o] = p; } }
      __syncthreads();
    }
  b[blockIdx.x * 128 + threadIdx.x] = s[threadIdx.x];
}
__global__ void partition_setup(int *parts, int tiles) {
#ifdef FIXED
  cudaGridDependencySynchronize();
#endif
  cudaTriggerProgrammaticLaunchCompletion();
  if (threadIdx.x < tiles) parts[threadIdx.x] = threadIdx.x * 128;
}
__global__ void merge(const int *b, const int *parts, int *a) {
  cudaGridDependencySynchronize();
  int t = blockIdx.x * blockDim.x + threadIdx.x, side = t / 128, at = t % 128, v = b[t];
  const int *o = b + parts[1 - side];
  int lo = 0, hi = 128;
  while (lo < hi) { int m = (lo + hi) / 2; if (o[m] < v || (o[m] == v && side == 1)) lo = m + 1; else hi = m; }
  a[at + lo] = v;
}
template <typename... P, typename... A> void launch_pdl(void (*k)(P...), dim3 g, dim3 b, cudaStream_t s, A... a) {
  cudaLaunchAttribute at[1]; at[0].id = cudaLaunchAttributeProgrammaticStreamSerialization; at[0].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t c = {}; c.gridDim = g; c.blockDim = b; c.stream = s; c.attrs = at; c.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&c, k, P(a)...));
}
int main() {
  const int n = 256;
  int h[n], *a, *b, *p; cudaStream_t s;
  for (int i = 0; i < n; i++) h[i] = (i * 73) % 257;
  CHECK(cudaMalloc(&a, sizeof h)); CHECK(cudaMalloc(&b, sizeof h)); CHECK(cudaMalloc(&p, 8)); CHECK(cudaStreamCreate(&s));
  CHECK(cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice)); CHECK(cudaDeviceSynchronize());
  launch_pdl(block_sort, 2, 128, s, a, b);
  launch_pdl(partition_setup, 1, 32, s, p, 2);
  launch_pdl(merge, 2, 128, s, b, p, a);
  CHECK(cudaStreamSynchronize(s));
  CHECK(cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost));
  int bad = 0; for (int i = 1; i < n; i++) bad += h[i - 1] > h[i];
  printf("bad %d\n", bad);
}
