// SPDX-License-Identifier: Apache-2.0
// A matrix product as libraries write it: mma.sync.m16n8k16 on fragments that ldmatrix brings from shared memory, whose tiles
// are swizzled (a row's 16-byte pieces change places so that no two rows meet in a bank), and which cp.async fills two steps
// ahead. Each warp computes 32 x 32. And a product of bytes whose fragments are loaded by hand.
#include "complete.h"

#include <cuda_fp16.h>

const int TILE = 64, DEPTH = 32, STAGES = 3, WARPS = 4;

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// Piece `p` (8 halves) of row r: 4 pieces a row, 64 bytes.
__device__ int swizzled(int r, int p) { return r * DEPTH + ((p ^ (r / 2 & 3)) * 8); }

__device__ void load_x4(unsigned d[4], const __half *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3]) : "r"(shared_address(row)) : "memory");
}

__device__ void multiply(float d[4], const unsigned a[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// C = A B^T, both with rows of k elements.
__global__ void gemm(int n, int k, const __half *a, const __half *b, float *c)
{
    __shared__ alignas(16) __half as[STAGES][TILE * DEPTH], bs[STAGES][TILE * DEPTH];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    int wr = warp / 2 * 32, wc = warp % 2 * 32, steps = k / DEPTH;
    auto fetch = [&](int step) {
        if (step < steps)
            for (int i = t; i < TILE * 4; i += 32 * WARPS) {
                int r = i / 4, p = i % 4;
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&as[step % STAGES][swizzled(r, p)])), "l"(a + (row0 + r) * k + step * DEPTH + p * 8) : "memory");
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(&bs[step % STAGES][swizzled(r, p)])), "l"(b + (col0 + r) * k + step * DEPTH + p * 8) : "memory");
            }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    float sum[2][4][4] = {};
    for (int s = 0; s < STAGES - 1; s++)
        fetch(s);
    for (int step = 0; step < steps; step++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads(); // everybody's copies of this step are there, and the stage to fill next was used
        fetch(step + STAGES - 1);
        const __half *ta = as[step % STAGES], *tb = bs[step % STAGES];
        for (int kk = 0; kk < DEPTH / 8; kk += 2) {
            unsigned fa[2][4], fb[2][4];
            for (int i = 0; i < 2; i++) { // lanes name rows: of the upper, the lower left matrix, then of the right ones
                load_x4(fa[i], ta + swizzled(wr + 16 * i + lane % 16, kk + lane / 16));
                load_x4(fb[i], tb + swizzled(wc + 16 * i + lane % 8 + lane / 16 * 8, kk + lane / 8 % 2));
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++)
                    multiply(sum[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
        }
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int e = 0; e < 4; e++)
                c[(row0 + wr + 16 * i + lane / 4 + e / 2 * 8) * n + col0 + wc + 8 * j + lane % 4 * 2 + e % 2] = sum[i][j][e];
}

// The same of bytes, a warp 16 x 8, from global memory.
__global__ void gemm_bytes(int n, int k, const signed char *a, const signed char *b, int *c)
{
    int lane = threadIdx.x, g = lane / 4, q = lane % 4, row = blockIdx.y * 16 + g, col = blockIdx.x * 8;
    int sum[4] = {};
    for (int k0 = 0; k0 < k; k0 += 32) {
        unsigned fa[4], fb[2];
        for (int i = 0; i < 4; i++)
            fa[i] = *(const unsigned *)(a + (row + i % 2 * 8) * k + k0 + q * 4 + i / 2 * 16);
        for (int i = 0; i < 2; i++)
            fb[i] = *(const unsigned *)(b + (col + g) * k + k0 + q * 4 + i * 16);
        asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3]) : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    }
    for (int e = 0; e < 4; e++)
        c[(row + e / 2 * 8) * n + col + q * 2 + e % 2] = sum[e];
}

template <class T, class Acc> std::vector<Acc> product(int m, int n, int k, const std::vector<T> &a, const std::vector<T> &b)
{
    std::vector<Acc> c(m * n);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < k; l++)
                c[i * n + j] += Acc((float)a[i * k + l]) * Acc((float)b[j * k + l]);
    return c;
}

int main()
{
    const int m = 128, n = 64, k = 160;
    Random random(43);
    std::vector<__half> a(m * k), b(n * k);
    for (auto *v : {&a, &b})
        for (auto &e : *v)
            e = __float2half((float)((int)random.below(17) - 8));
    float *d_c = device_zeros<float>(m * n);
    gemm<<<dim3(n / TILE, m / TILE), 32 * WARPS>>>(n, k, to_device(a), to_device(b), d_c);
    finish_launches();
    expect_same("half", from_device(d_c, m * n), product<__half, float>(m, n, k, a, b));

    std::vector<signed char> p(m * k), q(n * k);
    for (auto *v : {&p, &q})
        for (auto &e : *v)
            e = (signed char)((int)random.below(256) - 128);
    int *d_i = device_zeros<int>(m * n);
    gemm_bytes<<<dim3(n / 8, m / 16), 32>>>(n, k, to_device(p), to_device(q), d_i);
    finish_launches();
    expect_same("bytes", from_device(d_i, m * n), product<signed char, int>(m, n, k, p, q));
    return finish();
}
