// SPDX-License-Identifier: Apache-2.0
// A kernel tells the host by a flag in mapped memory how far it is, while it still runs. The flag's store has the device's scope, which does
// not include the host (CUDA C++ programming guide, "Thread scopes"). The letter itself is read when the kernel has been waited for.
// NVCC: -g
// RACE 1: insufficient scope, global, can-overlap, with host, scope gpu -- the flag's store does not reach the host
// FIXED: the system's scope
#include "../corpus.h"

template <bool FIXED> __global__ void pass(int *letter, int *flag)
{
    *letter = 42; // NEVER
    if constexpr (FIXED)
        asm volatile("st.release.sys.global.u32 [%0], 1;" ::"l"(flag) : "memory"); // FIX
    else
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory"); // SIDE 1
}

static int test(bool fixed)
{
    int *m;
    CHECK(cudaHostAlloc(&m, 128, cudaHostAllocMapped));
    memset(m, 0, 128);
    LAUNCH_ASYNC(pass, 1, 1, 0, 0, m, m + 16);
    while (__atomic_load_n(m + 16, __ATOMIC_ACQUIRE) == 0) // what the host does has no label
        cudaStreamQuery(0);
    CHECK(cudaDeviceSynchronize());
    int got = *m; // NEVER
    CHECK(cudaFreeHost(m));
    return got != 42;
}

CORPUS_MAIN(test)
