// SPDX-License-Identifier: Apache-2.0
// openvdb/fvdb-core#587, NVIDIA/thrust#664: one launch of several forgets the stream
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
static thread_local cudaStream_t current;
__global__ void count(const int *ijk, int *counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) counts[i] = ijk[i] & 7; //@R
}
__global__ void offsets(const int *counts, int *off, int n) {
  __shared__ int w[8];
  int t = threadIdx.x, lane = t & 31, v = t < n ? counts[t] : 0, own = v; //@R
  for (int d = 1; d < 32; d <<= 1) { int o = __shfl_up_sync(~0u, v, d); if (lane >= d) v += o; }
  if (lane == 31) w[t >> 5] = v;
  __syncthreads();
  for (int k = 0; k < (t >> 5); k++) v += w[k];
  if (t < n) off[t] = v - own; //@R
}
__global__ void emit(const int *counts, const int *off, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) for (int k = 0; k < counts[i]; k++) out[off[i] + k] = i; //@R
}
void build_grid(const int *ijk, int *counts, int *off, int *out, int n) {
  count<<<(n + 63) / 64, 64, 0, current>>>(ijk, counts, n);
#ifdef FIXED
  offsets<<<1, 256, 0, current>>>(counts, off, n);
#else
  offsets<<<1, 256>>>(counts, off, n);
#endif
  emit<<<(n + 63) / 64, 64, 0, current>>>(counts, off, out, n);
}
int main() {
  const int n = 200;
  int h[n], *a, *c, *o, *r;
  for (int i = 0; i < n; i++) h[i] = i * 5;
  CHECK(cudaMalloc(&a, sizeof h)); CHECK(cudaMalloc(&c, sizeof h)); CHECK(cudaMalloc(&o, sizeof h)); CHECK(cudaMalloc(&r, n * 8 * 4));
  CHECK(cudaMemset(o, 0, sizeof h)); CHECK(cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice)); CHECK(cudaDeviceSynchronize());
  CHECK(cudaStreamCreateWithFlags(&current, cudaStreamNonBlocking));
  build_grid(a, c, o, r, n);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(h, r, 16, cudaMemcpyDeviceToHost)); printf("%d\n", h[3]);
}
