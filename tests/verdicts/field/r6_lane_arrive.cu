// SPDX-License-Identifier: Apache-2.0
// cudnn-frontend PR 426 in small: all 32 lanes store, only one lane arrives on the mbarrier (count 1); another warp waits and reads. Mode 1: __syncwarp before the arrive.
// expect: exact -- 0 => races soak
// expect: exact,tracker,collider,collider+exact,privatizer -- 1 => silent soak
#include <cstdio>
#include <cstdint>
__global__ void k(int *out, int mode){
  __shared__ int buf[32]; __shared__ alignas(8) uint64_t bar; unsigned b = __cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(b));
  __syncthreads();
  if (threadIdx.x < 32) { buf[threadIdx.x] = threadIdx.x; asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); if (mode) __syncwarp();
    if (threadIdx.x == 0) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(b) : "memory"); }
  else { asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra W; }" :: "r"(b) : "memory"); out[threadIdx.x - 32] = buf[63 - threadIdx.x]; }
}
int main(int c, char **v){ int *o; cudaMalloc(&o, 128); k<<<1,64>>>(o, c > 1 ? v[1][0]-'0' : 0); printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize())); }
