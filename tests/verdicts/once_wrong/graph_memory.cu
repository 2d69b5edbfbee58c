// SPDX-License-Identifier: Apache-2.0
// Memory of a graph is there from its allocation node to what frees it: a free node, cudaFreeAsync, another graph, or the next launch
// of a graph that was instantiated with cudaGraphInstantiateFlagAutoFreeOnLaunch. Even numbers: some use is not in between. Odd numbers: all are. (With
// some seeds a use comes so late that it faults.)
// expect: exact -- 0 => races class "used before its allocation" seed 1 half
// expect: exact -- 2 => races class "used before its allocation" soak half
// expect: exact -- 4 => races class "freed while in use" says "free node of a graph" soak
// expect: exact -- 6 => races class "freed while in use" soak
// expect: exact -- 8 => inconclusive says "that was freed"
// expect: exact -- 1 => clean soak
// expect: exact -- 3 => clean
// expect: exact -- 5 => clean soak
// expect: exact -- 7 => clean soak
// expect: tracker,collider,collider+exact,privatizer -- 3 => silent soak
// expect: tracker,collider,collider+exact,privatizer -- 5 => silent soak
#include "../../check.h"
__global__ void add(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
__global__ void other(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }
enum { N = 256 };

static cudaGraphNode_t kernel(cudaGraph_t g, const cudaGraphNode_t *after, size_t n, void *f, int *p) {
    cudaGraphNode_t node;
    cudaKernelNodeParams k = {};
    void *args[] = {&p};
    k.func = f;
    k.gridDim = dim3(2);
    k.blockDim = dim3(N / 2);
    k.kernelParams = args;
    CHECK(cudaGraphAddKernelNode(&node, g, after, n, &k));
    return node;
}

static int *allocate(cudaGraph_t g, cudaGraphNode_t *node, const cudaGraphNode_t *after, size_t n) {
    cudaMemAllocNodeParams p = {};
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location.type = cudaMemLocationTypeDevice;
    p.bytesize = N * 4;
    CHECK(cudaGraphAddMemAllocNode(node, g, after, n, &p));
    return (int *)p.dptr;
}

static cudaGraphExec_t exec_of(cudaGraph_t g, unsigned flags = 0) {
    cudaGraphExec_t e;
    CHECK(cudaGraphInstantiate(&e, g, flags));
    return e;
}

int main(int argc, char **argv) {
    int how = argc > 1 ? atoi(argv[1]) : 0;
    int *own;
    cudaStream_t s, t;
    cudaEvent_t e;
    cudaGraph_t g, h;
    cudaGraphNode_t root, alloc, use, node;
    CHECK(cudaMalloc(&own, N * 4));
    CHECK(cudaMemset(own, 0, N * 4));
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&e));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphCreate(&g, 0));
    if (how <= 1) { // the kernel comes after the root, and in 1 after the allocation
        root = kernel(g, nullptr, 0, (void *)other, own);
        int *p = allocate(g, &alloc, &root, 1);
        use = kernel(g, how ? &alloc : &root, 1, (void *)add, p);
        cudaGraphNode_t both[] = {alloc, use};
        CHECK(cudaGraphAddMemFreeNode(&node, g, both, 2, p));
        cudaGraphExec_t x = exec_of(g);
        for (int k = 0; k < 2; k++)
            CHECK(cudaGraphLaunch(x, s));
    } else if (how <= 3) { // captured: the second stream forks before the allocation, or after it
        int *p;
        CHECK(cudaGraphDestroy(g));
        CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
        other<<<2, N / 2, 0, s>>>(own);
        if (how == 2)
            CHECK(cudaEventRecord(e, s));
        CHECK(cudaMallocAsync(&p, N * 4, s));
        if (how == 3)
            CHECK(cudaEventRecord(e, s));
        CHECK(cudaStreamWaitEvent(t, e, 0));
        add<<<2, N / 2, 0, t>>>(p);
        CHECK(cudaEventRecord(e, t));
        CHECK(cudaStreamWaitEvent(s, e, 0));
        CHECK(cudaFreeAsync(p, s));
        CHECK(cudaStreamEndCapture(s, &g));
        cudaGraphExec_t x = exec_of(g);
        for (int k = 0; k < 2; k++)
            CHECK(cudaGraphLaunch(x, s));
    } else if (how <= 5) { // another graph frees it, in another stream
        int *p = allocate(g, &alloc, nullptr, 0);
        use = kernel(g, &alloc, 1, (void *)add, p);
        CHECK(cudaGraphCreate(&h, 0));
        CHECK(cudaGraphAddMemFreeNode(&node, h, nullptr, 0, p));
        cudaGraphExec_t x = exec_of(g), y = exec_of(h);
        for (int k = 0; k < 2; k++) {
            CHECK(cudaGraphLaunch(x, s));
            add<<<2, N / 2, 0, s>>>(p);
            if (how == 5) {
                CHECK(cudaEventRecord(e, s));
                CHECK(cudaStreamWaitEvent(t, e, 0));
            }
            CHECK(cudaGraphLaunch(y, t));
            CHECK(cudaEventRecord(e, t));
            CHECK(cudaStreamWaitEvent(s, e, 0));
        }
    } else if (how <= 7) { // the next launch frees it, and the kernel in the other stream comes before that in 7
        int *p = allocate(g, &alloc, nullptr, 0);
        use = kernel(g, &alloc, 1, (void *)add, p);
        cudaGraphExec_t x = exec_of(g, cudaGraphInstantiateFlagAutoFreeOnLaunch);
        for (int k = 0; k < 3; k++) {
            CHECK(cudaGraphLaunch(x, s));
            CHECK(cudaEventRecord(e, s));
            CHECK(cudaStreamWaitEvent(t, e, 0));
            add<<<2, N / 2, 0, t>>>(p);
            if (how == 7) {
                CHECK(cudaEventRecord(e, t));
                CHECK(cudaStreamWaitEvent(s, e, 0));
            }
        }
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaFree(p));
    } else { // it is used behind its free node
        int *p = allocate(g, &alloc, nullptr, 0);
        CHECK(cudaGraphAddMemFreeNode(&node, g, &alloc, 1, p));
        use = kernel(g, &node, 1, (void *)add, p);
        CHECK(cudaGraphLaunch(exec_of(g), s));
    }
    CHECK(cudaDeviceSynchronize());
    printf("ok\n");
}
