// SPDX-License-Identifier: Apache-2.0
// Two executable graphs of the same graph, launched in two streams; launches of one executable would follow each other.
// RACE 1: write-write race, global, can-overlap -- the two are unrelated
// RACE 2: read-write race, global, can-overlap -- likewise
// FIXED: one executable, launched twice
#include "host.h"

__global__ void increment(int *a) {
    int old = a[threadIdx.x]; // SIDE 2
    a[threadIdx.x] = old + 1; // SIDE 1 2
}

static int test(bool fixed) {
    Buffer<int> a(64);
    Stream one, other;
    cudaGraph_t graph;
    cudaGraphExec_t exec[2];
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    increment<<<1, 64, 0, one>>>(a);
    CHECK(cudaStreamEndCapture(one, &graph));
    CHECK(cudaGraphInstantiate(&exec[0], graph, 0));
    CHECK(cudaGraphInstantiate(&exec[1], graph, 0));
    CHECK(cudaGraphLaunch(exec[0], one));
    CHECK(cudaGraphLaunch(exec[fixed ? 0 : 1], other)); // FIX
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(exec[0]));
    CHECK(cudaGraphExecDestroy(exec[1]));
    CHECK(cudaGraphDestroy(graph));
    return count_wrong(a.host(), [](int) { return 2; });
}

CORPUS_MAIN(test)
