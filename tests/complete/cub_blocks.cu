// SPDX-License-Identifier: Apache-2.0
// ARCH: 89
// CUB within a block: load and store in several arrangements, radix sort, scan, reduction, discontinuity, and warp scans and
// reductions of parts of a warp, shared memory used again between them.
#include "complete.h"
#include <algorithm>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cuda/std/functional>

const int BLOCK = 96, ITEMS = 5, TILE = BLOCK * ITEMS;

// Sorts each tile, then numbers its runs of equal keys, and sums up the keys.
__global__ void tiles(const int *in, int n, int *sorted, int *run, long long *sums)
{
    typedef cub::BlockLoad<int, BLOCK, ITEMS, cub::BLOCK_LOAD_TRANSPOSE> Load;
    typedef cub::BlockStore<int, BLOCK, ITEMS, cub::BLOCK_STORE_WARP_TRANSPOSE> Store;
    typedef cub::BlockRadixSort<int, BLOCK, ITEMS> Sort;
    typedef cub::BlockDiscontinuity<int, BLOCK> Heads;
    typedef cub::BlockScan<int, BLOCK, cub::BLOCK_SCAN_RAKING> Scan;
    typedef cub::BlockReduce<long long, BLOCK, cub::BLOCK_REDUCE_WARP_REDUCTIONS> Sum;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Sort::TempStorage sort;
        typename Heads::TempStorage heads;
        typename Scan::TempStorage scan;
        typename Sum::TempStorage sum;
    } temp;
    int base = blockIdx.x * TILE, valid = min(TILE, n - base), keys[ITEMS], flags[ITEMS];
    Load(temp.load).Load(in + base, keys, valid, INT_MAX);
    __syncthreads();
    long long mine = 0;
    for (int j = 0; j < ITEMS; j++)
        mine += threadIdx.x * ITEMS + j < valid ? keys[j] : 0;
    long long sum = Sum(temp.sum).Sum(mine);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
    __syncthreads();
    Sort(temp.sort).Sort(keys);
    __syncthreads();
    Heads(temp.heads).FlagHeads(flags, keys, cuda::std::not_equal_to<>());
    __syncthreads();
    Scan(temp.scan).InclusiveSum(flags, flags);
    __syncthreads();
    Store(temp.store).Store(sorted + base, keys, valid);
    __syncthreads();
    Store(temp.store).Store(run + base, flags, valid);
}

// Groups of 8 lanes: the scan of each, and the sum at its first lane.
__global__ void small_groups(const int *in, int *scans, int *sums, int n)
{
    typedef cub::WarpScan<int, 8> Scan;
    typedef cub::WarpReduce<int, 8> Sum;
    __shared__ typename Scan::TempStorage scan[BLOCK / 8];
    __shared__ typename Sum::TempStorage sum[BLOCK / 8];
    int i = blockIdx.x * BLOCK + threadIdx.x, group = threadIdx.x / 8, x = i < n ? in[i] : 0, s;
    Scan(scan[group]).ExclusiveSum(x, s);
    int total = Sum(sum[group]).Sum(x);
    if (i < n)
        scans[i] = s;
    if (i < n && i % 8 == 0)
        sums[i / 8] = total;
}

int main()
{
    const int n = 3017, blocks = (int)blocks_for(n, TILE);
    Random random(42);
    std::vector<int> x(n), want(n), want_run(n), want_scan(n), want_group((n + 7) / 8, 0);
    for (auto &e : x)
        e = (int)random.below(300) - 150;
    std::vector<long long> want_sum(blocks, 0);
    want = x;
    for (int b = 0; b < blocks; b++) {
        int begin = b * TILE, end = std::min(n, begin + TILE);
        std::sort(want.begin() + begin, want.begin() + end);
        for (int i = begin; i < end; i++) {
            want_run[i] = i == begin ? 1 : want_run[i - 1] + (want[i] != want[i - 1]);
            want_sum[b] += x[i];
        }
    }
    for (int i = 0; i < n; i++) {
        want_scan[i] = i % 8 ? want_scan[i - 1] + x[i - 1] : 0;
        want_group[i / 8] += x[i];
    }
    int *in = to_device(x), *sorted = device_new<int>(n), *run = device_new<int>(n), *scans = device_new<int>(n);
    int *groups = device_new<int>(want_group.size());
    long long *sums = device_new<long long>(blocks);
    tiles<<<blocks, BLOCK>>>(in, n, sorted, run, sums);
    small_groups<<<blocks_for(n, BLOCK), BLOCK>>>(in, scans, groups, n);
    finish_launches();
    expect_same("sorted", from_device(sorted, n), want);
    expect_same("runs", from_device(run, n), want_run);
    expect_same("sums", from_device(sums, blocks), want_sum);
    expect_same("scans", from_device(scans, n), want_scan);
    expect_same("groups", from_device(groups, want_group.size()), want_group);
    return finish();
}
