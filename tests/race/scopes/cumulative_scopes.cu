// SPDX-License-Identifier: Apache-2.0
// Two hops: a warp tells another of its block, and that one tells another block. Causality goes through both hops, the first
// may have block scope, the second must have the device's.
// RACE 1: insufficient scope, global, can-overlap, scope cta -- the second hop is one between blocks
// RACE 2: read-write race, global, missing-order -- so the third does not know of the first
// FIXED: the second hop has the device's scope
#include "../corpus.h"

#define RAISE(scope, flag) asm volatile("st.release." scope ".global.u32 [%0], 1;" ::"l"(flag) : "memory")
#define LOOK(scope, flag, seen) \
    asm volatile("ld.acquire." scope ".global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory")

template <bool FIXED> __global__ void hops(int *data, int *near_, int *far_, int *out)
{
    int seen = 0;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *data = 7;           // SIDE 2
        RAISE("cta", near_); // NEVER
    } else if (blockIdx.x == 0 && threadIdx.x == 32) {
        while (!seen)
            LOOK("cta", near_, seen); // NEVER
        if constexpr (FIXED)
            RAISE("gpu", far_); // FIX
        else
            RAISE("cta", far_); // SIDE 1
    } else if (threadIdx.x == 0) {
        while (!seen)
            LOOK("gpu", far_, seen); // SIDE 1
        *out = *data; // SIDE 2
    }
}

static int test(bool fixed)
{
    Buffer<int> data(1), near_(1), far_(1), out(1);
    LAUNCH(hops, 2, 64, data, near_, far_, out);
    return count_wrong(out.host(), [](size_t) { return 7; });
}

CORPUS_MAIN(test)
