// SPDX-License-Identifier: Apache-2.0
// CLEAN -- the last ticket saw all others (observation order), and its owner's plain store comes after in program order
// Everybody counts with relaxed atomics; whoever gets the last ticket sets the counter back by a plain store. There is no fence,
// and none is needed for the counter itself: PTX ISA, "Causality order", second rule.
#include "../corpus.h"

__global__ void draw(int *counter, int *last)
{
    int ticket = atomicAdd(counter, 1); // NEVER
    if (ticket == gridDim.x * blockDim.x - 1) {
        *last = 1;
        *counter = 0; // NEVER
    }
}

static int test(bool)
{
    Buffer<int> counter(1), last(1);
    draw<<<8, 1>>>(counter, last);
    CHECK(cudaGetLastError());
    return count_wrong(counter.host(), [](size_t) { return 0; }) + count_wrong(last.host(), [](size_t) { return 1; });
}

CORPUS_MAIN(test)
