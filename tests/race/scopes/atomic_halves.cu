// SPDX-License-Identifier: Apache-2.0
// CLEAN -- neighbouring 16-bit words are different locations, and so are the halves of a 64-bit word
// Atomics of 16 and of 32 bits side by side in one aligned unit. Detectors that keep one record for every 4 or 8 bytes
// report them.
#include "../corpus.h"

__global__ void mark(unsigned short *halves, unsigned *words)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicCAS(&halves[t], (unsigned short)0, (unsigned short)(t + 1)); // NEVER
    words[t % 2 + 2 * (t / 2)] = t;                                    // NEVER
}

static int test(bool)
{
    Buffer<unsigned short> halves(128);
    Buffer<unsigned> words(128);
    mark<<<4, 32>>>(halves, words);
    CHECK(cudaGetLastError());
    return count_wrong(halves.host(), [](size_t i) { return i + 1; }) +
           count_wrong(words.host(), [](size_t i) { return i; });
}

CORPUS_MAIN(test)
