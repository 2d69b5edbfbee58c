// SPDX-License-Identifier: Apache-2.0
// inlinePTX: special registers and instructions that the compiler seldom makes by itself.
#include "../../check.h"

__global__ void ptx(unsigned *out)
{
    unsigned t = threadIdx.x, *r = out + 16 * t, carry;
    asm("mov.u32 %0, %%laneid;" : "=r"(r[0]));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r[1]));
    asm("{ .reg .pred p; setp.lt.u32 p, %1, 7; selp.u32 %0, 11, 22, p; }" : "=r"(r[2]) : "r"(t));
    asm("add.cc.u32 %0, %2, %3; addc.u32 %1, 0, 0;" : "=r"(r[3]), "=r"(carry) : "r"(t), "r"(0xfffffff0u));
    r[4] = carry;
    asm("prmt.b32 %0, %1, %2, 0x3715;" : "=r"(r[5]) : "r"(0x03020100u + t), "r"(0x07060504u));
    asm("bfe.u32 %0, %1, 4, 8;" : "=r"(r[6]) : "r"(t * 0x12345u));
    asm("bfi.b32 %0, %1, %2, 8, 4;" : "=r"(r[7]) : "r"(t), "r"(0xffffffffu));
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(r[8]) : "r"(t), "r"(0x33u), "r"(0x0fu));
    asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r[9]) : "r"(0x80000001u), "r"(t), "r"(t));
    asm("mad.hi.u32 %0, %1, %2, 1;" : "=r"(r[10]) : "r"(t << 20), "r"(0x10000u));
    asm("dp4a.u32.u32 %0, %1, %2, 5;" : "=r"(r[11]) : "r"(0x01020304u * (t % 4)), "r"(0x01010101u));
    asm("brev.b32 %0, %1;" : "=r"(r[12]) : "r"(t));
    asm("bfind.u32 %0, %1;" : "=r"(r[13]) : "r"(t));
    asm("sad.u32 %0, %1, %2, 3;" : "=r"(r[14]) : "r"(t), "r"(40u));
    asm volatile("{ .reg .pred p; .reg .u32 a; mov.u32 a, %1; $LOOP_%=: add.u32 a, a, 3; setp.lt.u32 p, a, 100;"
                 " @p bra $LOOP_%=; mov.u32 %0, a; }"
                 : "=r"(r[15])
                 : "r"(t));
}

static unsigned reverse(unsigned x)
{
    unsigned r = 0;
    for (int i = 0; i < 32; i++)
        r |= (x >> i & 1) << (31 - i);
    return r;
}

int main()
{
    const int n = 64;
    static unsigned out[16 * n];
    unsigned *d;
    CHECK(cudaMalloc(&d, sizeof out));
    ptx<<<1, n>>>(d);
    CHECK(cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost));
    for (unsigned t = 0; t < n; t++) {
        unsigned *r = out + 16 * t, end = t, s = t % 32;
        EXPECT_EQ(r[0], t % 32);
        EXPECT_EQ(r[1], (1u << t % 32) - 1);
        EXPECT_EQ(r[2], t < 7 ? 11 : 22);
        EXPECT_EQ(r[3], t + 0xfffffff0u);
        EXPECT_EQ(r[4], t >= 16);
        EXPECT_EQ(r[5], 0x03070105u); // bytes 3, 7, 1 and 5 of the pair; t changes byte 0 only
        EXPECT_EQ(r[6], (t * 0x12345u) >> 4 & 0xff);
        EXPECT_EQ(r[7], (0xfffff0ffu | (t & 15) << 8));
        EXPECT_EQ(r[8], ((t & 0x33) | (t & 0x0f) | (0x33 & 0x0f)));
        EXPECT_EQ(r[9], s ? t << s | 0x80000001u >> (32 - s) : t);
        EXPECT_EQ(r[10], (unsigned)(((unsigned long long)(t << 20) * 0x10000u) >> 32) + 1);
        EXPECT_EQ(r[11], 10 * (t % 4) + 5);
        EXPECT_EQ(r[12], reverse(t));
        EXPECT_EQ(r[13], t ? 31 - __builtin_clz(t) : 0xffffffffu);
        EXPECT_EQ(r[14], (t > 40 ? t - 40 : 40 - t) + 3);
        do
            end += 3;
        while (end < 100);
        EXPECT_EQ(r[15], end);
    }
    CHECK(cudaFree(d));
    return finish();
}
