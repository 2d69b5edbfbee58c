// SPDX-License-Identifier: Apache-2.0
// Inter-wave GMEM WW (SuperCollider, table 3): blocks write to one address that are too many to run at the same time. They seem to
// come one after the other, but CUDA promises no order of blocks: in another schedule the two share a wave.
// RACE 1: write-write race, global, can-overlap -- nothing orders the first block and the last
// FIXED: both are atomic, and the result does not depend on their order
#include "../corpus.h"

template <bool FIXED> __global__ void waves(int *word) {
    __shared__ volatile int filler[12000]; // 47 KiB: few blocks to a multiprocessor
    filler[threadIdx.x] = blockIdx.x;
    bool end = blockIdx.x == 0 || blockIdx.x == gridDim.x - 1;
    if (threadIdx.x == 0 && end) {
        if constexpr (FIXED)
            atomicMax(word, int(blockIdx.x)); // FIX
        else
            *word = blockIdx.x; // SIDE 1
    }
}

static int test(bool fixed) {
    int device_blocks = 600; // more than fit on an H100
    Buffer<int> word(1);
    LAUNCH(waves, device_blocks, 32, word);
    return word.host()[0] != device_blocks - 1;
}

CORPUS_MAIN(test)
