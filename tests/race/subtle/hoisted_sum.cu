// The same with arithmetic: nvcc hoists `s[0] * 3 + 7` out of the guard, load, multiplication and addition, and selects behind it.
// Thread 0 uses the value and races with thread 1, which is a race in the source too; the other threads do not.
// RACE 1: read-write race, shared, can-overlap -- thread 0 reads what thread 1 writes
// RACE 2: speculated load, shared, can-overlap, options --speculated yes -- and so do 62 others that do not use it
// FIXED: a barrier between
#include "../corpus.h"

template <bool FIXED> __global__ void compute(int *out, int n) {
    __shared__ int s[64];
    int t = threadIdx.x, v = 0;
    s[t] = t + n;
    __syncthreads();
    if (t == 0) v = s[0] * 3 + 7; // SIDE 1 2
    if constexpr (FIXED) __syncthreads(); // FIX
    if (t == 1) s[0] = 6; // SIDE 1 2
    out[t] = v;
}

static int test(bool fixed) {
    Buffer<int> out(64);
    LAUNCH(compute, 1, 64, out, 5);
    return count_wrong(out.host(), [](int i) { return i == 0 ? 22 : 0; });
}

CORPUS_MAIN(test)
