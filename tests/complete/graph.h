// SPDX-License-Identifier: Apache-2.0
// Graphs for the programs that walk them: random, undirected, in compressed rows, with a few vertices of high degree
// and some that no edge reaches. Weights are the same in both directions.
#pragma once
#include "complete.h"
#include <algorithm>
#include <tuple>

struct Graph {
    int n;
    std::vector<int> start, to, weight;
    int edges() const { return (int)to.size(); }
};

static inline Graph make_graph(int n, int average_degree, unsigned seed) {
    Random random(seed);
    std::vector<std::tuple<int, int, int>> list;
    for (int i = 0; i < n * average_degree / 2; i++) {
        int a = (int)random.below(n),
            b = random.below(8) ? (int)random.below(n) : (int)random.below(1 + n / 64);
        int w = 1 + (int)random.below(1000);
        if (a == b || a % 50 == 49 || b % 50 == 49) // nobody's neighbours
            continue;
        list.emplace_back(a, b, w);
        list.emplace_back(b, a, w);
    }
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end(),
                           [](auto &x, auto &y) {
                               return std::get<0>(x) == std::get<0>(y) && std::get<1>(x) == std::get<1>(y);
                           }),
               list.end());
    Graph g{n, std::vector<int>(n + 1, 0), {}, {}};
    for (auto &e : list) {
        int a = std::get<0>(e), b = std::get<1>(e);
        g.start[a + 1]++;
        g.to.push_back(b);
        // Of several edges between two vertices the lightest stays, in both directions.
        g.weight.push_back(std::get<2>(e));
    }
    for (int i = 0; i < n; i++)
        g.start[i + 1] += g.start[i];
    return g;
}

struct DeviceGraph {
    int n;
    const int *start, *to, *weight;
    explicit DeviceGraph(const Graph &g)
        : n(g.n), start(to_device(g.start)), to(to_device(g.to)), weight(to_device(g.weight)) {}
};
