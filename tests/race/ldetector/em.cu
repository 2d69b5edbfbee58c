// SPDX-License-Identifier: Apache-2.0
// em (LDetector, tables V and VI): the threads of a block leave their share of each mixture's mean in shared memory, to
// be added up. The shares' places are counted by lane, but there are several warps: write-write between them.
// RACE 1: write-write race|same-value write, shared, can-overlap -- the same lanes of two warps write one place
// FIXED: places are counted by thread
#include "../corpus.h"

constexpr int THREADS = 96, MIXTURES = 4;

template <bool FIXED> __global__ void means(const int *sample, int *mean) {
    __shared__ int share[MIXTURES][THREADS];
    int t = threadIdx.x, value = sample[blockIdx.x * THREADS + t], place = t % 32;
    if constexpr (FIXED) place = t; // FIX
    for (int m = 0; m < MIXTURES; m++) {
        share[m][place] = value * (value + m & 3); // SIDE 1
    }
    __syncthreads();
    if (t < MIXTURES) {
        int sum = 0;
        for (int i = 0; i < (FIXED ? THREADS : 32); i++) {
            sum += share[t][i]; // NEVER
        }
        mean[blockIdx.x * MIXTURES + t] = sum / THREADS; // NEVER
    }
}

static int test(bool fixed) {
    std::vector<int> samples(2 * THREADS);
    for (int i = 0; i < 2 * THREADS; i++) {
        samples[i] = i * 19 % 53;
    }
    Buffer<int> sample(samples), mean(2 * MIXTURES);
    LAUNCH(means, 2, THREADS, sample, mean);
    return count_wrong(mean.host(), [&](int i) {
        int sum = 0;
        for (int t = 0; t < THREADS; t++) {
            int value = samples[i / MIXTURES * THREADS + t];
            sum += value * (value + i % MIXTURES & 3);
        }
        return sum / THREADS;
    });
}

CORPUS_MAIN(test)
