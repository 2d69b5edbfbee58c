// SPDX-License-Identifier: Apache-2.0
// One thread counts, everybody may look: nothing is lost with a single writer, but plain accesses race all the same.
// RACE 1: read-write race, global, can-overlap -- plain store and plain loads of one word in several blocks
// FIXED: relaxed atomic loads and stores; read-modify-write is not needed
#include "../corpus.h"

#include <cuda/atomic>

template <bool FIXED> __global__ void progress(int *counter, int *seen) {
    cuda::atomic_ref<int, cuda::thread_scope_device> ref(*counter);
    if (threadIdx.x != 0) {
        return;
    }
    if (blockIdx.x == 0) {
        for (int k = 1; k <= 8; k++) {
            if constexpr (FIXED)
                ref.store(k, cuda::memory_order_relaxed); // FIX
            else
                *counter = k; // SIDE 1
            __threadfence(); // or the compiler keeps the last store only
        }
    } else {
        if constexpr (FIXED)
            seen[blockIdx.x] = ref.load(cuda::memory_order_relaxed);
        else
            seen[blockIdx.x] = *counter; // SIDE 1
    }
}

static int test(bool fixed) {
    Buffer<int> counter(1), seen(4);
    LAUNCH(progress, 4, 32, counter, seen);
    int wrong = counter.host()[0] != 8;
    for (int value : seen.host()) {
        wrong += value < 0 || value > 8;
    }
    return wrong;
}

CORPUS_MAIN(test)
