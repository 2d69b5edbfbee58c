// SPDX-License-Identifier: Apache-2.0
// What kernels of several files call (places.cu).
#pragma once
__device__ int next(int i);
__device__ int mirrored(const int *p, int n, int i);
__device__ void settle();
