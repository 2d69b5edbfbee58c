// SPDX-License-Identifier: Apache-2.0
// histogram64 (LDetector, table V; CUDA SDK): each thread counts into 64 counters of a byte each, four threads' counters to a word, then the block adds them up. No race.
#include "program.h"

enum { THREADS = 192, BINS = 64, WORDS = 2 };

__global__ void histogram64(const unsigned *data, unsigned *part) {
    __shared__ unsigned char counter[BINS * THREADS];
    unsigned t = threadIdx.x;
    for (unsigned k = t; k < BINS * THREADS / 4; k += THREADS)
        reinterpret_cast<unsigned *>(counter)[k] = 0;
    __syncthreads();
    for (unsigned k = 0; k < WORDS; k++) {
        unsigned word = data[(blockIdx.x * WORDS + k) * THREADS + t];
        for (unsigned b = 0; b < 4; b++)
            counter[(word >> b * 8 + 2 & 63) * THREADS + t]++;
    }
    __syncthreads();
    if (t < BINS) {
        unsigned sum = 0;
        for (unsigned k = 0; k < THREADS; k++)
            sum += counter[t * THREADS + (k + t) % THREADS];
        part[blockIdx.x * BINS + t] = sum;
    }
}

int main(int argc, char **argv) {
    Program p(argc, argv);
    unsigned grid = p.part(2067), n = grid * THREADS * WORDS;
    std::vector<unsigned> words(n), expected(BINS), sum(BINS);
    for (unsigned k = 0; k < n; k++) {
        words[k] = scrambled(k);
        for (unsigned b = 0; b < 4; b++)
            expected[words[k] >> b * 8 + 2 & 63]++;
    }
    unsigned *data = p.memory(words), *part = p.memory<unsigned>(grid * BINS);
    p.time(histogram64, grid, THREADS, [] {}, [&] { histogram64<<<grid, THREADS>>>(data, part); });
    std::vector<unsigned> parts = p.host(part, grid * BINS);
    for (unsigned k = 0; k < grid * BINS; k++)
        sum[k % BINS] += parts[k];
    return p.verdict(sum == expected);
}
