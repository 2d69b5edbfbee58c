// SPDX-License-Identifier: Apache-2.0
// Device code of another file than the kernels that it is inlined into.
#pragma once
#include <cuda/atomic>

__device__ __forceinline__ void bump(int *p) {
    for (int i = 0; i < 64; i++)
        p[0] = p[0] + (int)threadIdx.x; // RACE IN HEADER
}

__device__ __forceinline__ int peek(const int *p, int i) {
    return p[i]; // READ IN HEADER
}

using Flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

__device__ __forceinline__ void give(int *flag) { Flag(*flag).store(1, cuda::memory_order_release); }

__device__ __forceinline__ void take(int *flag) {
    while (!Flag(*flag).load(cuda::memory_order_acquire)) {
    }
}

__device__ __forceinline__ void look(int *p) {
    while (!Flag(*p).load(cuda::memory_order_relaxed)) {
    }
}
