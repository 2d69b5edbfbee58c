// SPDX-License-Identifier: Apache-2.0
// Stable least-significant-digit radix sort, four bits at a time: counts per block, a scan of all counts, and a scatter in
// which a thread's rank comes from ballots within its warp and sums over the warps before it.
#include "complete.h"
#include <algorithm>

const int BLOCK = 256, WARPS = BLOCK / 32, DIGITS = 16;

__global__ void count_digits(const unsigned *keys, unsigned n, int shift, unsigned *counts)
{
    __shared__ unsigned bins[DIGITS];
    if (threadIdx.x < DIGITS)
        bins[threadIdx.x] = 0;
    __syncthreads();
    unsigned i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[keys[i] >> shift & (DIGITS - 1)], 1);
    __syncthreads();
    if (threadIdx.x < DIGITS)
        counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

// Exclusive scan of any number of elements by one block.
__global__ void scan_counts(unsigned *x, unsigned n)
{
    __shared__ unsigned sums[BLOCK];
    unsigned carry = 0;
    for (unsigned base = 0; base < n; base += BLOCK) {
        unsigned i = base + threadIdx.x, own = i < n ? x[i] : 0;
        sums[threadIdx.x] = own;
        __syncthreads();
        for (int d = 1; d < BLOCK; d *= 2) {
            unsigned add = threadIdx.x >= d ? sums[threadIdx.x - d] : 0;
            __syncthreads();
            sums[threadIdx.x] += add;
            __syncthreads();
        }
        if (i < n)
            x[i] = carry + sums[threadIdx.x] - own;
        carry += sums[BLOCK - 1];
        __syncthreads();
    }
}

__global__ void scatter(const unsigned *keys, const unsigned *values, unsigned n, int shift, const unsigned *offsets,
                        unsigned *keys_out, unsigned *values_out)
{
    __shared__ unsigned warp_counts[WARPS][DIGITS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane < DIGITS)
        warp_counts[warp][lane] = 0;
    __syncwarp();
    unsigned i = blockIdx.x * BLOCK + threadIdx.x, key = 0, digit = 0, rank = 0;
    unsigned here = __ballot_sync(~0u, i < n);
    if (i < n) {
        key = keys[i];
        digit = key >> shift & (DIGITS - 1);
        unsigned peers = here;
        for (int bit = 0; bit < 4; bit++) {
            unsigned with = __ballot_sync(here, digit >> bit & 1);
            peers &= digit >> bit & 1 ? with : ~with;
        }
        rank = __popc(peers & ((1u << lane) - 1));
        if (rank == 0)
            warp_counts[warp][digit] = __popc(peers);
    }
    __syncthreads();
    if (i < n) {
        for (int w = 0; w < warp; w++)
            rank += warp_counts[w][digit];
        unsigned to = offsets[digit * gridDim.x + blockIdx.x] + rank;
        keys_out[to] = key;
        values_out[to] = values[i];
    }
}

int main()
{
    const unsigned n = 20011;
    Random random(2);
    std::vector<unsigned> keys(n), values(n), order(n);
    for (unsigned i = 0; i < n; i++) {
        keys[i] = random.next() >> random.below(24);
        values[i] = order[i] = i;
    }
    unsigned blocks = blocks_for(n, BLOCK);
    unsigned *k[2] = {to_device(keys), device_new<unsigned>(n)}, *v[2] = {to_device(values), device_new<unsigned>(n)};
    unsigned *counts = device_new<unsigned>(blocks * DIGITS);
    int from = 0;
    for (int shift = 0; shift < 32; shift += 4, from ^= 1) {
        count_digits<<<blocks, BLOCK>>>(k[from], n, shift, counts);
        scan_counts<<<1, BLOCK>>>(counts, blocks * DIGITS);
        scatter<<<blocks, BLOCK>>>(k[from], v[from], n, shift, counts, k[!from], v[!from]);
    }
    finish_launches();
    std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
    expect_same("values", from_device(v[from], n), order);
    std::sort(keys.begin(), keys.end());
    expect_same("keys", from_device(k[from], n), keys);
    return finish();
}
