// SPDX-License-Identifier: Apache-2.0
// stacks MODE [N]: one call of CUDA of many is wrong. Reports must say from where it was called.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

__global__ void count(int *to, int n, bool atomic) {
    if (threadIdx.x < n) {
        if (atomic)
            atomicAdd(to, 1);
        else
            to[0]++; // race
    }
}
__global__ void nothing(int) {}

#define OUTLINE static __attribute__((noinline))

OUTLINE void pass(int *to, bool atomic) {
    count<<<1, 64>>>(to, 64, atomic); // launch
    asm volatile("");
}
OUTLINE void dig(int *to, int n) {
    if (n)
        dig(to, n - 1);
    else
        pass(to, false);
    asm volatile("");
}
OUTLINE void warm_up(int *to) {
    for (int k = 0; k < 20; k++)
        pass(to, true);
}

namespace {
template <typename T>
struct Refine {
    __attribute__((noinline)) void run(T *to) {
        pass(to, false); // refine
        asm volatile("");
    }
};
} // namespace

OUTLINE void copy_back(int *to, const int *from, cudaStream_t s) {
    cudaMemcpyAsync(to, from, 4, cudaMemcpyDeviceToHost, s); // copy
    asm volatile("");
}
OUTLINE void clear(int *to, cudaStream_t s) {
    cudaMemsetAsync(to, 0, 4, s); // memset
    asm volatile("");
}
OUTLINE int *take(cudaStream_t s) {
    int *p;
    cudaMallocAsync(&p, 256, s); // alloc
    return p;
}
OUTLINE void give_back(int *p, cudaStream_t s) {
    cudaFreeAsync(p, s); // free
    asm volatile("");
}

// N launches from one place, or from 64.
template <int N>
OUTLINE void place() {
    nothing<<<1, 1>>>(N);
    asm volatile("");
}
template <int N>
static void fill(void (**to)()) {
    to[N] = place<N>;
    if constexpr (N > 0)
        fill<N - 1>(to);
}
OUTLINE void deeper(int n) {
    char room[n + 1]; // a frame of another size each time
    memset(room, 0, sizeof room);
    asm volatile("" : : "r"(room) : "memory");
    place<0>();
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    int n = argc > 2 ? atoi(argv[2]) : 0, *to, *host;
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaMallocHost(&host, 4);
    cudaMalloc(&to, 256); // memory
    cudaMemset(to, 0, 256);
    cudaDeviceSynchronize();
    if (!strcmp(mode, "launch")) {
        warm_up(to);
        Refine<int>().run(to); // main
        warm_up(to);
    } else if (!strcmp(mode, "deep")) {
        dig(to, 6);
    } else if (!strcmp(mode, "copy")) {
        count<<<1, 64, 0, a>>>(to, 64, true);
        copy_back(host, to, b); // main copies
    } else if (!strcmp(mode, "memset")) {
        count<<<1, 64, 0, a>>>(to, 64, true);
        clear(to, b); // main clears
    } else if (!strcmp(mode, "alloc")) {
        int *p = take(a); // main takes
        count<<<1, 64, 0, b>>>(p, 64, true);
    } else if (!strcmp(mode, "free")) {
        int *p = take(a);
        cudaStreamSynchronize(a);
        count<<<1, 64, 0, b>>>(p, 64, true);
        give_back(p, a); // main frees
    } else if (!strcmp(mode, "graph")) {
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
        clear(to, a); // main captures
        cudaStreamEndCapture(a, &graph);
        cudaGraphInstantiate(&exec, graph, 0);
        count<<<1, 64, 0, b>>>(to, 64, true);
        cudaGraphLaunch(exec, a);
    } else if (!strcmp(mode, "kernel node")) {
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
        count<<<1, 64, 0, a>>>(to, 64, false); // captured
        cudaStreamEndCapture(a, &graph);
        cudaGraphInstantiate(&exec, graph, 0);
        cudaGraphLaunch(exec, a);
    }
    void (*places[64])();
    fill<63>(places);
    for (int k = 0; k < n; k++) {
        if (!strcmp(mode, "one"))
            place<0>();
        else if (!strcmp(mode, "many"))
            places[k % 64]();
        else if (!strcmp(mode, "deeper"))
            deeper(k % 4000);
        if (k % 1000 == 999)
            cudaDeviceSynchronize();
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
