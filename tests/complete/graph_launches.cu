// SPDX-License-Identifier: Apache-2.0
// CUDA graphs: a diamond of kernels built by hand, with a copy, a memset and a host function, launched again with other
// parameters; and an iteration captured from two streams, replayed many times.
#include "complete.h"

__global__ void scale(const int *in, int *out, int n, int factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * factor;
}

__global__ void add(const int *a, const int *b, int *out, int *total, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = a[i] + b[i];
    atomicAdd(total, out[i]);
}

__global__ void smooth(const float *in, float *out, int from, int to, int n)
{
    int i = from + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < to)
        out[i] = (in[(i + n - 1) % n] + in[i] + in[(i + 1) % n]) / 3;
}

static void CUDART_CB count_call(void *data)
{
    ++*(int *)data;
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, std::vector<cudaGraphNode_t> after, void *kernel, int n, void **arguments)
{
    cudaGraphNode_t node;
    cudaKernelNodeParams p = {};
    p.func = kernel;
    p.gridDim = blocks_for(n, 96);
    p.blockDim = 96;
    p.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &p));
    return node;
}

int main()
{
    int n = 1003, three = 3, seven = 7, calls = 0;
    Random random(58);
    std::vector<int> x(n), want(n), got(n);
    int *a = device_new<int>(n), *b = device_new<int>(n), *c = device_new<int>(n), *out = device_new<int>(n), *total = device_new<int>(1);
    cudaStream_t stream, other;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&other));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t copy, clear, back, host;
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, a, x.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    cudaMemsetParams set = {};
    set.dst = total;
    set.elementSize = 4;
    set.width = 1;
    set.height = 1;
    CHECK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &set));
    void *left_arguments[] = {&a, &b, &n, &three}, *right_arguments[] = {&a, &c, &n, &seven}, *add_arguments[] = {&b, &c, &out, &total, &n};
    cudaGraphNode_t left = add_kernel(graph, {copy}, (void *)scale, n, left_arguments);
    cudaGraphNode_t right = add_kernel(graph, {copy}, (void *)scale, n, right_arguments);
    cudaGraphNode_t sum = add_kernel(graph, {left, right, clear}, (void *)add, n, add_arguments);
    CHECK(cudaGraphAddMemcpyNode1D(&back, graph, &sum, 1, got.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost));
    cudaHostNodeParams call = {count_call, &calls};
    CHECK(cudaGraphAddHostNode(&host, graph, &back, 1, &call));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 4; round++) {
        int sum_want = 0, factor = round < 2 ? 3 : round;
        if (round == 2 || round == 3) { // another factor for one kernel
            void *arguments[] = {&a, &b, &n, &factor};
            cudaKernelNodeParams p = {};
            p.func = (void *)scale;
            p.gridDim = blocks_for(n, 96);
            p.blockDim = 96;
            p.kernelParams = arguments;
            CHECK(cudaGraphExecKernelNodeSetParams(exec, left, &p));
        }
        for (int i = 0; i < n; i++) {
            x[i] = (int)random.below(1000);
            sum_want += want[i] = x[i] * (factor + 7);
        }
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        expect_same("diamond", got, want);
        expect_same("total", from_device(total), sum_want);
        expect_same("calls", calls, round + 1);
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));

    const int m = 777, iterations = 10;
    std::vector<float> f(m), next(m);
    for (auto &e : f)
        e = random.uniform();
    float *d[2] = {to_device(f), device_new<float>(m)};
    cudaEvent_t fork, join;
    CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int half = 0; half < 2; half++) { // two steps, each in two halves side by side
        CHECK(cudaEventRecord(fork, stream));
        CHECK(cudaStreamWaitEvent(other, fork, 0));
        smooth<<<5, 96, 0, stream>>>(d[half], d[!half], 0, m / 2, m);
        smooth<<<5, 96, 0, other>>>(d[half], d[!half], m / 2, m, m);
        CHECK(cudaEventRecord(join, other));
        CHECK(cudaStreamWaitEvent(stream, join, 0));
    }
    CHECK(cudaStreamEndCapture(stream, &graph));
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    expect_same("nodes", nodes, (size_t)4);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < iterations; i++)
        CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < 2 * iterations; i++) {
        for (int k = 0; k < m; k++)
            next[k] = (f[(k + m - 1) % m] + f[k] + f[(k + 1) % m]) / 3;
        f.swap(next);
    }
    expect_near("captured", from_device(d[0], m), f, 1e-5);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    return finish();
}
