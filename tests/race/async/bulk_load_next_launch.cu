// SPDX-License-Identifier: Apache-2.0
// One launch stores to global memory, the next loads it with a bulk copy: the end of a launch needs no proxy fence.
// CLEAN -- the launches are of one stream
#include "async.h"

__global__ void fill(int *data) {
    data[threadIdx.x] = 3 * threadIdx.x; // NEVER
}

__global__ void load(const int *data, int *out) {
    __shared__ alignas(16) int tile[64];
    __shared__ uint64_t full;
    int t = threadIdx.x;
    if (t == 0) {
        MBAR_INIT(&full, 1);
        MBAR_EXPECT(&full, 256);
        BULK_LOAD(tile, data, 256, &full); // NEVER
    }
    __syncthreads();
    MBAR_WAIT(&full, 0);
    out[t] = tile[63 - t]; // NEVER
}

static int test(bool) {
    Buffer<int> data(64), out(64);
    fill<<<1, 64>>>(data);
    load<<<1, 64>>>(data, out);
    CHECK(cudaGetLastError());
    return count_wrong(out.host(), [](int i) { return 3 * (63 - i); });
}

CORPUS_MAIN(test)
