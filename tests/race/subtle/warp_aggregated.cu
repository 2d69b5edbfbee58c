// SPDX-License-Identifier: Apache-2.0
// Compaction with warp-aggregated atomics: one atomicAdd for a warp, the places by population count.
// RACE 1: write-write race, global, can-overlap -- a rank that counts the lane itself out gives two lanes one place
// FIXED: the rank is the number of lower lanes that take part
#include "../corpus.h"

template <bool FIXED> __global__ void compact(const int *in, int *out, int *size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned mask = __ballot_sync(~0u, in[i] % 3 == 0);
    if (in[i] % 3 == 0) {
        int leader = __ffs(mask) - 1, base = 0;
        if (lane == leader) {
            base = atomicAdd(size, __popc(mask)); // NEVER
        }
        base = __shfl_sync(mask, base, leader);
        unsigned lower = FIXED ? (1u << lane) - 1 : (1u << lane) / 8; // FIX
        out[base + __popc(mask & lower)] = in[i]; // SIDE 1
    }
}

static int test(bool fixed) {
    std::vector<int> values;
    for (int i = 0; i < 128; i++) {
        values.push_back(i);
    }
    Buffer<int> in(values), out(128), size(1);
    LAUNCH(compact, 2, 64, in, out, size);
    int sum = 0, expected = 0;
    for (int value : out.host()) {
        sum += value;
    }
    for (int i = 0; i < 128; i += 3) {
        expected += i;
    }
    return (sum != expected) + (size.host()[0] != 43);
}

CORPUS_MAIN(test)
