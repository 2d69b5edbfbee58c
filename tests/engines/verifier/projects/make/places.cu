// SPDX-License-Identifier: Apache-2.0
#include "steps.cuh"

__device__ int next(int i) { return i + 1; }

__device__ int mirrored(const int *p, int n, int i) {
    return p[n - 1 - i]; // read
}

__device__ void settle() {
#ifdef REPAIRED
    __syncthreads();
#endif
}
