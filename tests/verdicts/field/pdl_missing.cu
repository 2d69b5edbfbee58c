// SPDX-License-Identifier: Apache-2.0
// ggml-org/llama.cpp#23690: a kernel is launched with programmatic stream serialization but never waits for the one before
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
template <int N> __global__ void quantize(const float *x, float *q) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
  if (i < N) q[i] = rintf(x[i] * 8); //@R
}
template <int N> __global__ void fwht(const float *q, float *y) {
  __shared__ float s[N];
#ifdef FIXED
  cudaGridDependencySynchronize();
#endif
  const float *row = q + blockIdx.x * N;
  s[threadIdx.x] = row[threadIdx.x]; //@R
  __syncthreads();
  for (int h = 1; h < N; h <<= 1) {
    float a = s[threadIdx.x], b = s[threadIdx.x ^ h];
    __syncthreads();
    s[threadIdx.x] = threadIdx.x & h ? b - a : a + b;
    __syncthreads();
  }
  y[blockIdx.x * N + threadIdx.x] = s[threadIdx.x];
}
template <typename... P, typename... A> void launch_pdl(void (*k)(P...), dim3 g, dim3 b, cudaStream_t s, A... a) {
  cudaLaunchAttribute at[1]; at[0].id = cudaLaunchAttributeProgrammaticStreamSerialization; at[0].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t c = {}; c.gridDim = g; c.blockDim = b; c.stream = s; c.attrs = at; c.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&c, k, P(a)...));
}
int main() {
  constexpr int W = 128, N = W * 8;
  float h[N], *x, *q, *y; cudaStream_t s;
  for (int i = 0; i < N; i++) h[i] = float(i % 11) / 4;
  CHECK(cudaMalloc(&x, sizeof h)); CHECK(cudaMalloc(&q, sizeof h)); CHECK(cudaMalloc(&y, sizeof h)); CHECK(cudaStreamCreate(&s));
  CHECK(cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice)); CHECK(cudaDeviceSynchronize());
  launch_pdl(quantize<N>, N / 256, 256, s, x, q);
  launch_pdl(fwht<W>, N / W, W, s, q, y);
  CHECK(cudaStreamSynchronize(s));
  CHECK(cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost)); printf("%g\n", h[0]);
}
