// SPDX-License-Identifier: Apache-2.0
// Votes, matches and shuffles with masks: stream compaction by ballots, aggregation of equal keys, a bitonic sort of 32 keys in
// registers, transposition of bits and of 8 x 4 registers, lanes that leave early, prefix minima of unequal segments, and a warp that
// takes itself for together after a uniform exit, with a block whose last warp is short.
#include "complete.h"
#include <algorithm>
#include <cooperative_groups.h>

__device__ unsigned lanes_below()
{
    unsigned m;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(m));
    return m;
}

__global__ void compact(const int *in, int n, int *out, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i < n ? in[i] : 0;
    unsigned keep = __ballot_sync(~0u, x % 3 == 1);
    int base = 0, leader = __ffs(keep) - 1;
    if (keep && threadIdx.x % 32 == leader)
        base = atomicAdd(count, __popc(keep));
    if (!keep)
        return;
    base = __shfl_sync(~0u, base, leader);
    if (x % 3 == 1)
        out[base + __popc(keep & lanes_below())] = x;
}

__global__ void aggregate(const int *keys, int n, int *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned here = __activemask(), peers = __match_any_sync(here, keys[i]);
    int sum = __reduce_add_sync(peers, i);
    if (threadIdx.x % 32 == __ffs(peers) - 1)
        atomicAdd(&sums[keys[i]], sum);
}

__global__ void sort_warps(unsigned *x)
{
    int lane = threadIdx.x % 32, at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = x[at];
    for (int size = 2; size <= 32; size *= 2)
        for (int stride = size / 2; stride; stride /= 2) {
            unsigned other = __shfl_xor_sync(~0u, v, stride);
            bool up = !(lane & size) || size == 32, low = !(lane & stride);
            v = up == low ? min(v, other) : max(v, other);
        }
    x[at] = v;
}

__global__ void transpose_bits(const unsigned *in, unsigned *out, int *same)
{
    unsigned x = in[blockIdx.x * 32 + threadIdx.x], mine = 0;
    for (int bit = 0; bit < 32; bit++) {
        unsigned row = __ballot_sync(~0u, x >> bit & 1);
        if (threadIdx.x == bit)
            mine = row;
    }
    out[blockIdx.x * 32 + threadIdx.x] = mine;
    int all;
    __match_all_sync(~0u, x & 0x80000000u, &all);
    if (threadIdx.x == 0)
        same[blockIdx.x] = all * 4 + __popc(__brev(mine) & 3);
}

// Minimum of all elements before and at each one since the last head of a segment.
__global__ void segments(const int *x, const char *head, int n, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, v = i < n ? x[i] : 0;
    unsigned heads = __ballot_sync(~0u, lane == 0 || (i < n && head[i]));
    int start = 31 - __clz(heads & (lanes_below() | 1u << lane));
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(~0u, v, d);
        if (lane - d >= start)
            v = min(v, other);
    }
    if (i < n)
        out[i] = v;
}

// Lanes leave the loop one after the other; those that stay go on exchanging with each other.
__global__ void leavers(int *out)
{
    int lane = threadIdx.x, rounds = lane * 7 % 32, v = lane;
    unsigned mask = ~0u;
    for (int r = 0;; r++) {
        bool stay = r < rounds;
        unsigned staying = __ballot_sync(mask, stay);
        if (!stay)
            break;
        mask = staying;
        int next = __fns(mask, lane, 2); // the next lane above that stays, or around the corner
        int from = next >= 0 && next < 32 ? next : __ffs(mask) - 1;
        v += __shfl_sync(mask, v, from) & 15;
    }
    out[lane] = v;
}

// The first lane allocates for all that run with it.
__global__ void allocate(const int *in, int n, int *count, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = in[i];
    cooperative_groups::coalesced_group together = cooperative_groups::coalesced_threads();
    int base = threadIdx.x % 32 == 0 ? atomicAdd(count, (int)together.size()) : 0;
    base = together.shfl(base, 0);
    out[base + together.thread_rank()] = x;
}

// Sums of a block of 16 by a tile of 32: lanes that do not exist give 0.
__global__ void short_block(int *out)
{
    int v = threadIdx.x + 1;
    for (int d = 16; d; d /= 2)
        v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x == 0)
        *out = v;
}

int main()
{
    const int n = 2011, block = 96;
    Random random(55);
    std::vector<int> x(n), keys(n), want, want_sums(10, 0);
    std::vector<char> head(n);
    for (int i = 0; i < n; i++) {
        x[i] = (int)random.below(1000);
        keys[i] = (int)random.below(10);
        head[i] = random.below(6) == 0;
        if (x[i] % 3 == 1)
            want.push_back(x[i]);
        want_sums[keys[i]] += i;
    }
    int *d = to_device(x), *out = device_new<int>(n), *count = device_zeros<int>(1), *sums = device_zeros<int>(10);
    compact<<<blocks_for(n, block), block>>>(d, n, out, count);
    aggregate<<<blocks_for(n, block), block>>>(to_device(keys), n, sums);
    finish_launches();
    std::vector<int> got = from_device(out, from_device(count));
    std::sort(got.begin(), got.end());
    std::sort(want.begin(), want.end());
    expect_same("compacted", got, want);
    expect_same("sums", from_device(sums, 10), want_sums);

    const int warps = 11;
    std::vector<unsigned> words(32 * warps), turned(words.size(), 0);
    for (auto &w : words)
        w = random.next();
    for (int w = 0; w < 32; w++)
        words[w] |= 0x80000000u;
    for (size_t i = 0; i < turned.size(); i++)
        for (int bit = 0; bit < 32; bit++)
            turned[i / 32 * 32 + bit] |= (words[i] >> bit & 1) << i % 32;
    unsigned *w = to_device(words), *t = device_new<unsigned>(words.size());
    int *same = device_new<int>(warps);
    transpose_bits<<<warps, 32>>>(w, t, same);
    sort_warps<<<1, 32 * warps>>>(w);
    finish_launches();
    expect_same("turned", from_device(t, turned.size()), turned);
    std::vector<int> want_same;
    for (int k = 0; k < warps; k++) {
        unsigned top = turned[k * 32 + 31];
        want_same.push_back((top == 0 || top == ~0u) * 4 + __builtin_popcount(turned[k * 32] >> 30));
    }
    expect_same("same", from_device(same, warps), want_same);
    for (int k = 0; k < warps; k++)
        std::sort(words.begin() + 32 * k, words.begin() + 32 * k + 32);
    expect_same("sorted", from_device(w, words.size()), words);

    segments<<<blocks_for(n, 64), 64>>>(d, to_device(head), n, out);
    leavers<<<1, 32>>>(count = device_new<int>(32));
    finish_launches();
    want.assign(n, 0);
    for (int i = 0; i < n; i++)
        want[i] = i % 32 == 0 || head[i] ? x[i] : std::min(want[i - 1], x[i]);
    expect_same("segments", from_device(out, n), want);
    int v[32], next[32];
    unsigned mask = ~0u;
    for (int l = 0; l < 32; l++)
        v[l] = l;
    for (int r = 0; mask; r++) {
        unsigned stay = 0;
        for (int l = 0; l < 32; l++)
            stay |= (unsigned)(r < l * 7 % 32) << l;
        mask &= stay;
        for (int l = 0; l < 32; l++) {
            int from = -1;
            for (int k = l + 1; k < 32 && from < 0; k++)
                from = mask >> k & 1 ? k : -1;
            from = from < 0 && mask ? __builtin_ctz(mask) : from;
            next[l] = mask >> l & 1 ? v[l] + (v[from] & 15) : v[l];
        }
        std::copy(next, next + 32, v);
    }
    expect_same("leavers", from_device(count, 32), std::vector<int>(v, v + 32));

    int *allocated = device_zeros<int>(1), *sum = device_new<int>(1);
    allocate<<<blocks_for(n, block), block>>>(d, n, allocated, out);
    short_block<<<1, 16>>>(sum);
    finish_launches();
    expect_same("allocated", from_device(allocated, 1), std::vector<int>{n});
    got = from_device(out, n);
    std::sort(got.begin(), got.end());
    std::sort(x.begin(), x.end());
    expect_same("placed", got, x);
    expect_same("sum of 16", from_device(sum, 1), std::vector<int>{136});
    return finish();
}
