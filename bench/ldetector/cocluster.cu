// SPDX-License-Identifier: Apache-2.0
// cocluster (LDetector, table V): a thread measures how far its row is from the co-clusters' averages, which go through one tile of shared memory, one after the other. The race: the next
// one is loaded while other warps still use the one before it.
#include "program.h"

enum { THREADS = 256, TILE = 3984, CLUSTERS = 2 };

__global__ void distances(const float *row, const float *average, float *distance, unsigned n, unsigned cols) {
    __shared__ float tile[TILE];
    unsigned i = blockIdx.x * THREADS + threadIdx.x;
    for (unsigned c = 0; c < CLUSTERS; c++) {
        float far = 0;
        for (unsigned k = threadIdx.x; k < cols; k += THREADS)
            tile[k] = average[c * cols + k]; // the race
        __syncthreads();
        for (unsigned k = 0; k < cols; k++)
            far += fabsf(tile[k] - row[(size_t)k * n + i]);
        distance[c * n + i] = far;
    }
}

int main(int argc, char **argv) {
    Program p(argc, argv);
    unsigned grid = 8, n = grid * THREADS, cols = p.part(TILE, 16);
    std::vector<float> rows((size_t)n * cols), averages(CLUSTERS * cols);
    for (size_t k = 0; k < rows.size(); k++)
        rows[k] = (float)(scrambled((unsigned)k) % 100);
    for (unsigned k = 0; k < CLUSTERS * cols; k++)
        averages[k] = (float)(scrambled(k + 5) % 100);
    float *row = p.memory(rows), *average = p.memory(averages), *distance = p.memory<float>(CLUSTERS * n);
    p.time(distances, grid, THREADS, [] {}, [&] { distances<<<grid, THREADS>>>(row, average, distance, n, cols); });
    return 0;
}
