// SPDX-License-Identifier: Apache-2.0
// selection KERNEL...: launches kernels by name, one after the other. For test_selection.py, which chooses what is checked.
#include "header.h"

#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

void launch_part(int *p); // part.cu, in which there is machine code only

namespace app {
template <typename T> __global__ void adds(T *p)
{
    for (int i = 0; i < 64; i++)
        p[0] = p[0] + (T)threadIdx.x; // RACE
}
} // namespace app

__global__ void in_header(int *p) { bump(p); }

// Each thread writes its own place here, and reads its neighbour's in the header.
__global__ void two_files(int *p)
{
    int t = (int)threadIdx.x;
    for (int i = 0; i < 64; i++) {
        p[t] = t + i; // WRITE
        p[128 + t] = peek(p, t ^ 1);
    }
}

// What orders the two accesses to p[1] stands in the header.
__global__ void ordered(int *p)
{
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        p[1] = 7; // GIVEN
        give(p);
    } else if (threadIdx.x == 0) {
        take(p);
        p[2] = p[1]; // TAKEN
    }
}

__device__ __noinline__ void step(int *p)
{
    for (int i = 0; i < 64; i++)
        p[0] = p[0] + (int)threadIdx.x; // RACE IN FUNCTION
}

__global__ void caller_a(int *p) { step(p); }
__global__ void caller_b(int *p) { step(p); }

// A function of two kernels. In the second one a barrier keeps apart what the threads do there.
__device__ __noinline__ void put(int *p, int i, int v) { p[i] = v; }

__global__ void puts_once(int *p) { put(p, (int)threadIdx.x, 1); }
__global__ void puts_twice(int *p)
{
    put(p, (int)threadIdx.x, 1);
    __syncthreads();
    put(p, 63 - (int)threadIdx.x, 2);
}

// Whoever has seen the store is ordered behind it. The look that sees it stands in the header.
__global__ void seen(int *p)
{
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        Flag(p[1]).store(1, cuda::memory_order_relaxed); // STORED
    } else if (threadIdx.x == 0) {
        look(p + 1);
        p[2] = p[1]; // BEHIND
    }
}

// Plain accesses, each on a line of its own, that do not race.
__global__ void many(int *p)
{
    int t = (int)threadIdx.x;
    p[t] += 1;
    __syncwarp();
    p[t] *= 3;
    __syncwarp();
    p[t] ^= 5;
    __syncwarp();
    p[t] -= 2;
}

// A plain access, and an atomic one.
__global__ void mixed(int *p)
{
    if (threadIdx.x == 0)
        p[3] = 1; // PLAIN
    else if (threadIdx.x == 40)
        atomicAdd(p + 3, 1); // ATOMIC
}

// What the second block reads at last the first one has changed long ago, mostly.
__global__ void rare(int *p)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0)
        atomicAdd(p + 5, 1); // EARLY
    else {
        for (int i = 0; i < 40; i++)
            p[64 + i] = i;
        p[6] = p[5]; // RARE
    }
}

int main(int argc, char **argv)
{
    int *p;
    if (cudaMalloc(&p, 1024) != cudaSuccess)
        return 11;
    for (int i = 1; i < argc; i++) {
        cudaMemset(p, 0, 1024);
#define LAUNCH(name, grid, ...)                                                                              \
    if (!strcmp(argv[i], #name))                                                                             \
        __VA_ARGS__<<<grid, 64>>>(p);
        LAUNCH(adds, 1, app::adds<int>)
        LAUNCH(in_header, 1, in_header)
        LAUNCH(two_files, 1, two_files)
        LAUNCH(ordered, 2, ordered)
        LAUNCH(puts_once, 1, puts_once)
        LAUNCH(puts_twice, 1, puts_twice)
        LAUNCH(seen, 2, seen)
        LAUNCH(mixed, 1, mixed)
        LAUNCH(rare, 2, rare)
        LAUNCH(caller_a, 1, caller_a)
        LAUNCH(caller_b, 1, caller_b)
        LAUNCH(many, 1, many)
        if (!strcmp(argv[i], "part"))
            launch_part(p);
        cudaError_t e = cudaDeviceSynchronize();
        printf("%s: %s\n", argv[i], cudaGetErrorName(e == cudaSuccess ? cudaGetLastError() : e));
    }
    return 0;
}
