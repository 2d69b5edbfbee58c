// SPDX-License-Identifier: Apache-2.0
// Inter-kernel GMEM RW (SuperCollider, table 3): a consumer kernel reads before the producer kernel of another stream is done.
// RACE 1: read-write race, global, can-overlap, launches 1 and 2 -- two streams, and no event between them
// FIXED: the consumer's stream waits for an event of the producer's
#include "../corpus.h"

template <bool FIXED> __global__ void produce(int *data) {
    data[threadIdx.x] = threadIdx.x + 1; // SIDE 1
}

template <bool FIXED> __global__ void consume(const int *data, int *out) {
    out[threadIdx.x] = data[threadIdx.x]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> data(64), out(64);
    cudaStream_t streams[2];
    cudaEvent_t done;
    for (cudaStream_t &stream : streams) {
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    }
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    LAUNCH_ASYNC(produce, 1, 64, 0, streams[0], data);
    CHECK(cudaEventRecord(done, streams[0]));
    if (fixed) CHECK(cudaStreamWaitEvent(streams[1], done)); // FIX
    LAUNCH_ASYNC(consume, 1, 64, 0, streams[1], data, out);
    return count_wrong(out.host(), [](int i) { return i + 1; });
}

CORPUS_MAIN(test)
