// SPDX-License-Identifier: Apache-2.0
// cuda::barrier: arriving and waiting apart, dropping out, producers and consumers, asynchronous copies that arrive.
#pragma nv_diag_suppress static_var_with_dynamic_init
#include "../../check.h"

#include <cooperative_groups.h>
#include <cuda/barrier>
namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

// Neighbours' values over many phases, with work between arriving and waiting.
__global__ void rotate(int *out, int rounds)
{
    __shared__ Barrier bar;
    __shared__ int cell[2][256];
    if (threadIdx.x == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    int v = threadIdx.x;
    for (int k = 0; k < rounds; k++) {
        cell[k & 1][threadIdx.x] = v;
        Barrier::arrival_token token = bar.arrive();
        int spin = 0;
        for (int j = 0; j < (threadIdx.x & 31); j++)
            spin += j;
        bar.wait(std::move(token));
        v = cell[k & 1][(threadIdx.x + 1) % blockDim.x] + (spin < 0);
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

// In every round one more thread drops out; the others go on. Waits by parity.
__global__ void drop(int *rounds)
{
    __shared__ Barrier bar;
    __shared__ int count;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        count = 0;
    }
    __syncthreads();
    int k = 0;
    for (;; k++) {
        atomicAdd(&count, 1);
        if (threadIdx.x == k) {
            bar.arrive_and_drop();
            break;
        }
        (void)bar.arrive();
        bar.wait_parity(k & 1);
    }
    rounds[threadIdx.x] = k;
    __syncthreads();
    if (threadIdx.x == 0)
        rounds[blockDim.x] = count;
}

// Half of the warps fill two buffers, the others add up: the example of the programming guide.
__global__ void produce_consume(const int *in, int *out, int batches)
{
    __shared__ Barrier ready[2], filled[2];
    __shared__ int buffer[2][128];
    int half = blockDim.x / 2;
    if (threadIdx.x < 4)
        init(threadIdx.x < 2 ? &ready[threadIdx.x] : &filled[threadIdx.x - 2], blockDim.x);
    __syncthreads();
    if (threadIdx.x < half) {
        for (int k = 0; k < batches; k++) {
            ready[k & 1].arrive_and_wait();
            buffer[k & 1][threadIdx.x] = in[k * half + threadIdx.x];
            (void)filled[k & 1].arrive();
        }
    } else {
        int sum = 0, t = threadIdx.x - half;
        (void)ready[0].arrive();
        (void)ready[1].arrive();
        for (int k = 0; k < batches; k++) {
            filled[k & 1].arrive_and_wait();
            sum += buffer[k & 1][half - 1 - t];
            (void)ready[k & 1].arrive();
        }
        out[t] = sum;
    }
}

// memcpy_async whose completion is a phase of the barrier.
__global__ void copies(const int *in, int *out, int n)
{
    auto block = cg::this_thread_block();
    __shared__ Barrier bar;
    __shared__ alignas(16) int tile[1024];
    if (block.thread_rank() == 0)
        init(&bar, block.size());
    block.sync();
    long long sum = 0;
    for (int at = 0; at < n; at += 1024) {
        cuda::memcpy_async(block, tile, in + at, cuda::aligned_size_t<16>(sizeof tile), bar);
        bar.arrive_and_wait();
        for (int k = block.thread_rank(); k < 1024; k += block.size())
            sum += tile[1023 - k];
        block.sync();
    }
    out[block.thread_rank()] = (int)sum;
    // Each thread its own, by size and alignment.
    cuda::memcpy_async(&tile[threadIdx.x], &in[n - 1 - threadIdx.x], sizeof(int), bar);
    bar.arrive_and_wait();
    out[blockDim.x + threadIdx.x] = tile[(threadIdx.x + 7) % blockDim.x];
}

int main()
{
    int *out, *in;
    const int n = 8192;
    CHECK(cudaMallocManaged(&out, 4096 * sizeof(int)));
    CHECK(cudaMallocManaged(&in, n * sizeof(int)));
    for (int k = 0; k < n; k++)
        in[k] = (k * 7919) % 1013;

    rotate<<<3, 160>>>(out, 25);
    CHECK(cudaDeviceSynchronize());
    for (int b = 0; b < 3; b++)
        for (int t = 0; t < 160; t++)
            EXPECT_EQ(out[b * 160 + t], (t + 25) % 160);

    drop<<<1, 48>>>(out);
    CHECK(cudaDeviceSynchronize());
    for (int t = 0; t < 48; t++)
        EXPECT_EQ(out[t], t);
    EXPECT_EQ(out[48], 48 * 49 / 2);

    produce_consume<<<1, 256>>>(in, out, 16);
    CHECK(cudaDeviceSynchronize());
    for (int t = 0; t < 128; t++) {
        int want = 0;
        for (int k = 0; k < 16; k++)
            want += in[k * 128 + 127 - t];
        EXPECT_EQ(out[t], want);
    }

    copies<<<1, 128>>>(in, out, n);
    CHECK(cudaDeviceSynchronize());
    long long sum = 0, want = 0;
    for (int t = 0; t < 128; t++)
        sum += out[t];
    for (int k = 0; k < n; k++)
        want += in[k];
    EXPECT_EQ(sum, want);
    for (int t = 0; t < 128; t++)
        EXPECT_EQ(out[128 + t], in[n - 1 - (t + 7) % 128]);
    return finish();
}
