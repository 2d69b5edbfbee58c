// SPDX-License-Identifier: Apache-2.0
// bfs (LDetector, table V; Rodinia): level by level, the threads of the frontier mark what they find. The race: several find the same vertex at once.
#include "program.h"

enum { THREADS = 256, DEGREE = 6 };

__global__ void expand(const int *first, const int *to, const char *frontier, int *visited, int *cost, char *next) {
    int v = blockIdx.x * THREADS + threadIdx.x;
    if (!frontier[v])
        return;
    for (int e = first[v]; e < first[v + 1]; e++) {
        int u = to[e];
        if (!visited[u]) {
            visited[u] = 1;
            cost[u] = cost[v] + 1;
            next[u] = 1;
        }
    }
}

int main(int argc, char **argv) {
    Program p(argc, argv);
    const int levels = 8;
    unsigned grid = p.part(16), n = grid * THREADS;
    std::vector<int> begins(n + 1), edges(n * DEGREE);
    for (unsigned k = 0; k < n * DEGREE; k++)
        edges[k] = (int)(scrambled(k) % n);
    for (unsigned v = 0; v <= n; v++)
        begins[v] = (int)(v * DEGREE);
    int *first = p.memory(begins), *to = p.memory(edges), *visited = p.memory<int>(n), *cost = p.memory<int>(n);
    char *frontier = p.memory<char>(n * (levels + 1));
    auto prepare = [&] {
        MUST(cudaMemset(visited, 0, n * 4));
        MUST(cudaMemset(cost, 0, n * 4));
        MUST(cudaMemset(frontier, 0, n * (levels + 1)));
        MUST(cudaMemset(frontier, 1, 1));
        MUST(cudaMemset(visited, 1, 1));
    };
    p.time(expand, grid, THREADS, prepare, [&] {
        for (int l = 0; l < levels; l++)
            expand<<<grid, THREADS>>>(first, to, frontier + l * n, visited, cost, frontier + (l + 1) * n);
    });
    return 0;
}
