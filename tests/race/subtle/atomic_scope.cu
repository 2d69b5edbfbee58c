// SPDX-License-Identifier: Apache-2.0
// cuda::atomic_ref of block scope on a counter that all blocks count with.
// RACE 1: insufficient scope, global, can-overlap, scope cta -- atomic for the threads of one block only
// FIXED: thread_scope_device
#include "../corpus.h"

#include <cuda/atomic>

template <bool FIXED> __global__ void count(int *counter) {
    constexpr auto scope = FIXED ? cuda::thread_scope_device : cuda::thread_scope_block; // FIX
    cuda::atomic_ref<int, scope> ref(*counter);
    if (threadIdx.x % 16 == 0) {
        ref.fetch_add(1, cuda::memory_order_relaxed); // SIDE 1
    }
}

static int test(bool fixed) {
    Buffer<int> counter(1);
    LAUNCH(count, 4, 64, counter);
    return counter.host()[0] != 16;
}

CORPUS_MAIN(test)
