// SPDX-License-Identifier: Apache-2.0
// cuda::pipeline of one thread with two stages over memcpy_async: wait, a block barrier, use, release.
// RACE 1: read-write race, shared, can-overlap -- consumer_wait tells only of the own copies, and nobody waits before filling anew
// FIXED: __syncthreads after waiting and after reading
#include "../corpus.h"

#include <cuda/pipeline>

template <bool FIXED> __global__ void stream(const int *in, int *out) {
    __shared__ alignas(16) int stage[2][64];
    int t = threadIdx.x;
    auto pipe = cuda::make_pipeline();
    for (int k = 0; k < 5; k++) {
        if (k < 4) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[k % 2][t], &in[64 * k + t], cuda::aligned_size_t<4>(4), pipe); // SIDE 1
            pipe.producer_commit();
        }
        if (k > 0) {
            if (k < 4) {
                cuda::pipeline_consumer_wait_prior<1>(pipe);
            } else {
                cuda::pipeline_consumer_wait_prior<0>(pipe);
            }
            if constexpr (FIXED) __syncthreads(); // FIX
            out[64 * (k - 1) + t] = stage[(k - 1) % 2][63 - t]; // SIDE 1
            if constexpr (FIXED) __syncthreads();
            pipe.consumer_release();
        }
    }
}

static int test(bool fixed) {
    std::vector<int> values;
    for (int i = 0; i < 256; i++) {
        values.push_back(i);
    }
    Buffer<int> in(values), out(256);
    LAUNCH(stream, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return i / 64 * 64 + 63 - i % 64; });
}

CORPUS_MAIN(test)
