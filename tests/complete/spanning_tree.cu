// SPDX-License-Identifier: Apache-2.0
// Minimum spanning forest by Boruvka: every component finds its lightest edge with a 64-bit atomicMin, components are
// merged along these edges, pairs that chose each other are untied, and pointer jumping gives everyone the new name.
#include "graph.h"
#include <numeric>

typedef unsigned long long Choice; // weight above, edge below: no two edges are equal
const Choice NONE = ~0ull;

__global__ void choose(DeviceGraph g, const int *edge_from, int edges, const int *component, Choice *best)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges)
        return;
    int a = component[edge_from[e]], b = component[g.to[e]];
    if (a != b) // weights are unique for each undirected edge, so both directions order alike
        atomicMin(&best[a], (Choice)g.weight[e] << 32 | e);
}

__global__ void merge(DeviceGraph g, const int *component, const int *weight, const Choice *best, int *parent,
                      unsigned long long *total, unsigned *chosen)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= g.n)
        return;
    if (best[c] == NONE) {
        parent[c] = c;
        return;
    }
    int e = (int)(unsigned)best[c], other = component[g.to[e]];
    // Two components that chose the same edge: the smaller one is the root, and counts it.
    bool mutual = best[other] != NONE && weight[(unsigned)best[other]] == weight[e];
    parent[c] = mutual && c < other ? c : other;
    if (!mutual || c < other) {
        atomicAdd(total, (unsigned long long)weight[e]);
        atomicInc(chosen, ~0u);
    }
}

__global__ void jump(const int *from, int *to, int n, int *changed)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= n)
        return;
    int p = from[c], above = from[p];
    to[c] = above;
    if (above != p)
        atomicOr(changed, 1);
}

__global__ void rename(int *component, const int *parent, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n)
        component[v] = parent[component[v]];
}

int main()
{
    const int block = 128;
    Graph g = make_graph(1403, 6, 15);
    std::vector<int> from(g.edges()), numbers(g.n), root(g.n);
    for (int v = 0; v < g.n; v++)
        for (int e = g.start[v]; e < g.start[v + 1]; e++) {
            from[e] = v;
            int a = std::min(v, g.to[e]), b = std::max(v, g.to[e]); // unique, and without pattern in its high bits
            g.weight[e] = ((a * 7919 + b * 104729) % 300) * g.n * 4 + (a * 2 + b) % (g.n * 4);
        }
    // Make ties between different edges impossible: number the undirected edges, and add that.
    std::vector<std::tuple<int, int, int, int>> undirected;
    for (int e = 0; e < g.edges(); e++)
        undirected.emplace_back(g.weight[e], std::min(from[e], g.to[e]), std::max(from[e], g.to[e]), e);
    std::sort(undirected.begin(), undirected.end());
    int number = 0;
    for (size_t i = 0; i < undirected.size(); i++) {
        auto &u = undirected[i];
        bool same = i && std::get<1>(u) == std::get<1>(undirected[i - 1]) && std::get<2>(u) == std::get<2>(undirected[i - 1]);
        g.weight[std::get<3>(u)] = same ? number : ++number;
    }
    std::iota(numbers.begin(), numbers.end(), 0);
    root = numbers;
    unsigned long long want = 0;
    unsigned want_edges = 0;
    auto find = [&](int v) {
        while (root[v] != v)
            v = root[v] = root[root[v]];
        return v;
    };
    for (auto &u : undirected) {
        int a = find(std::get<1>(u)), b = find(std::get<2>(u));
        if (a != b) {
            root[a] = b;
            want += g.weight[std::get<3>(u)];
            want_edges++;
        }
    }

    DeviceGraph d(g);
    int *d_from = to_device(from), *component = to_device(numbers), *changed = device_new<int>(1);
    int *parent[2] = {device_new<int>(g.n), device_new<int>(g.n)}, side = 0;
    Choice *best = device_new<Choice>(g.n);
    unsigned long long *total = device_zeros<unsigned long long>(1);
    unsigned *chosen = device_zeros<unsigned>(1), before;
    unsigned blocks = blocks_for(g.n, block);
    do {
        before = from_device(chosen);
        CHECK(cudaMemset(best, 0xff, g.n * sizeof *best));
        choose<<<blocks_for(g.edges(), block), block>>>(d, d_from, g.edges(), component, best);
        merge<<<blocks, block>>>(d, component, d.weight, best, parent[side], total, chosen);
        do {
            CHECK(cudaMemset(changed, 0, sizeof(int)));
            jump<<<blocks, block>>>(parent[side], parent[!side], g.n, changed);
            side ^= 1;
        } while (from_device(changed));
        rename<<<blocks, block>>>(component, parent[side], g.n);
    } while (from_device(chosen) != before);
    finish_launches();
    expect_same("weight", from_device(total), want);
    expect_same("edges", from_device(chosen), want_edges);
    return finish();
}
