// SPDX-License-Identifier: Apache-2.0
// ggml-org/llama.cpp#18310: results are fetched by an asynchronous copy to pinned memory and read by the host without a wait
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
#include <vector>
__global__ void forward(const float *w, float *logits, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = 0;
  if (i < n) { for (int k = 0; k < 16; k++) a += w[(i + k) % n]; logits[i] = a; }
}
struct Context {
  cudaStream_t s; float *w, *dl, *hl; int n; bool pending = false;
  explicit Context(int n_) : n(n_) {
    CHECK(cudaStreamCreate(&s)); CHECK(cudaMalloc(&w, n * 4)); CHECK(cudaMalloc(&dl, n * 4)); CHECK(cudaMallocHost(&hl, n * 4));
    std::vector<float> t(n, 1.f); CHECK(cudaMemcpy(w, t.data(), n * 4, cudaMemcpyHostToDevice));
  }
  void decode() {
    forward<<<(n + 127) / 128, 128, 0, s>>>(w, dl, n);
    CHECK(cudaMemcpyAsync(hl, dl, n * 4, cudaMemcpyDeviceToHost, s)); //@R
    pending = true;
  }
  void synchronize() { CHECK(cudaStreamSynchronize(s)); pending = false; }
  int argmax() {
#ifdef FIXED
    synchronize();
#endif
    int best = 0;
    for (int i = 1; i < n; i++) if (hl[i] > hl[best]) best = i; //@R
    return best;
  }
};
int main() {
  Context c(512);
  for (int t = 0; t < 2; t++) { c.decode(); printf("token %d\n", c.argmax()); }
  c.synchronize();
}
