// SPDX-License-Identifier: Apache-2.0
// Launches kernels of a module in all the ways that there are: by_kernel FILE. FILE is PTX with kernels of one
// parameter, the address of 64 numbers: plain, large (with 64 KiB of dynamic shared memory), node, captured, swapped
// and never. Each adds 1 to all numbers.
#include "../../check.h"

#include <cuda.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64, LARGE = 65536 };
static CUdeviceptr numbers;
static void *args[] = {&numbers};

static CUfunction get(CUmodule m, const char *name) {
    CUfunction f;
    CHECK_DRIVER(cuModuleGetFunction(&f, m, name));
    return f;
}

static void launch(CUfunction f, unsigned shared, CUstream s) {
    CHECK_DRIVER(cuLaunchKernel(f, 1, 1, 1, N, 1, 1, shared, s, args, NULL));
}

static CUDA_KERNEL_NODE_PARAMS node_of(CUfunction f) {
    return (CUDA_KERNEL_NODE_PARAMS){.func = f,
                                     .gridDimX = 1,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = N,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = args};
}

static void in_graphs(CUmodule m) {
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    CUstream s;
    CUDA_KERNEL_NODE_PARAMS p = node_of(get(m, "node"));
    CHECK_DRIVER(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CHECK_DRIVER(cuGraphCreate(&graph, 0));
    CHECK_DRIVER(cuGraphAddKernelNode(&node, graph, NULL, 0, &p));
    CHECK_DRIVER(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK_DRIVER(cuGraphLaunch(exec, s));
    p = node_of(get(m, "swapped"));
    CHECK_DRIVER(cuGraphExecKernelNodeSetParams(exec, node, &p));
    CHECK_DRIVER(cuGraphLaunch(exec, s));
    CHECK_DRIVER(cuStreamSynchronize(s));
    CHECK_DRIVER(cuGraphExecDestroy(exec));
    CHECK_DRIVER(cuGraphDestroy(graph));
    CHECK_DRIVER(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    launch(get(m, "captured"), 0, s);
    CHECK_DRIVER(cuStreamEndCapture(s, &graph));
    CHECK_DRIVER(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK_DRIVER(cuGraphLaunch(exec, s));
    CHECK_DRIVER(cuStreamSynchronize(s));
    CHECK_DRIVER(cuGraphExecDestroy(exec));
    CHECK_DRIVER(cuGraphDestroy(graph));
}

int main(int argc, char **argv) {
    CUcontext context;
    CUmodule m;
    CUfunction large;
    int blocks = 0, threads = 0, sum[N];
    if (argc < 2)
        return 2;
    CHECK_DRIVER(cuInit(0));
    CHECK_DRIVER(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK_DRIVER(cuCtxSetCurrent(context));
    CHECK_DRIVER(cuMemAlloc(&numbers, sizeof sum));
    CHECK_DRIVER(cuMemsetD8(numbers, 0, sizeof sum));
    for (int k = 0; k < 2; k++) { // the module comes, goes, and comes again
        CHECK_DRIVER(cuModuleLoad(&m, argv[1]));
        launch(get(m, "plain"), 0, NULL);
        large = get(m, "large");
        CHECK_DRIVER(cuFuncSetAttribute(large, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, LARGE));
        CHECK_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, large, N, LARGE));
        CHECK_DRIVER(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, large));
        launch(large, LARGE, NULL);
        CHECK_DRIVER(cuCtxSynchronize());
        in_graphs(m);
        CHECK_DRIVER(cuCtxSynchronize());
        CHECK_DRIVER(cuModuleUnload(m));
    }
    CHECK_DRIVER(cuMemcpyDtoH(sum, numbers, sizeof sum));
    bool right = blocks > 0 && threads >= N;
    for (int k = 0; k < N; k++)
        right = right && sum[k] == 10;
    printf(right ? "PASS\n" : "FAIL: %d blocks, %d threads, %d\n", blocks, threads, sum[0]);
    return !right;
}
