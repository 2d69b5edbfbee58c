// SPDX-License-Identifier: Apache-2.0
// CLEAN -- writer and reader are of one block: a fence of block scope is all that they need
// Message passing between two warps of a block. Detectors that ask for a fence of the device's scope between any two
// accesses of global memory report it.
#include "../corpus.h"

__global__ void pass(int *letter, volatile int *flag, int *out)
{
    int t = threadIdx.x % 32, b = blockIdx.x;
    letter += b * 32, flag += b * 32, out += b * 32;
    if (threadIdx.x < 32) {
        letter[t] = 40 + t; // NEVER
        __threadfence_block();
        flag[t] = 1; // NEVER
    } else {
        while (!flag[t]) { // NEVER
        }
        __threadfence_block();
        out[t] = letter[t]; // NEVER
    }
}

static int test(bool)
{
    const int blocks = 4;
    Buffer<int> letter(blocks * 32), flag(blocks * 32), out(blocks * 32);
    pass<<<blocks, 64>>>(letter, flag, out);
    CHECK(cudaGetLastError());
    return count_wrong(out.host(), [](size_t i) { return 40 + i % 32; });
}

CORPUS_MAIN(test)
