// SPDX-License-Identifier: Apache-2.0
// Byte granularity SMEM RW (SuperCollider, table 3): one thread writes a byte, another reads its neighbour in the word.
// CLEAN -- no byte is touched by two threads, and a byte is a memory location of its own
#include "../corpus.h"

__global__ void neighbours(unsigned char *out) {
    __shared__ unsigned char byte[128];
    int t = threadIdx.x, pair = t & ~1;
    byte[t] = t;
    __syncthreads();
    if (t % 2) {
        byte[t] = 0; // NEVER
    } else {
        out[t] = byte[pair ^ 2]; // NEVER
    }
}

static int test(bool) {
    Buffer<unsigned char> out(128);
    neighbours<<<1, 128>>>(out);
    CHECK(cudaGetLastError());
    return count_wrong(out.host(), [](int i) { return i % 2 ? 0 : i ^ 2; });
}

CORPUS_MAIN(test)
