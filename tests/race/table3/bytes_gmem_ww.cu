// SPDX-License-Identifier: Apache-2.0
// Byte granularity GMEM WW (SuperCollider, table 3): threads of different blocks write to different bytes of the same word.
// CLEAN -- no byte is touched by two threads
#include "../corpus.h"

__global__ void neighbours(unsigned char *byte) {
    byte[4 * threadIdx.x + blockIdx.x] = blockIdx.x; // NEVER
}

static int test(bool) {
    Buffer<unsigned char> byte(256, 9);
    neighbours<<<4, 64>>>(byte);
    CHECK(cudaGetLastError());
    return count_wrong(byte.host(), [](int i) { return i % 4; });
}

CORPUS_MAIN(test)
