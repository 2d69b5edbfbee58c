// SPDX-License-Identifier: Apache-2.0
// PageRank by pulling (each vertex sums over its neighbours) and by pushing (atomic additions of floats), with the rank of
// vertices without edges spread over all, until the change falls below a bound.
#include "graph.h"

const float DAMPING = 0.85f;

__global__ void pull(DeviceGraph g, const float *rank, float *next, const float *lost)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= g.n)
        return;
    float sum = 0;
    for (int e = g.start[v]; e < g.start[v + 1]; e++) {
        int u = g.to[e];
        sum += rank[u] / (g.start[u + 1] - g.start[u]);
    }
    next[v] = (1 - DAMPING) / g.n + DAMPING * (sum + *lost / g.n);
}

__global__ void push(DeviceGraph g, const float *rank, float *next)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= g.n)
        return;
    float share = rank[v] / (g.start[v + 1] - g.start[v]);
    for (int e = g.start[v]; e < g.start[v + 1]; e++)
        atomicAdd(&next[g.to[e]], share);
}

__global__ void damp(float *next, int n, const float *lost)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n)
        next[v] = (1 - DAMPING) / n + DAMPING * (next[v] + *lost / n);
}

__global__ void sum_lost(DeviceGraph g, const float *rank, float *lost)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    float mine = v < g.n && g.start[v + 1] == g.start[v] ? rank[v] : 0.0f;
    for (int d = 16; d > 0; d /= 2)
        mine += __shfl_down_sync(~0u, mine, d);
    if (threadIdx.x % 32 == 0 && mine != 0)
        atomicAdd(lost, mine);
}

__global__ void largest_change(const float *a, const float *b, int n, int *change)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n)
        atomicMax(change, __float_as_int(fabsf(a[v] - b[v])));
}

int main()
{
    const int block = 160;
    Graph g = make_graph(1777, 9, 12);
    std::vector<double> want(g.n, 1.0 / g.n), next(g.n);
    for (int i = 0; i < 60; i++) {
        double lost = 0;
        for (int v = 0; v < g.n; v++)
            lost += g.start[v + 1] == g.start[v] ? want[v] : 0;
        for (int v = 0; v < g.n; v++) {
            double sum = 0;
            for (int e = g.start[v]; e < g.start[v + 1]; e++)
                sum += want[g.to[e]] / (g.start[g.to[e] + 1] - g.start[g.to[e]]);
            next[v] = (1 - DAMPING) / g.n + DAMPING * (sum + lost / g.n);
        }
        want.swap(next);
    }
    for (auto &w : want)
        w *= g.n; // so that the tolerance is relative

    DeviceGraph d(g);
    unsigned blocks = blocks_for(g.n, block);
    float *lost = device_new<float>(1);
    int *change = device_new<int>(1);
    for (bool pushing : {false, true}) {
        float *rank[2] = {to_device(std::vector<float>(g.n, 1.0f / g.n)), device_new<float>(g.n)};
        int side = 0;
        for (float moved = 1; moved > 1e-8f; side ^= 1) {
            CHECK(cudaMemset(lost, 0, sizeof(float)));
            CHECK(cudaMemset(change, 0, sizeof(int)));
            sum_lost<<<blocks, block>>>(d, rank[side], lost);
            if (pushing) {
                CHECK(cudaMemset(rank[!side], 0, g.n * sizeof(float)));
                push<<<blocks, block>>>(d, rank[side], rank[!side]);
                damp<<<blocks, block>>>(rank[!side], g.n, lost);
            } else {
                pull<<<blocks, block>>>(d, rank[side], rank[!side], lost);
            }
            largest_change<<<blocks, block>>>(rank[0], rank[1], g.n, change);
            CHECK(cudaMemcpy(&moved, change, sizeof moved, cudaMemcpyDeviceToHost));
        }
        std::vector<float> got = from_device(rank[side], g.n);
        for (auto &r : got)
            r *= (float)g.n;
        expect_near(pushing ? "push" : "pull", got, want, 2e-4);
    }
    finish_launches();
    return finish();
}
