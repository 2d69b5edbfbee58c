// SPDX-License-Identifier: Apache-2.0
// Sum, minimum and place of the maximum of an array in eight ways: trees in shared memory with interleaved and sequential
// addressing, unrolled, by shuffles, by redux, by cooperative groups, by atomics, and in one launch whose last block to
// arrive adds up what the others left.
#include "complete.h"
#include <algorithm>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

const int BLOCK = 192; // no power of two
const unsigned BLOCKS = 11;

__device__ int my_sum(const int *x, int n)
{
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i];
    return sum;
}

__global__ void interleaved(const int *x, int n, int *out)
{
    __shared__ int s[BLOCK];
    int t = threadIdx.x;
    s[t] = my_sum(x, n);
    for (int d = 1; d < BLOCK; d *= 2) {
        __syncthreads();
        if (t % (2 * d) == 0 && t + d < BLOCK)
            s[t] += s[t + d];
    }
    if (t == 0)
        atomicAdd(out, s[0]);
}

__global__ void sequential(const int *x, int n, int *out)
{
    __shared__ int s[BLOCK];
    int t = threadIdx.x;
    s[t] = my_sum(x, n);
    __syncthreads();
    for (int left = BLOCK; left > 1;) {
        int half = (left + 1) / 2;
        if (t + half < left)
            s[t] += s[t + half];
        left = half;
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(out, s[0]);
}

template <int Size> __device__ void fold(volatile int *s, int t)
{
    if constexpr (Size > 1) {
        int v = t < Size / 2 ? s[t] + s[t + Size / 2] : 0;
        __syncwarp();
        if (t < Size / 2)
            s[t] = v;
        __syncwarp();
        fold<Size / 2>(s, t);
    }
}

__global__ void unrolled(const int *x, int n, int *out)
{
    __shared__ int s[BLOCK];
    int t = threadIdx.x;
    s[t] = my_sum(x, n);
    __syncthreads();
    if (t < 32) {
        for (int i = t + 32; i < BLOCK; i += 32)
            s[t] += s[i];
        __syncwarp();
        fold<32>(s, t);
        if (t == 0)
            atomicAdd(out, s[0]);
    }
}

__device__ int warp_sum(int v)
{
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(~0u, v, d);
    return v;
}

__global__ void shuffles(const int *x, int n, int *out)
{
    __shared__ int s[BLOCK / 32];
    int v = warp_sum(my_sum(x, n)), t = threadIdx.x;
    if (t % 32 == 0)
        s[t / 32] = v;
    __syncthreads();
    if (t < 32) {
        v = warp_sum(t < BLOCK / 32 ? s[t] : 0);
        if (t == 0)
            atomicAdd(out, v);
    }
}

__global__ void redux(const int *x, int n, int *out)
{
    int v = __reduce_add_sync(~0u, my_sum(x, n));
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, v);
}

__global__ void groups(const int *x, int n, int *out)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int v = cg::reduce(tile, my_sum(x, n), cg::plus<int>());
    if (tile.thread_rank() == 0)
        atomicAdd(out, v);
}

__global__ void atomics(const int *x, int n, int *out)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(out, x[i]);
}

__device__ unsigned arrived;

__global__ void last_block(const int *x, int n, int *parts, int *out)
{
    __shared__ int s[BLOCK / 32];
    __shared__ bool last;
    int v = warp_sum(my_sum(x, n)), t = threadIdx.x;
    if (t % 32 == 0)
        s[t / 32] = v;
    __syncthreads();
    if (t == 0) {
        v = 0;
        for (int part : s)
            v += part;
        parts[blockIdx.x] = v;
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && t < 32) {
        v = 0;
        for (int i = t; i < gridDim.x; i += 32)
            v += parts[i];
        v = warp_sum(v);
        if (t == 0)
            *out = v;
    }
}

struct Best {
    int value, place;
};

__global__ void extremes(const int *x, int n, int *least, unsigned long long *best)
{
    int low = INT_MAX;
    Best top = {INT_MIN, n};
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        low = min(low, x[i]);
        if (x[i] > top.value)
            top = {x[i], i};
    }
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    low = cg::reduce(warp, low, cg::less<int>());
    top = cg::reduce(warp, top, [](Best a, Best b) { return a.value > b.value || (a.value == b.value && a.place < b.place) ? a : b; });
    if (warp.thread_rank() == 0) {
        atomicMin(least, low);
        // The largest value, then the first place: as one number.
        atomicMax(best, (unsigned long long)((unsigned)top.value ^ 0x80000000u) << 32 | (0xffffffffu - (unsigned)top.place));
    }
}

int main()
{
    const int n = 65537;
    Random random(8);
    std::vector<int> x(n);
    int sum = 0;
    for (auto &e : x)
        sum += e = (int)random.below(20000) - 9000;
    int *d = to_device(x), *out = device_new<int>(1), *parts = device_new<int>(BLOCKS);
    typedef void (*Kernel)(const int *, int, int *);
    const struct {
        const char *name;
        Kernel kernel;
    } ways[] = {{"interleaved", interleaved}, {"sequential", sequential}, {"unrolled", unrolled}, {"shuffles", shuffles},
                {"redux", redux},             {"groups", groups},         {"atomics", atomics}};
    for (auto &way : ways) {
        CHECK(cudaMemset(out, 0, sizeof *out));
        way.kernel<<<BLOCKS, BLOCK>>>(d, n, out);
        finish_launches();
        expect_same(way.name, from_device(out), sum);
    }
    for (int again = 0; again < 2; again++) {
        CHECK(cudaMemset(out, 0, sizeof *out));
        last_block<<<BLOCKS, BLOCK>>>(d, n, parts, out);
        finish_launches();
        expect_same("last block", from_device(out), sum);
    }
    unsigned long long *best = device_zeros<unsigned long long>(1);
    CHECK(cudaMemset(out, 0x7f, sizeof *out));
    extremes<<<BLOCKS, BLOCK>>>(d, n, out, best);
    finish_launches();
    expect_same("minimum", from_device(out), *std::min_element(x.begin(), x.end()));
    expect_same("place of the maximum", (int)(0xffffffffu - (unsigned)from_device(best)),
                (int)(std::max_element(x.begin(), x.end()) - x.begin()));
    return finish();
}
