// SPDX-License-Identifier: Apache-2.0
// CLEAN -- volatile accesses are relaxed operations of the system's scope in PTX: they do not race with each other
// Blocks poll each other's progress with volatile loads and stores alone, and use no data but that. (As CUDA C++ has it, these
// are races: --volatile reports them as a class of their own.)
#include "../corpus.h"

__global__ void relay(volatile int *step, int *out)
{
    int me = blockIdx.x;
    if (me)
        while (step[me - 1] < me) { // NEVER
        }
    step[me] = me + 1; // NEVER
    out[me] = me ? step[me - 1] : 0; // NEVER
}

static int test(bool)
{
    Buffer<int> step(6), out(6);
    relay<<<6, 1>>>(step, out);
    CHECK(cudaGetLastError());
    return count_wrong(out.host(), [](size_t i) { return i; });
}

CORPUS_MAIN(test)
