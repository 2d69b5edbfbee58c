// SPDX-License-Identifier: Apache-2.0
// An instruction that the CPU device does not have stops the kernel, in a program that only prints the error.
// expect: exact => inconclusive exit 67 says "illegal instruction"
// expect: exact --strict no => inconclusive exit 0 soak
// expect: exact --kernel nosuch => inconclusive exit 67 soak
#include <cstdio>
__global__ void sample(cudaTextureObject_t t, float *o) { o[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }
int main() { float *d, *o; cudaMalloc(&d, 128); cudaMalloc(&o, 128); cudaResourceDesc r = {}; r.resType = cudaResourceTypeLinear; r.res.linear.devPtr = d; r.res.linear.sizeInBytes = 128; r.res.linear.desc = cudaCreateChannelDesc<float>();
 cudaTextureDesc td = {}; cudaTextureObject_t t = 0; cudaError_t e = cudaCreateTextureObject(&t, &r, &td, 0); printf("create %s\n", cudaGetErrorString(e)); sample<<<1, 32>>>(t, o); printf("run %s\n", cudaGetErrorString(cudaDeviceSynchronize())); }
