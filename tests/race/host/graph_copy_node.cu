// SPDX-License-Identifier: Apache-2.0
// A copy node of a graph takes the result to the host without waiting for the kernel node that computes it.
// RACE 1: read-write race, global, can-overlap, with copy -- no edge between the two
// FIXED: the edge
#include "host.h"

__global__ void fill(int *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i + 1; // SIDE 1
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
    Buffer<int> a(128);
    Pinned to(128);
    Stream one;
    int *pa = a, wrong = 0;
    void *args[] = {&pa};
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t copy;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t first = add_kernel(graph, nullptr, 0, (void *)fill, args);
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &first, fixed ? 1 : 0, to, a, 512, cudaMemcpyDeviceToHost)); // FIX
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, one));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    for (int i = 0; i < 128; i++) {
        wrong += to[i] != i + 1;
    }
    return wrong;
}

CORPUS_MAIN(test)
