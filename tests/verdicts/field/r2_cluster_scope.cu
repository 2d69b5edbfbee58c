// SPDX-License-Identifier: Apache-2.0
// CUTLASS issue 3324 in small: block 1 writes its own shared memory, arrives at block 0's mbarrier with CTA scope;
// block 0 waits with CTA scope and reads block 1's shared memory. Mode 1: release/acquire.cluster (clean).
// expect: exact -- 0 => races soak
// expect: exact -- 2 => races soak
// expect: exact,tracker,collider,collider+exact,privatizer -- 1 => silent soak
#include <cstdio>
#include <cstdint>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ __cluster_dims__(2,1,1) void k(int *out, int mode){
  __shared__ int data; __shared__ alignas(8) uint64_t bar;
  cg::cluster_group cl = cg::this_cluster(); unsigned r = cl.block_rank();
  unsigned b = __cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) { data = 0; asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(b)); asm volatile("fence.mbarrier_init.release.cluster;"); }
  cl.sync();
  if (r == 1 && threadIdx.x == 0) {
    data = 42; unsigned rb; asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(rb) : "r"(b));
    if (mode) asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(rb) : "memory");
    else      asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" :: "r"(rb) : "memory");
  }
  if (r == 0 && threadIdx.x == 0) {
    if (mode) asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0; @!p bra W; }" :: "r"(b) : "memory");
    else      asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra W; }" :: "r"(b) : "memory");
    *out = *cl.map_shared_rank(&data, 1);
  }
  cl.sync();
}
__global__ __cluster_dims__(2,1,1) void kcta(int *out){   // default .release with default .cta scope, remote barrier
  __shared__ int data; __shared__ alignas(8) uint64_t bar;
  cg::cluster_group cl = cg::this_cluster(); unsigned r = cl.block_rank();
  unsigned b = __cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) { data = 0; asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(b)); asm volatile("fence.mbarrier_init.release.cluster;"); }
  cl.sync();
  if (r == 1 && threadIdx.x == 0) {
    data = 42; unsigned rb; asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(rb) : "r"(b));
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" :: "r"(rb) : "memory");
  }
  if (r == 0 && threadIdx.x == 0) {
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra W; }" :: "r"(b) : "memory");
    *out = *cl.map_shared_rank(&data, 1);
  }
  cl.sync();
}
int main(int c, char **v){ int m = c > 1 ? v[1][0] - '0' : 0; int *o; cudaMalloc(&o, 4); if (m == 2) kcta<<<2,32>>>(o); else k<<<2,32>>>(o, m); printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize())); }
