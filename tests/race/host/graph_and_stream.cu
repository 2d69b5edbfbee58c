// SPDX-License-Identifier: Apache-2.0
// A graph is launched in one stream, and a kernel that needs its result in another.
// RACE 1: read-write race, global, can-overlap -- the graph belongs to the stream that it was launched in
// FIXED: the same stream
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
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    fill<<<2, 64, 0, one>>>(a);
    CHECK(cudaStreamEndCapture(one, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, one));
    twice<<<2, 64, 0, fixed ? one : other>>>(a, b); // FIX
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    return count_wrong(b.host(), [](int i) { return 2 * (128 - i); });
}

CORPUS_MAIN(test)
