// SPDX-License-Identifier: Apache-2.0
// Two launches, or a launch and a copy, that touch the same bytes; with something that orders them, and without. Each case says in a comment what races:
// lines by the letters that mark them, `copy`, `memset`, `allocation` and `free` for what the API does (test_launches.py).
//
//     launches NAME...
#include "../../../check.h"

#include <cuda/atomic>

enum { N = 256 };

__global__ void put(int *x)
{
    x[threadIdx.x + blockIdx.x * blockDim.x] = 7; // A
}
__global__ void take(const int *x, int *out)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    out[i] = x[N - 1 - i]; // B
}
__global__ void add(int *x)
{
    atomicAdd(x, 1); // C
}
__global__ void add_in_block(int *x)
{
    atomicAdd_block(x, 1); // D
}
__global__ void raise(int *x, int *flag)
{
    *x = 1; // E
    __threadfence();
    atomicExch(flag, 1);
}
__global__ void await(int *x, int *flag, int *out)
{
    while (!atomicAdd(flag, 0))
        ;
    __threadfence();
    *out = *x; // F
}
__global__ void nothing()
{
}
// The first launch has one thread that stores, the last one another that loads, too.
__global__ void first_and_last(int *x, int *out, int load)
{
    if (threadIdx.x == 0)
        *x = 1; // P
    else if (threadIdx.x == 32 && load)
        *out = *x; // Q
}
__global__ void with_fences(int *x)
{
    x[threadIdx.x + blockIdx.x * blockDim.x] = 1; // G
    __threadfence();
}
__global__ void slow(int *x)
{
    for (int k = 0; k < 20; k++)
        __nanosleep(2000);
    x[threadIdx.x + blockIdx.x * blockDim.x] = 3; // H
}
__global__ void nothing(int *) {}
__global__ void early(int *x)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    x[threadIdx.x + blockIdx.x * blockDim.x] += 1; // I
}
__global__ void lead(int *x)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
    x[threadIdx.x + blockIdx.x * blockDim.x] = 2; // J
}

struct Setup {
    int *x, *y, *flag, *host;
    cudaStream_t a, b;
    cudaEvent_t event;
};

typedef void Case(Setup &s);

#define TWO(kernel, ...) kernel<<<2, N / 2, 0, __VA_ARGS__>>>

static void launch_early(Setup &s)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(2), config.blockDim = dim3(N / 2), config.stream = s.a;
    config.attrs = &attribute, config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, early, s.x));
}

// A graph of two nodes, the second behind the first if `edge`.
static void launch_graph(Setup &s, bool edge)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t first, second;
    CHECK(cudaGraphCreate(&graph, 0));
    void *put_args[] = {&s.x}, *take_args[] = {&s.x, &s.y};
    cudaKernelNodeParams p = {};
    p.gridDim = dim3(2), p.blockDim = dim3(N / 2);
    p.func = (void *)put, p.kernelParams = put_args;
    CHECK(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &p));
    p.func = (void *)take, p.kernelParams = take_args;
    CHECK(cudaGraphAddKernelNode(&second, graph, edge ? &first : nullptr, edge, &p));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, s.a));
    CHECK(cudaStreamSynchronize(s.a));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

static struct {
    const char *name;
    Case *run;
} cases[] = {
    {"streams", [](Setup &s) { // AB read-write race
         TWO(put, s.a)(s.x);
         TWO(take, s.b)(s.x, s.y);
     }},
    {"one_stream", [](Setup &s) { // clean
         TWO(put, s.a)(s.x);
         TWO(take, s.a)(s.x, s.y);
     }},
    {"event", [](Setup &s) { // clean
         TWO(put, s.a)(s.x);
         CHECK(cudaEventRecord(s.event, s.a));
         CHECK(cudaStreamWaitEvent(s.b, s.event, 0));
         TWO(take, s.b)(s.x, s.y);
     }},
    {"event_too_early", [](Setup &s) { // AB read-write race
         CHECK(cudaEventRecord(s.event, s.a));
         TWO(put, s.a)(s.x);
         CHECK(cudaStreamWaitEvent(s.b, s.event, 0));
         TWO(take, s.b)(s.x, s.y);
     }},
    {"host_waits_for_event", [](Setup &s) { // clean
         TWO(put, s.a)(s.x);
         CHECK(cudaEventRecord(s.event, s.a));
         CHECK(cudaEventSynchronize(s.event));
         TWO(take, s.b)(s.x, s.y);
     }},
    {"host_waits_for_other_stream", [](Setup &s) { // AB read-write race
         TWO(put, s.a)(s.x);
         CHECK(cudaStreamSynchronize(s.b));
         TWO(take, s.b)(s.x, s.y);
     }},
    {"host_waits_for_all", [](Setup &s) { // clean
         TWO(put, s.a)(s.x);
         CHECK(cudaDeviceSynchronize());
         TWO(take, s.b)(s.x, s.y);
     }},
    {"legacy_stream", [](Setup &s) { // clean
         cudaStream_t blocking;
         CHECK(cudaStreamCreate(&blocking));
         TWO(put, blocking)(s.x);
         TWO(take, (cudaStream_t)0)(s.x, s.y);
         CHECK(cudaStreamDestroy(blocking));
     }},
    {"legacy_between", [](Setup &s) { // clean
         cudaStream_t one, other;
         CHECK(cudaStreamCreate(&one));
         CHECK(cudaStreamCreate(&other));
         TWO(put, one)(s.x);
         nothing<<<1, 1>>>(s.x);
         TWO(take, other)(s.x, s.y);
     }},
    {"legacy_and_non_blocking", [](Setup &s) { // AB read-write race
         TWO(put, s.a)(s.x);
         TWO(take, (cudaStream_t)0)(s.x, s.y);
     }},
    {"write_after_read", [](Setup &s) { // AB read-write race
         TWO(take, s.a)(s.x, s.y);
         TWO(put, s.b)(s.x);
     }},
    {"first_still_runs", [](Setup &s) { // AH write-write race
         TWO(slow, s.a)(s.x);
         TWO(put, s.b)(s.x);
     }},
    {"long_ago", [](Setup &s) { // AB read-write race
         TWO(put, s.a)(s.x);
         for (int k = 0; k < 300; k++) // the launch number in a word has 6 bits, the rest stands beside it
             nothing<<<1, 1, 0, s.b>>>(s.x);
         TWO(take, s.b)(s.x, s.y);
     }},
    {"long_ago_and_event", [](Setup &s) { // clean
         TWO(put, s.a)(s.x);
         CHECK(cudaEventRecord(s.event, s.a));
         CHECK(cudaStreamWaitEvent(s.b, s.event, 0));
         for (int k = 0; k < 9000; k++) // more than the tracker remembers, and the host waits for none
             nothing<<<1, 1, 0, k % 2 ? s.a : s.b>>>(s.x);
         CHECK(cudaEventRecord(s.event, s.a));
         CHECK(cudaStreamWaitEvent(s.b, s.event, 0));
         TWO(slow, s.a)(s.y + N); // beside it
         TWO(take, s.b)(s.x, s.y);
     }},
    {"one_of_two_streams", [](Setup &s) { // AB read-write race
         TWO(nothing, s.a)(s.x);
         CHECK(cudaEventRecord(s.event, s.a));
         TWO(put, s.a)(s.x);
         CHECK(cudaStreamWaitEvent(s.b, s.event, 0));
         TWO(take, s.b)(s.x, s.y);
     }},
    {"atomics", [](Setup &s) { // clean
         TWO(add, s.a)(s.x);
         TWO(add, s.b)(s.x);
     }},
    {"narrow_atomics", [](Setup &s) { // DD insufficient scope
         add_in_block<<<1, 32, 0, s.a>>>(s.x);
         add_in_block<<<1, 32, 0, s.b>>>(s.x);
     }},
    {"flag", [](Setup &s) { // clean
         raise<<<1, 1, 0, s.a>>>(s.x, s.flag);
         await<<<1, 1, 0, s.b>>>(s.x, s.flag, s.y);
     }},
    {"flag_of_another_launch", [](Setup &s) { // clean
         TWO(put, s.a)(s.x);
         raise<<<1, 1, 0, s.a>>>(s.y, s.flag);
         await<<<1, 1, 0, s.b>>>(s.x, s.flag, s.y + 1);
     }},
    {"flag_before_launch", [](Setup &s) { // clean
         TWO(put, s.a)(s.x);
         raise<<<1, 1, 0, s.a>>>(s.flag + 1, s.flag);
         await<<<1, 1, 0, s.b>>>(s.flag + 1, s.flag, s.flag + 2);
         TWO(take, s.b)(s.x, s.y);
     }},
    {"fences", [](Setup &s) { // GG same-value write; not by the tracker
         TWO(with_fences, s.a)(s.x);
         TWO(with_fences, s.b)(s.x);
     }},
    {"early_waits", [](Setup &s) { // clean
         TWO(lead, s.a)(s.x);
         launch_early(s);
     }},
    {"copy_in", [](Setup &s) { // B copy read-write race
         CHECK(cudaMemcpyAsync(s.x, s.host, N * sizeof(int), cudaMemcpyHostToDevice, s.a));
         TWO(take, s.b)(s.x, s.y);
     }},
    {"copy_in_event", [](Setup &s) { // clean
         CHECK(cudaMemcpyAsync(s.x, s.host, N * sizeof(int), cudaMemcpyHostToDevice, s.a));
         CHECK(cudaEventRecord(s.event, s.a));
         CHECK(cudaStreamWaitEvent(s.b, s.event, 0));
         TWO(take, s.b)(s.x, s.y);
     }},
    {"copy_out", [](Setup &s) { // A copy read-write race
         TWO(put, s.a)(s.x);
         CHECK(cudaMemcpyAsync(s.host, s.x, N * sizeof(int), cudaMemcpyDeviceToHost, s.b));
     }},
    {"copy_out_first", [](Setup &s) { // A copy read-write race
         CHECK(cudaMemcpyAsync(s.host, s.x, N * sizeof(int), cudaMemcpyDeviceToHost, s.b));
         TWO(put, s.a)(s.x);
     }},
    {"copy_out_same_stream", [](Setup &s) { // clean
         TWO(put, s.a)(s.x);
         CHECK(cudaMemcpyAsync(s.host, s.x, N * sizeof(int), cudaMemcpyDeviceToHost, s.a));
     }},
    {"copy_elsewhere", [](Setup &s) { // clean
         CHECK(cudaMemcpyAsync(s.x + N, s.host, N * sizeof(int), cudaMemcpyHostToDevice, s.a));
         TWO(take, s.b)(s.x, s.y);
     }},
    {"copy_of_columns", [](Setup &s) { // clean
         CHECK(cudaMemcpy2DAsync(s.x + 1, 2 * sizeof(int), s.host, sizeof(int), sizeof(int), 1, cudaMemcpyHostToDevice, s.a));
         CHECK(cudaMemcpy2DAsync(s.x + N, 4 * sizeof(int), s.host, sizeof(int), sizeof(int), N / 4, cudaMemcpyHostToDevice, s.b));
         add<<<1, 1, 0, s.a>>>(s.x + N + 1);
     }},
    {"memset_beside", [](Setup &s) { // A memset write-write race
         CHECK(cudaMemsetAsync(s.x, 0, N * sizeof(int), s.a));
         TWO(put, s.b)(s.x);
     }},
    {"memset_host_waits", [](Setup &s) { // clean
         CHECK(cudaMemsetAsync(s.x, 0, N * sizeof(int), s.a));
         CHECK(cudaStreamSynchronize(s.a));
         TWO(put, s.b)(s.x);
     }},
    {"freed_early", [](Setup &s) { // A free freed while in use
         int *p;
         CHECK(cudaMallocAsync(&p, N * sizeof(int), s.a));
         TWO(put, s.a)(p);
         CHECK(cudaEventRecord(s.event, s.a));
         CHECK(cudaFreeAsync(p, s.b));
     }},
    {"allocated_beside", [](Setup &s) { // A allocation used before its allocation
         int *p;
         CHECK(cudaMallocAsync(&p, N * sizeof(int), s.a));
         TWO(put, s.b)(p);
         CHECK(cudaStreamSynchronize(s.b));
         CHECK(cudaFreeAsync(p, s.a));
     }},
    {"allocated_beside_later", [](Setup &s) { // A allocation used before its allocation
         int *p;
         TWO(put, s.a)(s.x);
         CHECK(cudaMallocAsync(&p, N * sizeof(int), s.a));
         TWO(put, s.b)(p);
         CHECK(cudaStreamSynchronize(s.b));
         CHECK(cudaFreeAsync(p, s.a));
     }},
    {"allocated_by_event", [](Setup &s) { // clean
         int *p;
         CHECK(cudaMallocAsync(&p, N * sizeof(int), s.a));
         CHECK(cudaEventRecord(s.event, s.a));
         CHECK(cudaStreamWaitEvent(s.b, s.event, 0));
         TWO(put, s.b)(p);
         CHECK(cudaFreeAsync(p, s.b));
     }},
    {"allocated_host_waits", [](Setup &s) { // clean
         int *p, *q;
         CHECK(cudaMallocAsync(&p, N * sizeof(int), s.a));
         CHECK(cudaStreamSynchronize(s.a));
         CHECK(cudaMallocAsync(&q, N * sizeof(int), s.a));
         TWO(put, s.b)(p);
         TWO(put, s.a)(q);
         CHECK(cudaFreeAsync(p, s.b));
     }},
    {"freed_behind", [](Setup &s) { // clean
         int *p, *q;
         CHECK(cudaMallocAsync(&p, N * sizeof(int), s.a));
         TWO(put, s.a)(p);
         CHECK(cudaFreeAsync(p, s.a));
         CHECK(cudaMallocAsync(&q, N * sizeof(int), s.b)); // may be the same memory
         TWO(put, s.b)(q);
         CHECK(cudaFreeAsync(q, s.b));
     }},
    {"copied_and_freed", [](Setup &s) { // clean
         int *p, *q;
         CHECK(cudaMallocAsync(&p, N * sizeof(int), s.a));
         CHECK(cudaMemcpyAsync(p, s.host, N * sizeof(int), cudaMemcpyHostToDevice, s.a));
         CHECK(cudaFreeAsync(p, s.a));
         CHECK(cudaStreamSynchronize(s.b));
         CHECK(cudaMallocAsync(&q, N * sizeof(int), s.b)); // likewise
         TWO(put, s.b)(q);
         CHECK(cudaFreeAsync(q, s.b));
     }},
    {"same_place_again", [](Setup &s) { // PQ read-write race
         for (int k = 0; k < 65; k++) { // metadata of the first launch looks like that of the last
             if (k % 64)
                 nothing<<<1, 1, 0, s.a>>>();
             else
                 first_and_last<<<1, 64, 0, s.a>>>(s.x, s.y, k);
             CHECK(cudaGetLastError());
         }
     }},
    {"graph_no_edge", [](Setup &s) { launch_graph(s, false); }}, // AB read-write race
    {"graph_edge", [](Setup &s) { launch_graph(s, true); }},     // clean
    {"captured_branches", [](Setup &s) { // AB read-write race
         cudaGraph_t graph;
         cudaGraphExec_t exec;
         cudaEvent_t fork;
         CHECK(cudaEventCreate(&fork));
         CHECK(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal));
         CHECK(cudaEventRecord(fork, s.a));
         CHECK(cudaStreamWaitEvent(s.b, fork, 0));
         TWO(put, s.a)(s.x);
         TWO(take, s.b)(s.x, s.y);
         CHECK(cudaEventRecord(s.event, s.b));
         CHECK(cudaStreamWaitEvent(s.a, s.event, 0));
         CHECK(cudaStreamEndCapture(s.a, &graph));
         CHECK(cudaGraphInstantiate(&exec, graph, 0));
         CHECK(cudaGraphLaunch(exec, s.a));
     }},
};

int main(int argc, char **argv)
{
    int runs = 0;
    for (int i = 1; i < argc; i++)
        for (auto &c : cases) {
            if (strcmp(argv[i], c.name))
                continue;
            Setup s;
            if (cudaMalloc(&s.x, 2 * N * sizeof(int)) || cudaMalloc(&s.y, 2 * N * sizeof(int)) || cudaMalloc(&s.flag, 256) ||
                cudaMallocHost(&s.host, 2 * N * sizeof(int)) || cudaMemset(s.x, 0, 2 * N * sizeof(int)) || cudaMemset(s.flag, 0, 256) ||
                cudaStreamCreateWithFlags(&s.a, cudaStreamNonBlocking) || cudaStreamCreateWithFlags(&s.b, cudaStreamNonBlocking) ||
                cudaEventCreateWithFlags(&s.event, cudaEventDisableTiming) || cudaDeviceSynchronize())
                return 1;
            c.run(s);
            if (cudaDeviceSynchronize() != cudaSuccess)
                return 1;
            runs++;
        }
    printf("ran %d cases\n", runs);
    return runs < argc - 1 || argc < 2;
}
