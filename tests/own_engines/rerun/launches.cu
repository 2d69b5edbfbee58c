// SPDX-License-Identifier: Apache-2.0
// Launches of every kind, over memory of every kind, for the engine that runs each launch twice. Each kernel adds to what is there, so
// a second run from other memory than the first one's shows. Prints PASS when the program got what it asked for.
#include "../../check.h"

#include <cooperative_groups.h>
#include <cuda.h>
#include <vector>
namespace cg = cooperative_groups;

static const int blocks = 4, threads = 64, n = blocks * threads;
static const size_t bytes = n * sizeof(int);
static bool failed;

__device__ int variable;

extern "C" __global__ void plain(int *data, char small, int amount)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] += amount + small;
    if (i == 0)
        variable++;
}

extern "C" __global__ void clustered(int *data)
{
    data[blockIdx.x * blockDim.x + threadIdx.x] += (int)cg::this_cluster().block_rank();
}

extern "C" __global__ void cooperative(int *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] += 1;
    cg::this_grid().sync();
    int other = data[n - 1 - i];
    cg::this_grid().sync();
    data[i] += other;
}

extern "C" __global__ void twice(int *to, const int *from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] += 2 * from[i];
}

// Which place a thread gets depends on the order in which the warps come.
extern "C" __global__ void ordered(int *counter, int *data)
{
    data[atomicAdd(counter, 1)] = blockIdx.x * blockDim.x + threadIdx.x;
}

// What it leaves: no two runs begin at the same time.
extern "C" __global__ void timed(long long *when) { *when = clock64(); }

static void expect(const char *what, const int *device, int first, int last)
{
    std::vector<int> host(n);
    CHECK(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDeviceToHost));
    if (host[0] != first || host[n - 1] != last) {
        printf("%s: %d and %d instead of %d and %d\n", what, host[0], host[n - 1], first, last);
        failed = true;
    }
}

static void by_extra(int *data)
{
    typedef CUresult (*Launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                               CUstream, void **, void **);
    Launch launch;
    cudaFunction_t f;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPointByVersion("cuLaunchKernel", (void **)&launch, 4000, cudaEnableDefault, &found));
    CHECK(cudaGetFuncBySymbol(&f, (const void *)plain));
    struct {
        int *data;
        char small;
        int amount;
    } packed = {data, 1, 4};
    size_t size = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    if (launch((CUfunction)f, blocks, 1, 1, threads, 1, 1, 0, nullptr, nullptr, extra) != CUDA_SUCCESS)
        failed = true;
}

static cudaKernelNodeParams node(const void *kernel, void **args)
{
    cudaKernelNodeParams p = {};
    p.func = (void *)kernel;
    p.gridDim = dim3(blocks);
    p.blockDim = dim3(threads);
    p.kernelParams = args;
    return p;
}

static void by_graph(int *a, int *b)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t clear, add, both;
    cudaMemsetParams fill = {};
    fill.dst = a;
    fill.elementSize = 1;
    fill.value = 0;
    fill.width = bytes;
    fill.height = 1;
    char small = 0;
    int five = 5, seven = 7;
    void *args[] = {&a, &small, &five}, *more[] = {&a, &small, &seven}, *two[] = {&b, &a};
    cudaKernelNodeParams p = node((const void *)twice, two);
    CHECK(cudaGraphCreate(&graph, 0));
    // Added in another order than they run.
    CHECK(cudaGraphAddKernelNode(&both, graph, nullptr, 0, &p));
    p = node((const void *)plain, args);
    CHECK(cudaGraphAddKernelNode(&add, graph, nullptr, 0, &p));
    CHECK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &fill));
    cudaGraphNode_t from[] = {clear, add}, to[] = {add, both};
#if CUDART_VERSION >= 13000
    CHECK(cudaGraphAddDependencies(graph, from, to, nullptr, 2));
#else
    CHECK(cudaGraphAddDependencies(graph, from, to, 2));
#endif
    CHECK(cudaMemset(b, 0, bytes));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    expect("graph", b, 20, 20);
    p = node((const void *)plain, more);
    CHECK(cudaGraphExecKernelNodeSetParams(exec, add, &p));
    CHECK(cudaGraphLaunch(exec, 0));
    expect("changed graph", b, 34, 34);
    CHECK(cudaGraphNodeSetEnabled(exec, both, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    expect("graph with a disabled node", b, 34, 34);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

static void by_capture(int *a, int *b)
{
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemset2DAsync(b, 32, 0, 32, bytes / 32, s));
    CHECK(cudaMemcpyAsync(a, b, bytes, cudaMemcpyDeviceToDevice, s));
    plain<<<blocks, threads, 0, s>>>(a, 1, 10);
    twice<<<blocks, threads, 0, s>>>(b, a);
    CHECK(cudaStreamEndCapture(s, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    puts("captured");
    fflush(stdout);
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaStreamSynchronize(s));
    expect("captured", b, 22, 22);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(s));
}

static void over_all_memory()
{
    int *managed, *pinned, *async, *view, *registered = (int *)aligned_alloc(4096, 4096);
    size_t pitch;
    int *pitched;
    CHECK(cudaMallocManaged(&managed, bytes));
    CHECK(cudaMallocHost(&pinned, bytes));
    CHECK(cudaMallocAsync(&async, bytes, 0));
    CHECK(cudaMallocPitch(&pitched, &pitch, 100, 3));
    CHECK(cudaHostRegister(registered, 4096, cudaHostRegisterDefault));
    CHECK(cudaHostGetDevicePointer(&view, registered, 0));
    for (int i = 0; i < n; i++)
        managed[i] = pinned[i] = registered[i] = i;
    CHECK(cudaMemset(async, 0, bytes));
    CHECK(cudaMemset2D(pitched, pitch, 3, 100, 3));
    CHECK(cudaMemcpy2D(async, 16, pitched, pitch, 8, 3, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemset(async, 0, bytes));
    plain<<<blocks, threads>>>(managed, 1, 1);
    plain<<<blocks, threads>>>(pinned, 1, 1);
    plain<<<blocks, threads>>>(async, 1, 1);
    plain<<<blocks, threads>>>(view, 1, 1);
    CHECK(cudaDeviceSynchronize());
    expect("managed", managed, 2, n + 1);
    expect("pinned", pinned, 2, n + 1);
    expect("asynchronous", async, 2, 2);
    expect("registered", view, 2, n + 1);
    CHECK(cudaFreeAsync(async, 0));
    CHECK(cudaFree(managed));
    CHECK(cudaFree(pitched));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaHostUnregister(registered));
    free(registered);
}

int main()
{
    int *a, *b;
    long long *when;
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    CHECK(cudaMalloc(&when, sizeof *when));
    CHECK(cudaMemset(a, 0, bytes));
    plain<<<blocks, threads>>>(a, 1, 2);
    expect("plain", a, 3, 3);

    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, clustered, a));
    expect("clustered", a, 3, 4);

    void *args[] = {&a};
    CHECK(cudaLaunchCooperativeKernel((void *)cooperative, dim3(blocks), dim3(threads), args, 0, nullptr));
    expect("cooperative", a, 9, 9);

    by_extra(a);
    expect("extra", a, 14, 14);
    by_graph(a, b);
    by_capture(a, b);
    over_all_memory();

    int runs = 0;
    CHECK(cudaMemcpyFromSymbol(&runs, variable, sizeof runs));
    if (runs != 11) { // however often each really ran
        printf("plain ran %d times\n", runs);
        failed = true;
    }
    CHECK(cudaMemset(a, 0, bytes));
    ordered<<<blocks, threads>>>(a, b);
    timed<<<1, 1>>>(when);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(when));
    puts(failed ? "FAIL" : "PASS");
    return failed;
}
