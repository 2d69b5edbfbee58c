// SPDX-License-Identifier: Apache-2.0
// BachiLi/redner#42, openvdb/fvdb-core#409, sonots/cumo#226: the host writes managed memory while a kernel runs
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
#include <cstring>
__global__ void seq(double *p, double start, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = start + i; //@R
}
struct Pool {
  void *chunk = nullptr; size_t size = 0;
  void *get(size_t n) { if (chunk && size >= n) { void *p = chunk; chunk = nullptr; return p; } void *p; CHECK(cudaMallocManaged(&p, n)); return p; }
  void put(void *p, size_t n) { chunk = p; size = n; }
};
int main() {
  const int n = 2048;
  Pool pool;
  double *a = (double *)pool.get(n * 8);
  seq<<<n / 256, 256>>>(a, 1, n);
  pool.put(a, n * 8);
  double *b = (double *)pool.get(n * 8);
#ifdef FIXED
  CHECK(cudaDeviceSynchronize());
#endif
  for (int i = 0; i < n; i++) b[i] = 0; //@R
  CHECK(cudaDeviceSynchronize());
  int left = 0; for (int i = 0; i < n; i++) left += b[i] != 0;
  printf("%d\n", left);
}
