// SPDX-License-Identifier: Apache-2.0
// Triton 10106 / ConSan 11244 in small: memory of a live mbarrier is used for data, and the mbarrier invalidated while another warp may still wait on it.
// expect: exact -- 0 => races half soak
// expect: exact -- 1 => races half soak
// expect: exact,tracker,collider,collider+exact,privatizer -- 2 => silent soak
#include <cstdio>
#include <cstdint>
__global__ void k(int *out, int mode){
  __shared__ alignas(8) uint64_t bar; unsigned b = __cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(b));
  __syncthreads();
  if (threadIdx.x == 0) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(b) : "memory");
  if (threadIdx.x >= 32) asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra W; }" :: "r"(b) : "memory");
  if (mode == 2) __syncthreads();
  if (threadIdx.x == 0) { if (mode != 0) asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(b) : "memory"); bar = 7; }
  __syncthreads(); out[threadIdx.x] = (int)bar;
}
int main(int c, char **v){ int *o; cudaMalloc(&o, 256); k<<<1,64>>>(o, c > 1 ? v[1][0]-'0' : 0); printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize())); }
