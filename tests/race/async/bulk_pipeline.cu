// SPDX-License-Identifier: Apache-2.0
// A producer loads three tiles into two slots with bulk copies; consumers free a slot by arriving on an mbarrier.
// RACE 1: read-write race, shared, can-overlap -- the producer does not wait until the first slot is free again
// RACE 2: write-write race, shared, can-overlap -- so its third copy may overtake its first
// FIXED: waits for the slot's `empty`; no proxy fence is needed for a copy over what was only read
#include "async.h"

template <bool FIXED> __global__ void pipeline(const int *in, int *out) {
    __shared__ alignas(16) int slot[2][32];
    __shared__ uint64_t full[3], empty[2];
    int t = threadIdx.x, total = 0;
    if (t < 3) {
        MBAR_INIT(&full[t], 1);
        if (t < 2) {
            MBAR_INIT(&empty[t], 32);
        }
    }
    __syncthreads();
    if (t == 32) {
        for (int k = 0; k < 3; k++) {
            if (FIXED && k == 2) { // FIX
                MBAR_WAIT(&empty[0], 0);
            }
            MBAR_EXPECT(&full[k], 128);
            BULK_LOAD(slot[k % 2], in + 32 * k, 128, &full[k]); // SIDE 1 2
        }
    } else if (t < 32) {
        for (int k = 0; k < 3; k++) {
            MBAR_WAIT(&full[k], 0);
            total += slot[k % 2][31 - t]; // SIDE 1
            MBAR_ARRIVE(&empty[k % 2]);
        }
        out[t] = total;
    }
}

static int test(bool fixed) {
    Buffer<int> in(numbers(96)), out(32);
    LAUNCH(pipeline, 1, 64, in, out);
    return count_wrong(out.host(), [](int i) { return 3 * (32 - i) + 3 * 32; });
}

CORPUS_MAIN(test)
