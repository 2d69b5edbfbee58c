// SPDX-License-Identifier: Apache-2.0
// cocluster (LDetector, tables V and VI): a thread measures how far its row is from the co-clusters' averages, which
// go through one tile of shared memory, part after part. Read-write in shared memory, between warps.
// RACE 1: read-write race, shared, can-overlap -- the next part is loaded while other warps still use the one before it
// FIXED: a barrier before the tile is used again
#include "../corpus.h"

constexpr int THREADS = 64, TILE = 64, PARTS = 3, COLS = TILE * PARTS;

template <bool FIXED> __global__ void distances(const int *row, const int *average, int *distance) {
    __shared__ int tile[TILE];
    int t = threadIdx.x, far = 0;
    for (int part = 0; part < PARTS; part++) {
        tile[t] = average[part * TILE + t]; // SIDE 1
        __syncthreads();
        for (int c = 0; c < TILE; c++) {
            far += abs(tile[c] - row[(part * TILE + c) * THREADS + t]); // SIDE 1
        }
        if constexpr (FIXED) __syncthreads(); // FIX
    }
    distance[t] = far; // NEVER
}

static int test(bool fixed) {
    std::vector<int> rows(COLS * THREADS), averages(COLS);
    for (int i = 0; i < COLS * THREADS; i++) {
        rows[i] = i * 41 % 67;
    }
    for (int c = 0; c < COLS; c++) {
        averages[c] = c * 5 % 71;
    }
    Buffer<int> row(rows), average(averages), distance(THREADS);
    LAUNCH(distances, 1, THREADS, row, average, distance);
    return count_wrong(distance.host(), [&](int t) {
        int far = 0;
        for (int c = 0; c < COLS; c++) {
            far += abs(averages[c] - rows[c * THREADS + t]);
        }
        return far;
    });
}

CORPUS_MAIN(test)
