// SPDX-License-Identifier: Apache-2.0
// Matrices, asynchronous copies, half precision, textures and warp collectives. Compiled for the round trip, never run.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

namespace cg = cooperative_groups;
using namespace nvcuda;

__global__ void tensor(const half *a, const half *b, float *c) {
    __shared__ half tile[16 * 16];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, tile, a, sizeof tile);
    cg::wait(block);
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, tile, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

__global__ void halves(__half2 *h, __nv_bfloat16 *x, double *d, cudaTextureObject_t t, cudaSurfaceObject_t s, int n) {
    int i = threadIdx.x;
    h[i] = __hfma2(h[i], h[i + 1], __float2half2_rn(0.5f));
    x[i] = __float2bfloat16(__bfloat162float(x[i]) * 2 + tex2D<float4>(t, i, 2).x);
    d[i] = sin(d[i]) + rsqrt(d[i + 1]) / fma(d[i], 3.0, 1e-300);
    int v = surf2Dread<int>(s, 4 * i, 1);
    surf2Dwrite(v + 1, s, 4 * i, 1);
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    v += warp.shfl_xor(v, 3) + __reduce_add_sync(~0u, v) + __popc(__match_any_sync(~0u, v)) + warp.any(v > n);
    atomicAdd(d, v);
    atomicCAS((unsigned long long *)d + 1, 1ull, (unsigned long long)v);
    for (int k = 0; k < n; k++)
        __nanosleep(k);
    asm volatile("" ::"r"(v));
}
