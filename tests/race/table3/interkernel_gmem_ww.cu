// SPDX-License-Identifier: Apache-2.0
// Inter-kernel GMEM WW (SuperCollider, table 3): kernels of different streams write to the same addresses.
// RACE 1: write-write race, global, can-overlap, launches 1 and 2 -- two streams, and nothing between them
// FIXED: both kernels run in one stream
#include "../corpus.h"

template <bool FIXED> __global__ void fill(int *data, int value) {
    data[threadIdx.x] = value; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> data(64);
    cudaStream_t streams[2];
    for (cudaStream_t &stream : streams) {
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    }
    LAUNCH_ASYNC(fill, 1, 64, 0, streams[0], data, 1);
    cudaStream_t second = streams[fixed ? 0 : 1]; // FIX
    LAUNCH_ASYNC(fill, 1, 64, 0, second, data, 2);
    return count_wrong(data.host(), [](int) { return 2; });
}

CORPUS_MAIN(test)
