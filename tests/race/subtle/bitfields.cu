// SPDX-License-Identifier: Apache-2.0
// Bit-fields of one unit are one memory location: setting one reads and writes the others.
// RACE 1: write-write race, shared, can-overlap -- both warps rewrite the same 16 bits
// RACE 2: read-write race, shared, can-overlap -- and read the other's bits before
// FIXED: a field of width zero puts the second bit-field into a unit of its own
#include "../corpus.h"

template <bool FIXED> struct Flags {
    unsigned short low : 7;
    unsigned short : FIXED ? 9 : 1; // FIX: up to the end of the unit
    unsigned short high : 8;
};

template <bool FIXED> __global__ void update(unsigned *out) {
    __shared__ Flags<FIXED> flags[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        flags[lane] = Flags<FIXED>();
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        asm volatile("// or the accesses of both branches become one, without a line" ::: "memory");
        flags[lane].low = lane; // SIDE 1 2
        asm volatile("// here too" ::: "memory");
    } else {
        flags[lane].high = 100 + lane; // SIDE 1 2
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        out[lane] = flags[lane].low + 1000 * flags[lane].high;
    }
}

static int test(bool fixed) {
    Buffer<unsigned> out(32);
    LAUNCH(update, 1, 64, out);
    return count_wrong(out.host(), [](int i) { return i + 1000 * (100 + i); });
}

CORPUS_MAIN(test)
