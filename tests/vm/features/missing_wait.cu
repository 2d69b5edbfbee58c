// SPDX-License-Identifier: Apache-2.0
// What a forgotten wait does: with it every launch is right, without it some are not. So for cp.async and its groups,
// for bulk copies and their barrier, and for the buffer of a bulk store that is written again too early.
#pragma nv_diag_suppress static_var_with_dynamic_init
#include "../../check.h"

#include <cuda/barrier>
#include <cuda_pipeline.h>
namespace ptx = cuda::ptx;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void load(const int *in, int *out, bool wait)
{
    __shared__ int tile[128];
    tile[threadIdx.x] = -1;
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    if (wait)
        __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = tile[127 - threadIdx.x];
}

__global__ void bulk_load(const int *in, int *out, bool wait)
{
    __shared__ alignas(16) int tile[128];
    __shared__ Barrier bar;
    tile[threadIdx.x] = -1;
    if (threadIdx.x == 0)
        init(&bar, blockDim.x);
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    Barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::memcpy_async_tx(tile, in, cuda::aligned_size_t<16>(sizeof tile), bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof tile);
    } else
        token = bar.arrive();
    if (wait)
        bar.wait(std::move(token));
    out[threadIdx.x] = tile[127 - threadIdx.x];
    __syncthreads();
}

__global__ void bulk_store(int *out, bool wait)
{
    __shared__ alignas(16) int tile[128];
    tile[threadIdx.x] = 127 - threadIdx.x;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, tile, sizeof tile);
        ptx::cp_async_bulk_commit_group();
        if (wait)
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
    __syncthreads();
    tile[threadIdx.x] = -1;
}

int main()
{
    int *in, *out, wrong[3][2] = {};
    CHECK(cudaMallocManaged(&in, 128 * sizeof(int)));
    CHECK(cudaMallocManaged(&out, 128 * sizeof(int)));
    for (int k = 0; k < 128; k++)
        in[k] = k;
    for (int which = 0; which < 3; which++)
        for (int wait = 0; wait < 2; wait++)
            for (int n = 0; n < 40; n++) {
                if (which == 0)
                    load<<<1, 128>>>(in, out, wait);
                else if (which == 1)
                    bulk_load<<<1, 128>>>(in, out, wait);
                else
                    bulk_store<<<1, 128>>>(out, wait);
                CHECK(cudaDeviceSynchronize());
                bool right = true;
                for (int k = 0; k < 128; k++)
                    right = right && out[k] == 127 - k;
                wrong[which][wait] += !right;
            }
    for (int which = 0; which < 3; which++) {
        EXPECT_EQ(wrong[which][1], 0);
        EXPECT(wrong[which][0] > 0);
    }
    return finish();
}
