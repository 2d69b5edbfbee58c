// SPDX-License-Identifier: Apache-2.0
// FlashInfer PR 3361 in small: producer stores, triggers dependents; consumer waits (griddepcontrol.wait)
// then loads by bulk copy (async proxy). Variant 0: no griddepcontrol.wait (race). 1: wait but no proxy fence. 2: fence.
// expect: exact -- 0 => races soak
// expect: exact -- 1 => races soak
// expect: exact,tracker,collider,collider+exact,privatizer -- 2 => silent soak
#include <cstdio>
#include <cstdint>
__global__ void producer(int *g, int mode){
  g[threadIdx.x] = threadIdx.x + 1;
  if (mode == 2) asm volatile("fence.proxy.async.global;" ::: "memory");
  __syncthreads();
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
__global__ void consumer(const int *g, int *out, int mode){
  __shared__ alignas(16) int buf[64]; __shared__ alignas(8) uint64_t bar;
  unsigned b = __cvta_generic_to_shared(&bar), s = __cvta_generic_to_shared(buf);
  if (threadIdx.x == 0) { asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(b)); asm volatile("fence.mbarrier_init.release.cluster;"); }
  __syncthreads();
  if (mode != 0) asm volatile("griddepcontrol.wait;" ::: "memory");
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" :: "r"(b) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" :: "r"(s), "l"(g), "r"(b) : "memory");
  }
  asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra W; }" :: "r"(b) : "memory");
  out[threadIdx.x] = buf[threadIdx.x];
}
int main(int c, char **v){
  int mode = c > 1 ? v[1][0] - '0' : 0; int *g, *o; cudaMalloc(&g, 256); cudaMalloc(&o, 256);
  cudaStream_t st; cudaStreamCreate(&st);
  producer<<<1,64,0,st>>>(g, mode);
  cudaLaunchConfig_t k = {}; k.gridDim = 1; k.blockDim = 64; k.stream = st; cudaLaunchAttribute a; a.id = cudaLaunchAttributeProgrammaticStreamSerialization; a.val.programmaticStreamSerializationAllowed = 1; k.attrs = &a; k.numAttrs = 1;
  cudaLaunchKernelEx(&k, consumer, (const int *)g, o, mode);
  printf("%s\n", cudaGetErrorName(cudaStreamSynchronize(st)));
}
