// SPDX-License-Identifier: Apache-2.0
// Producer and consumer warps over one buffer (CUTLASS's warp specialization): bar.arrive by the side that only tells, bar.sync by
// the one that waits; barrier 1 says full, barrier 2 says empty.
// RACE 1: read-write race, shared, can-overlap -- nobody waits until the buffer is empty again
// FIXED: the consumer arrives at "empty", where the producer waits before it fills anew
#include "../corpus.h"

template <bool FIXED> __global__ void pipe(int *out) {
    __shared__ int buffer[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        for (int k = 0; k < 4; k++) {
            if constexpr (FIXED) asm volatile("bar.sync 2, 64;" ::: "memory"); // FIX
            buffer[lane] = 100 * k + lane; // SIDE 1
            asm volatile("bar.arrive 1, 64;" ::: "memory");
            if constexpr (!FIXED) __nanosleep(1000); // until a full is taken: barrier 1 cannot run ahead by two
            if constexpr (!FIXED) asm volatile("bar.sync 3, 64;" ::: "memory");
        }
    } else {
        for (int k = 0; k < 4; k++) {
            if constexpr (FIXED) asm volatile("bar.arrive 2, 64;" ::: "memory");
            asm volatile("bar.sync 1, 64;" ::: "memory");
            if constexpr (!FIXED) asm volatile("bar.arrive 3, 64;" ::: "memory"); // too early: before it has read
            out[32 * k + lane] = buffer[31 - lane]; // SIDE 1
        }
    }
}

static int test(bool fixed) {
    Buffer<int> out(128);
    LAUNCH(pipe, 1, 64, out);
    return count_wrong(out.host(), [](int i) { return 100 * (i / 32) + 31 - i % 32; });
}

CORPUS_MAIN(test)
