// SPDX-License-Identifier: Apache-2.0
// Connected components: labels that spread until nothing changes, and hooking with pointer jumping on a union-find forest
// that all threads update with compare and swap (roots always hook on smaller ones, so it cannot have cycles).
#include "graph.h"
#include <numeric>

__global__ void spread(DeviceGraph g, int *label, int *changed)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= g.n)
        return;
    int mine = atomicAdd(&label[v], 0), old = mine;
    for (int e = g.start[v]; e < g.start[v + 1]; e++)
        mine = min(mine, atomicMin(&label[g.to[e]], mine));
    if (mine < old)
        atomicMin(&label[v], mine);
    if (mine < old)
        atomicExch(changed, 1);
}

__device__ int find(int *parent, int v)
{
    int p = atomicAdd(&parent[v], 0);
    while (p != v) {
        int above = atomicAdd(&parent[p], 0);
        atomicCAS(&parent[v], p, above); // halve the path
        v = p;
        p = above;
    }
    return v;
}

__global__ void hook(DeviceGraph g, int *parent)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= g.n)
        return;
    for (int e = g.start[v]; e < g.start[v + 1]; e++) {
        int a = v, b = g.to[e];
        if (a < b)
            continue;
        do {
            a = find(parent, a);
            b = find(parent, b);
            if (a < b) {
                int t = a;
                a = b;
                b = t;
            }
        } while (a != b && atomicCAS(&parent[a], a, b) != a);
    }
}

__global__ void flatten(int *parent, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n)
        atomicExch(&parent[v], find(parent, v));
}

static int find_root(std::vector<int> &p, int v)
{
    while (p[v] != v)
        v = p[v] = p[p[v]];
    return v;
}

int main()
{
    const int block = 128;
    Graph g = make_graph(2503, 2, 11); // sparse: many components
    std::vector<int> want(g.n), numbers(g.n);
    std::iota(numbers.begin(), numbers.end(), 0);
    want = numbers;
    for (int v = 0; v < g.n; v++)
        for (int e = g.start[v]; e < g.start[v + 1]; e++) {
            int a = find_root(want, v), b = find_root(want, g.to[e]);
            want[std::max(a, b)] = std::min(a, b);
        }
    for (int v = 0; v < g.n; v++)
        want[v] = find_root(want, v);

    DeviceGraph d(g);
    unsigned blocks = blocks_for(g.n, block);
    int *label = to_device(numbers), *changed = device_new<int>(1);
    do {
        CHECK(cudaMemset(changed, 0, sizeof(int)));
        spread<<<blocks, block>>>(d, label, changed);
    } while (from_device(changed));
    expect_same("labels", from_device(label, g.n), want);
    label = to_device(numbers);
    hook<<<blocks, block>>>(d, label);
    flatten<<<blocks, block>>>(label, g.n);
    finish_launches();
    expect_same("union-find", from_device(label, g.n), want);
    return finish();
}
