// SPDX-License-Identifier: Apache-2.0
// NVIDIA/raft#2997, #3041: thread 0 counts its block as finished although other threads of the block still add to the histogram.
// expect: exact => races half seed 1 soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
constexpr int BLOCK = 256, BUCKETS = 128;
struct Counter { unsigned finished; int k; int bucket; int pad; };
__device__ void filter_and_histogram(const unsigned *in, int n, unsigned *hist, unsigned *out, unsigned *out_n) {
  __shared__ unsigned local[BUCKETS];
  for (int i = threadIdx.x; i < BUCKETS; i += BLOCK) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK) {
    unsigned v = in[i];
    atomicAdd(&local[v % BUCKETS], 1u);
    if (v & 1) out[atomicAdd(out_n, 1u)] = v; //@R
  }
  __syncthreads();
  for (int i = threadIdx.x; i < BUCKETS; i += BLOCK)
    if (local[i]) atomicAdd(hist + i, local[i]); //@R
}
__global__ void radix_pass(const unsigned *in, int n, unsigned *hist, Counter *c, unsigned *out, unsigned *out_n, unsigned *check) {
  filter_and_histogram(in, n, hist, out, out_n);
  __threadfence();
#ifdef FIXED
  __syncthreads();
#endif
  bool last = false;
  if (threadIdx.x == 0) {
    unsigned done = atomicInc(&c->finished, gridDim.x - 1);
    last = done == gridDim.x - 1;
  }
  if (__syncthreads_or(last)) {
    __threadfence();
    __shared__ unsigned scan[BUCKETS];
    if (threadIdx.x < BUCKETS) scan[threadIdx.x] = hist[threadIdx.x]; //@R
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned sum = 0;
      for (int i = 0; i < BUCKETS; i++) { sum += scan[i]; if (sum >= unsigned(c->k)) { c->bucket = i; break; } }
    }
    unsigned sum = 0;
    for (unsigned i = threadIdx.x; i < *out_n; i += BLOCK) sum ^= out[i]; //@R
    atomicXor(check, sum);
  }
}
int main() {
  const int n = 4000;
  unsigned h[n], *in, *hist, *out, *on, *chk; Counter hc{0, 50, -1, 0}, *c;
  for (int i = 0; i < n; i++) h[i] = i * 2654435761u >> 3;
  CHECK(cudaMalloc(&in, sizeof h)); CHECK(cudaMalloc(&out, sizeof h)); CHECK(cudaMalloc(&hist, BUCKETS * 4)); CHECK(cudaMalloc(&c, sizeof hc)); CHECK(cudaMalloc(&on, 4)); CHECK(cudaMalloc(&chk, 4));
  CHECK(cudaMemset(hist, 0, BUCKETS * 4)); CHECK(cudaMemset(on, 0, 4));
  CHECK(cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice)); CHECK(cudaMemcpy(c, &hc, sizeof hc, cudaMemcpyHostToDevice));
  radix_pass<<<4, BLOCK>>>(in, n, hist, c, out, on, chk);
  CHECK(cudaMemcpy(&hc, c, sizeof hc, cudaMemcpyDeviceToHost));
  printf("%d\n", hc.bucket);
}
