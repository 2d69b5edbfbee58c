// SPDX-License-Identifier: Apache-2.0
// NVIDIA/warp#1418: in a graph the memory-free node depends on the origin stream's nodes, not on the kernels of the forked stream that use the memory
// expect: exact => races class "freed while in use" says "free node of a graph" soak
// expect: exact,tracker,collider,collider+exact,privatizer -DFIXED => silent soak
#include "../../check.h"
__global__ void touch(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = x[i] + 1; } //@R
__global__ void other(float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] *= 2; }
int main() {
  const int n = 1024;
  float *y; CHECK(cudaMalloc(&y, n * 4)); CHECK(cudaMemset(y, 0, n * 4));
  cudaGraph_t g; CHECK(cudaGraphCreate(&g, 0));
  cudaGraphNode_t root, alloc, zero, use, mainline, fre;
  cudaKernelNodeParams kp = {};
  int nn = n; void *args[2] = {&y, &nn};
  kp.func = (void *)other; kp.gridDim = dim3(4); kp.blockDim = dim3(256); kp.kernelParams = args;
  CHECK(cudaGraphAddKernelNode(&root, g, nullptr, 0, &kp));
  cudaMemAllocNodeParams ap = {};
  ap.poolProps.allocType = cudaMemAllocationTypePinned; ap.poolProps.location.type = cudaMemLocationTypeDevice; ap.poolProps.location.id = 0; ap.bytesize = n * 4;
  CHECK(cudaGraphAddMemAllocNode(&alloc, g, &root, 1, &ap));
  float *t = (float *)ap.dptr;
  cudaMemsetParams ms = {}; ms.dst = t; ms.value = 0; ms.elementSize = 4; ms.width = n; ms.height = 1; ms.pitch = n * 4;
  CHECK(cudaGraphAddMemsetNode(&zero, g, &alloc, 1, &ms));
  void *targs[2] = {&t, &nn}; cudaKernelNodeParams tp = kp; tp.func = (void *)touch; tp.kernelParams = targs;
  CHECK(cudaGraphAddKernelNode(&use, g, &zero, 1, &tp));
  CHECK(cudaGraphAddKernelNode(&mainline, g, &root, 1, &kp));
#ifdef FIXED
  cudaGraphNode_t deps[2] = {mainline, use};
  CHECK(cudaGraphAddMemFreeNode(&fre, g, deps, 2, t));
#else
  cudaGraphNode_t deps[2] = {mainline, alloc};
  CHECK(cudaGraphAddMemFreeNode(&fre, g, deps, 2, t)); //@R
#endif
  cudaGraphExec_t e; CHECK(cudaGraphInstantiate(&e, g, 0));
  cudaStream_t s; CHECK(cudaStreamCreate(&s));
  for (int i = 0; i < 3; i++) CHECK(cudaGraphLaunch(e, s)); //@R
  CHECK(cudaStreamSynchronize(s));
  printf("ok\n");
}
