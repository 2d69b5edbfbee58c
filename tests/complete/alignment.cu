// SPDX-License-Identifier: Apache-2.0
// Dynamic programming along anti-diagonals: Needleman-Wunsch with affine costs left out, in tiles, one launch per diagonal of
// tiles; and the longest common subsequence in a single launch, whose blocks wait for the flags of those above and left.
#include "complete.h"
#include <algorithm>
#include <cuda/atomic>

const int TILE = 24, GAP = -3;

__constant__ signed char score_table[4][4];

__global__ void needleman_tile(const char *a, const char *b, int *m, int la, int lb, int first_row, int diagonal)
{
    __shared__ int t[TILE + 1][TILE + 1];
    int by = first_row + blockIdx.x, bx = diagonal - by, x = threadIdx.x, width = lb + 1;
    int y0 = by * TILE, x0 = bx * TILE; // the tile's cells are y0+1.., x0+1..
    for (int y = 0; y <= TILE; y++)
        if (x0 + x + 1 <= lb && y0 + y <= la && y == 0)
            t[0][x + 1] = m[y0 * width + x0 + x + 1];
    if (y0 + x + 1 <= la)
        t[x + 1][0] = m[(y0 + x + 1) * width + x0];
    if (x == 0)
        t[0][0] = m[y0 * width + x0];
    __syncthreads();
    for (int d = 0; d < 2 * TILE - 1; d++) {
        int y = d - x;
        if (y >= 0 && y < TILE && y0 + y < la && x0 + x < lb) {
            int s = t[y][x] + score_table[(int)a[y0 + y]][(int)b[x0 + x]];
            t[y + 1][x + 1] = max(s, max(t[y][x + 1], t[y + 1][x]) + GAP);
        }
        __syncthreads();
    }
    for (int y = 0; y < TILE; y++)
        if (y0 + y < la && x0 + x < lb)
            m[(y0 + y + 1) * width + x0 + x + 1] = t[y + 1][x + 1];
}

typedef cuda::atomic_ref<int, cuda::thread_scope_device> Flag;

// Block i does rows i*TILE.. from left to right; done[i] says how many columns of its last row are there.
__global__ void common_subsequence(const char *a, const char *b, int *last_row, int *done, int la, int lb, int *result)
{
    __shared__ int column[2][TILE + 1];
    int row = blockIdx.x * TILE, y = threadIdx.x, rows = min(TILE, la - row);
    const int *above = last_row + (size_t)blockIdx.x * (lb + 1);
    int *mine = last_row + (size_t)(blockIdx.x + 1) * (lb + 1);
    column[0][y] = column[1][y] = 0;
    __syncthreads();
    // Thread y is at column j - y, so that what it needs from the row above was made one step before.
    int diagonal = 0, here = 0;
    for (int j = 1; j < lb + rows; j++) {
        int c = j - y;
        bool active = y < rows && c >= 1 && c <= lb;
        if (y == 0 && active && blockIdx.x > 0)
            while (Flag(done[blockIdx.x - 1]).load(cuda::memory_order_acquire) < c)
                ;
        if (active) {
            int up = y == 0 ? above[c] : column[(j - 1) & 1][y - 1];
            int now = a[row + y] == b[c - 1] ? diagonal + 1 : max(up, here);
            diagonal = up;
            here = now;
            column[j & 1][y] = now;
            if (y == rows - 1) {
                mine[c] = now;
                Flag(done[blockIdx.x]).store(c, cuda::memory_order_release);
                if (row + rows == la && c == lb)
                    *result = now;
            }
        }
        __syncthreads();
    }
}

int main()
{
    const int la = 331, lb = 407;
    Random random(25);
    std::vector<char> a(la), b(lb);
    for (auto &e : a)
        e = (char)random.below(4);
    for (int i = 0; i < lb; i++)
        b[i] = i < la && random.below(3) ? a[i] : (char)random.below(4);
    signed char table[4][4];
    for (int i = 0; i < 16; i++)
        table[i / 4][i % 4] = i / 4 == i % 4 ? 5 : (signed char)(-1 - (i / 4 + i % 4) % 3);
    CHECK(cudaMemcpyToSymbol(score_table, table, sizeof table));
    std::vector<int> m((la + 1) * (lb + 1), 0), want, lcs;
    for (int i = 0; i <= la; i++)
        m[i * (lb + 1)] = i * GAP;
    for (int j = 0; j <= lb; j++)
        m[j] = j * GAP;
    char *d_a = to_device(a), *d_b = to_device(b);
    int *d_m = to_device(m), rows = (int)blocks_for(la, TILE), columns = (int)blocks_for(lb, TILE);
    for (int d = 0; d < rows + columns - 1; d++) {
        int first = std::max(0, d - columns + 1), last = std::min(rows - 1, d);
        needleman_tile<<<last - first + 1, TILE>>>(d_a, d_b, d_m, la, lb, first, d);
    }
    int *result = device_zeros<int>(1);
    common_subsequence<<<rows, TILE>>>(d_a, d_b, device_zeros<int>((rows + 1) * (lb + 1)), device_zeros<int>(rows), la, lb, result);
    finish_launches();
    want = m;
    lcs.assign(m.size(), 0);
    for (int i = 1; i <= la; i++)
        for (int j = 1; j <= lb; j++) {
            int at = i * (lb + 1) + j, up = at - lb - 1;
            want[at] = std::max(want[up - 1] + table[(int)a[i - 1]][(int)b[j - 1]], std::max(want[up], want[at - 1]) + GAP);
            lcs[at] = a[i - 1] == b[j - 1] ? lcs[up - 1] + 1 : std::max(lcs[up], lcs[at - 1]);
        }
    expect_same("Needleman-Wunsch", from_device(d_m, m.size()), want);
    expect_same("common subsequence", from_device(result), lcs.back());
    return finish();
}
