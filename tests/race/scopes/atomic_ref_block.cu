// SPDX-License-Identifier: Apache-2.0
// cuda::atomic_ref with thread_scope_block for a flag and a counter that another block reads (libcu++ as ScoRD would use it).
// RACE 1: insufficient scope, global, can-overlap, scope cta -- thread_scope_block between two blocks
// RACE 2: read-write race, global, missing-order -- release and acquire do not meet
// FIXED: thread_scope_device
// SEEDS: 20 -- the reader has to come late enough to see the flag
#include "../corpus.h"
#include <cuda/atomic>

template <bool FIXED> __global__ void produce(int *data, int *ready, int *out)
{
    constexpr auto scope = FIXED ? cuda::thread_scope_device : cuda::thread_scope_block; // FIX
    cuda::atomic_ref<int, scope> flag(*ready);
    if (blockIdx.x == 0) {
        *data = 7;                                  // SIDE 2
        flag.store(1, cuda::memory_order_release); // SIDE 1
    } else {
        while (!flag.load(cuda::memory_order_acquire)) { // SIDE 1
        }
        *out = *data; // SIDE 2
    }
}

static int test(bool fixed)
{
    Buffer<int> data(1), ready(1), out(1);
    LAUNCH(produce, 2, 1, data, ready, out);
    return count_wrong(out.host(), [](size_t) { return 7; });
}

CORPUS_MAIN(test)
