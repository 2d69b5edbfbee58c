// SPDX-License-Identifier: Apache-2.0
// cp.async GMEM RW (SuperCollider, table 3): one thread reads global memory with cp.async while another writes there.
// RACE 1: read-write race, global, can-overlap -- only the copying threads know when their copies have read
// FIXED: every thread waits for its copy, and a barrier comes before the stores
#include "../async/async.h"

template <bool FIXED> __global__ void rotate(int *data, int *out) {
    __shared__ alignas(16) int tile[64];
    int t = threadIdx.x;
    CP_ASYNC(&tile[t], &data[t]); // SIDE 1
    if constexpr (FIXED) {
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads(); // FIX
    }
    data[t ^ 32] = -t; // SIDE 1
    if constexpr (!FIXED) asm volatile("cp.async.wait_all;" ::: "memory");
    out[t] = tile[t];
}

static int test(bool fixed) {
    Buffer<int> data(numbers(64)), out(64);
    LAUNCH(rotate, 1, 64, data, out);
    return count_wrong(out.host(), [](int i) { return i + 1; });
}

CORPUS_MAIN(test)
