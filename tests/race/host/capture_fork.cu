// SPDX-License-Identifier: Apache-2.0
// A captured stream forks before the kernel that the other branch needs: the graph has no edge from fill to twice.
// RACE 1: read-write race, global, can-overlap -- the nodes are in two branches
// FIXED: forks after the kernel
#include "host.h"

__global__ void fill(int *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i + 1; // SIDE 1
}

__global__ void twice(const int *a, int *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = 2 * a[127 - i]; // SIDE 1
}

static int test(bool fixed) {
    Buffer<int> a(128), b(128);
    Stream one, other;
    Event begun, filled, joined;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    begun.record(one);
    fill<<<2, 64, 0, one>>>(a);
    filled.record(one);
    (fixed ? filled : begun).order(other); // FIX
    twice<<<2, 64, 0, other>>>(a, b);
    joined.record(other);
    joined.order(one);
    CHECK(cudaStreamEndCapture(one, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, one));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    return count_wrong(b.host(), [](int i) { return 2 * (128 - i); });
}

CORPUS_MAIN(test)
