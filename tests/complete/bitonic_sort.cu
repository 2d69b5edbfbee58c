// SPDX-License-Identifier: Apache-2.0
// Bitonic sort of keys with values: whole stages in shared memory where they fit, one kernel per step where not. The array
// is padded to a power of two with the largest key.
#include "complete.h"
#include <algorithm>

typedef unsigned long long Pair; // key above, value below

const int BLOCK = 128, TILE = 2 * BLOCK;

__device__ void order(Pair &a, Pair &b, bool up)
{
    if ((a > b) == up) {
        Pair t = a;
        a = b;
        b = t;
    }
}

// All stages up to TILE elements.
__global__ void sort_tiles(Pair *data)
{
    __shared__ Pair tile[TILE];
    Pair *mine = data + (size_t)blockIdx.x * TILE;
    int t = threadIdx.x;
    tile[t] = mine[t];
    tile[t + BLOCK] = mine[t + BLOCK];
    for (int size = 2; size <= TILE; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int low = 2 * t - (t & (stride - 1));
            bool up = (((size_t)blockIdx.x * TILE + low) & size) == 0;
            order(tile[low], tile[low + stride], up);
        }
    }
    __syncthreads();
    mine[t] = tile[t];
    mine[t + BLOCK] = tile[t + BLOCK];
}

__global__ void merge_step(Pair *data, unsigned size, unsigned stride)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned low = 2 * t - (t & (stride - 1));
    order(data[low], data[low + stride], (low & size) == 0);
}

__global__ void merge_tiles(Pair *data, unsigned size)
{
    __shared__ Pair tile[TILE];
    Pair *mine = data + (size_t)blockIdx.x * TILE;
    int t = threadIdx.x;
    tile[t] = mine[t];
    tile[t + BLOCK] = mine[t + BLOCK];
    bool up = ((blockIdx.x * TILE) & size) == 0;
    for (int stride = TILE / 2; stride > 0; stride /= 2) {
        __syncthreads();
        int low = 2 * t - (t & (stride - 1));
        order(tile[low], tile[low + stride], up);
    }
    __syncthreads();
    mine[t] = tile[t];
    mine[t + BLOCK] = tile[t + BLOCK];
}

int main()
{
    const unsigned n = 13007;
    unsigned padded = TILE;
    while (padded < n)
        padded *= 2;
    Random random(1);
    std::vector<Pair> input(padded, ~0ull);
    for (unsigned i = 0; i < n; i++)
        input[i] = (Pair)random.below(5000) << 32 | i;
    Pair *data = to_device(input);
    sort_tiles<<<padded / TILE, BLOCK>>>(data);
    for (unsigned size = 2 * TILE; size <= padded; size *= 2) {
        for (unsigned stride = size / 2; stride >= TILE; stride /= 2)
            merge_step<<<padded / TILE, BLOCK>>>(data, size, stride);
        merge_tiles<<<padded / TILE, BLOCK>>>(data, size);
    }
    finish_launches();
    std::sort(input.begin(), input.end());
    expect_same("sorted", from_device(data, padded), input);
    CHECK(cudaFree(data));
    return finish();
}
