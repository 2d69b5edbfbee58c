// SPDX-License-Identifier: Apache-2.0
// Bulk copies as libcu++ spells them, in one block and across clusters: multicast, copies and stores to another
// block's shared memory, arrivals at its barrier, reductions.
#pragma nv_diag_suppress static_var_with_dynamic_init
#include "../../check.h"

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

enum { N = 1024 };

// The example of the programming guide: add one to a vector by way of shared memory.
__global__ void add_one(int *data)
{
    __shared__ alignas(128) int tile[N];
    __shared__ Barrier bar;
    int *own = data + blockIdx.x * N;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    Barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::memcpy_async(tile, own, cuda::aligned_size_t<16>(sizeof tile), bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, 0);
    } else
        token = bar.arrive();
    bar.wait(std::move(token));
    for (int k = threadIdx.x; k < N; k += blockDim.x)
        tile[k] += 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, own, tile, sizeof tile);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}

// Every block adds its tile to one vector.
__global__ void reduce(int *sum, __half *half_sum)
{
    __shared__ alignas(16) int tile[256];
    __shared__ alignas(16) __half halves[256];
    tile[threadIdx.x] = blockIdx.x + threadIdx.x;
    halves[threadIdx.x] = __int2half_rn(blockIdx.x);
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, sum, tile, sizeof tile);
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, half_sum, halves, sizeof halves);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}

__device__ void wait_parity(uint64_t *bar, int parity)
{
    while (!ptx::mbarrier_try_wait_parity(bar, parity))
        ;
}

// libcu++ has it for sm_90a only.
__device__ void multicast(void *to, const void *from, unsigned bytes, uint64_t *bar, uint16_t blocks)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
                 :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(__cvta_generic_to_global(from)), "r"(bytes),
                    "r"((unsigned)__cvta_generic_to_shared(bar)), "h"(blocks) : "memory");
}

// Block 0 of a cluster reads for all; every block hands a piece on to its neighbour and tells it; results by st.async.
__global__ void __cluster_dims__(4, 1, 1) cluster(const int *in, int *out)
{
    __shared__ alignas(128) int tile[256];
    __shared__ alignas(128) int from_left[256];
    __shared__ int words[4];
    __shared__ alignas(8) uint64_t loaded, handed, stored, told;
    auto c = cg::this_cluster();
    unsigned rank = c.block_rank(), right = (rank + 1) % 4;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&loaded, 1);
        ptx::mbarrier_init(&handed, 1);
        ptx::mbarrier_init(&stored, 1);
        ptx::mbarrier_init(&told, 4 * 32);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &loaded, sizeof tile);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &handed, sizeof from_left);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &stored, sizeof words);
    }
    c.sync();
    if (rank == 0 && threadIdx.x == 0)
        multicast(tile, in + blockIdx.x / 4 * 256, sizeof tile, &loaded, 0xf);
    wait_parity(&loaded, 0);
    __syncthreads();
    if (threadIdx.x < 256)
        tile[threadIdx.x] += rank;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0)
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, c.map_shared_rank(from_left, right), tile, sizeof tile,
                           c.map_shared_rank(&handed, right));
    wait_parity(&handed, 0);
    if (threadIdx.x == 0)
        for (unsigned r = 0; r < 4; r++)
            ptx::st_async(c.map_shared_rank(&words[rank], r), (int)(1000 + rank), c.map_shared_rank(&stored, r));
    wait_parity(&stored, 0);
    if (threadIdx.x < 32)
        for (unsigned r = 0; r < 4; r++)
            ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, c.map_shared_rank(&told, r));
    wait_parity(&told, 0);
    int v = from_left[threadIdx.x];
    for (int k = 0; k < 4; k++)
        v += words[k];
    out[blockIdx.x * 256 + threadIdx.x] = v;
    c.sync();
}

int main()
{
    int *data, *out;
    __half *halves;
    CHECK(cudaMallocManaged(&data, 8 * N * sizeof(int)));
    CHECK(cudaMallocManaged(&out, 4096 * sizeof(int)));
    CHECK(cudaMallocManaged(&halves, 256 * sizeof(__half)));
    for (int k = 0; k < 8 * N; k++)
        data[k] = k * 3;
    add_one<<<8, 128>>>(data);
    CHECK(cudaDeviceSynchronize());
    for (int k = 0; k < 8 * N; k++)
        EXPECT_EQ(data[k], k * 3 + 1);

    memset(out, 0, 4096 * sizeof(int));
    memset(halves, 0, 256 * sizeof(__half));
    reduce<<<20, 256>>>(out, halves);
    CHECK(cudaDeviceSynchronize());
    for (int k = 0; k < 256; k++) {
        EXPECT_EQ(out[k], 190 + 20 * k);
        EXPECT_EQ((int)__half2float(halves[k]), 190);
    }

    cluster<<<12, 256>>>(data, out);
    CHECK(cudaDeviceSynchronize());
    for (int b = 0; b < 12; b++)
        for (int t = 0; t < 256; t++)
            EXPECT_EQ(out[b * 256 + t], (b / 4 * 256 + t) * 3 + 1 + (b % 4 + 3) % 4 + 4006);
    return finish();
}
