// SPDX-License-Identifier: Apache-2.0
// Inclusive scan in one pass over memory, with decoupled look-back (Merrill and Garland): blocks take tiles in the order
// they start, publish their sum, and add up what the tiles before them have published. Status and value of a tile are one
// 64-bit word, written and read with cuda::atomic_ref.
#include "complete.h"
#include <cuda/atomic>

const int BLOCK = 128, ITEMS = 4, TILE = BLOCK * ITEMS;
const unsigned long long EMPTY = 0, SUM = 1ull << 32, PREFIX = 2ull << 32; // a tile's own sum, or that of all up to it

typedef cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> Word;

__device__ unsigned scan_block(unsigned x)
{
    __shared__ unsigned sums[BLOCK / 32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int d = 1; d < 32; d *= 2) {
        unsigned below = __shfl_up_sync(~0u, x, d);
        if (lane >= d)
            x += below;
    }
    if (lane == 31)
        sums[warp] = x;
    __syncthreads();
    for (int w = 0; w < warp; w++)
        x += sums[w];
    __syncthreads();
    return x;
}

__global__ void scan(const unsigned *in, unsigned *out, unsigned n, unsigned *next_tile, unsigned long long *state)
{
    __shared__ unsigned tile_shared, before_shared;
    if (threadIdx.x == 0)
        tile_shared = atomicAdd(next_tile, 1);
    __syncthreads();
    unsigned tile = tile_shared, base = tile * TILE + threadIdx.x * ITEMS, x[ITEMS], sum = 0;
    for (int j = 0; j < ITEMS; j++) {
        sum += base + j < n ? in[base + j] : 0;
        x[j] = sum;
    }
    unsigned up_to = scan_block(sum);
    if (threadIdx.x == BLOCK - 1) {
        unsigned before = 0;
        Word mine(state[tile]);
        if (tile > 0) {
            mine.store(SUM | up_to, cuda::memory_order_release);
            for (unsigned t = tile - 1;; t--) {
                unsigned long long word;
                do
                    word = Word(state[t]).load(cuda::memory_order_acquire);
                while (word == EMPTY);
                before += (unsigned)word;
                if (word & PREFIX)
                    break;
            }
        }
        mine.store(PREFIX | (unsigned)(before + up_to), cuda::memory_order_release);
        before_shared = before;
    }
    __syncthreads();
    for (int j = 0; j < ITEMS; j++)
        if (base + j < n)
            out[base + j] = before_shared + up_to - sum + x[j];
}

int main()
{
    const unsigned n = 50021;
    Random random(3);
    std::vector<unsigned> in(n), want(n);
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++)
        want[i] = sum += in[i] = random.next();
    unsigned tiles = blocks_for(n, TILE), *out = device_new<unsigned>(n);
    scan<<<tiles, BLOCK>>>(to_device(in), out, n, device_zeros<unsigned>(1), device_zeros<unsigned long long>(tiles));
    finish_launches();
    expect_same("scan", from_device(out, n), want);
    return finish();
}
