// SPDX-License-Identifier: Apache-2.0
// needlemanWunsch (HGRD, table 3; HeCBench): the table of an alignment is filled tile by tile along diagonals; the
// number of tiles of a launch is the loop variable of the host, and the grid.
// CLEAN -- the tiles of one diagonal share no element, and in a tile the anti-diagonals are parted by barriers
#include "../corpus.h"

constexpr int T = 8, TILES = 3, N = T * TILES, COLS = N + 1;

__global__ void diagonal(const int *similar, int *score, int tiles, int first_row) {
    __shared__ int s[T + 1][T + 1];
    int b = blockIdx.x, t = threadIdx.x, row = (first_row + b) * T, col = (first_row + tiles - 1 - b) * T;
    s[t + 1][0] = score[(row + t + 1) * COLS + col]; // NEVER
    s[0][t + 1] = score[row * COLS + col + t + 1];   // NEVER
    if (t == 0) {
        s[0][0] = score[row * COLS + col]; // NEVER
    }
    __syncthreads();
    for (int d = 0; d < 2 * T - 1; d++) {
        int x = t + 1, y = d - t + 1;
        if (y >= 1 && y <= T) {
            int best = s[y - 1][x - 1] + similar[(row + y - 1) * N + col + x - 1]; // NEVER
            s[y][x] = max(best, max(s[y][x - 1], s[y - 1][x]) - 2);               // NEVER
        }
        __syncthreads();
    }
    for (int y = 1; y <= T; y++) {
        score[(row + y) * COLS + col + t + 1] = s[y][t + 1]; // NEVER
    }
}

static int test(bool) {
    std::vector<int> similar(N * N), expected(COLS * COLS), border(COLS * COLS);
    for (int i = 0; i < N * N; i++) {
        similar[i] = i * 31 % 9 - 4;
    }
    for (int i = 1; i < COLS; i++) {
        border[i] = border[i * COLS] = expected[i] = expected[i * COLS] = -2 * i;
    }
    for (int y = 1; y < COLS; y++) {
        for (int x = 1; x < COLS; x++) {
            int *to = &expected[y * COLS + x], gap = (to[-1] > to[-COLS] ? to[-1] : to[-COLS]) - 2;
            int match = to[-COLS - 1] + similar[(y - 1) * N + x - 1];
            *to = match > gap ? match : gap;
        }
    }
    Buffer<int> values(similar), score(border);
    for (int tiles = 1; tiles <= TILES; tiles++) {
        diagonal<<<tiles, T>>>(values, score, tiles, 0);
    }
    for (int tiles = TILES - 1; tiles >= 1; tiles--) {
        diagonal<<<tiles, T>>>(values, score, tiles, TILES - tiles);
    }
    CUDA_CHECK(cudaGetLastError());
    return count_wrong(score.host(), [&](int i) { return expected[i]; });
}

CORPUS_MAIN(test)
