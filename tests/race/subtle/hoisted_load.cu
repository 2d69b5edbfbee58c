// One thread reads a shared word and writes it. nvcc turns the guarded load into a load by every thread and a select, so in
// the PTX 63 loads race with the store; in the source none does, and no value differs.
// RACE 1: speculated load, shared, can-overlap, options --speculated yes -- every other thread loads the word, and throws the value away
// FIXED: a barrier between
#include "../corpus.h"

template <bool FIXED> __global__ void take(int *out, int n) {
    __shared__ int s[64];
    int t = threadIdx.x, v = 0;
    s[t] = t + n;
    __syncthreads();
    if (t == 1) v = s[0]; // SIDE 1
    if constexpr (FIXED) __syncthreads(); // FIX
    if (t == 1) s[0] = 6; // SIDE 1
    out[t] = v;
}

static int test(bool fixed) {
    Buffer<int> out(64);
    LAUNCH(take, 1, 64, out, 5);
    return count_wrong(out.host(), [](int i) { return i == 1 ? 5 : 0; });
}

CORPUS_MAIN(test)
