// SPDX-License-Identifier: Apache-2.0
// A stage of a product for tensor cores: cp.async brings the rows of a tile, ldmatrix takes them, mma.sync multiplies. Each thread waits
// for its own copies; but the lanes of ldmatrix name rows that threads of the other warp have copied.
// RACE 1: read-write race, shared, can-overlap -- ldmatrix reads rows whose copies only the other warp has waited for
// FIXED: a barrier after the wait
#include "async.h"

#include <cuda_fp16.h>

#define LDMATRIX_X4(d, row)                                                                                  \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"                          \
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])                                            \
                 : "r"(SHARED(row))                                                                          \
                 : "memory")
#define LDMATRIX_X2(d, row)                                                                                  \
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"                                  \
                 : "=r"(d[0]), "=r"(d[1])                                                                    \
                 : "r"(SHARED(row))                                                                          \
                 : "memory")
#define MULTIPLY(d, a, b)                                                                                    \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "    \
                 "{%8, %9}, {%0, %1, %2, %3};"                                                               \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                            \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

template <bool FIXED> __global__ void product(const half *a, float *c) {
    __shared__ alignas(16) half tile[32 * 16]; // 16 rows of A, 16 of B transposed
    int t = threadIdx.x, lane = t % 32;
    unsigned f[4], g[2];
    float sum[4] = {};
    CP_ASYNC16(&tile[8 * (t ^ 32)], &a[8 * (t ^ 32)]); // SIDE 1
    CP_COMMIT();
    CP_WAIT(0);
    if constexpr (FIXED) __syncthreads(); // FIX
    const half *row = &tile[lane % 16 * 16 + lane / 16 * 8];
    const half *column = &tile[256 + (t / 32 * 8 + lane % 8) * 16 + lane / 8 % 2 * 8];
    LDMATRIX_X4(f, row);    // SIDE 1
    LDMATRIX_X2(g, column); // SIDE 1
    MULTIPLY(sum, f, g);
    for (int e = 0; e < 4; e++) {
        c[(lane / 4 + e / 2 * 8) * 16 + t / 32 * 8 + lane % 4 * 2 + e % 2] = sum[e];
    }
}

static int test(bool fixed) {
    std::vector<half> a;
    for (int i = 0; i < 512; i++) {
        a.push_back(__float2half(static_cast<float>(i / 16 % 16)));
    }
    Buffer<half> d_a(a);
    Buffer<float> c(256);
    LAUNCH(product, 1, 64, d_a, c);
    return count_wrong(c.host(), [](int i) { return 16 * (i / 16) * (i % 16); });
}

CORPUS_MAIN(test)
