// SPDX-License-Identifier: Apache-2.0
// Message passing by atomics that are relaxed where they must release and acquire.
// RACE 1: read-write race, global, missing-order -- relaxed operations synchronize with nothing
// FIXED: st.release and ld.acquire
#include "../corpus.h"

template <bool FIXED> __global__ void pass(int *letter, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        *letter = 42; // SIDE 1
        if constexpr (FIXED)
            asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory"); // FIX
        else
            asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory"); // NEVER
    } else {
        int seen;
        do {
            if constexpr (FIXED)
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory"); // FIX
            else
                asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory"); // NEVER
        } while (!seen);
        *out = *letter; // SIDE 1
    }
}

static int test(bool fixed)
{
    Buffer<int> letter(1), flag(1), out(1);
    LAUNCH(pass, 2, 1, letter, flag, out);
    return count_wrong(out.host(), [](size_t) { return 42; });
}

CORPUS_MAIN(test)
