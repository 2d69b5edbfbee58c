// SPDX-License-Identifier: Apache-2.0
// Byte granularity SMEM WW (SuperCollider, table 3): different threads write to different bytes of the same word.
// CLEAN -- no byte is touched by two threads without a barrier between
#include "../corpus.h"

__global__ void neighbours(unsigned char *out) {
    __shared__ unsigned char byte[128];
    int t = threadIdx.x;
    byte[t ^ 1] = t; // NEVER
    __syncthreads();
    out[t] = byte[t];
}

static int test(bool) {
    Buffer<unsigned char> out(128);
    neighbours<<<1, 128>>>(out);
    CHECK(cudaGetLastError());
    return count_wrong(out.host(), [](int i) { return i ^ 1; });
}

CORPUS_MAIN(test)
