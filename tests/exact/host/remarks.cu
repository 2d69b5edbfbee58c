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
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        if ((call) != cudaSuccess) {                                                                         \
            fprintf(stderr, "%s failed\n", #call);                                                           \
            exit(2);                                                                                         \
        }                                                                                                    \
    } while (0)

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

int main(int argc, char **argv) {
    int *memory;
    const char *name = argc > 1 ? argv[1] : "";
    CHECK(cudaMalloc(&memory, 4096));
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
    else
        return 2;
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    return 0;
}
