// SPDX-License-Identifier: Apache-2.0
// A barrier over the grid whose leader does not wait for its own block before it counts the block in.
// RACE 1: read-write race, global, can-overlap -- the other warps of the block may not have written yet
// FIXED: __syncthreads() before the leader arrives
#include "../corpus.h"

template <bool FIXED> __global__ void rotate(int *arrived, int *a, int *out)
{
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i; // SIDE 1
    if constexpr (FIXED)
        __syncthreads(); // FIX
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1); // NEVER
        while (atomicAdd(arrived, 0) != gridDim.x) { // NEVER
        }
        __threadfence();
    }
    __syncthreads();
    out[i] = a[(i + blockDim.x) % n]; // SIDE 1
}

static int test(bool fixed)
{
    Buffer<int> arrived(1), a(3 * 64), out(3 * 64);
    LAUNCH(rotate, 3, 64, arrived, a, out);
    return count_wrong(out.host(), [](size_t i) { return (i + 64) % 192; });
}

CORPUS_MAIN(test)
