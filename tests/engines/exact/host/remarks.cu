// SPDX-License-Identifier: Apache-2.0
// What is no race and worth a remark: ./remarks CASE race|fixed. cases.py says what the labels mean.
//
// SEEDS 1
// REMARK short_block: 1 shuffle took values from lanes that do not execute it
// REMARK short_block: remarks.cu:line short_block
// REMARK apart: remarks.cu:line apart
// REMARK partial_warp: 1 shuffle took
// CLEAN whole_warp
// CLEAN tiles
// REMARK dekker: remarks.cu:line dekker_store then
// REMARK dekker: with no fence.sc between
// REMARK half_fenced: with no fence.sc between
// REMARK shared_dekker: with no fence.sc between
// CLEAN fenced
// CLEAN message
// CLEAN ping_pong
// CLEAN grid_barrier
// CLEAN spin_lock
#include "../../../check.h"

#include <cooperative_groups.h>

// ---- Shuffles from lanes that are not there --------------------------------------------------------------------------

__global__ void short_block(int *out) {
    out[threadIdx.x] = __shfl_down_sync(0xffffffff, (int)threadIdx.x + 1, 8); // WHERE short_block
}

__global__ void apart(int *out) {
    int v = threadIdx.x;
    if (threadIdx.x < 16)
        v = __shfl_xor_sync(0x0000ffff, v, 16); // WHERE apart
    out[threadIdx.x] = v;
}

static __device__ int sum(int v) {
    for (int d = 16; d; d /= 2)
        v += __shfl_down_sync(0xffffffff, v, d);
    return v;
}

__global__ void sums(int *out) {
    int v = sum(threadIdx.x);
    if (threadIdx.x % 32 == 0)
        out[threadIdx.x / 32] = v;
}

__global__ void tiles(int *out) {
    namespace cg = cooperative_groups;
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int v = threadIdx.x;
    for (int d = 8; d; d /= 2)
        v += tile.shfl_down(v, d);
    out[threadIdx.x] = v;
}

// ---- Stores and loads crosswise --------------------------------------------------------------------------------------

static __device__ void put(int *p, int v) {
    asm volatile("st.relaxed.gpu.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); // WHERE dekker_store
}

static __device__ int get(int *p) {
    int v;
    asm volatile("ld.relaxed.gpu.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

// Pairs of blocks; of each pair the first that comes enters.
__global__ void dekker(int *flags, int *data, int fences) {
    int me = blockIdx.x;
    put(&flags[me], 1);
    if (fences == 2 || fences == 1 + me % 2)
        __threadfence();
    if (get(&flags[me ^ 1]) == 0)
        data[me / 2]++;
}

__global__ void shared_dekker(int *out) {
    __shared__ int flags[2];
    int me = threadIdx.x / 32;
    if (threadIdx.x < 2)
        flags[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        *(volatile int *)&flags[me] = 1;
        if (*(volatile int *)&flags[1 - me] == 0)
            out[blockIdx.x]++;
    }
}

__global__ void message(int *flag, int *data) {
    if (blockIdx.x == 0) {
        data[0] = 5;
        __threadfence();
        put(flag, 1);
    } else {
        while (!get(flag))
            ;
        __threadfence();
        data[1] = data[0];
    }
}

__global__ void ping_pong(int *flag) {
    for (int k = 1; k < 20; k++)
        if (blockIdx.x == 0) {
            put(&flag[0], k);
            while (get(&flag[1]) != k)
                ;
        } else {
            while (get(&flag[0]) != k)
                ;
            put(&flag[1], k);
        }
}

__global__ void grid_barrier(int *arrived, int *generation, int *data) {
    for (int k = 0; k < 5; k++) {
        data[blockIdx.x * 5 + k] = k;
        __syncthreads();
        if (threadIdx.x == 0) {
            int now = get(generation);
            __threadfence();
            if (atomicAdd(arrived, 1) == (int)gridDim.x - 1) {
                put(arrived, 0);
                __threadfence();
                put(generation, now + 1);
            } else
                while (get(generation) == now)
                    ;
            __threadfence();
        }
        __syncthreads();
    }
}

__global__ void spin_lock(int *lock, int *data) {
    for (int k = 0; k < 5; k++) {
        while (atomicCAS(lock, 0, 1))
            ;
        __threadfence();
        data[0]++;
        __threadfence();
        put(lock, 0);
        if (get(&lock[1]))
            break;
    }
}

int main(int argc, char **argv) {
    int *memory;
    const char *name = argc > 1 ? argv[1] : "";
    CHECK(cudaMalloc(&memory, 4096));
    CHECK(cudaMemset(memory, 0, 4096));
    int *more = memory + 512;
    if (!strcmp(name, "short_block"))
        short_block<<<1, 16>>>(memory);
    else if (!strcmp(name, "apart"))
        apart<<<1, 32>>>(memory);
    else if (!strcmp(name, "partial_warp"))
        sums<<<1, 48>>>(memory);
    else if (!strcmp(name, "whole_warp"))
        sums<<<1, 64>>>(memory);
    else if (!strcmp(name, "tiles"))
        tiles<<<1, 48>>>(memory);
    else if (!strcmp(name, "dekker"))
        dekker<<<32, 1>>>(memory, more, 3);
    else if (!strcmp(name, "half_fenced"))
        dekker<<<32, 1>>>(memory, more, 1);
    else if (!strcmp(name, "fenced"))
        dekker<<<32, 1>>>(memory, more, 2);
    else if (!strcmp(name, "shared_dekker"))
        shared_dekker<<<32, 64>>>(memory);
    else if (!strcmp(name, "message"))
        message<<<2, 1>>>(memory, more);
    else if (!strcmp(name, "ping_pong"))
        ping_pong<<<2, 1>>>(memory);
    else if (!strcmp(name, "grid_barrier"))
        grid_barrier<<<8, 1>>>(memory, memory + 1, more);
    else if (!strcmp(name, "spin_lock"))
        spin_lock<<<8, 1>>>(memory, more);
    else
        return 2;
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    return 0;
}
