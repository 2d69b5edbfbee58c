// SPDX-License-Identifier: Apache-2.0
// A named barrier of two warps to which one of them does not come: it has left.
// MISUSE 1: deadlock -- bar.sync 1, 64 waits for 64 threads, whoever has exited
// FIXED: both warps come
#include "../corpus.h"

template <bool FIXED> __global__ void pair(int *out) {
    int t = threadIdx.x;
    if (!FIXED && t >= 32) { // FIX
        return;
    }
    asm volatile("bar.sync 1, 64;" ::: "memory"); // SIDE 1
    out[t] = t;
}

static int test(bool fixed) {
    Buffer<int> out(64);
    LAUNCH(pair, 1, 64, out);
    return count_wrong(out.host(), [](int i) { return i; });
}

CORPUS_MAIN(test)
