// SPDX-License-Identifier: Apache-2.0
// A thread that neither stores nor copies fences between two barriers: the proxy fence lies on the way from store to copy all the same.
// CLEAN -- PTX asks for a proxy fence along the causality path, whoever executes it
#include "async.h"

__global__ void store(const int *in, int *out) {
    __shared__ alignas(16) int tile[32];
    int t = threadIdx.x;
    if (t < 32) {
        tile[t] = in[31 - t]; // NEVER
    }
    __syncthreads();
    if (t == 63) {
        FENCE_ASYNC();
    }
    __syncthreads();
    if (t == 0) {
        BULK_STORE(out, tile, 128); // NEVER
        BULK_COMMIT();
        BULK_WAIT(0);
    }
}

static int test(bool) {
    Buffer<int> in(numbers(32)), out(32);
    store<<<1, 64>>>(in, out);
    CHECK(cudaGetLastError());
    return count_wrong(out.host(), [](int i) { return 32 - i; });
}

CORPUS_MAIN(test)
