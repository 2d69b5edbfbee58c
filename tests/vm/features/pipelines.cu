// SPDX-License-Identifier: Apache-2.0
// cuda::pipeline, cooperative_groups::memcpy_async and the primitives of cuda_pipeline.h: copies from global to shared
// memory that overlap with work.
#pragma nv_diag_suppress static_var_with_dynamic_init
#include "../../check.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;

enum { TILE = 256, STAGES = 3 };

__device__ int work(const int *tile, int t, int k) { return tile[(t * 5 + k) % TILE] * (k + 1); }

// All threads produce and consume.
__global__ void unified(const int *in, int *out, int tiles)
{
    __shared__ alignas(16) int buffer[STAGES][TILE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int consumed = 0, fetched = 0; consumed < tiles; consumed++) {
        for (; fetched < tiles && fetched < consumed + STAGES; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, buffer[fetched % STAGES], in + fetched * TILE,
                               cuda::aligned_size_t<16>(sizeof(int) * TILE), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += work(buffer[consumed % STAGES], threadIdx.x, consumed);
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

// The first warp produces, the others consume.
__global__ void partitioned(const int *in, int *out, int tiles)
{
    __shared__ alignas(16) int buffer[2][TILE];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    bool producer = threadIdx.x < 32;
    auto pipe = cuda::make_pipeline(block, &state, producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    int sum = 0;
    if (producer) {
        auto warp = cg::tiled_partition<32>(block);
        for (int k = 0; k < tiles; k++) {
            pipe.producer_acquire();
            cuda::memcpy_async(warp, buffer[k & 1], in + k * TILE, sizeof(int) * TILE, pipe);
            pipe.producer_commit();
        }
    } else {
        for (int k = 0; k < tiles; k++) {
            pipe.consumer_wait();
            sum += work(buffer[k & 1], threadIdx.x, k);
            pipe.consumer_release();
        }
        out[threadIdx.x] = sum;
    }
}

// A pipeline of one thread: groups of cp.async.
__global__ void alone(const int *in, int *out, int tiles)
{
    __shared__ int buffer[2][TILE];
    auto pipe = cuda::make_pipeline();
    int sum = 0;
    for (int k = 0; k < tiles + 1; k++) {
        if (k < tiles) {
            pipe.producer_acquire();
            cuda::memcpy_async(&buffer[k & 1][threadIdx.x], &in[k * TILE + threadIdx.x], sizeof(int), pipe);
            pipe.producer_commit();
        }
        if (k > 0) {
            if (k < tiles)
                cuda::pipeline_consumer_wait_prior<1>(pipe);
            else
                cuda::pipeline_consumer_wait_prior<0>(pipe);
            __syncthreads();
            sum += work(buffer[(k - 1) & 1], threadIdx.x, k - 1);
            pipe.consumer_release();
            __syncthreads();
        }
    }
    out[threadIdx.x] = sum;
}

// cooperative_groups::memcpy_async with wait_prior: double buffering.
__global__ void groups(const int *in, int *out, int tiles)
{
    __shared__ alignas(16) int buffer[2][TILE];
    auto block = cg::this_thread_block();
    int sum = 0;
    cg::memcpy_async(block, buffer[0], in, sizeof(int) * TILE);
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles) {
            cg::memcpy_async(block, buffer[(k + 1) & 1], in + (k + 1) * TILE, sizeof(int) * TILE);
            cg::wait_prior<1>(block);
        } else
            cg::wait(block);
        sum += work(buffer[k & 1], threadIdx.x, k);
        block.sync();
    }
    out[threadIdx.x] = sum;
}

// __pipeline_memcpy_async, with zeros filled in at the end.
__global__ void primitives(const int *in, int *out, int tiles, int last)
{
    __shared__ alignas(16) int buffer[2][TILE];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < tiles; k++) {
        int have = k == tiles - 1 ? last : TILE, n = have - 4 * t;
        n = n < 0 ? 0 : n > 4 ? 4 : n;
        if (t < TILE / 4)
            __pipeline_memcpy_async(&buffer[k & 1][4 * t], &in[k * TILE + (n ? 4 * t : 0)], 16, 16 - 4 * n);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        sum += work(buffer[k & 1], t, k);
    }
    out[t] = sum;
}

static int *in;

static void expect(const int *out, int first, int tiles, int last)
{
    CHECK(cudaDeviceSynchronize());
    for (int t = first; t < TILE; t++) {
        int want = 0;
        for (int k = 0; k < tiles; k++) {
            int at = (t * 5 + k) % TILE;
            want += (k == tiles - 1 && at >= last ? 0 : in[k * TILE + at]) * (k + 1);
        }
        EXPECT_EQ(out[t], want);
    }
}

int main()
{
    int *out;
    const int tiles = 9;
    CHECK(cudaMallocManaged(&in, tiles * TILE * sizeof(int)));
    CHECK(cudaMallocManaged(&out, TILE * sizeof(int)));
    for (int k = 0; k < tiles * TILE; k++)
        in[k] = (k * 7919) % 1013;
    unified<<<1, TILE>>>(in, out, tiles);
    expect(out, 0, tiles, TILE);
    partitioned<<<1, TILE>>>(in, out, tiles);
    expect(out, 32, tiles, TILE);
    alone<<<1, TILE>>>(in, out, tiles);
    expect(out, 0, tiles, TILE);
    groups<<<1, TILE>>>(in, out, tiles);
    expect(out, 0, tiles, TILE);
    primitives<<<1, TILE>>>(in, out, tiles, 101);
    expect(out, 0, tiles, 101);
    return finish();
}
