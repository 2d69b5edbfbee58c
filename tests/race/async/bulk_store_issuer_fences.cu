// SPDX-License-Identifier: Apache-2.0
// The thread that issues the bulk copy fences for all, after the barrier: by PTX's proxy-preserved causality order a proxy fence anywhere on
// the way from the store to the copy will do.
// CLEAN -- the fence of the issuer lies between every store and the copy
#include "async.h"

__global__ void store(const int *in, int *out) {
    __shared__ alignas(16) int tile[64];
    int t = threadIdx.x;
    tile[t] = in[63 - t]; // NEVER
    __syncthreads();
    if (t == 0) {
        FENCE_ASYNC();
        BULK_STORE(out, tile, 256); // NEVER
        BULK_COMMIT();
        BULK_WAIT(0);
    }
}

static int test(bool) {
    Buffer<int> in(numbers(64)), out(64);
    store<<<1, 64>>>(in, out);
    CHECK(cudaGetLastError());
    return count_wrong(out.host(), [](int i) { return 64 - i; });
}

CORPUS_MAIN(test)
