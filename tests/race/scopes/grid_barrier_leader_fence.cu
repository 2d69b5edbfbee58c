// SPDX-License-Identifier: Apache-2.0
// CLEAN -- bar.sync orders the block before its leader's fence, and causality order goes through both
// The barrier of iGUARD's figure 10 with a fence of the leader alone, before and after. iGUARD calls it a race, because a
// fence is about the calling thread's own writes; PTX's release patterns are cumulative, so it is none.
#include "../corpus.h"

__device__ void sync_grid(volatile int *arrived)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd((int *)arrived, 1); // NEVER
        while (*arrived != gridDim.x) { // NEVER
        }
        __threadfence();
    }
    __syncthreads();
}

__global__ void rotate(int *arrived, int *a, int *out)
{
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i; // NEVER
    sync_grid(arrived);
    out[i] = a[(i + blockDim.x) % n]; // NEVER
}

static int test(bool)
{
    Buffer<int> arrived(1), a(3 * 64), out(3 * 64);
    rotate<<<3, 64>>>(arrived, a, out);
    CHECK(cudaGetLastError());
    return count_wrong(out.host(), [](size_t i) { return (i + 64) % 192; });
}

CORPUS_MAIN(test)
