// SPDX-License-Identifier: Apache-2.0
// A graph of two kernels, built by hand, without the edge between them.
// RACE 1: read-write race, global, can-overlap -- nodes without a path between them are in no order
// FIXED: the edge
#include "host.h"

__global__ void fill(int *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i + 1; // SIDE 1
}

__global__ void twice(const int *a, int *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = 2 * a[127 - i]; // SIDE 1
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
    Buffer<int> a(128), b(128);
    Stream one;
    int *pa = a, *pb = b;
    void *fill_args[] = {&pa}, *twice_args[] = {&pa, &pb};
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t first = add_kernel(graph, nullptr, 0, (void *)fill, fill_args);
    add_kernel(graph, &first, fixed ? 1 : 0, (void *)twice, twice_args); // FIX
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, one));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    return count_wrong(b.host(), [](int i) { return 2 * (128 - i); });
}

CORPUS_MAIN(test)
