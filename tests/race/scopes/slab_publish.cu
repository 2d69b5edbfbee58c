// SPDX-License-Identifier: Apache-2.0
// Allocation of a slab on demand (SlabHash; iGUARD, table 4, type DR): whoever wins allocates, clears and publishes its
// address; the others use it as soon as they see one.
// RACE 1: write-write race, global, missing-order -- the address is published before its slab's clearing is released
// FIXED: a fence before publishing, and one after having seen it
#include "../corpus.h"

template <bool FIXED> __global__ void insert(int *next_slab, int *base, int *pool)
{
    int seen = atomicCAS(base, 0, -1); // NEVER
    if (seen == 0) {
        int mine = 1 + 32 * atomicAdd(next_slab, 1);
        for (int k = 0; k < 4; k++)
            pool[mine + k] = -1; // SIDE 1
        if constexpr (FIXED)
            __threadfence(); // FIX
        atomicExch(base, mine); // NEVER
    }
    while ((seen = atomicAdd(base, 0)) <= 0) { // NEVER
    }
    if constexpr (FIXED)
        __threadfence(); // FIX
    pool[seen + blockIdx.x] = 100 + blockIdx.x; // SIDE 1
}

static int test(bool fixed)
{
    Buffer<int> next_slab(1), base(1), pool(64);
    LAUNCH(insert, 4, 1, next_slab, base, pool);
    std::vector<int> got = pool.host();
    int wrong = 0;
    for (int k = 0; k < 4; k++)
        wrong += got[1 + k] != 100 + k;
    return wrong;
}

CORPUS_MAIN(test)
