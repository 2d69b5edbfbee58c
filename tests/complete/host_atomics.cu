// SPDX-License-Identifier: Apache-2.0
// The host adds to a word with atomic additions of its own while a kernel does atomic operations of scope .sys on the same word, none of
// which changes what the additions come to: not one of them may be lost. Every operation and width, in managed, pinned and
// pageable memory. Beside them the device stores to the other bytes of a word of which the host adds to one.
#include "complete.h"

#include <chrono>

#define CELLS(_)                                                                                                       \
    _(add, 32, 0, int v = atomicAdd_system((int *)p, 0))                                                               \
    _(max, 32, 0, atomicMax_system((int *)p, -1))                                                                      \
    _(min, 32, 0, atomicMin_system((unsigned *)p, ~0u))                                                                \
    _(inc_sub, 32, 0, atomicInc_system((unsigned *)p, ~0u); atomicSub_system((int *)p, 1))                             \
    _(dec_add, 32, 0, atomicDec_system((unsigned *)p, ~0u); atomicAdd_system((int *)p, 1))                             \
    _(cas_other, 32, 0, atomicCAS_system((int *)p, -5, 7))                                                             \
    _(cas_same, 32, 0, int v = *(volatile int *)p; atomicCAS_system((int *)p, v, v))                                   \
    _(and_all, 32, 0, atomicAnd_system((int *)p, -1))                                                                  \
    _(or_none, 32, 0, atomicOr_system((int *)p, 0))                                                                    \
    _(xor_none, 32, 0, atomicXor_system((int *)p, 0))                                                                  \
    _(exch, 32, 0, taken += (unsigned)atomicExch_system((int *)p, 0))                                                  \
    _(red, 32, 0, asm volatile("red.sys.max.s32 [%0], -1;" ::"l"(p) : "memory"))                                       \
    _(f32, 32, 0x3f800000, asm volatile("red.sys.global.add.f32 [%0], 0f00000000;" ::"l"(p) : "memory"))               \
    _(f16x2, 32, 0, asm volatile("{.reg .b32 a; mov.b32 a, 0; red.sys.global.add.noftz.f16x2 [%0], a;}" ::"l"(p) : "memory")) \
    _(bf16x2, 32, 0, asm volatile("{.reg .b32 a; mov.b32 a, 0; red.sys.global.add.noftz.bf16x2 [%0], a;}" ::"l"(p) : "memory")) \
    _(vector, 32, 0x3f800000,                                                                                          \
      asm volatile("{.reg .f32 a; mov.f32 a, 0f00000000; red.sys.global.add.v4.f32 [%0], {a, a, a, a};}" ::"l"(p) : "memory")) \
    _(add_64, 64, 0, atomicAdd_system((unsigned long long *)p, 0ull))                                                  \
    _(max_64, 64, 0, atomicMax_system((long long *)p, -1ll))                                                           \
    _(cas_64, 64, 0, atomicCAS_system((unsigned long long *)p, ~0ull, 1ull))                                           \
    _(and_64, 64, 0, atomicAnd_system((unsigned long long *)p, ~0ull))                                                 \
    _(f64, 64, 0x3ff0000000000000, asm volatile("red.sys.global.add.f64 [%0], 0d0000000000000000;" ::"l"(p) : "memory")) \
    _(cas_16, 16, 0, asm volatile("{.reg .b16 v; ld.relaxed.sys.b16 v, [%0]; atom.sys.cas.b16 v, [%0], v, v;}" ::"l"(p) : "memory")) \
    _(cas_128, 64, 0,                                                                                                  \
      asm volatile("{.reg .b128 v; ld.relaxed.sys.b128 v, [%0]; atom.sys.cas.b128 v, [%0], v, v;}" ::"l"(p) : "memory")) \
    _(bytes, 8, 0, for (int k = 1; k < 4; k++) ((volatile char *)p)[k] = k)

struct Cell {
    alignas(16) uint64_t word[2];
};
enum {
#define CELL(name, bits, start, op) op_##name,
    CELLS(CELL)
#undef CELL
    COUNT
};
struct Shared {
    int phase, alive; // which cell; COUNT: the end. Turns of the kernel
    Cell cell[COUNT];
    uint64_t taken;
};

__global__ void neutral(Shared *s)
{
    unsigned long long taken = 0;
    for (;;) {
        int phase;
        asm volatile("ld.relaxed.sys.s32 %0, [%1];" : "=r"(phase) : "l"(&s->phase) : "memory");
        phase = __shfl_sync(~0u, phase, 0);
        if (phase == COUNT)
            break;
        for (int turn = 0; turn < 20; turn++) {
            void *p = s->cell[phase].word;
            switch (phase) {
#define CELL(name, bits, start, op) case op_##name: { op; break; }
                CELLS(CELL)
#undef CELL
            }
        }
        if (threadIdx.x == 0)
            atomicAdd_system(&s->alive, 1);
    }
    atomicAdd((unsigned long long *)&s->taken, taken);
}

static void add_one(void *p, int bits)
{
    if (bits == 8)
        __atomic_fetch_add((uint8_t *)p, 1, __ATOMIC_RELAXED);
    else if (bits == 16)
        __atomic_fetch_add((uint16_t *)p, 1, __ATOMIC_RELAXED);
    else if (bits == 32)
        __atomic_fetch_add((uint32_t *)p, 1, __ATOMIC_RELAXED);
    else
        __atomic_fetch_add((uint64_t *)p, 1, __ATOMIC_RELAXED);
}

// At most 20000, as sums of 16 bits must stay numbers; some milliseconds, as under some engines each takes long.
static uint64_t add_ones(Shared *s, int cell, int bits)
{
    auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(6);
    uint64_t n = 0;
    do
        for (int k = 0; k < 10; k++, n++)
            add_one(s->cell[cell].word, bits);
    while (n < 20000 && std::chrono::steady_clock::now() < end);
    return n;
}

static void test(const char *where, Shared *s)
{
    static const struct {
        const char *name;
        int bits;
        uint64_t start;
    } rows[] = {
#define CELL(name, bits, start, op) {#name, bits, start},
        CELLS(CELL)
#undef CELL
    };
    uint64_t added[COUNT];
    memset((void *)s, 0, sizeof *s);
    for (int i = 0; i < COUNT; i++)
        s->cell[i].word[0] = rows[i].start;
    neutral<<<1, 32>>>(s);
    CHECK(cudaGetLastError());
    for (int i = 0; i < COUNT; i++) {
        __atomic_store_n(&s->phase, i, __ATOMIC_SEQ_CST);
        int seen = __atomic_load_n(&s->alive, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(&s->alive, __ATOMIC_SEQ_CST) < seen + 2)
            ; // until the kernel is at it
        added[i] = add_ones(s, i, rows[i].bits);
    }
    __atomic_store_n(&s->phase, COUNT, __ATOMIC_SEQ_CST);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < COUNT; i++) {
        uint64_t now = s->cell[i].word[0], mask = rows[i].bits == 64 ? ~0ull : (1ull << rows[i].bits) - 1;
        if (i == op_bytes)
            EXPECT(now >> 8 == 0x030201);
        if (i == op_exch)
            now += s->taken;
        uint64_t want = (rows[i].start + added[i]) & mask;
        if ((now & mask) != want && ++failures)
            printf("%s, %s: %lld of %llu additions are lost\n", where, rows[i].name, (long long)(want - (now & mask)),
                   (unsigned long long)added[i]);
    }
}

int main()
{
    Shared *managed, *pinned, *pageable = (Shared *)aligned_alloc(64, (sizeof(Shared) + 63) / 64 * 64);
    CHECK(cudaMallocManaged(&managed, sizeof *managed));
    CHECK(cudaMallocHost(&pinned, sizeof *pinned));
    test("managed", managed);
    test("pinned", pinned);
    test("pageable", pageable);
    return finish();
}
