// SPDX-License-Identifier: Apache-2.0
// CLEAN -- strong operations on a location do not race, whatever order they have and however weak it is
// The litmus tests store buffering, load buffering and coherence with relaxed operations. Their outcomes may be strange;
// their accesses do not race.
#include "../corpus.h"

__device__ int get(int *p)
{
    int v;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p)); // NEVER
    return v;
}

__device__ void put(int *p, int v)
{
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v)); // NEVER
}

__global__ void litmus(int *m, int *out)
{
    int me = blockIdx.x, other = 1 - me;
    put(&m[me], 1); // store buffering
    out[me] = get(&m[other]);
    out[2 + me] = get(&m[2 + me]); // load buffering
    put(&m[2 + other], 1);
    put(&m[4], me + 1); // coherence
    int first = get(&m[4]), second = get(&m[4]);
    out[4 + me] = first == other + 1 && second == me + 1;
}

static int test(bool)
{
    Buffer<int> m(5), out(6);
    litmus<<<2, 1>>>(m, out);
    CHECK(cudaGetLastError());
    return out.host()[4] && out.host()[5];
}

CORPUS_MAIN(test)
