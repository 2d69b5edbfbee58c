// SPDX-License-Identifier: Apache-2.0
// Two dynamic programs: the cheapest path down a grid, several rows per launch with overlapping blocks (as Rodinia's
// pathfinder), and a 0/1 knapsack, one launch per item, with a bit per state to say what was taken.
#include "complete.h"
#include <algorithm>

const int BLOCK = 128;

__global__ void rows_down(const int *wall, const int *from, int *to, int columns, int row, int count)
{
    __shared__ int now[BLOCK], next[BLOCK];
    int useful = BLOCK - 2 * count, t = threadIdx.x, x = (int)blockIdx.x * useful + t - count;
    bool inside = x >= 0 && x < columns;
    if (inside)
        now[t] = from[x];
    __syncthreads();
    int left = max(t - (x > 0), 0), right = min(t + (x < columns - 1), BLOCK - 1);
    for (int i = 0; i < count; i++) {
        bool mine = inside && t > i && t < BLOCK - 1 - i;
        if (mine)
            next[t] = wall[(row + i) * columns + x] + min(now[t], min(now[left], now[right]));
        __syncthreads();
        if (mine)
            now[t] = next[t];
        __syncthreads();
    }
    if (inside && t >= count && t < BLOCK - count)
        to[x] = now[t];
}

__global__ void item(const unsigned *from, unsigned *to, unsigned *taken, int capacity, int weight, unsigned value)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    bool take = false;
    if (c <= capacity) {
        unsigned without = from[c], with = c >= weight ? from[c - weight] + value : 0;
        take = with > without;
        to[c] = take ? with : without;
    }
    unsigned bits = __ballot_sync(~0u, take);
    if (threadIdx.x % 32 == 0 && c <= capacity)
        taken[c / 32] = bits;
}

int main()
{
    const int columns = 1003, rows = 53, at_once = 7;
    Random random(27);
    std::vector<int> wall(rows * columns), best(columns), next(columns);
    for (auto &e : wall)
        e = (int)random.below(10);
    best.assign(wall.begin(), wall.begin() + columns);
    int *d_wall = to_device(wall), *path[2] = {to_device(best), device_new<int>(columns)}, side = 0;
    for (int row = 1; row < rows; side ^= 1) {
        int count = std::min(at_once, rows - row);
        rows_down<<<blocks_for(columns, BLOCK - 2 * count), BLOCK>>>(d_wall, path[side], path[!side], columns, row, count);
        row += count;
    }
    finish_launches();
    for (int row = 1; row < rows; row++) {
        for (int x = 0; x < columns; x++)
            next[x] = wall[row * columns + x] +
                      std::min(best[x], std::min(best[std::max(x - 1, 0)], best[std::min(x + 1, columns - 1)]));
        best.swap(next);
    }
    expect_same("path", from_device(path[side], columns), best);

    const int items = 61, capacity = 2222, words = (capacity + 32) / 32;
    std::vector<int> weight(items);
    std::vector<unsigned> value(items), want(capacity + 1, 0);
    for (int i = 0; i < items; i++) {
        weight[i] = 5 + (int)random.below(120);
        value[i] = 1 + random.below(500);
    }
    unsigned *d[2] = {device_zeros<unsigned>(capacity + 1), device_new<unsigned>(capacity + 1)};
    unsigned *taken = device_zeros<unsigned>(items * words);
    for (int i = 0; i < items; i++)
        item<<<blocks_for(capacity + 1, 96), 96>>>(d[i % 2], d[(i + 1) % 2], taken + i * words, capacity, weight[i], value[i]);
    finish_launches();
    for (int i = 0; i < items; i++)
        for (int c = capacity; c >= weight[i]; c--)
            want[c] = std::max(want[c], want[c - weight[i]] + value[i]);
    expect_same("knapsack", from_device(d[items % 2], capacity + 1), want);
    std::vector<unsigned> bits = from_device(taken, items * words);
    unsigned sum = 0;
    int left = capacity;
    for (int i = items - 1; i >= 0; i--)
        if (bits[i * words + left / 32] >> left % 32 & 1) {
            sum += value[i];
            left -= weight[i];
        }
    EXPECT(left >= 0);
    expect_same("what was taken", sum, want[capacity]);
    return finish();
}
