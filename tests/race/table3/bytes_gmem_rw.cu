// SPDX-License-Identifier: Apache-2.0
// Byte granularity GMEM RW (SuperCollider, table 3): one block writes a byte, another reads its neighbour in the word.
// CLEAN -- no byte is touched by two threads, and a byte is a memory location of its own
#include "../corpus.h"

__global__ void neighbours(unsigned char *byte, unsigned char *out) {
    int i = 2 * threadIdx.x + blockIdx.x; // even bytes: block 0, odd ones: block 1
    if (blockIdx.x == 0) {
        byte[i] = i; // NEVER
    } else {
        out[i] = byte[i] + 1; // NEVER
    }
}

static int test(bool) {
    Buffer<unsigned char> byte(128, 1), out(128);
    neighbours<<<2, 64>>>(byte, out);
    CHECK(cudaGetLastError());
    return count_wrong(out.host(), [](int i) { return i % 2 ? 2 : 0; }) +
           count_wrong(byte.host(), [](int i) { return i % 2 ? 1 : i; });
}

CORPUS_MAIN(test)
