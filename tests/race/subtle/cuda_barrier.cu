// SPDX-License-Identifier: Apache-2.0
// cuda::barrier in shared memory: arrive and wait apart, work of one's own between them.
// RACE 1: read-write race, shared, can-overlap -- the neighbour's cell is read between arriving and waiting
// FIXED: it is read after waiting
#include "../corpus.h"

#include <cuda/barrier>
#include <cuda/std/utility>

#pragma nv_diag_suppress static_var_with_dynamic_init // as cuda::barrier is used

template <bool FIXED> __global__ void exchange(int *out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int cell[64];
    int t = threadIdx.x, value = 0;
    if (t == 0) {
        init(&barrier, blockDim.x);
    }
    __syncthreads();
    cell[t] = 5 * t; // SIDE 1
    auto token = barrier.arrive();
    if constexpr (!FIXED) value = cell[t ^ 32]; // SIDE 1
    barrier.wait(cuda::std::move(token));
    if constexpr (FIXED) value = cell[t ^ 32]; // FIX
    out[t] = value;
}

static int test(bool fixed) {
    Buffer<int> out(64);
    LAUNCH(exchange, 1, 64, out);
    return count_wrong(out.host(), [](int i) { return 5 * (i ^ 32); });
}

CORPUS_MAIN(test)
