// SPDX-License-Identifier: Apache-2.0
// DeepEP 621 / nccl-extensions 8 / TransformerEngine 2695 in small: consumers read a stage through the generic proxy, arrive on "empty";
// the producer waits and refills the stage by bulk copy. Mode 0: no fence.proxy.async; mode 1: fence by readers before arrive; 2: fence by the producer after its wait.
// expect: exact -- 0 => clean says "fence.proxy.async between: by PTX a race"
// expect: exact --proxy-reads yes -- 0 => races only "proxy read race"
// expect: exact --proxy-reads yes -- 1 => clean soak
// expect: exact --proxy-reads yes -- 2 => clean soak
// expect: exact,tracker,collider,collider+exact,privatizer -- 1 => silent soak
// expect: exact,tracker,collider,collider+exact,privatizer -- 2 => silent soak
#include <cstdio>
#include <cstdint>
__global__ void k(const int *g, int *out, int mode){
  __shared__ alignas(16) int buf[32]; __shared__ alignas(8) uint64_t full, empty;
  unsigned f = __cvta_generic_to_shared(&full), e = __cvta_generic_to_shared(&empty), s = __cvta_generic_to_shared(buf);
  if (threadIdx.x == 0) { asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(f)); asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(e)); asm volatile("fence.mbarrier_init.release.cluster;"); }
  __syncthreads();
  if (threadIdx.x == 0) for (int r = 0; r < 2; ++r) {
    if (r) asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra W; }" :: "r"(e) : "memory");
    if (r && mode == 2) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" :: "r"(f) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" :: "r"(s), "l"(g + r * 32), "r"(f) : "memory");
  }
  if (threadIdx.x >= 32) for (int r = 0; r < 2; ++r) {
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra W; }" :: "r"(f), "r"(r) : "memory");
    out[r * 32 + threadIdx.x - 32] = buf[63 - threadIdx.x];
    if (mode == 1) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (r == 0) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(e) : "memory");
  }
}
int main(int c, char **v){ int *g, *o; cudaMalloc(&g, 256); cudaMalloc(&o, 256); cudaMemset(g, 0, 256); k<<<1,64>>>(g, o, c > 1 ? v[1][0]-'0' : 0); printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize())); }
