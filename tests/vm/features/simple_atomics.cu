// SPDX-License-Identifier: Apache-2.0
// simpleAtomicIntrinsics, and the types and scopes it leaves out.
#include "../../check.h"

struct Results {
    int add, sub, exch, max, min, land, lor, lxor, cas;
    unsigned inc, dec;
    unsigned long long add64, max64;
    float addf;
    double addd;
    int block, system;
};

__global__ void atomics(Results *r)
{
    int t = blockDim.x * blockIdx.x + threadIdx.x;
    atomicAdd(&r->add, 10);
    atomicSub(&r->sub, 10);
    atomicExch(&r->exch, t);
    atomicMax(&r->max, t);
    atomicMin(&r->min, -t);
    atomicInc(&r->inc, 17);
    atomicDec(&r->dec, 137);
    atomicCAS(&r->cas, t - 1, t);
    atomicAnd(&r->land, 2 * t + 7);
    atomicOr(&r->lor, 1 << (t % 31));
    atomicXor(&r->lxor, t);
    atomicAdd(&r->add64, 1ull << 32);
    atomicMax(&r->max64, (unsigned long long)t << 33);
    atomicAdd(&r->addf, 0.5f);
    atomicAdd(&r->addd, 0.25);
    if (blockIdx.x == 0)
        atomicAdd_block(&r->block, 1);
    atomicAdd_system(&r->system, 1);
}

// Values that atomics return: a ticket for each thread, all different.
__global__ void tickets(unsigned *next, unsigned char *taken)
{
    taken[atomicAdd(next, 1u)]++;
}

// A lock per thread: only progress of every thread lets this end.
__global__ void spin(int *lock, int *count)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
    *(volatile int *)count = *(volatile int *)count + 1;
    __threadfence();
    atomicExch(lock, 0);
}

int main()
{
    const int n = 64 * 256;
    Results r = {}, *d;
    r.land = 0xff;
    CHECK(cudaMalloc(&d, sizeof r));
    CHECK(cudaMemcpy(d, &r, sizeof r, cudaMemcpyHostToDevice));
    atomics<<<64, 256>>>(d);
    CHECK(cudaMemcpy(&r, d, sizeof r, cudaMemcpyDeviceToHost));
    unsigned inc = 0, dec = 0;
    int lxor = 0, land = 0xff;
    for (int t = 0; t < n; t++) {
        inc = inc >= 17 ? 0 : inc + 1;
        dec = dec == 0 || dec > 137 ? 137 : dec - 1;
        lxor ^= t;
        land &= 2 * t + 7;
    }
    EXPECT_EQ(r.add, 10 * n);
    EXPECT_EQ(r.sub, -10 * n);
    EXPECT(r.exch >= 0 && r.exch < n);
    EXPECT_EQ(r.max, n - 1);
    EXPECT_EQ(r.min, -(n - 1));
    EXPECT_EQ(r.inc, inc);
    EXPECT_EQ(r.dec, dec);
    EXPECT(r.cas >= 0 && r.cas < n);
    EXPECT_EQ(r.land, land);
    EXPECT_EQ(r.lor, 0x7fffffff);
    EXPECT_EQ(r.lxor, lxor);
    EXPECT_EQ(r.add64, (unsigned long long)n << 32);
    EXPECT_EQ(r.max64, (unsigned long long)(n - 1) << 33);
    EXPECT(r.addf == 0.5f * n);
    EXPECT(r.addd == 0.25 * n);
    EXPECT_EQ(r.block, 256);
    EXPECT_EQ(r.system, n);
    static unsigned char taken[4096];
    unsigned *next;
    unsigned char *d_taken;
    CHECK(cudaMalloc(&next, sizeof *next));
    CHECK(cudaMalloc(&d_taken, sizeof taken));
    CHECK(cudaMemset(next, 0, sizeof *next));
    CHECK(cudaMemset(d_taken, 0, sizeof taken));
    tickets<<<16, 256>>>(next, d_taken);
    CHECK(cudaMemcpy(taken, d_taken, sizeof taken, cudaMemcpyDeviceToHost));
    for (unsigned char c : taken)
        EXPECT_EQ(c, 1);
    int *lock, counts[2] = {0, 0};
    CHECK(cudaMalloc(&lock, sizeof counts));
    CHECK(cudaMemset(lock, 0, sizeof counts));
    spin<<<4, 64>>>(lock, lock + 1);
    CHECK(cudaMemcpy(counts, lock, sizeof counts, cudaMemcpyDeviceToHost));
    EXPECT_EQ(counts[0], 0);
    EXPECT_EQ(counts[1], 256);
    CHECK(cudaFree(d));
    return finish();
}
