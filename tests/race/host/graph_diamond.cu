// SPDX-License-Identifier: Apache-2.0
// A diamond in a graph: fill, two kernels in the middle, and one that adds their results but waits for one of them only.
// RACE 1: read-write race, global, can-overlap -- no edge from the right kernel to the last
// FIXED: both edges
#include "host.h"

__global__ void fill(int *a) { a[blockIdx.x * blockDim.x + threadIdx.x] = 4; }

__global__ void left(const int *a, int *b) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = a[127 - i] + 1; // NEVER
}

__global__ void right(const int *a, int *c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[127 - i] * 2; // SIDE 1
}

__global__ void sum(int *a, const int *b, const int *c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[256 + i] = b[127 - i] + c[127 - i]; // SIDE 1
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
    Buffer<int> a(384), b(128), c(128);
    Stream one;
    int *pa = a, *pb = b, *pc = c;
    void *fill_args[] = {&pa}, *left_args[] = {&pa, &pb}, *right_args[] = {&pa, &pc}, *sum_args[] = {&pa, &pb, &pc};
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t top = add_kernel(graph, nullptr, 0, (void *)fill, fill_args), middle[2];
    middle[0] = add_kernel(graph, &top, 1, (void *)left, left_args);
    middle[1] = add_kernel(graph, &top, 1, (void *)right, right_args);
    add_kernel(graph, middle, fixed ? 2 : 1, (void *)sum, sum_args); // FIX
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, one));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    return count_wrong(a.host(), [](int i) { return i < 128 ? 4 : i < 256 ? 0 : 13; });
}

CORPUS_MAIN(test)
