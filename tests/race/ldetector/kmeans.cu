// SPDX-License-Identifier: Apache-2.0
// kmeans (LDetector, tables V and VI): a block keeps the clusters' centres in shared memory and finds the nearest one
// for each of its points. The original has no race; this is the injected one, read-write between two warps.
// RACE 1: read-write race, shared, can-overlap -- a point is compared with centres that another warp has yet to load
// FIXED: a barrier after the centres were loaded
#include "../corpus.h"

constexpr int THREADS = 64, CLUSTERS = 48, BLOCKS = 2, N = THREADS * BLOCKS;

template <bool FIXED> __global__ void assign(const int2 *point, const int2 *centre, int *nearest) {
    __shared__ int2 near[CLUSTERS];
    int t = threadIdx.x, i = blockIdx.x * THREADS + t, best = 1 << 30, which = -1;
    if (t < CLUSTERS) {
        near[t] = centre[t]; // SIDE 1
    }
    if constexpr (FIXED) __syncthreads(); // FIX
    for (int c = 0; c < CLUSTERS; c++) {
        int2 to = near[c]; // SIDE 1
        int dx = to.x - point[i].x, dy = to.y - point[i].y, distance = dx * dx + dy * dy;
        if (distance < best) {
            best = distance;
            which = c;
        }
    }
    nearest[i] = which; // NEVER
}

static int test(bool fixed) {
    std::vector<int2> points(N), centres(CLUSTERS);
    for (int c = 0; c < CLUSTERS; c++) {
        centres[c] = make_int2(20 * (c % 8), 20 * (c / 8));
    }
    for (int i = 0; i < N; i++) {
        points[i] = make_int2(centres[i % CLUSTERS].x + i % 7 - 3, centres[i % CLUSTERS].y + i % 5 - 2);
    }
    Buffer<int2> point(points), centre(centres);
    Buffer<int> nearest(N);
    LAUNCH(assign, BLOCKS, THREADS, point, centre, nearest);
    return count_wrong(nearest.host(), [](int i) { return i % CLUSTERS; });
}

CORPUS_MAIN(test)
