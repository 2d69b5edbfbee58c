// A guarded maximum: the load is hoisted out of its guard, merged with what the storing thread has anyway, compared, and selected under
// the guard and the comparison together. Thread 33 races with thread 2 in the source too; the others do not.
// RACE 1: read-write race, shared, can-overlap -- thread 33 reads what thread 2 writes
// RACE 2: speculated load, shared, can-overlap, options --speculated yes -- so do 62 others that do not use it
// FIXED: a barrier between
#include "../corpus.h"

template <bool FIXED> __global__ void largest(int *out, int n) {
    __shared__ int s[64];
    int t = threadIdx.x, v = t;
    s[t] = n - t;
    __syncthreads();
    for (int i = 0; i < n; i++) {
        if (t == 2) s[40] = v + 50; // SIDE 1 2
        if constexpr (FIXED) __syncthreads(); // FIX
        if (t == 33) v = max(v, s[40]); // SIDE 1 2
        __syncthreads();
    }
    out[t] = v;
}

static int test(bool fixed) {
    Buffer<int> out(64);
    LAUNCH(largest, 1, 64, out, 3);
    return count_wrong(out.host(), [](int i) { return i == 33 ? 52 : i; });
}

CORPUS_MAIN(test)
