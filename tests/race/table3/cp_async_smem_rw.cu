// SPDX-License-Identifier: Apache-2.0
// cp.async SMEM RW (SuperCollider, table 3): the destination is read without waiting for the copy.
// RACE 1: read-write race, shared, can-overlap -- the copy is asynchronous even to the thread that started it
// FIXED: cp.async.wait_all before the read
#include "../async/async.h"

template <bool FIXED> __global__ void load(const int *in, int *out) {
    __shared__ alignas(16) int tile[64];
    int t = threadIdx.x;
    CP_ASYNC(&tile[t], &in[t]); // SIDE 1
    if constexpr (FIXED) asm volatile("cp.async.wait_all;" ::: "memory"); // FIX
    out[t] = tile[t]; // SIDE 1
    if constexpr (!FIXED) asm volatile("cp.async.wait_all;" ::: "memory");
}

static int test(bool fixed) {
    Buffer<int> in(numbers(64)), out(64);
    LAUNCH(load, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return i + 1; });
}

CORPUS_MAIN(test)
