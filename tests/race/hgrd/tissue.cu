// SPDX-License-Identifier: Apache-2.0
// tissue (HGRD, table 3; HeCBench): `step` threads share a point, and add what they found to its level in turns, with a
// barrier between the turns. When step does not divide the block, a point's threads are in two blocks.
// RACE 1: read-write race, global, can-overlap -- one block begins a level that the other one adds to
// RACE 2: write-write race|same-value write, global, can-overlap -- the same, of the two stores
// RACE 3: read-write race, global, can-overlap -- both blocks add to the level
// RACE 4: write-write race|same-value write, global, can-overlap -- the same, of the two stores
// FIXED: the host takes blocks of a multiple of step
#include "../corpus.h"

constexpr int POINTS = 30, STEP = 5;

__global__ void levels(const int *source, int *level, int points, int step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, point = i / step, turn = i % step, found = 0;
    if (point < points) {
        for (int other = turn; other < points; other += step) {
            found += source[other] * (1 + (point ^ other)); // NEVER
        }
        if (turn == 0) {
            level[point] = found; // SIDE 1 2
        }
    }
    for (int now = 1; now < step; now++) {
        __syncthreads();
        if (turn == now && point < points) {
            int before = level[point];    // SIDE 1 3
            level[point] = before + found; // SIDE 2 3 4
        }
    }
}

static int test(bool fixed) {
    std::vector<int> source(POINTS), expected(POINTS);
    for (int p = 0; p < POINTS; p++) {
        source[p] = 1 + p * 17 % 23;
    }
    for (int p = 0; p < POINTS; p++) {
        for (int other = 0; other < POINTS; other++) {
            expected[p] += source[other] * (1 + (p ^ other));
        }
    }
    Buffer<int> in(source), level(POINTS);
    int threads = 64;
    if (fixed) threads = 64 / STEP * STEP; // FIX
    levels<<<(POINTS * STEP + threads - 1) / threads, threads>>>(in, level, POINTS, STEP);
    CHECK(cudaGetLastError());
    return count_wrong(level.host(), [&](int p) { return expected[p]; });
}

CORPUS_MAIN(test)
