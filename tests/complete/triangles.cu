// SPDX-License-Identifier: Apache-2.0
// Counts triangles: by intersecting sorted adjacency lists, a thread per edge, and by binary search, a warp per vertex.
#include "graph.h"

__global__ void by_edge(DeviceGraph g, const int *from, int edges, unsigned long long *count)
{
    __shared__ unsigned block_count;
    if (threadIdx.x == 0)
        block_count = 0;
    __syncthreads();
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mine = 0;
    if (e < edges && from[e] < g.to[e]) {
        int a = from[e], b = g.to[e], i = g.start[a], j = g.start[b];
        while (i < g.start[a + 1] && j < g.start[b + 1]) {
            int x = g.to[i], y = g.to[j];
            mine += x == y && x > b; // a < b < c
            i += x <= y;
            j += y <= x;
        }
    }
    if (mine)
        atomicAdd(&block_count, mine);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(count, (unsigned long long)block_count);
}

__global__ void by_vertex(DeviceGraph g, unsigned long long *count)
{
    int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (v >= g.n)
        return;
    unsigned mine = 0;
    for (int e = g.start[v]; e < g.start[v + 1]; e++) {
        int u = g.to[e];
        if (u <= v)
            continue;
        for (int k = g.start[u] + lane; k < g.start[u + 1]; k += 32) {
            int w = g.to[k], lo = g.start[v], hi = g.start[v + 1];
            if (w <= u)
                continue;
            while (lo < hi) {
                int mid = (lo + hi) / 2;
                if (g.to[mid] < w)
                    lo = mid + 1;
                else
                    hi = mid;
            }
            mine += lo < g.start[v + 1] && g.to[lo] == w;
        }
    }
    mine = __reduce_add_sync(~0u, mine);
    if (lane == 0 && mine)
        atomicAdd(count, (unsigned long long)mine);
}

int main()
{
    Graph g = make_graph(700, 24, 13);
    std::vector<int> from(g.edges());
    std::vector<char> adjacent((size_t)g.n * g.n, 0);
    for (int v = 0; v < g.n; v++)
        for (int e = g.start[v]; e < g.start[v + 1]; e++) {
            from[e] = v;
            adjacent[(size_t)v * g.n + g.to[e]] = 1;
        }
    unsigned long long want = 0;
    for (int v = 0; v < g.n; v++)
        for (int e = g.start[v]; e < g.start[v + 1]; e++)
            for (int k = g.start[v]; k < g.start[v + 1]; k++)
                want += v < g.to[e] && g.to[e] < g.to[k] && adjacent[(size_t)g.to[e] * g.n + g.to[k]];
    EXPECT(want > 1000);

    DeviceGraph d(g);
    unsigned long long *count = device_zeros<unsigned long long>(2);
    by_edge<<<blocks_for(g.edges(), 224), 224>>>(d, to_device(from), g.edges(), count);
    by_vertex<<<blocks_for((size_t)g.n * 32, 128), 128>>>(d, count + 1);
    finish_launches();
    expect_same("triangles", from_device(count, 2), std::vector<unsigned long long>(2, want));
    return finish();
}
