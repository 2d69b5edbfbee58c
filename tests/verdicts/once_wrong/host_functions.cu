// SPDX-License-Identifier: Apache-2.0
// Two kernels in two streams store to the same words, and a host function comes behind the first one. It runs on a thread of the driver's:
// only what it tells the program's thread can order the second kernel behind it.
//
//     host_functions KIND ORDER
//
// KIND is how it comes into the stream. ORDER: `none`; `stream` (cudaStreamSynchronize), `event` (cudaStreamWaitEvent), `condition` (a
// condition variable); `flag`, a std::atomic that the host polls, which nobody sees; `flag_other`: the same, and then the host waits for a
// third kernel, which is no order either.
//
// With `none` it is a race when the second call began before the host function did, else a remark. The tracker makes no remark.
//
// expect: exact -- function none => races only "write-write race" marked or "different host threads would race"
// expect: exact -- callback none => races only "write-write race" marked or "different host threads would race"
// expect: exact -- driver none => races only "write-write race" marked or "different host threads would race"
// expect: exact -- graph none => races only "write-write race" marked or "different host threads would race"
// expect: exact -- capture none => races only "write-write race" marked or "different host threads would race"
// expect: exact -- function flag => clean says "1 pair of accesses by the work of different host threads would race"
// expect: exact -- callback flag => clean says "1 pair of accesses by the work of different host threads would race" soak
// expect: exact -- driver flag => clean says "1 pair of accesses by the work of different host threads would race" soak
// expect: exact -- graph flag => clean says "1 pair of accesses by the work of different host threads would race"
// expect: exact -- capture flag => clean says "1 pair of accesses by the work of different host threads would race" soak
// expect: exact -- function flag_other => clean says "1 pair of accesses by the work of different host threads would race"
// expect: exact -- graph flag_other => clean says "1 pair of accesses by the work of different host threads would race" soak
// expect: exact -- function stream => clean lacks "different host threads"
// expect: exact -- callback stream => clean lacks "different host threads" soak
// expect: exact -- graph stream => clean lacks "different host threads" soak
// expect: exact -- function event => clean lacks "different host threads"
// expect: exact -- callback event => clean lacks "different host threads" soak
// expect: exact -- graph event => clean lacks "different host threads" soak
// expect: exact -- function condition => clean lacks "different host threads"
// expect: exact -- callback condition => clean lacks "different host threads" soak
// expect: exact -- graph condition => clean lacks "different host threads" soak
// expect: tracker --seed 9 -- function none => races only "write-write race" marked
// expect: tracker --seed 12 -- function none => races only "write-write race" marked
// expect: tracker -- function stream => clean
// expect: tracker -- function flag => clean
// expect: tracker -- graph condition => clean soak
#include "../../check.h"

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <cuda.h>
#include <mutex>

__global__ void store(int *a, int v) { a[threadIdx.x] = v; } //@R

static std::atomic<int> flag{0};
static bool told;
static std::mutex guard;
static std::condition_variable changed;
static cudaStream_t s, t;

static void host_function(void *)
{
    flag = 1;
    std::lock_guard<std::mutex> hold(guard);
    told = true;
    changed.notify_one();
}

static void callback(cudaStream_t, cudaError_t, void *) { host_function(nullptr); }

static void launch_by_driver()
{
    void *f = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPoint("cuLaunchHostFunc", &f, cudaEnableDefault, &found));
    ((CUresult(*)(CUstream, CUhostFn, void *))f)(s, host_function, nullptr);
}

static void launch_graph(cudaGraph_t graph)
{
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, s));
}

// The kernel and the host function, in stream s.
static void submit(const char *kind, int *a)
{
    cudaGraph_t graph;
    if (!strcmp(kind, "graph")) {
        int one = 1;
        void *params[] = {&a, &one};
        cudaKernelNodeParams k = {};
        k.func = (void *)store;
        k.gridDim = 1;
        k.blockDim = 32;
        k.kernelParams = params;
        cudaHostNodeParams h = {host_function, nullptr};
        cudaGraphNode_t first, second;
        CHECK(cudaGraphCreate(&graph, 0));
        CHECK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &k));
        CHECK(cudaGraphAddHostNode(&second, graph, &first, 1, &h));
        launch_graph(graph);
        return;
    }
    if (!strcmp(kind, "capture"))
        CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    store<<<1, 32, 0, s>>>(a, 1);
    if (!strcmp(kind, "callback"))
        CHECK(cudaStreamAddCallback(s, callback, nullptr, 0));
    else if (!strcmp(kind, "driver"))
        launch_by_driver();
    else
        CHECK(cudaLaunchHostFunc(s, host_function, nullptr));
    if (!strcmp(kind, "capture")) {
        CHECK(cudaStreamEndCapture(s, &graph));
        launch_graph(graph);
    }
}

static void put_in_order(const char *order, int *other)
{
    cudaEvent_t e;
    if (!strcmp(order, "stream")) {
        CHECK(cudaStreamSynchronize(s));
    } else if (!strcmp(order, "event")) {
        CHECK(cudaEventCreate(&e));
        CHECK(cudaEventRecord(e, s));
        CHECK(cudaStreamWaitEvent(t, e, 0));
    } else if (!strcmp(order, "condition")) {
        std::unique_lock<std::mutex> hold(guard);
        changed.wait(hold, [] { return told; });
    } else if (strcmp(order, "none")) {
        while (!flag)
            ;
    }
    if (!strcmp(order, "flag_other")) {
        store<<<1, 32, 0, t>>>(other, 3);
        CHECK(cudaStreamSynchronize(t));
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 3;
    int *a;
    CHECK(cudaMalloc(&a, 256));
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    submit(argv[1], a);
    put_in_order(argv[2], a + 32);
    store<<<1, 32, 0, t>>>(a, 2);
    CHECK(cudaDeviceSynchronize());
}
