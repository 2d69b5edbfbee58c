// SPDX-License-Identifier: Apache-2.0
// bisect small (LDetector, tables V and VI; CUDA SDK): threads halve intervals, keep those with eigenvalues in them,
// and find their places by a scan ordered by a warp's barriers. Static tools report it; the host starts 32 threads.
// RACE 1: read-write race, shared, can-overlap -- with two warps, one reads a count that the other one begins with
// RACE 2: read-write race, shared, can-overlap -- with two warps, one reads a count that the other one adds to
// FIXED: the host starts blocks of one warp, as the original does
#include "../corpus.h"

constexpr int EIGENVALUES = 20;

__global__ void bisect(const int *eigenvalue, int *kept, int *count, int intervals) {
    __shared__ int place[64];
    int t = threadIdx.x, mine = 0, half[2], add;
    for (int low = 8 * t; low < 8 * t + 8 && t < intervals; low += 4) { // the halves of [8t, 8t + 8)
        bool inside = false;
        for (int e = 0; e < EIGENVALUES; e++) {
            inside |= eigenvalue[e] >= low && eigenvalue[e] < low + 4; // NEVER
        }
        if (inside) {
            half[mine++] = low;
        }
    }
    place[t] = mine; // SIDE 1
    __syncwarp();
    int end = mine;
    for (int d = 1; d < blockDim.x; d *= 2) {
        add = 0;
        if (t >= d) {
            add = place[t - d]; // SIDE 1 2
        }
        __syncwarp();
        end += add;
        place[t] = end; // SIDE 2
        __syncwarp();
    }
    for (int h = 0; h < mine; h++) {
        kept[end - mine + h] = half[h]; // NEVER
    }
    if (t == blockDim.x - 1) {
        *count = end; // NEVER
    }
}

static int test(bool fixed) {
    const int intervals = 24;
    std::vector<int> eigenvalues(EIGENVALUES), expected(2 * intervals);
    int kept_count = 0;
    for (int e = 0; e < EIGENVALUES; e++) {
        eigenvalues[e] = e * e % (8 * intervals);
    }
    for (int low = 0; low < 8 * intervals; low += 4) {
        for (int e : eigenvalues) {
            if (e >= low && e < low + 4) {
                expected[kept_count++] = low;
                break;
            }
        }
    }
    int threads = 64;
    if (fixed) threads = 32; // FIX
    Buffer<int> eigenvalue(eigenvalues), kept(2 * intervals), count(1);
    bisect<<<1, threads>>>(eigenvalue, kept, count, intervals);
    CHECK(cudaGetLastError());
    return count_wrong(kept.host(), [&](int i) { return expected[i]; }) + (count.host()[0] != kept_count);
}

CORPUS_MAIN(test)
