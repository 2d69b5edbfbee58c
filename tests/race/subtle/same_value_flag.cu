// Every thread that finds something sets one flag to 1: all store the same value, nothing orders the stores. Hardware does not mind, the
// model does: undefined behaviour, and a class of its own.
// RACE 1: same-value write, global, can-overlap -- the flag is set by many
// RACE 2: same-value write, shared, can-overlap -- so is the block's
// FIXED: atomics set the flags
#include "../corpus.h"

template <bool FIXED> __global__ void find(int *found, int *blocks, const int *in, int wanted) {
    __shared__ int here;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) here = 0;
    __syncthreads();
    if (in[i] == wanted) {
        if constexpr (FIXED) {
            atomicExch(found, 1); // FIX
            atomicExch(&here, 1);
        } else {
            *found = 1; // SIDE 1
            here = 1; // SIDE 2
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) blocks[blockIdx.x] = here;
}

static int test(bool fixed) {
    std::vector<int> values(128);
    for (int i = 0; i < 128; i++) values[i] = i % 32;
    Buffer<int> in(values), found(1), blocks(2);
    LAUNCH(find, 2, 64, found, blocks, in, 5);
    return count_wrong(found.host(), [](int) { return 1; }) + count_wrong(blocks.host(), [](int) { return 1; });
}

CORPUS_MAIN(test)
