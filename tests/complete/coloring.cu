// SPDX-License-Identifier: Apache-2.0
// Colours a graph (Jones and Plassmann): a vertex takes the smallest free colour once all neighbours of higher priority
// have theirs. The result does not depend on the order, so it must equal that of the same rule one vertex at a time. Then a
// maximal independent set by the same priorities, in one launch whose blocks wait for each other at a grid barrier.
#include "graph.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__host__ __device__ unsigned priority(unsigned v)
{
    v = (v ^ (v >> 16)) * 0x7feb352du;
    v = (v ^ (v >> 15)) * 0x846ca68bu;
    return v ^ (v >> 16);
}

__host__ __device__ bool before(int a, int b)
{
    unsigned pa = priority(a), pb = priority(b);
    return pa > pb || (pa == pb && a > b);
}

__global__ void color_step(DeviceGraph g, const int *color, int *next, int *left)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    bool waits = false;
    if (v < g.n) {
        int mine = color[v];
        if (mine < 0) {
            unsigned long long used[2] = {0, 0}; // indexed at run time: local memory
            for (int e = g.start[v]; e < g.start[v + 1]; e++) {
                int u = g.to[e];
                if (!before(u, v))
                    continue;
                int c = color[u];
                waits |= c < 0;
                if (c >= 0 && c < 128)
                    used[c / 64] |= 1ull << c % 64;
            }
            if (!waits)
                for (mine = 0; used[mine / 64] >> mine % 64 & 1; mine++)
                    ;
        }
        next[v] = mine;
    }
    int waiting = __syncthreads_count(waits);
    if (threadIdx.x == 0 && waiting)
        atomicAdd(left, waiting);
}

const int IN = 1, OUT = 2;

__global__ void independent_set(DeviceGraph g, int *state, int *left)
{
    cg::grid_group grid = cg::this_grid();
    for (int round = 0;; round++) {
        for (int v = (int)grid.thread_rank(); v < g.n; v += (int)grid.size()) {
            if (state[v])
                continue;
            bool first = true;
            for (int e = g.start[v]; e < g.start[v + 1]; e++)
                first &= state[g.to[e]] == OUT || before(v, g.to[e]);
            if (first)
                atomicAdd(&left[round], 1); // somebody moves: another round follows
            // Written after the barrier, since neighbours still read.
            if (first)
                state[g.n + v] = IN;
        }
        grid.sync();
        if (*(volatile int *)&left[round] == 0)
            return;
        for (int v = (int)grid.thread_rank(); v < g.n; v += (int)grid.size())
            if (!state[v]) {
                int now = state[g.n + v];
                for (int e = g.start[v]; e < g.start[v + 1]; e++)
                    if (state[g.n + g.to[e]] == IN)
                        now = OUT;
                state[v] = now;
            }
        grid.sync();
    }
}

int main()
{
    const int block = 128;
    Graph g = make_graph(1500, 10, 14);
    std::vector<int> order(g.n), want(g.n, -1), members(g.n, 0);
    for (int i = 0; i < g.n; i++)
        order[i] = i;
    std::sort(order.begin(), order.end(), before);
    for (int v : order) {
        std::vector<char> used(g.n, 0);
        bool in = true;
        for (int e = g.start[v]; e < g.start[v + 1]; e++) {
            if (want[g.to[e]] >= 0)
                used[want[g.to[e]]] = 1;
            in &= members[g.to[e]] != IN;
        }
        want[v] = (int)(std::find(used.begin(), used.end(), 0) - used.begin());
        members[v] = in ? IN : OUT;
    }

    DeviceGraph d(g);
    int *color[2] = {to_device(std::vector<int>(g.n, -1)), device_new<int>(g.n)}, *left = device_new<int>(1), side = 0;
    do {
        CHECK(cudaMemset(left, 0, sizeof(int)));
        color_step<<<blocks_for(g.n, block), block>>>(d, color[side], color[!side], left);
        side ^= 1;
    } while (from_device(left));
    expect_same("colours", from_device(color[side], g.n), want);

    int *state = device_zeros<int>(2 * g.n), *rounds = device_zeros<int>(g.n + 1);
    void *arguments[] = {&d, &state, &rounds};
    CHECK(cudaLaunchCooperativeKernel(independent_set, 5, block, arguments, 0, 0));
    finish_launches();
    expect_same("independent set", from_device(state, g.n), members);
    return finish();
}
