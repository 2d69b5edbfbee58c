// SPDX-License-Identifier: Apache-2.0
// fp16 and bf16: conversion, arithmetic, fma, comparison, pairs; every result checked against float on the host.
#include "../../check.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void halves(const float *a, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __half x = __float2half(a[i]), y = __float2half(b[i]);
    float *r = out + 10 * i;
    r[0] = __half2float(x);
    r[1] = __half2float(__hadd(x, y));
    r[2] = __half2float(__hmul(x, y));
    r[3] = __half2float(__hfma(x, y, __float2half(1.0f)));
    r[4] = __hlt(x, y) ? 1.0f : 0.0f;
    r[5] = __half2float(__hmax(x, y));
    __half2 p = __halves2half2(x, y), q = __hadd2(p, __lowhigh2highlow(p));
    r[6] = __low2float(q) - __high2float(q);
    __nv_bfloat16 u = __float2bfloat16(a[i]), v = __float2bfloat16(b[i]);
    r[7] = __bfloat162float(u);
    r[8] = __bfloat162float(__hmul(u, v));
    r[9] = (float)__half2int_rn(x);
}

int main()
{
    const int n = 256;
    static float a[n], b[n], out[10 * n];
    for (int i = 0; i < n; i++) {
        a[i] = (float)(i - 128) / 8.0f + 0.001f * i;
        b[i] = (float)((i * 37) % 64) / 4.0f - 5.3f;
    }
    float *A, *B, *C;
    CHECK(cudaMalloc(&A, sizeof a));
    CHECK(cudaMalloc(&B, sizeof b));
    CHECK(cudaMalloc(&C, sizeof out));
    CHECK(cudaMemcpy(A, a, sizeof a, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(B, b, sizeof b, cudaMemcpyHostToDevice));
    halves<<<(n + 63) / 64, 64>>>(A, B, C, n);
    CHECK(cudaMemcpy(out, C, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        // Sums and products of two halves are exact in float or double: one rounding, the same as on the device.
        float x = __half2float(__float2half(a[i])), y = __half2float(__float2half(b[i])), *r = out + 10 * i;
        float u = __bfloat162float(__float2bfloat16(a[i])), v = __bfloat162float(__float2bfloat16(b[i]));
        EXPECT(r[0] == x);
        EXPECT(r[1] == __half2float(__float2half(x + y)));
        EXPECT(r[2] == __half2float(__float2half(x * y)));
        EXPECT(r[3] == __half2float(__double2half((double)x * y + 1)));
        EXPECT(r[4] == (x < y ? 1.0f : 0.0f));
        EXPECT(r[5] == (x < y ? y : x));
        EXPECT(r[6] == 0);
        EXPECT(r[7] == u);
        EXPECT(r[8] == __bfloat162float(__float2bfloat16(u * v)));
        EXPECT(r[9] == rintf(x));
    }
    CHECK(cudaFree(A));
    CHECK(cudaFree(B));
    CHECK(cudaFree(C));
    return finish();
}
