// SPDX-License-Identifier: Apache-2.0
// A carry belongs to its lane: lanes that are at different places, here in calls of their own, do not disturb it.
#include "../../check.h"

// a + b over 64 bits, with a detour between the two halves that does not touch the carry.
__device__ __noinline__ unsigned long long add(unsigned long long a, unsigned long long b, int n)
{
    unsigned a0 = a, a1 = a >> 32, b0 = b, b1 = b >> 32, r0, r1;
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 ".reg .b32 i;\n"
                 "mov.u32 i, %6;\n"
                 "add.cc.u32 %0, %2, %4;\n"
                 "again:\n"
                 "sub.s32 i, i, 1;\n"
                 "setp.gt.s32 p, i, 0;\n"
                 "@p bra again;\n"
                 "addc.u32 %1, %3, %5;\n"
                 "}"
                 : "=&r"(r0), "=&r"(r1)
                 : "r"(a0), "r"(a1), "r"(b0), "r"(b1), "r"(n));
    return (unsigned long long)r1 << 32 | r0;
}

__global__ void sums(unsigned long long *out)
{
    unsigned long long s = threadIdx.x;
    for (int i = 0; i < 200; i++) {
        if (threadIdx.x & 1)
            s = add(s, 0xffffffff, 5 + (threadIdx.x + i) % 7);
        else
            s = add(s, 0x1, 3 + (threadIdx.x + i) % 5);
    }
    out[threadIdx.x] = s;
}

int main()
{
    unsigned long long *d, out[64];
    CHECK(cudaMalloc(&d, sizeof out));
    sums<<<1, 64>>>(d);
    CHECK(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 64; t++)
        EXPECT_EQ(out[t], t + 200 * (t & 1 ? 0xffffffffull : 1));
    CHECK(cudaFree(d));
    return finish();
}
