// SPDX-License-Identifier: Apache-2.0
// Floyd-Warshall, shortest paths of all pairs: one launch per vertex, and by tiles in three phases (the tile on the
// diagonal, its row and column, the rest). The number of vertices is padded to full tiles with unreachable ones.
#include "complete.h"
#include <algorithm>

const int TILE = 16, FAR_AWAY = 1 << 28;

__global__ void step(int *d, int n, int k) // row and column k do not change in step k
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n && i != k && j != k)
        d[i * n + j] = min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}

typedef int Tile[TILE][TILE];

// Vertices of one tile as stations on the way, one after the other; c may be a or b.
__device__ void relax(Tile &c, Tile &a, Tile &b)
{
    int x = threadIdx.x, y = threadIdx.y;
    for (int k = 0; k < TILE; k++) {
        int now = min(c[y][x], a[y][k] + b[k][x]);
        __syncthreads();
        c[y][x] = now;
        __syncthreads();
    }
}

__global__ void phase(int *d, int n, int pivot, int which)
{
    __shared__ Tile center, first, second;
    int x = threadIdx.x, y = threadIdx.y, by, bx;
    auto at = [&](int ty, int tx) -> int & { return d[(ty * TILE + y) * n + tx * TILE + x]; };
    if (which == 1) {
        center[y][x] = at(pivot, pivot);
        __syncthreads();
        relax(center, center, center);
        at(pivot, pivot) = center[y][x];
        return;
    }
    if (which == 2) {
        int other = blockIdx.x + (blockIdx.x >= pivot);
        by = blockIdx.y ? other : pivot;
        bx = blockIdx.y ? pivot : other;
        center[y][x] = at(pivot, pivot);
        first[y][x] = at(by, bx);
        __syncthreads();
        if (blockIdx.y)
            relax(first, first, center);
        else
            relax(first, center, first);
        at(by, bx) = first[y][x];
        return;
    }
    bx = blockIdx.x + (blockIdx.x >= pivot);
    by = blockIdx.y + (blockIdx.y >= pivot);
    first[y][x] = at(by, pivot);
    second[y][x] = at(pivot, bx);
    __syncthreads();
    int best = at(by, bx);
    for (int k = 0; k < TILE; k++)
        best = min(best, first[y][k] + second[k][x]);
    at(by, bx) = best;
}

int main()
{
    const int n = 93, tiles = (n + TILE - 1) / TILE, padded = tiles * TILE;
    Random random(26);
    std::vector<int> d(n * n, FAR_AWAY), p(padded * padded, FAR_AWAY), want_padded(padded * padded);
    for (int i = 0; i < n; i++) {
        d[i * n + i] = 0;
        for (int k = 0; k < 4; k++)
            d[i * n + random.below(n)] = 1 + (int)random.below(100);
    }
    for (int i = 0; i < n * n; i++)
        p[i / n * padded + i % n] = d[i];
    int *d_d = to_device(d), *d_p = to_device(p);
    for (int k = 0; k < n; k++)
        step<<<dim3(blocks_for(n, 32), blocks_for(n, 4)), dim3(32, 4)>>>(d_d, n, k);
    for (int t = 0; t < tiles; t++) {
        phase<<<1, dim3(TILE, TILE)>>>(d_p, padded, t, 1);
        phase<<<dim3(tiles - 1, 2), dim3(TILE, TILE)>>>(d_p, padded, t, 2);
        phase<<<dim3(tiles - 1, tiles - 1), dim3(TILE, TILE)>>>(d_p, padded, t, 3);
    }
    finish_launches();
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                d[i * n + j] = std::min(d[i * n + j], d[i * n + k] + d[k * n + j]);
    expect_same("by vertices", from_device(d_d, n * n), d);
    std::vector<int> tiled = from_device(d_p, padded * padded), cut(n * n);
    for (int i = 0; i < n * n; i++)
        cut[i] = tiled[i / n * padded + i % n];
    expect_same("by tiles", cut, d);
    return finish();
}
