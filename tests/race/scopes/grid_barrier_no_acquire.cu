// SPDX-License-Identifier: Apache-2.0
// A barrier over the grid made by hand (iGUARD, figure 10: NVIDIA's own grid sync, cuML's and CUB's): the leader of each
// block counts itself in and polls. After the poll somebody has to acquire.
// RACE 1: read-write race, global, missing-order -- no fence between the poll and what the other blocks wrote
// FIXED: a fence after the poll
#include "../corpus.h"

#define FENCE() asm volatile("fence.acq_rel.gpu;" ::: "memory")

template <bool FIXED> __device__ void sync_grid(volatile int *arrived)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        FENCE();
        atomicAdd((int *)arrived, 1); // NEVER
        while (*arrived != gridDim.x) { // NEVER
        }
        if constexpr (FIXED)
            FENCE(); // FIX
    }
    __syncthreads();
}

template <bool FIXED> __global__ void rotate(int *arrived, int *a, int *out)
{
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i; // SIDE 1
    sync_grid<FIXED>(arrived);
    out[i] = a[(i + blockDim.x) % n]; // SIDE 1
}

static int test(bool fixed)
{
    Buffer<int> arrived(1), a(3 * 64), out(3 * 64);
    LAUNCH(rotate, 3, 64, arrived, a, out);
    return count_wrong(out.host(), [](size_t i) { return (i + 64) % 192; });
}

CORPUS_MAIN(test)
