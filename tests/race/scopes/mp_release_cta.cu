// SPDX-License-Identifier: Apache-2.0
// Message passing with st.release and ld.acquire of the block's scope, between two blocks (iGUARD, section 3.1).
// RACE 1: insufficient scope, global, can-overlap, scope cta -- neither operation on the flag includes the other's block
// RACE 2: read-write race, global, missing-order -- so they do not synchronize, and nothing orders the letter
// FIXED: the same with the device's scope
#include "../corpus.h"

template <bool FIXED> __device__ void raise(int *flag)
{
    if constexpr (FIXED)
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory"); // FIX
    else
        asm volatile("st.release.cta.global.u32 [%0], 1;" ::"l"(flag) : "memory"); // SIDE 1
}

template <bool FIXED> __device__ int look(int *flag)
{
    int seen;
    if constexpr (FIXED)
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory"); // FIX
    else
        asm volatile("ld.acquire.cta.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory"); // SIDE 1
    return seen;
}

template <bool FIXED> __global__ void pass(int *letter, int *flag, int *out)
{
    if (blockIdx.x == 0) {
        *letter = 42; // SIDE 2
        raise<FIXED>(flag);
    } else {
        while (!look<FIXED>(flag)) {
        }
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
