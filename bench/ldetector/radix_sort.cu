// SPDX-License-Identifier: Apache-2.0
// radix sort (LDetector, table V; CUDA SDK): one warp sorts keys of 16 bits, bit by bit, from one array to the other. No race.
#include "program.h"

enum { THREADS = 32, BITS = 16 };

__global__ void radix_sort(unsigned *keys, unsigned *other, unsigned n) {
    __shared__ unsigned stage[THREADS * 2];
    unsigned t = threadIdx.x, *from = keys, *to = other;
    for (int bit = 0; bit < BITS; bit++) {
        unsigned zeros = 0;
        for (unsigned k = t; k < n; k += THREADS)
            zeros += !(from[k] >> bit & 1);
        stage[t] = zeros;
        __syncthreads();
        unsigned low = 0, high = 0;
        for (unsigned k = 0; k < THREADS; k++)
            high += stage[k];
        __syncthreads();
        for (unsigned first = 0; first < n; first += THREADS) {
            unsigned key = from[first + t], one = key >> bit & 1, ones = __ballot_sync(~0u, one), before = (1u << t) - 1;
            unsigned n_zeros = THREADS - __popc(ones), place = one ? n_zeros + __popc(ones & before) : __popc(~ones & before);
            stage[THREADS + place] = key;
            __syncthreads();
            to[t < n_zeros ? low + t : high + t - n_zeros] = stage[THREADS + t];
            low += n_zeros, high += THREADS - n_zeros;
            __syncthreads();
        }
        unsigned *swap = from;
        from = to, to = swap;
    }
}

int main(int argc, char **argv) {
    Program p(argc, argv);
    unsigned n = p.part(16384, 64) / THREADS * THREADS;
    std::vector<unsigned> values(n);
    for (unsigned k = 0; k < n; k++)
        values[k] = scrambled(k) >> 32 - BITS;
    unsigned *keys = p.memory(values), *other = p.memory<unsigned>(n);
    p.time(radix_sort, 1, THREADS, [&] { MUST(cudaMemcpy(keys, values.data(), n * 4, cudaMemcpyHostToDevice)); },
           [&] { radix_sort<<<1, THREADS>>>(keys, other, n); });
    std::sort(values.begin(), values.end());
    return p.verdict(p.host(keys, n) == values);
}
