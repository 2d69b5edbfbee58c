// nvcc forwards the stored value to the thread that stored it, lets all others load, merges the two in one register and selects
// from that. Only the thread that stores reads in the source.
// RACE 1: speculated load, shared, can-overlap, options --speculated yes -- every other thread loads the word, and throws the value away
// FIXED: a barrier between
#include "../corpus.h"

template <bool FIXED> __global__ void forward(int *out, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t == 1) s[0] = n; // SIDE 1
    if constexpr (FIXED) __syncthreads(); // FIX
    out[t] = t == 1 ? s[0] : 9; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> out(64);
    LAUNCH(forward, 1, 64, out, 5);
    return count_wrong(out.host(), [](int i) { return i == 1 ? 5 : 9; });
}

CORPUS_MAIN(test)
