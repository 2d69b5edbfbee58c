// SPDX-License-Identifier: Apache-2.0
// simpleCooperativeGroups, reduction with tiles, coalesced groups, and a grid that synchronizes.
#include "../../check.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

template <class Group> __device__ int sum_shuffle(Group g, int v)
{
    for (int d = g.size() / 2; d > 0; d /= 2)
        v += g.shfl_down(v, d);
    return v;
}

__device__ int sum_shared(cg::thread_group g, int *x, int v)
{
    int lane = g.thread_rank();
    for (int i = g.size() / 2; i > 0; i /= 2) {
        x[lane] = v;
        g.sync();
        if (lane < i)
            v += x[lane + i];
        g.sync();
    }
    return lane == 0 ? v : -1;
}

__global__ void groups(int *out)
{
    extern __shared__ int workspace[];
    cg::thread_block block = cg::this_thread_block();
    int v = block.thread_rank(), *result = out;
    int all = sum_shared(block, workspace, v);
    if (block.thread_rank() == 0)
        result[0] = all;
    block.sync();
    auto tile4 = cg::tiled_partition<4>(block);
    int s4 = sum_shuffle(tile4, v);
    if (tile4.thread_rank() == 0)
        atomicAdd(&result[1], s4);
    auto tile32 = cg::tiled_partition<32>(block);
    atomicMax(&result[2], cg::reduce(tile32, v, cg::plus<int>()));
    atomicMax(&result[3], cg::reduce(tile32, v, cg::greater<int>()));
    if (v % 3 == 0) {
        auto active = cg::coalesced_threads();
        if (active.thread_rank() == 0)
            atomicAdd(&result[4], (int)active.size());
    }
    if (tile32.any(v == 33))
        atomicAdd(&result[5], 1);
    unsigned ballot = tile32.ballot(v % 2);
    if (tile32.thread_rank() == 0)
        atomicOr(&result[6], (int)ballot);
}

__global__ void whole_grid(int *data, int *sum)
{
    cg::grid_group grid = cg::this_grid();
    int i = (int)grid.thread_rank(), n = (int)grid.size();
    data[i] = i;
    grid.sync();
    int other = data[n - 1 - i];
    grid.sync();
    data[i] += other;
    if (i == 0)
        *sum = grid.is_valid() ? n : -1;
}

// Tiles of several warps meet in shared memory that the device reserves for system software.
__global__ void wide_tiles(int *out)
{
    __shared__ cg::block_tile_memory<256> memory;
    cg::thread_block block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<64>(block);
    int i = block.thread_rank();
    out[i] = cg::reduce(tile, i, cg::plus<int>());
    tile.sync();
    out[256 + i] = tile.shfl(i, 33);
}

int main()
{
    const int threads = 64, blocks = 8, n = blocks * 128;
    int out[7] = {0}, *d;
    CHECK(cudaMalloc(&d, (n + 1) * sizeof(int)));
    CHECK(cudaMemset(d, 0, sizeof out));
    groups<<<1, threads, threads * sizeof(int)>>>(d);
    CHECK(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost));
    EXPECT_EQ(out[0], threads * (threads - 1) / 2);
    EXPECT_EQ(out[1], threads * (threads - 1) / 2);
    EXPECT_EQ(out[2], (32 + 63) * 16);
    EXPECT_EQ(out[3], 63);
    EXPECT_EQ(out[4], 22);
    EXPECT_EQ(out[5], 32);
    EXPECT_EQ((unsigned)out[6], 0xaaaaaaaau);
    int supported = 0, *sum = d + n;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    EXPECT_EQ(supported, 1);
    void *args[] = {&d, &sum};
    CHECK(cudaLaunchCooperativeKernel((void *)whole_grid, dim3(blocks), dim3(128), args, 0, nullptr));
    static int data[n + 1];
    CHECK(cudaMemcpy(data, d, sizeof data, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        EXPECT_EQ(data[i], n - 1);
    EXPECT_EQ(data[n], n);
    wide_tiles<<<1, 256>>>(d);
    CHECK(cudaMemcpy(data, d, 512 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 256; i++) {
        int first = i / 64 * 64;
        EXPECT_EQ(data[i], 64 * first + 64 * 63 / 2);
        EXPECT_EQ(data[256 + i], first + 33);
    }
    CHECK(cudaFree(d));
    return finish();
}
