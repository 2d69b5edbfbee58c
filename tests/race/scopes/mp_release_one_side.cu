// SPDX-License-Identifier: Apache-2.0
// Message passing where the writer's release has the device's scope and the reader's acquire only the block's. Scopes
// must include each other: one that is too narrow spoils both.
// RACE 1: insufficient scope, global, can-overlap, scope cta -- the reader's scope does not include the writer
// RACE 2: read-write race, global, missing-order -- nothing synchronizes
// FIXED: ld.acquire.gpu
#include "../corpus.h"

template <bool FIXED> __global__ void pass(int *letter, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        *letter = 42;                                                              // SIDE 2
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory"); // SIDE 1
    } else {
        int seen;
        do {
            if constexpr (FIXED)
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory"); // FIX
            else
                asm volatile("ld.acquire.cta.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory"); // SIDE 1
        } while (!seen);
        *out = *letter; // SIDE 2
    }
}

static int test(bool fixed)
{
    Buffer<int> letter(1), flag(1), out(1);
    LAUNCH(pass, 2, 1, letter, flag, out);
    return count_wrong(out.host(), [](size_t) { return 42; });
}

CORPUS_MAIN(test)
