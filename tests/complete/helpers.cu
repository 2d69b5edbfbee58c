// SPDX-License-Identifier: Apache-2.0
// Functions that are not inlined, as in debug builds, and in which the lanes of a warp work together: matrix products, sums over
// a warp, the warp's groups by value, and a function that calls itself. What they get and give goes by registers and by pointers.
#include "complete.h"

#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <mma.h>

namespace cg = cooperative_groups;
using namespace nvcuda;

const int BLOCK = 128, BLOCKS = 24, N = BLOCK * BLOCKS;

typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> FragmentA;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> FragmentB;
typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> Sum;

__device__ __noinline__ void load(FragmentA &a, FragmentB &b, const __half *from_a, const __half *from_b, int pitch)
{
    wmma::load_matrix_sync(a, from_a, pitch);
    wmma::load_matrix_sync(b, from_b, pitch);
}

__device__ __noinline__ void add_product(Sum &sum, const FragmentA &a, const FragmentB &b) { wmma::mma_sync(sum, a, b, sum); }

// Each warp one product of the tiles that the block has copied to shared memory.
__global__ void products(const __half *a, const __half *b, float *c)
{
    const int PITCH = 24;
    __shared__ alignas(32) __half as[2 * 16 * PITCH], bs[2 * 16 * PITCH];
    for (int i = threadIdx.x; i < 2 * 256; i += BLOCK) {
        as[i / 16 * PITCH + i % 16] = a[i];
        bs[i / 16 * PITCH + i % 16] = b[i];
    }
    __syncthreads();
    int warp = threadIdx.x / 32;
    FragmentA fa;
    FragmentB fb;
    Sum sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < 4; k++) {
        load(fa, fb, as + warp / 2 * 16 * PITCH, bs + warp % 2 * 16 * PITCH, PITCH);
        add_product(sum, fa, fb);
    }
    wmma::store_matrix_sync(c + (blockIdx.x * 4 + warp) * 256, sum, 16, wmma::mem_row_major);
}

void test_products()
{
    Random random(51);
    std::vector<__half> a(512), b(512);
    for (auto *v : {&a, &b})
        for (auto &e : *v)
            e = __float2half((float)random.below(9) - 4);
    float *d_c = device_zeros<float>(BLOCKS * 4 * 256);
    products<<<BLOCKS, BLOCK>>>(to_device(a), to_device(b), d_c);
    finish_launches();
    std::vector<float> want;
    for (int tile = 0; tile < BLOCKS * 4; tile++)
        for (int i = 0; i < 256; i++) {
            float sum = 0;
            for (int k = 0; k < 16; k++)
                sum += __half2float(a[(tile % 4 / 2 * 16 + i / 16) * 16 + k]) * __half2float(b[(tile % 2 * 16 + i % 16) * 16 + k]);
            want.push_back(4 * sum);
        }
    expect_same("products", from_device(d_c, BLOCKS * 4 * 256), want);
}

struct Totals {
    double sum;
    long long most;
    int count;
    bool all_odd;
};

__device__ __noinline__ Totals totals_of_warp(int value)
{
    Totals t = {(double)value, value, 0, false};
    for (int step = 16; step > 0; step /= 2) {
        t.sum += __shfl_xor_sync(0xffffffff, t.sum, step);
        t.most = max(t.most, __shfl_xor_sync(0xffffffff, t.most, step));
    }
    t.count = __popc(__ballot_sync(0xffffffff, value & 1));
    t.all_odd = __all_sync(0xffffffff, value & 1);
    return t;
}

// The sum of the lanes at this level and of those above, which each lane adds on the way back.
__device__ __noinline__ int descend(const int *value, int level)
{
    if (level == 0)
        return 0;
    int mine = value[threadIdx.x % 32] + level, next = __shfl_down_sync(0xffffffff, mine, 1);
    return descend(value, level - 1) + (threadIdx.x % 32 < 31 ? next : mine);
}

__device__ __noinline__ int same_in_warp(int value)
{
    return cg::labeled_partition(cg::tiled_partition<32>(cg::this_thread_block()), value % 5).size();
}

__global__ void warps(const int *value, Totals *totals, int *depth, int *same)
{
    int i = blockIdx.x * BLOCK + threadIdx.x, v = value[i];
    totals[i] = totals_of_warp(v);
    depth[i] = descend(value + i / 32 * 32, 3);
    same[i] = same_in_warp(v);
}

void test_warps()
{
    Random random(52);
    std::vector<int> value(N), depth_want, same_want;
    for (int &v : value)
        v = (int)random.below(2000) - 1000;
    for (int l = 0; l < 32; l++)
        value[64 + l] |= 1; // one warp has odd numbers only
    Totals *d_totals = device_zeros<Totals>(N);
    int *d_depth = device_zeros<int>(N), *d_same = device_zeros<int>(N);
    warps<<<BLOCKS, BLOCK>>>(to_device(value), d_totals, d_depth, d_same);
    finish_launches();
    std::vector<Totals> totals = from_device(d_totals, N);
    for (int i = 0; i < N; i++) {
        const int *warp = &value[i / 32 * 32], lane = i % 32;
        double sum = 0;
        int most = warp[0], count = 0, same = 0;
        for (int l = 0; l < 32; l++) {
            sum += warp[l];
            most = std::max(most, warp[l]);
            count += warp[l] & 1;
            same += warp[l] % 5 == warp[lane] % 5;
        }
        EXPECT(totals[i].sum == sum);
        EXPECT(totals[i].most == most);
        EXPECT(totals[i].count == count);
        EXPECT(totals[i].all_odd == (count == 32));
        depth_want.push_back(3 * warp[std::min(lane + 1, 31)] + 1 + 2 + 3);
        same_want.push_back(same);
    }
    expect_same("depth", from_device(d_depth, N), depth_want);
    expect_same("same", from_device(d_same, N), same_want);
}

int main()
{
    test_products();
    test_warps();
    return finish();
}
