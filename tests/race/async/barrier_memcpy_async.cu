// SPDX-License-Identifier: Apache-2.0
// cuda::memcpy_async on a cuda::barrier: the copy belongs to the phase, and arriving is not waiting.
// RACE 1: read-write race, shared, can-overlap -- the threads read before the phase is over
// FIXED: waits for the token
#include <cuda/barrier>

#include "async.h"

template <bool FIXED> __global__ void copy(const int *in, int *out) {
    __shared__ alignas(16) int tile[64];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> ready;
    int t = threadIdx.x;
    if (t == 0) {
        init(&ready, 64);
    }
    __syncthreads();
    cuda::memcpy_async(&tile[t], &in[t], sizeof(int), ready); // SIDE 1
    auto token = ready.arrive();
    if constexpr (FIXED) ready.wait(std::move(token)); // FIX
    out[t] = tile[63 - t]; // SIDE 1
    if constexpr (!FIXED) ready.wait(std::move(token));
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(copy, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 64 - i; });
}

CORPUS_MAIN(test)
