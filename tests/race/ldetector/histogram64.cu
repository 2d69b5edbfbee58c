// SPDX-License-Identifier: Apache-2.0
// histogram64 (LDetector, tables V and VI; CUDA SDK): every thread counts into 64 one-byte counters of its own, four
// threads' counters in each word of shared memory; then each thread adds up one bin over all threads.
// CLEAN -- bytes are locations of their own; the only words that threads share are parted by a barrier
#include "../corpus.h"

constexpr int THREADS = 64, BINS = 64, PER_THREAD = 8, N = THREADS * PER_THREAD;

__global__ void histogram(const unsigned char *data, int *bins) {
    __shared__ unsigned char counter[BINS * THREADS];
    unsigned t = threadIdx.x, place = (t & 15) << 2 | t >> 4; // a thread's bytes lie in 64 different words
    for (int i = 0; i < BINS * THREADS / 4; i += THREADS) {
        reinterpret_cast<unsigned *>(counter)[i + t] = 0; // NEVER
    }
    __syncthreads();
    for (int i = 0; i < PER_THREAD; i++) {
        counter[data[blockIdx.x * N + i * THREADS + t] * THREADS + place]++; // NEVER
    }
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < THREADS; i++) {
        sum += counter[t * THREADS + (i + t) % THREADS]; // NEVER
    }
    atomicAdd(bins + t, sum); // NEVER
}

static int test(bool) {
    std::vector<unsigned char> values(2 * N);
    std::vector<int> expected(BINS);
    for (int i = 0; i < 2 * N; i++) {
        expected[values[i] = (unsigned char)(i * i % 61)]++;
    }
    Buffer<unsigned char> data(values);
    Buffer<int> bins(BINS);
    histogram<<<2, THREADS>>>(data, bins);
    CHECK(cudaGetLastError());
    return count_wrong(bins.host(), [&](int i) { return expected[i]; });
}

CORPUS_MAIN(test)
