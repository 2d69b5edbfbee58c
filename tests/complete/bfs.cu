// SPDX-License-Identifier: Apache-2.0
// Breadth-first search in three ways: level by level over all vertices, with a frontier in a worklist, and with bitmaps.
#include "graph.h"

__global__ void level_step(DeviceGraph g, int *distance, int level, int *changed)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    // A neighbour may just be set by another thread, hence the atomic read; it never equals `level` then.
    if (v >= g.n || *(volatile int *)&distance[v] != level)
        return;
    for (int e = g.start[v]; e < g.start[v + 1]; e++)
        if (atomicCAS(&distance[g.to[e]], -1, level + 1) == -1)
            atomicExch(changed, 1);
}

__global__ void worklist_step(DeviceGraph g, int *distance, int level, const int *frontier, int count, int *next, int *next_count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    int v = frontier[i];
    for (int e = g.start[v]; e < g.start[v + 1]; e++)
        if (atomicCAS(&distance[g.to[e]], -1, level + 1) == -1)
            next[atomicAdd(next_count, 1)] = g.to[e];
}

__global__ void bitmap_step(DeviceGraph g, const unsigned *now, unsigned *next, unsigned *seen, int *distance, int level, int *changed)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= g.n || !(now[v / 32] >> v % 32 & 1))
        return;
    for (int e = g.start[v]; e < g.start[v + 1]; e++) {
        int u = g.to[e];
        if (!(atomicOr(&seen[u / 32], 1u << u % 32) >> u % 32 & 1)) {
            distance[u] = level + 1;
            atomicOr(&next[u / 32], 1u << u % 32);
            atomicExch(changed, 1);
        }
    }
}

int main()
{
    const int block = 96, source = 3;
    Graph g = make_graph(3001, 7, 9);
    std::vector<int> want(g.n, -1), queue{source}, none(g.n, -1);
    want[source] = none[source] = 0;
    for (size_t head = 0; head < queue.size(); head++)
        for (int e = g.start[queue[head]]; e < g.start[queue[head] + 1]; e++)
            if (want[g.to[e]] < 0) {
                want[g.to[e]] = want[queue[head]] + 1;
                queue.push_back(g.to[e]);
            }
    EXPECT(queue.size() > (size_t)g.n / 2);

    DeviceGraph d(g);
    unsigned blocks = blocks_for(g.n, block);
    int *distance = to_device(none), *count = device_new<int>(1);
    for (int level = 0, changed = 1; changed; level++) {
        CHECK(cudaMemset(count, 0, sizeof(int)));
        level_step<<<blocks, block>>>(d, distance, level, count);
        changed = from_device(count);
    }
    expect_same("by levels", from_device(distance, g.n), want);

    distance = to_device(none);
    int *list[2] = {to_device(std::vector<int>(g.n, source)), device_new<int>(g.n)};
    for (int level = 0, length = 1; length; level++) {
        CHECK(cudaMemset(count, 0, sizeof(int)));
        worklist_step<<<blocks_for(length, block), block>>>(d, distance, level, list[level % 2], length, list[(level + 1) % 2], count);
        length = from_device(count);
    }
    expect_same("worklist", from_device(distance, g.n), want);

    distance = to_device(none);
    int words = (g.n + 31) / 32;
    std::vector<unsigned> first(words, 0);
    first[source / 32] = 1u << source % 32;
    unsigned *now = to_device(first), *next = device_new<unsigned>(words), *seen = to_device(first);
    for (int level = 0, changed = 1; changed; level++) {
        CHECK(cudaMemset(count, 0, sizeof(int)));
        CHECK(cudaMemset(next, 0, words * sizeof(unsigned)));
        bitmap_step<<<blocks, block>>>(d, now, next, seen, distance, level, count);
        std::swap(now, next);
        changed = from_device(count);
    }
    expect_same("bitmaps", from_device(distance, g.n), want);
    finish_launches();
    return finish();
}
