// SPDX-License-Identifier: Apache-2.0
// Two blocks of a cluster pass a message through distributed shared memory with release and acquire of the block's scope.
// RACE 1: insufficient scope, shared, can-overlap, scope cta -- the other side is in another block of the cluster
// RACE 2: read-write race, shared, missing-order -- so the letter is not ordered
// FIXED: the cluster's scope
#include "../corpus.h"

#define RAISE(scope, flag) \
    asm volatile("st.release." scope ".shared::cluster.u32 [%0], 1;" ::"r"(flag) : "memory")
#define LOOK(scope, flag, seen) \
    asm volatile("ld.acquire." scope ".shared::cluster.u32 %0, [%1];" : "=r"(seen) : "r"(flag) : "memory")

template <bool FIXED> __global__ void __cluster_dims__(2) pass(int *out)
{
    __shared__ int letter, flag;
    unsigned a = __cvta_generic_to_shared(&letter), f = __cvta_generic_to_shared(&flag), far_a, far_f;
    int got = 0, seen = 0;
    letter = flag = 0;
    asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(far_a) : "r"(a));
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(far_f) : "r"(f));
    if (blockIdx.x % 2) {
        asm volatile("st.shared::cluster.u32 [%0], 42;" ::"r"(far_a) : "memory"); // SIDE 2
        if constexpr (FIXED)
            RAISE("cluster", far_f); // FIX
        else
            RAISE("cta", far_f); // SIDE 1
    } else {
        while (!seen)
            if constexpr (FIXED)
                LOOK("cluster", f, seen); // FIX
            else
                LOOK("cta", f, seen); // SIDE 1
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(got) : "r"(a) : "memory"); // SIDE 2
        out[blockIdx.x / 2] = got;
    }
    asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
}

static int test(bool fixed)
{
    Buffer<int> out(2);
    LAUNCH(pass, 4, 1, out);
    return count_wrong(out.host(), [](size_t) { return 42; });
}

CORPUS_MAIN(test)
