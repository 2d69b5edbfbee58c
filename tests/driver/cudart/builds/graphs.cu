// SPDX-License-Identifier: Apache-2.0
// Graphs: built by hand, captured from streams, launched again and again, changed, cloned, updated. [EM-127]
#include "../../../check.h"

#include <cstring>
#include <vector>

static const int n = 2000, bytes = n * (int)sizeof(int);

__constant__ int offset = 3;
__device__ int result;

__global__ void add(int *data, int amount)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += amount;
}

__global__ void combine(int *out, const int *a, const int *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[i] * b[i] + offset;
    if (i == 0)
        result = out[0];
}

static void CUDART_CB count(void *p) { ++*(int *)p; }

static cudaKernelNodeParams kernel(void *f, void **args)
{
    cudaKernelNodeParams p = {};
    p.func = f;
    p.gridDim = dim3((n + 127) / 128);
    p.blockDim = dim3(128);
    p.kernelParams = args;
    return p;
}

// memset a -> add a --\
//                      combine -> copy to host -> host function
// memset b -> add b --/
static void by_hand()
{
    int *a, *b, *out, three = 3, five = 5, calls = 0;
    std::vector<int> host(n);
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    CHECK(cudaMalloc(&out, bytes));
    cudaGraph_t graph;
    cudaGraphNode_t clear_a, clear_b, add_a, add_b, both, copy, call;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaMemsetParams fill = {};
    fill.dst = a;
    fill.elementSize = 4;
    fill.value = 7;
    fill.width = n;
    fill.height = 1;
    CHECK(cudaGraphAddMemsetNode(&clear_a, graph, nullptr, 0, &fill));
    fill.dst = b;
    fill.value = 1;
    CHECK(cudaGraphAddMemsetNode(&clear_b, graph, nullptr, 0, &fill));
    void *args_a[] = {&a, &three}, *args_b[] = {&b, &five}, *args[] = {&out, &a, &b};
    cudaKernelNodeParams p = kernel((void *)add, args_a);
    CHECK(cudaGraphAddKernelNode(&add_a, graph, &clear_a, 1, &p));
    p = kernel((void *)add, args_b);
    CHECK(cudaGraphAddKernelNode(&add_b, graph, &clear_b, 1, &p));
    cudaGraphNode_t two[] = {add_a, add_b};
    p = kernel((void *)combine, args);
    CHECK(cudaGraphAddKernelNode(&both, graph, two, 2, &p));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &both, 1, host.data(), out, bytes, cudaMemcpyDeviceToHost));
    cudaHostNodeParams h = {count, &calls};
    CHECK(cudaGraphAddHostNode(&call, graph, &copy, 1, &h));
    three = five = 1000; // parameters are taken when the node is added

    size_t nodes = 0, roots = 0, edges = 0, dependents = 1;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    EXPECT_EQ(nodes, 7);
    EXPECT_EQ(roots, 2);
#if CUDART_VERSION >= 13000
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    cudaGraphNode_t next;
    CHECK(cudaGraphNodeGetDependentNodes(both, &next, nullptr, &dependents));
#else
    CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, &edges));
    cudaGraphNode_t next;
    CHECK(cudaGraphNodeGetDependentNodes(both, &next, &dependents));
#endif
    EXPECT_EQ(edges, 6);
    EXPECT_EQ(dependents, 1);
    EXPECT(next == copy);
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(copy, &type));
    EXPECT_EQ(type, cudaGraphNodeTypeMemcpy);
    cudaKernelNodeParams got;
    CHECK(cudaGraphKernelNodeGetParams(add_b, &got));
    EXPECT(got.func == (void *)add);
    EXPECT_EQ(got.gridDim.x, (n + 127) / 128);
    EXPECT_EQ(*(int *)got.kernelParams[1], 5);

    cudaGraphExec_t exec;
    cudaStream_t s;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 5; i++)
        CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    EXPECT_EQ(calls, 5);
    EXPECT_EQ(host[0], 10 * 6 + 3);
    EXPECT_EQ(host[n - 1], 63);
    int on_device = 0;
    CHECK(cudaMemcpyFromSymbol(&on_device, result, sizeof on_device));
    EXPECT_EQ(on_device, 63);

    // Of the executable graph only.
    int ten = 10;
    void *args_c[] = {&b, &ten};
    p = kernel((void *)add, args_c);
    CHECK(cudaGraphExecKernelNodeSetParams(exec, add_b, &p));
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    EXPECT_EQ(host[9], 10 * 11 + 3);
    CHECK(cudaGraphNodeSetEnabled(exec, add_a, 0));
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    EXPECT_EQ(host[9], 7 * 11 + 3);
    CHECK(cudaGraphNodeSetEnabled(exec, add_a, 1));

    // A child, a clone, and an update from a changed graph.
    cudaGraph_t outer, clone, inner;
    cudaGraphNode_t first, second, in_clone;
    CHECK(cudaGraphCreate(&outer, 0));
    CHECK(cudaGraphAddChildGraphNode(&first, outer, nullptr, 0, graph));
    CHECK(cudaGraphAddChildGraphNode(&second, outer, &first, 1, graph));
    CHECK(cudaGraphChildGraphNodeGetGraph(second, &inner));
    CHECK(cudaGraphClone(&clone, graph));
    CHECK(cudaGraphNodeFindInClone(&in_clone, add_b, clone));
    CHECK(cudaGraphKernelNodeSetParams(in_clone, &p));
    cudaGraphExec_t nested;
    CHECK(cudaGraphInstantiate(&nested, outer, 0));
    CHECK(cudaGraphLaunch(nested, s));
    CHECK(cudaStreamSynchronize(s));
    EXPECT_EQ(calls, 9);
    EXPECT_EQ(host[9], 63); // the graph is as it was
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(exec, clone, &info));
    EXPECT_EQ(info.result, cudaGraphExecUpdateSuccess);
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    EXPECT_EQ(host[9], 113);
    CHECK(cudaGraphDestroyNode(in_clone));
    EXPECT_EQ(cudaGraphExecUpdate(exec, clone, &info), cudaErrorGraphExecUpdateFailure);
    EXPECT_EQ(cudaGetLastError(), cudaErrorGraphExecUpdateFailure);
    EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);

    // A circle cannot be instantiated.
#if CUDART_VERSION >= 13000
    CHECK(cudaGraphAddDependencies(graph, &call, &clear_a, nullptr, 1));
#else
    CHECK(cudaGraphAddDependencies(graph, &call, &clear_a, 1));
#endif
    cudaGraphExec_t bad;
    EXPECT_EQ(cudaGraphInstantiate(&bad, graph, 0), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    CHECK(cudaGraphExecDestroy(nested));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(outer));
    CHECK(cudaGraphDestroy(clone));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(s));
}

static cudaGraph_t capture(cudaStream_t s, cudaStream_t other, int *a, int *b, int *out, int *host, int amount)
{
    cudaGraph_t graph;
    cudaEvent_t fork, join;
    cudaStreamCaptureStatus status;
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaStreamIsCapturing(s, &status));
    EXPECT_EQ(status, cudaStreamCaptureStatusActive);
    CHECK(cudaMemsetAsync(a, 0, bytes, s));
    CHECK(cudaEventRecord(fork, s));
    CHECK(cudaStreamWaitEvent(other, fork, 0));
    add<<<(n + 127) / 128, 128, 0, s>>>(a, amount);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(b, host, bytes, cudaMemcpyHostToDevice, other)); // pageable: read when the graph runs
    add<<<(n + 127) / 128, 128, 0, other>>>(b, 1);
    CHECK(cudaEventRecord(join, other));
    CHECK(cudaStreamWaitEvent(s, join, 0));
    combine<<<(n + 127) / 128, 128, 0, s>>>(out, a, b);
    CHECK(cudaMemcpyAsync(host, out, bytes, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamEndCapture(s, &graph));
    CHECK(cudaStreamIsCapturing(other, &status));
    EXPECT_EQ(status, cudaStreamCaptureStatusNone);
    CHECK(cudaEventDestroy(fork));
    CHECK(cudaEventDestroy(join));
    return graph;
}

static void captured()
{
    int *a, *b, *out;
    std::vector<int> host(n, 1);
    cudaStream_t s, other;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    CHECK(cudaMalloc(&out, bytes));
    cudaGraph_t graph = capture(s, other, a, b, out, host.data(), 2);
    EXPECT_EQ(host[0], 1); // nothing was done
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT_EQ(nodes, 6);
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    // Each launch takes what the one before left: x = 2 * (x + 1) + 3.
    int x = 1;
    for (int i = 0; i < 4; i++) {
        CHECK(cudaGraphLaunch(exec, i % 2 ? other : s));
        x = 2 * (x + 1) + 3;
    }
    CHECK(cudaDeviceSynchronize());
    EXPECT_EQ(host[0], x);
    EXPECT_EQ(host[n - 1], x);
    CHECK(cudaGraphDestroy(graph)); // the executable goes on

    cudaGraphExecUpdateResultInfo info;
    graph = capture(s, other, a, b, out, host.data(), 4);
    CHECK(cudaGraphExecUpdate(exec, graph, &info));
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    EXPECT_EQ(host[5], 4 * (x + 1) + 3);
    CHECK(cudaGraphDestroy(graph));

    // Memory of the graph, events that are meant outside.
    int *temporary, calls = 0;
    cudaEvent_t done;
    CHECK(cudaEventCreate(&done));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    EXPECT_EQ(cudaGraphLaunch(exec, s), cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMallocAsync(&temporary, bytes, s));
    CHECK(cudaMemcpyAsync(temporary, out, bytes, cudaMemcpyDeviceToDevice, s));
    add<<<(n + 127) / 128, 128, 0, s>>>(temporary, 1);
    CHECK(cudaMemcpyAsync(out, temporary, bytes, cudaMemcpyDeviceToDevice, s));
    CHECK(cudaFreeAsync(temporary, s));
    CHECK(cudaLaunchHostFunc(s, count, &calls));
    CHECK(cudaEventRecordWithFlags(done, s, cudaEventRecordExternal));
    CHECK(cudaStreamEndCapture(s, &graph));
    cudaGraphExec_t outer;
    CHECK(cudaGraphInstantiate(&outer, graph, 0));
    CHECK(cudaGraphUpload(outer, s));
    CHECK(cudaGraphLaunch(outer, s));
    CHECK(cudaEventSynchronize(done));
    EXPECT_EQ(calls, 1);
    CHECK(cudaStreamSynchronize(s));
    int last = host[5], one = 0;
    CHECK(cudaMemcpy(&one, out + 5, sizeof one, cudaMemcpyDeviceToHost));
    EXPECT_EQ(one, last + 1);
    CHECK(cudaGraphExecDestroy(outer));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

// A forked stream may be destroyed; what it did must come back all the same (so an H200).
static void destroyed_while_captured()
{
    static const cudaError_t end[] = {cudaSuccess, cudaErrorStreamCaptureUnjoined, cudaSuccess,
                                      cudaErrorStreamCaptureUnjoined, cudaSuccess};
    int *a;
    CHECK(cudaMalloc(&a, bytes));
    for (int how = 0; how < 5; how++) {
        cudaStream_t s, other, idle;
        cudaEvent_t fork, join;
        cudaGraph_t graph = nullptr;
        cudaStreamCaptureStatus status;
        CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
        CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
        CHECK(cudaStreamCreateWithFlags(&idle, cudaStreamNonBlocking));
        CHECK(cudaEventCreate(&fork));
        CHECK(cudaEventCreate(&join));
        CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
        CHECK(cudaEventRecord(fork, s));
        CHECK(cudaStreamWaitEvent(other, fork, 0));
        CHECK(cudaStreamWaitEvent(idle, fork, 0));
        add<<<1, 32, 0, s>>>(a, 1);
        add<<<1, 32, 0, other>>>(a, 1);
        if (how != 1)
            CHECK(cudaEventRecord(join, other));
        if (how == 2) // joins after it is gone
            CHECK(cudaStreamDestroy(other));
        if (how != 1)
            CHECK(cudaStreamWaitEvent(s, join, 0));
        if (how == 3)
            add<<<1, 32, 0, other>>>(a, 1);
        if (how != 2)
            CHECK(cudaStreamDestroy(other));
        if (how == 4) {
            CHECK(cudaEventDestroy(fork));
            CHECK(cudaEventDestroy(join));
        }
        CHECK(cudaStreamDestroy(idle));
        CHECK(cudaStreamIsCapturing(s, &status));
        EXPECT_EQ(status, cudaStreamCaptureStatusActive);
        EXPECT_EQ(cudaStreamEndCapture(s, &graph), end[how]);
        if (graph) {
            size_t nodes = 0;
            CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
            EXPECT_EQ(nodes, 2);
            CHECK(cudaGraphDestroy(graph));
        }
        cudaGetLastError();
        CHECK(cudaStreamDestroy(s));
    }
    CHECK(cudaFree(a));
}

static void what_a_capture_forbids()
{
    cudaStream_t s, other;
    cudaGraph_t graph;
    cudaEvent_t e;
    int *a;
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamCreate(&other));
    CHECK(cudaEventCreate(&e));
    EXPECT_EQ(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(cudaStreamEndCapture(s, &graph), cudaErrorIllegalState);

    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    EXPECT_EQ(cudaStreamSynchronize(s), cudaErrorStreamCaptureUnsupported);
    EXPECT_EQ(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT(graph == nullptr);

    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    CHECK(cudaEventRecord(e, s));
    EXPECT_EQ(cudaEventQuery(e), cudaErrorCapturedEvent);
    EXPECT_EQ(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);

    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    EXPECT_EQ(cudaMemset(a, 0, bytes), cudaErrorStreamCaptureImplicit); // the legacy stream waits for s
    EXPECT_EQ(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);

    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    CHECK(cudaEventRecord(e, s));
    CHECK(cudaStreamWaitEvent(other, e, 0));
    CHECK(cudaMemsetAsync(a, 0, bytes, other));
    EXPECT_EQ(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureUnmatched);
    EXPECT_EQ(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);

    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    CHECK(cudaEventRecord(e, s));
    CHECK(cudaStreamWaitEvent(other, e, 0));
    CHECK(cudaMemsetAsync(a, 0, bytes, other));
    EXPECT_EQ(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureUnjoined);
    cudaGetLastError();
    CHECK(cudaMemset(a, 0, bytes));
    CHECK(cudaDeviceSynchronize());
}

int main()
{
    by_hand();
    captured();
    destroyed_while_captured();
    what_a_capture_forbids();
    return finish();
}
