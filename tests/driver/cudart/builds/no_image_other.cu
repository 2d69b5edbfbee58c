// SPDX-License-Identifier: Apache-2.0
// The part of no_image.cu that is compiled to machine code only.
#include <cuda_runtime.h>

__device__ int variable = 1;

__global__ void other(int *out) { *out = variable; }

cudaError_t launch_other(int *out)
{
    other<<<1, 1>>>(out);
    return cudaGetLastError();
}

cudaError_t read_other(int *out) { return cudaMemcpyFromSymbol(out, variable, sizeof variable); }
