// SPDX-License-Identifier: Apache-2.0
// A release that reaches its acquirer through an atomic of a third thread in between (PTX ISA, "Release and acquire patterns":
// observation goes through read-modify-writes). A store in between, atomic or not, breaks the chain.
// RACE 1: read-write race, global, missing-order -- the value that the reader saw was not the writer's
// FIXED: the one in between adds instead of storing
#include "../corpus.h"

template <bool FIXED> __global__ void chain(int *data, int *flag, int *out)
{
    int seen;
    if (blockIdx.x == 0) {
        *data = 7; // SIDE 1
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
    } else if (blockIdx.x == 1) {
        do
            asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (seen != 1);
        if constexpr (FIXED)
            atomicAdd(flag, 1); // FIX
        else
            asm volatile("st.relaxed.gpu.global.u32 [%0], 2;" ::"l"(flag) : "memory"); // NEVER
    } else {
        do
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (seen != 2);
        *out = *data; // SIDE 1
    }
}

static int test(bool fixed)
{
    Buffer<int> data(1), flag(1), out(1);
    LAUNCH(chain, 3, 1, data, flag, out);
    return count_wrong(out.host(), [](size_t) { return 7; });
}

CORPUS_MAIN(test)
