// SPDX-License-Identifier: Apache-2.0
// A memset node beside the kernel node that counts up what it clears.
// RACE 1: write-write race, global, can-overlap, with memset -- no edge between the two
// FIXED: the edge
#include "host.h"

__global__ void count(int *bins) {
    atomicAdd(&bins[threadIdx.x % 4], 1); // SIDE 1
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, const cudaGraphNode_t *after, size_t n, void *kernel, void **args) {
    cudaKernelNodeParams params = {};
    cudaGraphNode_t node;
    params.func = kernel;
    params.gridDim = dim3(2), params.blockDim = dim3(64);
    params.kernelParams = args;
    CHECK(cudaGraphAddKernelNode(&node, graph, after, n, &params));
    return node;
}

static int test(bool fixed) {
    Buffer<int> bins(4, 1);
    Stream one;
    int *p = bins;
    void *args[] = {&p};
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t clear;
    cudaMemsetParams params = {};
    params.dst = p, params.elementSize = 4, params.width = 4, params.height = 1;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &params));
    add_kernel(graph, &clear, fixed ? 1 : 0, (void *)count, args); // FIX
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, one));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    return count_wrong(bins.host(), [](int) { return 32; });
}

CORPUS_MAIN(test)
