// SPDX-License-Identifier: Apache-2.0
// EXPECT: races
// SEEDS: 60 -- lanes race with each other only where none of the loads before has parted them
// Breadth-first search, level by level. A vertex that several vertices of the frontier can reach is claimed by all of
// them: they test and set its distance without an atomic.
#include "example.h"

#define V 1024
#define DEGREE 8
#define FAR 0x7fffffff

__global__ void expand(const int *edges, const int *frontier, int *next, int *dist, int *parent, int *more, int level)
{
    int u = blockIdx.x * blockDim.x + threadIdx.x;
    if (!frontier[u])
        return;
    for (int e = 0; e < DEGREE; e++) {
        int v = edges[u * DEGREE + e];
        if (dist[v] == FAR) { // RACE: clobbered read
            dist[v] = level; // RACE: intra-warp same-value write; RACE-MAYBE: lost update
            parent[v] = u; // RACE: lost update; RACE-MAYBE: intra-warp lost update
            next[v] = 1; // RACE-MAYBE: intra-warp same-value write; RACE-MAYBE: lost update
            *more = 1; // RACE: intra-warp same-value write; RACE-MAYBE: lost update
        }
    }
}

int main()
{
    static int edges[V * DEGREE], dist[V], parent[V], expected[V], queue[V];
    for (int i = 0; i < V * DEGREE; i++)
        edges[i] = (int)(scramble(i) % (V / 2)) + (i / DEGREE >= V / 2 ? V / 2 : i % DEGREE ? 0 : V / 2);
    for (int v = 0; v < V; v++)
        expected[v] = dist[v] = FAR;
    int head = 0, tail = 0;
    expected[0] = dist[0] = 0;
    queue[tail++] = 0;
    while (head < tail)
        for (int u = queue[head++], e = 0; e < DEGREE; e++)
            if (expected[edges[u * DEGREE + e]] == FAR) {
                expected[edges[u * DEGREE + e]] = expected[u] + 1;
                queue[tail++] = edges[u * DEGREE + e];
            }
    int *d, *d_edges, *d_dist, *d_parent, *d_more, *front[2];
    CUDA_CHECK(cudaMalloc(&d, sizeof(int) * (V * DEGREE + 4 * V + 1)));
    d_edges = d, d_dist = d + V * DEGREE, d_parent = d_dist + V, front[0] = d_parent + V, front[1] = front[0] + V;
    d_more = front[1] + V;
    CUDA_CHECK(cudaMemcpy(d_edges, edges, sizeof edges, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_dist, dist, sizeof dist, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(d_parent, 0, sizeof parent));
    CUDA_CHECK(cudaMemset(front[0], 0, sizeof dist));
    CUDA_CHECK(cudaMemset(front[0], 1, 1)); // vertex 0
    for (int level = 1, more = 1; more; level++) {
        CUDA_CHECK(cudaMemset(front[level % 2], 0, sizeof dist));
        CUDA_CHECK(cudaMemset(d_more, 0, sizeof more));
        expand<<<V / 128, 128>>>(d_edges, front[(level + 1) % 2], front[level % 2], d_dist, d_parent, d_more, level);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(&more, d_more, sizeof more, cudaMemcpyDeviceToHost));
    }
    CUDA_CHECK(cudaMemcpy(dist, d_dist, sizeof dist, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(parent, d_parent, sizeof parent, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int v = 1; v < V; v++)
        wrong += dist[v] != expected[v] || (dist[v] != FAR && dist[parent[v]] + 1 != dist[v]);
    printf("reached %d of %d vertices\n", tail, V);
    CUDA_CHECK(cudaFree(d));
    return finish_undefined("bfs", wrong);
}
