// SPDX-License-Identifier: Apache-2.0
// Shortest paths from one vertex: Bellman-Ford over all edges, and a worklist in two piles, near and far (as in delta
// stepping), where a vertex is put on a pile by whoever lowered its distance.
#include "graph.h"
#include <queue>

const int FAR_AWAY = 1 << 30;

__global__ void relax_all(DeviceGraph g, int *distance, int *changed)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= g.n)
        return;
    int mine = atomicAdd(&distance[v], 0);
    if (mine == FAR_AWAY)
        return;
    for (int e = g.start[v]; e < g.start[v + 1]; e++)
        if (atomicMin(&distance[g.to[e]], mine + g.weight[e]) > mine + g.weight[e])
            atomicExch(changed, 1);
}

struct Pile {
    int *vertex, *count;
};

__device__ void put(Pile p, int v, int capacity)
{
    int at = atomicAdd(p.count, 1);
    if (at < capacity)
        p.vertex[at] = v;
}

__global__ void relax_pile(DeviceGraph g, int *distance, const int *from, int count, Pile near, Pile far, int bound, int capacity)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        int v = from[i], mine = atomicAdd(&distance[v], 0);
        for (int e = g.start[v]; e < g.start[v + 1]; e++) {
            int to = g.to[e], now = mine + g.weight[e];
            if (atomicMin(&distance[to], now) > now)
                put(now < bound ? near : far, to, capacity);
        }
    }
}

int main()
{
    const int block = 64, source = 1;
    Graph g = make_graph(1201, 8, 10);
    for (int a = 0; a < g.n; a++) // the weight depends on the pair only
        for (int e = g.start[a]; e < g.start[a + 1]; e++)
            g.weight[e] = 1 + (a * 31 + g.to[e] * 31 + a * g.to[e]) % 997;
    std::vector<int> want(g.n, FAR_AWAY), none(g.n, FAR_AWAY);
    want[source] = none[source] = 0;
    std::priority_queue<std::pair<int, int>> queue;
    queue.push({0, source});
    while (!queue.empty()) {
        int d = -queue.top().first, v = queue.top().second;
        queue.pop();
        if (d != want[v])
            continue;
        for (int e = g.start[v]; e < g.start[v + 1]; e++)
            if (d + g.weight[e] < want[g.to[e]]) {
                want[g.to[e]] = d + g.weight[e];
                queue.push({-want[g.to[e]], g.to[e]});
            }
    }

    DeviceGraph d(g);
    int *distance = to_device(none), *changed = device_new<int>(1);
    int rounds = 0;
    do {
        CHECK(cudaMemset(changed, 0, sizeof(int)));
        relax_all<<<blocks_for(g.n, block), block>>>(d, distance, changed);
    } while (from_device(changed) && ++rounds < g.n);
    expect_same("Bellman-Ford", from_device(distance, g.n), want);

    distance = to_device(none);
    const int capacity = 16 * g.edges(), delta = 300;
    Pile near[2], far[2];
    for (Pile *p : {&near[0], &near[1], &far[0], &far[1]})
        *p = {device_new<int>(capacity), device_zeros<int>(1)};
    CHECK(cudaMemcpy(near[0].vertex, &source, sizeof source, cudaMemcpyHostToDevice));
    int count = 1, side = 0, far_side = 0;
    for (int bound = delta; count; bound += delta) {
        while (count) {
            CHECK(cudaMemset(near[!side].count, 0, sizeof(int)));
            relax_pile<<<5, block>>>(d, distance, near[side].vertex, count, near[!side], far[far_side], bound, capacity);
            side ^= 1;
            count = from_device(near[side].count);
            EXPECT(count <= capacity);
        }
        // What was far is tried again: it belongs to the next bound, or is put away once more.
        int waiting = from_device(far[far_side].count);
        EXPECT(waiting <= capacity);
        if (waiting == 0)
            break;
        std::swap(near[side], far[far_side]);
        count = waiting;
        CHECK(cudaMemset(far[far_side].count, 0, sizeof(int)));
    }
    expect_same("near and far", from_device(distance, g.n), want);
    finish_launches();
    return finish();
}
