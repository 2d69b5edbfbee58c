// All threads store 1 but one, which stores 2: pairs of ones are same-value writes, and pairs with the 2 are not.
// RACE 1: same-value write, shared, can-overlap -- two threads store 1
// RACE 2: write-write race, shared, can-overlap -- one stores 1, the other 2
// FIXED: one thread stores
#include "../corpus.h"

template <bool FIXED> __global__ void vote(int *out) {
    __shared__ int winner;
    int t = threadIdx.x;
    if (!FIXED || t == 40) winner = t == 40 ? 2 : 1; // FIX // SIDE 1 2
    __syncthreads();
    out[t] = winner;
}

static int test(bool fixed) {
    Buffer<int> out(64);
    LAUNCH(vote, 1, 64, out);
    return count_wrong(out.host(), [](int) { return 2; });
}

CORPUS_MAIN(test)
