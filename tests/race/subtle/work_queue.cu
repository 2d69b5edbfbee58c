// SPDX-License-Identifier: Apache-2.0
// A persistent kernel: blocks take items from a queue until it is empty. The item's number goes to the block through shared memory.
// RACE 1: read-write race, shared, can-overlap -- thread 0 takes the next item while others have not read this one
// FIXED: a barrier before the store too
#include "../corpus.h"

template <bool FIXED> __global__ void serve(int *head, int items, int *out) {
    __shared__ int item;
    while (true) {
        if constexpr (FIXED) __syncthreads(); // FIX: everybody is done with the last item
        if (threadIdx.x == 0) {
            item = atomicAdd(head, 1); // SIDE 1
        }
        __syncthreads();
        int mine = item; // SIDE 1
        if (mine >= items) {
            break;
        }
        out[mine * blockDim.x + threadIdx.x] = mine; // NEVER
    }
}

static int test(bool fixed) {
    Buffer<int> head(1), out(16 * 64);
    LAUNCH(serve, 3, 64, head, 16, out);
    return count_wrong(out.host(), [](int i) { return i / 64; });
}

CORPUS_MAIN(test)
