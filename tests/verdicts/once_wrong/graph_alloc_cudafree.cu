// SPDX-License-Identifier: Apache-2.0
// A graph allocates memory and does not free it. After the launch the program frees it in one of three ways, and launches the graph again.
// CUDA (programming guide, "Graph Memory Nodes"): a graph with an unfreed allocation may be launched again once cudaFree, cudaFreeAsync or
// a free node of another graph has freed it, and not before.
// expect: exact -- 0 => clean exit 0
// expect: exact -- 1 => clean exit 0 soak
// expect: exact -- 2 => clean exit 0 soak
// expect: tracker,collider,collider+exact,privatizer -- 0 => silent exit 0 soak
// expect: tracker,collider,collider+exact,privatizer -- 2 => silent exit 0 soak
#include "../../check.h"
__global__ void fill(int *p, int v) { p[threadIdx.x] = v; }
int main(int argc, char **argv) {
    int how = argc > 1 ? atoi(argv[1]) : 0, v = 5, h = 0;
    cudaGraph_t graph, freeing;
    cudaGraphExec_t exec, freeExec = nullptr;
    cudaGraphNode_t alloc, kernel, node;
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams m = {};
    m.poolProps.allocType = cudaMemAllocationTypePinned;
    m.poolProps.location.type = cudaMemLocationTypeDevice;
    m.bytesize = 4096;
    CHECK(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &m));
    int *p = (int *)m.dptr;
    void *args[] = {&p, &v};
    cudaKernelNodeParams k = {};
    k.func = (void *)fill;
    k.gridDim = dim3(1);
    k.blockDim = dim3(64);
    k.kernelParams = args;
    CHECK(cudaGraphAddKernelNode(&kernel, graph, &alloc, 1, &k));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    if (how == 2) {
        CHECK(cudaGraphCreate(&freeing, 0));
        CHECK(cudaGraphAddMemFreeNode(&node, freeing, nullptr, 0, p));
        CHECK(cudaGraphInstantiate(&freeExec, freeing, 0));
    }
    for (int round = 0; round < 3; round++) {
        CHECK(cudaGraphLaunch(exec, s));
        if (cudaGraphLaunch(exec, s) != cudaErrorInvalidValue)
            return 4;
        (void)cudaGetLastError();
        CHECK(cudaStreamSynchronize(s));
        CHECK(cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost));
        if (h != v)
            return 5;
        CHECK(how == 0 ? cudaFree(p) : how == 1 ? cudaFreeAsync(p, s) : cudaGraphLaunch(freeExec, s));
    }
    CHECK(cudaDeviceSynchronize());
    printf("ok\n");
}
