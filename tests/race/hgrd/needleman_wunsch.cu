// SPDX-License-Identifier: Apache-2.0
// needlemanWunsch (HGRD, table 3; HeCBench): the table of an alignment is filled tile by tile along diagonals; the
// number of tiles of a launch is the loop variable of the host, and the grid.
// CLEAN -- the tiles of one diagonal share no element, and in a tile the anti-diagonals are parted by barriers
#include "../corpus.h"
#include "../input.h"

constexpr int T = 8;

__global__ void diagonal(const int *similar, int *score, int cols, int tiles, int first_row) {
    __shared__ int s[T + 1][T + 1];
    int b = blockIdx.x, t = threadIdx.x, row = (first_row + b) * T, col = (first_row + tiles - 1 - b) * T;
    s[t + 1][0] = score[(row + t + 1) * cols + col]; // NEVER
    s[0][t + 1] = score[row * cols + col + t + 1];   // NEVER
    if (t == 0) {
        s[0][0] = score[row * cols + col]; // NEVER
    }
    __syncthreads();
    for (int d = 0; d < 2 * T - 1; d++) {
        int x = t + 1, y = d - t + 1;
        if (y >= 1 && y <= T) {
            int best = s[y - 1][x - 1] + similar[(row + y - 1) * (cols - 1) + col + x - 1]; // NEVER
            s[y][x] = max(best, max(s[y][x - 1], s[y - 1][x]) - 2);               // NEVER
        }
        __syncthreads();
    }
    for (int y = 1; y <= T; y++) {
        score[(row + y) * cols + col + t + 1] = s[y][t + 1]; // NEVER
    }
}

static int test(bool) {
    int all = input("TILES", "3"), n = T * all, cols = n + 1;
    std::vector<int> similar(n * n), expected(cols * cols), border(cols * cols);
    for (int i = 0; i < n * n; i++) {
        similar[i] = i * 31 % 9 - 4;
    }
    for (int i = 1; i < cols; i++) {
        border[i] = border[i * cols] = expected[i] = expected[i * cols] = -2 * i;
    }
    for (int y = 1; y < cols; y++) {
        for (int x = 1; x < cols; x++) {
            int *to = &expected[y * cols + x], gap = (to[-1] > to[-cols] ? to[-1] : to[-cols]) - 2;
            int match = to[-cols - 1] + similar[(y - 1) * n + x - 1];
            *to = match > gap ? match : gap;
        }
    }
    Buffer<int> values(similar), score(border);
    for (int tiles = 1; tiles <= all; tiles++) {
        diagonal<<<tiles, T>>>(values, score, cols, tiles, 0);
    }
    for (int tiles = all - 1; tiles >= 1; tiles--) {
        diagonal<<<tiles, T>>>(values, score, cols, tiles, all - tiles);
    }
    CHECK(cudaGetLastError());
    return count_wrong(score.host(), [&](int i) { return expected[i]; });
}

CORPUS_MAIN(test)
