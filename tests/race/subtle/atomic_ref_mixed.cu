// SPDX-License-Identifier: Apache-2.0
// cuda::atomic_ref on plain memory: atomic accesses and, after a barrier, plain ones are fine; a plain one beside them is not.
// RACE 1: read-write race, shared, can-overlap -- a plain read of what others still count
// FIXED: a barrier before the plain read
#include "../corpus.h"

#include <cuda/atomic>

template <bool FIXED> __global__ void histogram(const int *in, int *out) {
    __shared__ int bin[4];
    int t = threadIdx.x;
    if (t < 4) {
        bin[t] = 0; // NEVER
    }
    __syncthreads();
    cuda::atomic_ref<int, cuda::thread_scope_block>(bin[in[t]]).fetch_add(1, cuda::memory_order_relaxed); // SIDE 1
    if constexpr (FIXED) __syncthreads(); // FIX
    if (t < 4) {
        out[t] = bin[t]; // SIDE 1
    }
}

static int test(bool fixed) {
    std::vector<int> values;
    for (int i = 0; i < 64; i++) {
        values.push_back(i % 4);
    }
    Buffer<int> in(values), out(4);
    LAUNCH(histogram, 1, 64, in, out);
    return count_wrong(out.host(), [](int) { return 16; });
}

CORPUS_MAIN(test)
