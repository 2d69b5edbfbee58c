// SPDX-License-Identifier: Apache-2.0
// Sum, minimum and maximum of rows, each by a two-dimensional cluster of 2 x 2 blocks: block results stay in shared memory,
// where block 0 reads them through map_shared_rank; then a tree over the ranks does the same without block 0.
#include "complete.h"

#include <climits>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

struct Result {
    long long sum;
    int min, max;
};

static __host__ __device__ Result join(Result a, Result b)
{
    return {a.sum + b.sum, a.min < b.min ? a.min : b.min, a.max > b.max ? a.max : b.max};
}

const int BLOCK = 96, ROW = 1000;

__device__ Result reduce_block(const int *row, unsigned rank, unsigned blocks)
{
    __shared__ Result warps[BLOCK / 32];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    Result r = {0, INT_MAX, INT_MIN};
    for (int i = rank * BLOCK + threadIdx.x; i < ROW; i += blocks * BLOCK)
        r = join(r, {row[i], row[i], row[i]});
    r.sum = cg::reduce(warp, r.sum, cg::plus<long long>());
    r.min = cg::reduce(warp, r.min, cg::less<int>());
    r.max = cg::reduce(warp, r.max, cg::greater<int>());
    if (warp.thread_rank() == 0)
        warps[warp.meta_group_rank()] = r;
    block.sync();
    r = warps[0];
    for (int i = 1; i < BLOCK / 32; i++)
        r = join(r, warps[i]);
    block.sync();
    return r;
}

__global__ void __cluster_dims__(2, 2, 1) reduce_rows(const int *rows, Result *by_zero, Result *by_tree, unsigned *shape)
{
    __shared__ Result mine;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();
    unsigned row = blockIdx.y / 2 * (gridDim.x / 2) + blockIdx.x / 2;
    Result r = reduce_block(rows + row * ROW, rank, blocks);
    if (threadIdx.x == 0)
        mine = r;
    cluster.sync();
    if (rank == 0 && threadIdx.x == 0) {
        Result all = mine;
        for (unsigned k = 1; k < blocks; k++)
            all = join(all, *cluster.map_shared_rank(&mine, k));
        by_zero[row] = all;
    }
    cluster.sync();
    for (unsigned step = 1; step < blocks; step *= 2) {
        if (threadIdx.x == 0 && rank % (2 * step) == 0)
            mine = join(mine, *cluster.map_shared_rank(&mine, rank + step));
        cluster.sync();
    }
    if (rank == 0 && threadIdx.x == 0)
        by_tree[row] = mine;
    if (threadIdx.x == 0) { // what the group says of itself
        dim3 index = cluster.block_index(), dim = cluster.dim_blocks();
        unsigned *theirs = (unsigned *)cluster.map_shared_rank(&mine, blocks - 1 - rank);
        bool right = index.x == blockIdx.x % 2 && index.y == blockIdx.y % 2 && rank == index.x + 2 * index.y && dim.x == 2 && dim.y == 2 &&
                     cluster.num_threads() == 4 * BLOCK && cluster.thread_rank() == rank * BLOCK &&
                     cluster.query_shared_rank(theirs) == blocks - 1 - rank && cluster.query_shared_rank(&mine) == rank &&
                     __isShared(&mine) && __isClusterShared(theirs);
        atomicAdd(shape, right);
    }
}

int main()
{
    const int across = 3, down = 2, n = across * down;
    Random random(5);
    std::vector<int> rows(n * ROW);
    std::vector<Result> want(n, Result{0, INT_MAX, INT_MIN});
    for (int i = 0; i < n * ROW; i++) {
        rows[i] = (int)random.next() >> (i % 20);
        want[i / ROW] = join(want[i / ROW], {rows[i], rows[i], rows[i]});
    }
    int *d = to_device(rows);
    Result *by_zero = device_zeros<Result>(n), *by_tree = device_zeros<Result>(n);
    unsigned *shape = device_zeros<unsigned>(1);
    reduce_rows<<<dim3(2 * across, 2 * down), BLOCK>>>(d, by_zero, by_tree, shape);
    finish_launches();
    std::vector<Result> a = from_device(by_zero, n), b = from_device(by_tree, n);
    for (int i = 0; i < n; i++) {
        EXPECT(a[i].sum == want[i].sum && a[i].min == want[i].min && a[i].max == want[i].max);
        EXPECT(b[i].sum == want[i].sum && b[i].min == want[i].min && b[i].max == want[i].max);
    }
    expect_same("blocks that know their place", from_device(shape), 4u * n);
    return finish();
}
