// SPDX-License-Identifier: Apache-2.0
// NVIDIA/cuCollections#337: the counter of a group in shared memory is reset by one lane, others go on; votes order no memory
// expect: exact => races marked soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
template <typename CG, typename T>
__device__ void flush(CG const &g, unsigned n, const T *buf, unsigned *total, T *out) {
  unsigned base = 0;
  if (g.thread_rank() == 0) base = atomicAdd(total, n);
  base = g.shfl(base, 0);
  for (unsigned i = g.thread_rank(); i < n; i += g.size()) out[base + i] = buf[i]; //@R
}
template <int BLOCK, int CGSIZE, int BUF>
__global__ void retrieve(const unsigned *keys, int n, unsigned *total, unsigned *out) {
  constexpr int GROUPS = BLOCK / CGSIZE;
  auto g = cg::tiled_partition<CGSIZE>(cg::this_thread_block());
  __shared__ unsigned buffer[GROUPS][BUF];
  __shared__ unsigned counter[GROUPS];
  const int id = threadIdx.x / CGSIZE;
  if (g.thread_rank() == 0) counter[id] = 0; //@R
#ifdef FIXED
  g.sync();
#endif
  for (int key = (blockIdx.x * BLOCK + threadIdx.x) / CGSIZE; key < n; key += gridDim.x * GROUPS) {
    unsigned probe = keys[key] * 31 + g.thread_rank();
    bool hit = probe % 3 != 0;
    unsigned votes = g.ballot(hit);
    unsigned at = counter[id]; //@R
    if (hit) buffer[id][at + __popc(votes & ((1u << g.thread_rank()) - 1))] = probe; //@R
#ifdef FIXED
    g.sync();
#endif
    if (g.thread_rank() == 0) counter[id] = at + __popc(votes); //@R
    if (at + __popc(votes) + CGSIZE > BUF) {
      flush(g, at + __popc(votes), buffer[id], total, out); //@R
#ifdef FIXED
      g.sync();
#endif
      if (g.thread_rank() == 0) counter[id] = 0; //@R
    }
#ifdef FIXED
    g.sync();
#endif
  }
#ifdef FIXED
  g.sync();
#endif
  unsigned rest = counter[id]; //@R
  flush(g, rest, buffer[id], total, out); //@R
}
int main() {
  const int n = 400;
  unsigned h[n], *k, *t, *o, ht;
  for (int i = 0; i < n; i++) h[i] = i * 77;
  CHECK(cudaMalloc(&k, sizeof h)); CHECK(cudaMalloc(&t, 4)); CHECK(cudaMalloc(&o, n * 8 * 4)); CHECK(cudaMemset(t, 0, 4));
  CHECK(cudaMemcpy(k, h, sizeof h, cudaMemcpyHostToDevice));
  retrieve<128, 8, 32><<<2, 128>>>(k, n, t, o);
  CHECK(cudaMemcpy(&ht, t, 4, cudaMemcpyDeviceToHost));
  printf("%u\n", ht);
}
