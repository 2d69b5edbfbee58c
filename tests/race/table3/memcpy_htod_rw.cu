// SPDX-License-Identifier: Apache-2.0
// cudaMemcpyAsync (HtoD) RW (SuperCollider, table 3): a kernel reads before the copy from the host, in another stream, is done.
// RACE 1: read-write race, global, can-overlap, with copy -- two streams, and nothing between them
// FIXED: the host waits for the copy before it launches the kernel
#include "../corpus.h"

template <bool FIXED> __global__ void consume(const int *data, int *out) {
    out[threadIdx.x] = data[threadIdx.x] + 1; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> data(64), out(64);
    int *pinned;
    cudaStream_t copies, kernels;
    CHECK(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&kernels, cudaStreamNonBlocking));
    CHECK(cudaMallocHost(&pinned, data.bytes()));
    for (int i = 0; i < 64; i++) {
        pinned[i] = i;
    }
    CHECK(cudaMemcpyAsync(data, pinned, data.bytes(), cudaMemcpyHostToDevice, copies));
    if (fixed) CHECK(cudaStreamSynchronize(copies)); // FIX
    LAUNCH_ASYNC(consume, 1, 64, 0, kernels, data, out);
    return count_wrong(out.host(), [](int i) { return i + 1; });
}

CORPUS_MAIN(test)
