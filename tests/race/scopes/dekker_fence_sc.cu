// SPDX-License-Identifier: Apache-2.0
// CLEAN -- of two fence.sc one comes first, so at least one of the two sees the other's announcement and stays out
// The heart of Dekker's mutual exclusion, the litmus test store buffering with fence.sc: each announces itself, looks whether the
// other has, and enters if not. Detectors that look for locks or flags that are waited for find nothing that excludes the two.
#include "../corpus.h"

__global__ void enter(int *announced, int *inside, int *entered)
{
    int me = blockIdx.x, t = threadIdx.x, seen;
    asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(&announced[2 * t + me]) : "memory"); // NEVER
    asm volatile("fence.sc.gpu;" ::: "memory");
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(&announced[2 * t + 1 - me]) : "memory"); // NEVER
    if (!seen) {
        inside[t] += 1 + me; // NEVER
        atomicAdd(&entered[t], 1);
    }
}

static int test(bool)
{
    const int n = 32;
    Buffer<int> announced(2 * n), inside(n), entered(n);
    enter<<<2, n>>>(announced, inside, entered);
    CHECK(cudaGetLastError());
    int wrong = 0;
    for (int k : entered.host())
        wrong += k > 1;
    return wrong;
}

CORPUS_MAIN(test)
