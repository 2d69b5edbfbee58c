// SPDX-License-Identifier: Apache-2.0
// Synchronization that is wrong in itself: one case per argument, `CASE wrong` or `CASE right`. WHERE says what is to be named.
#include "../../../check.h"

#include <cstdint>
#include <cooperative_groups.h>
#include <mma.h>

__device__ int result[64];
__shared__ alignas(8) uint64_t bar; // of every kernel below

static __device__ uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
static __device__ void init(uint32_t count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(&bar)), "r"(count) : "memory"); }
static __device__ void inval() { asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at(&bar)) : "memory"); }
static __device__ void arrive() { asm volatile("{.reg .b64 s; mbarrier.arrive.shared.b64 s, [%0];}" ::"r"(at(&bar)) : "memory"); }
static __device__ void wait(uint32_t parity)
{
    asm volatile("{.reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again;}" ::"r"(at(&bar)),
                 "r"(parity)
                 : "memory");
}

__global__ void mask(bool right)
{
    int lane = threadIdx.x;
    if (lane < 16 || right)
        result[lane] = __shfl_xor_sync(right ? 0xffffffff : 0x0000fff0, lane, 1); // WHERE mask
}

// All lanes shuffle with a mask that names half of them: named, and what a GPU gives for a warp that is together.
__global__ void half_mask(bool right)
{
    int lane = threadIdx.x % 32, x = result[threadIdx.x] + lane, from;
    if (right)
        from = __shfl_up_sync(0xffffffff, x, 1);
    else
        from = __shfl_up_sync(0x0000ffff, x, 1); // WHERE half_mask
    result[threadIdx.x] = from;
    if (from != (lane ? lane - 1 : 0))
        __trap();
}

// All frames between the kernel and the instruction are named.
static __device__ __forceinline__ int votes(bool right)
{
    return __popc(__ballot_sync(right ? 0xffffffff : 0xff, threadIdx.x & 1)); // WHERE inlined
}
static __device__ __forceinline__ int twice_the_votes(bool right) { return votes(right) * 2; } // WHERE inlined
__global__ void inlined(bool right)
{
    result[threadIdx.x] = twice_the_votes(right); // WHERE inlined
}

__global__ void divergence(bool right)
{
    if (right || threadIdx.x < 16) {
        result[threadIdx.x] = 1;
        __syncthreads(); // WHERE divergence
    } else {
        result[threadIdx.x] = 2;
        __syncthreads(); // WHERE divergence
    }
    result[threadIdx.x] += 1;
}

// A loop that some threads of a warp leave earlier than others.
__global__ void uneven_loop(bool right)
{
    for (unsigned i = 0; i < (right ? 4 : 2 + threadIdx.x % 2); i++)
        __syncthreads(); // WHERE uneven_loop
    result[threadIdx.x] = 1;
    __syncthreads(); // WHERE uneven_loop
}

// Warps may part, and threads may leave before a barrier.
__global__ void warps_apart(bool)
{
    if (threadIdx.x >= 60)
        return;
    if (threadIdx.x / 32)
        asm volatile("bar.sync 0;" ::: "memory");
    else
        asm volatile("bar.sync 0;" ::: "memory");
    result[threadIdx.x] = 1;
}

__global__ void twice(bool right)
{
    if (threadIdx.x == 0) {
        init(64);
        if (right)
            inval();
        init(blockDim.x); // WHERE twice
    }
    __syncthreads();
    arrive();
    wait(0);
}

__global__ void no_mbarrier(bool right)
{
    if (threadIdx.x == 0) {
        bar = 0;
        if (right)
            init(blockDim.x);
    }
    __syncthreads();
    arrive(); // WHERE no_mbarrier
    wait(0);
    __syncthreads();
}

__global__ void invalidated(bool right)
{
    if (threadIdx.x == 0)
        init(blockDim.x);
    __syncthreads();
    arrive();
    if (right)
        wait(0);
    __syncthreads();
    if (threadIdx.x == 0)
        inval();
    __syncthreads();
    if (!right)
        wait(0); // WHERE invalidated
}

__global__ void miscounted(bool right)
{
    if (threadIdx.x == 0)
        init(right ? 64 : 32);
    __syncthreads();
    if (threadIdx.x >= 32)
        asm volatile("{.reg .b64 s; mbarrier.arrive.shared.b64 s, [%0], %1;}" ::"r"(at(&bar)), "r"(right ? 1 : 33) // WHERE miscounted
                     : "memory");
    else if (right)
        arrive();
}

__global__ void barrier_count(bool right)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory"); // WHERE barrier_count, or there
    else if (right)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 1, 96;" ::: "memory"); // WHERE barrier_count
}

__global__ void deadlock(bool right)
{
    if (threadIdx.x < 32 || right)
        asm volatile("bar.sync 1, 64;" ::: "memory"); // WHERE deadlock
}

__global__ void cluster_barrier(bool right)
{
    asm volatile("barrier.cluster.arrive;" ::: "memory");
    if (right)
        asm volatile("barrier.cluster.wait;" ::: "memory");
    asm volatile("barrier.cluster.arrive;" ::: "memory"); // WHERE cluster_barrier
    asm volatile("barrier.cluster.wait;" ::: "memory");
}

// The block whose memory it is may be gone.
__global__ __cluster_dims__(2, 1, 1) void finished_block(bool right)
{
    __shared__ int mine[64];
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    mine[threadIdx.x] = threadIdx.x;
    cluster.sync();
    if (cluster.block_rank() == 0) {
        for (int i = 0; i < 2000 && !right; i++)
            __nanosleep(1000);
        result[threadIdx.x] = cluster.map_shared_rank(mine, 1)[threadIdx.x]; // WHERE finished_block
    }
    if (right)
        cluster.sync();
}

// Matrix instructions need the whole warp, wherever its other threads are.
__device__ float matrix[1024]; // all zero
static __device__ void multiply(int where)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};" // WHERE exited, branches, short_block
                 : "+r"(c), "+r"(d)
                 : "r"(a), "r"(a), "r"(b));
    result[where] = c | d;
}

__global__ void exited(bool right)
{
    if (threadIdx.x >= 16 && !right)
        return;
    multiply(threadIdx.x); // WHERE exited
}

__global__ void branches(bool right)
{
    if (threadIdx.x < 20 || right)
        multiply(threadIdx.x); // WHERE branches
    else
        multiply(63 - threadIdx.x); // WHERE branches
}

__global__ void short_block(bool right)
{
    if (!right || threadIdx.x < 32)
        multiply(threadIdx.x); // WHERE short_block
}

__global__ void rows(bool right)
{
    __shared__ alignas(16) int tile[256];
    unsigned got = 0, turned = 0;
    for (int k = threadIdx.x; k < 256; k += 32)
        tile[k] = k;
    __syncthreads();
    if (threadIdx.x % 2 && !right)
        return;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(got) : "r"(at(tile + threadIdx.x % 8 * 4)) : "memory"); // WHERE rows
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(got)); // WHERE rows
    result[threadIdx.x] = got + turned;
}

// The lanes come to it one after the other; __syncwarp() is not asked for.
__global__ void together(bool)
{
    if (threadIdx.x % 3)
        result[threadIdx.x] = 1;
    multiply(threadIdx.x);
}

__global__ void unlike(bool right)
{
    nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> c;
    nvcuda::wmma::load_matrix_sync(c, matrix + (right ? 0 : threadIdx.x / 8 * 16), 16, nvcuda::wmma::mem_row_major); // WHERE unlike
    result[threadIdx.x] = c.x[0] != 0;
}

static const struct {
    const char *name;
    void (*kernel)(bool);
    unsigned threads, blocks;
} cases[] = {
    {"mask", mask, 32, 1},
    {"half_mask", half_mask, 64, 1},
    {"inlined", inlined, 64, 1},
    {"divergence", divergence, 64, 1},
    {"uneven_loop", uneven_loop, 64, 1},
    {"warps_apart", warps_apart, 64, 1},
    {"twice", twice, 64, 1},
    {"no_mbarrier", no_mbarrier, 64, 1},
    {"invalidated", invalidated, 64, 1},
    {"miscounted", miscounted, 64, 1},
    {"barrier_count", barrier_count, 64, 1},
    {"deadlock", deadlock, 64, 1},
    {"cluster_barrier", cluster_barrier, 64, 1},
    {"finished_block", finished_block, 64, 2},
    {"exited", exited, 32, 1},
    {"branches", branches, 32, 1},
    {"short_block", short_block, 48, 1},
    {"rows", rows, 32, 1},
    {"together", together, 64, 1},
    {"unlike", unlike, 32, 1},
};

int main(int argc, char **argv)
{
    for (auto &c : cases)
        if (argc > 2 && !strcmp(argv[1], c.name)) {
            c.kernel<<<c.blocks, c.threads>>>(!strcmp(argv[2], "right"));
            CHECK(cudaGetLastError());
            printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
            return 0;
        }
    return 2;
}
