// SPDX-License-Identifier: Apache-2.0
// Cooperative groups: tiles of all sizes with reduce, scans, shuffles and votes, coalesced groups that aggregate atomics,
// labeled and binary partitions, invoke_one, and a grid barrier between steps of a relaxation.
#include "complete.h"
#include <algorithm>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

template <int Size> __global__ void tiles(const int *in, int *sums, int *scans, int *votes, int n)
{
    auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i < n ? in[i] : 0;
    int sum = cg::reduce(tile, x, cg::plus<int>()), scan = cg::inclusive_scan(tile, x, cg::greater<int>());
    int vote = __popc(tile.ballot(x > 0)) * 4 + tile.any(x > 90) * 2 + tile.all(x > -90);
    bool agree = tile.shfl(scan, Size - 1) == cg::reduce(tile, x, cg::greater<int>());
    if (i < n) {
        sums[i] = sum;
        scans[i] = scan;
        votes[i] = vote + 1000 * agree;
    }
}

template <int Size> static void test_tiles(const std::vector<int> &x, const int *in)
{
    int n = (int)x.size(), *sums = device_new<int>(n), *scans = device_new<int>(n), *votes = device_new<int>(n);
    tiles<Size><<<blocks_for(n, 96), 96>>>(in, sums, scans, votes, n);
    finish_launches();
    std::vector<int> want_sum(n), want_scan(n), want_vote(n);
    for (int base = 0; base < n; base += Size) {
        int sum = 0, high = INT_MIN, positive = 0, above = 0, below = 0;
        for (int k = base; k < base + Size; k++) {
            int v = k < n ? x[k] : 0;
            sum += v;
            high = std::max(high, v);
            positive += v > 0;
            above |= v > 90;
            below |= !(v > -90);
            if (k < n)
                want_scan[k] = high;
        }
        for (int k = base; k < std::min(n, base + Size); k++) {
            want_sum[k] = sum;
            want_vote[k] = positive * 4 + above * 2 + !below + 1000;
        }
    }
    expect_same("sums", from_device(sums, n), want_sum);
    expect_same("scans", from_device(scans, n), want_scan);
    expect_same("votes", from_device(votes, n), want_vote);
}

// Positive elements get places next to each other, one atomic for all lanes that are here together.
__global__ void filter(const int *in, int n, int *out, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || in[i] <= 0)
        return;
    auto here = cg::coalesced_threads();
    int base = 0;
    if (here.thread_rank() == 0)
        base = atomicAdd(count, (int)here.size());
    out[here.shfl(base, 0) + here.thread_rank()] = in[i];
}

__global__ void partitions(const int *in, int n, int *same, int *half)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x, x = i < n ? in[i] : 0;
    auto peers = cg::labeled_partition(warp, (unsigned)x & 3);
    int sum = cg::reduce(peers, x, cg::plus<int>());
    auto side = cg::binary_partition(warp, x > 0);
    int rank = (int)(side.thread_rank() * 100 + side.size());
    if (i < n) {
        same[i] = sum;
        half[i] = rank;
    }
    cg::invoke_one(warp, [&] { atomicAdd(&same[n], 1); });
}

__global__ void relax(int *a, int *b, int n, int steps)
{
    auto grid = cg::this_grid();
    for (int s = 0; s < steps; s++) {
        for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size())
            b[i] = (a[i] + a[(i + 1) % n]) % 10007;
        grid.sync();
        int *t = a;
        a = b;
        b = t;
    }
}

int main()
{
    const int n = 1013;
    Random random(45);
    std::vector<int> x(n);
    for (auto &e : x)
        e = (int)random.below(200) - 100;
    int *in = to_device(x);
    test_tiles<1>(x, in);
    test_tiles<2>(x, in);
    test_tiles<4>(x, in);
    test_tiles<8>(x, in);
    test_tiles<16>(x, in);
    test_tiles<32>(x, in);

    int *out = device_new<int>(n), *count = device_zeros<int>(1);
    filter<<<blocks_for(n, 128), 128>>>(in, n, out, count);
    finish_launches();
    std::vector<int> want, got = from_device(out, from_device(count));
    std::copy_if(x.begin(), x.end(), std::back_inserter(want), [](int e) { return e > 0; });
    std::sort(want.begin(), want.end());
    std::sort(got.begin(), got.end());
    expect_same("filter", got, want);

    int *same = device_zeros<int>(n + 1), *half = device_new<int>(n);
    partitions<<<blocks_for(n, 64), 64>>>(in, n, same, half);
    finish_launches();
    std::vector<int> want_same(n + 1, 0), want_half(n);
    for (int i = 0; i < n; i++) {
        int rank = 0, size = 0;
        for (int k = i / 32 * 32; k < i / 32 * 32 + 32; k++) {
            int v = k < n ? x[k] : 0;
            want_same[i] += ((unsigned)v & 3) == ((unsigned)x[i] & 3) ? v : 0;
            size += (v > 0) == (x[i] > 0);
            rank += (v > 0) == (x[i] > 0) && k < i;
        }
        want_half[i] = rank * 100 + size;
    }
    want_same[n] = (int)blocks_for(n, 64) * 2;
    expect_same("labeled", from_device(same, n + 1), want_same);
    expect_same("binary", from_device(half, n), want_half);

    int m = 777, steps = 12, *a = to_device(std::vector<int>(x.begin(), x.begin() + m)), *b = device_new<int>(m);
    void *arguments[] = {&a, &b, &m, &steps};
    CHECK(cudaLaunchCooperativeKernel(relax, 7, 96, arguments, 0, 0));
    finish_launches();
    want.assign(x.begin(), x.begin() + m);
    for (int s = 0; s < steps; s++) {
        std::vector<int> next(m);
        for (int i = 0; i < m; i++)
            next[i] = (want[i] + want[(i + 1) % m]) % 10007;
        want = next;
    }
    expect_same("relaxed", from_device(a, m), want);
    return finish();
}
