// SPDX-License-Identifier: Apache-2.0
// cuda::atomic as a flag between blocks: release and acquire order the plain data, relaxed does not.
// RACE 1: read-write race, global, missing-order -- the flag is stored and loaded relaxed
// FIXED: memory_order_release and memory_order_acquire
#include "../corpus.h"

#include <cuda/atomic>

using Flag = cuda::atomic<int, cuda::thread_scope_device>;

template <bool FIXED> __global__ void message(int *data, Flag *flag, int *out) {
    constexpr auto store = FIXED ? cuda::memory_order_release : cuda::memory_order_relaxed; // FIX
    constexpr auto load = FIXED ? cuda::memory_order_acquire : cuda::memory_order_relaxed;
    if (threadIdx.x != 0) {
        return;
    }
    if (blockIdx.x == 0) {
        *data = 42; // SIDE 1
        flag->store(1, store); // NEVER
    } else {
        while (flag->load(load) == 0) { // NEVER
        }
        out[blockIdx.x] = *data; // SIDE 1
    }
}

static int test(bool fixed) {
    Buffer<int> data(1), out(4);
    Buffer<Flag> flag(1);
    LAUNCH(message, 4, 32, data, flag, out);
    return count_wrong(out.host(), [](int i) { return i ? 42 : 0; });
}

CORPUS_MAIN(test)
