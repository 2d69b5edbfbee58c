// SPDX-License-Identifier: Apache-2.0
// test_found_again — races that are found again and again: the pairs, and how often each occurred, are the same whether
// the engine looks at each (because somebody asks for each occurrence) or passes over what it has found (again.c,
// runs.c).
#include "engines/exact/exact.h"
#include "harness.h"
#include "peek.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { SEEDS = SANITIZED ? 1 : 2, MANY = 300 };

typedef struct Program {
    const char *name, *text;
    uint32_t grid, block, launches, pairs; // at least so many are found in each seed
} Program;

#define HEAD                                                                                                 \
    ".visible .entry k(.param .u64 p) { .reg .b64 %rd<8>; .reg .b32 %r<16>; .reg .pred %p<4>; .shared "      \
    ".align 16 .b8 "                                                                                         \
    "s[4096];\n"                                                                                             \
    "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"   \
    "mov.u32 %r9, 0; mov.u32 %r8, s; shl.b32 %r3, %r1, 2; add.u32 %r3, %r3, %r8;\n"

static const Program programs[] = {
    // What the tile's next turn stores, other warps still read: at one place, side by side, turned about, as vectors,
    // and as halves of words.
    {"a loop over a tile without its second barrier",
     HEAD
     "L: st.shared.u32 [%r3], %r9; bar.sync 0;\n"
     "ld.shared.u32 %r4, [s+64]; ld.shared.u32 %r4, [s+200]; xor.b32 %r5, %r1, 37; shl.b32 %r5, %r5, 2;\n"
     "add.u32 %r5, %r5, %r8; ld.shared.u32 %r4, [%r5]; ld.shared.v2.u32 {%r4, %r6}, [s+256];\n"
     "and.b32 %r6, %r1, 15; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r8; ld.shared.u32 %r4, [%r6+128];\n"
     "ld.shared.u16 %r4, [%r6+130];\n"
     "add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 12; @%p1 bra L; ret; }\n",
     4, 128, 2, 6},
    // The halves of a warp read rows of sixteen: each its own at one place, or both the same; and some lanes only.
    {"a tile of sixteen without its second barrier",
     HEAD "shr.u32 %r10, %r1, 4; shl.b32 %r10, %r10, 6; add.u32 %r10, %r10, %r8; and.b32 %r11, %r1, 15; "
          "shl.b32 %r11, %r11, 2;\n"
          "add.u32 %r11, %r11, %r8; add.u32 %r12, %r11, %r11; sub.u32 %r12, %r12, %r8;\n"
          "L: st.shared.u32 [%r3], %r9; bar.sync 0;\n"
          "ld.shared.u32 %r4, [%r10]; ld.shared.u32 %r4, [%r10+60]; ld.shared.v2.u32 {%r4, %r6}, [%r10+8]; "
          "ld.shared.u16 %r4, [%r10+18];\n"
          "ld.shared.u32 %r4, [%r11]; ld.shared.u32 %r4, [%r11+64]; ld.shared.u32 %r4, [%r11+96]; "
          "ld.shared.v2.u32 {%r4, %r6}, [%r12+128];\n"
          "and.b32 %r4, %r1, 5; setp.eq.u32 %p2, %r4, 1; @%p2 ld.shared.u32 %r4, [%r10+4]; @%p2 "
          "ld.shared.u32 %r4, [%r11+192];\n"
          "add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 12; @%p1 bra L; ret; }\n",
     4, 128, 2, 10},
    {"a sum without atomics",
     HEAD
     "L: add.u32 %r4, %r1, %r9; and.b32 %r4, %r4, 3; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;\n"
     "ld.global.u32 %r5, [%rd3]; add.u32 %r5, %r5, %r1; st.global.u32 [%rd3], %r5;\n"
     "add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 4; @%p1 bra L; ret; }\n",
     8, 64, 3, 2},
    {"a flag", HEAD "ld.global.u32 %r4, [%rd1]; st.global.u32 [%rd1], 1; ret; }\n", 8, 64, 3, 2},
    {"a flag among atomics",
     HEAD "atom.global.add.u32 %r4, [%rd1+512], 1; st.global.u32 [%rd1], 1;\n"
          "atom.global.add.release.gpu.u32 %r4, [%rd1+516], 1; st.global.u32 [%rd1], 1; ret; }\n",
     8, 64, 2, 3},
    {"values", HEAD "st.global.u32 [%rd1], %r1; st.global.u32 [%rd1], 7; ret; }\n", 8, 64, 3, 4},
    // Of a word that some store as a whole, and others in parts.
    {"parts of a word",
     HEAD "and.b32 %r4, %r1, 3; cvt.u64.u32 %rd2, %r4; add.s64 %rd3, %rd1, %rd2; st.global.u8 [%rd3], 1;\n"
          "st.global.u32 [%rd1], 16843009; st.global.u8 [%rd3], %r1; ld.global.u16 %r5, [%rd1+2]; ret; }\n",
     6, 64, 2, 9},
    // Strong stores of a word, and weak ones of its bytes, of which some change and some do not.
    {"bytes of a word beside strong stores",
     HEAD
     "mov.u32 %r4, 0; st.global.u8 [%rd1], %r1; st.global.u8 [%rd1+1], %r4; st.global.u16 [%rd1+2], %r4;\n"
     "mov.u32 %r5, 1; st.relaxed.gpu.global.u32 [%rd1], %r5; st.global.u8 [%rd1+3], %r2; ret; }\n",
     6, 64, 2, 6},
    {"a sum in shared memory, by lanes that part",
     HEAD "L: and.b32 %r4, %r1, %r9; setp.eq.u32 %p2, %r4, 0; @%p2 bra M;\n"
          "ld.shared.u32 %r5, [s+64]; add.u32 %r5, %r5, %r1; st.shared.u32 [s+64], %r5;\n"
          "M: bar.warp.sync -1; ld.shared.u32 %r5, [s+64];\n"
          "add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 8; @%p1 bra L; ret; }\n",
     2, 96, 2, 3},
    // One load reads what its own half of the warp stored, which is in order, or what the other half or another warp
    // did.
    {"neighbours and others",
     HEAD "and.b32 %r10, %r1, 16; mov.u32 %r11, 65535; shl.b32 %r10, %r11, %r10;\n"
          "L: st.shared.u32 [%r3], %r9; bar.warp.sync %r10; and.b32 %r4, %r9, 3; shl.b32 %r4, %r4, 4; "
          "add.u32 %r4, %r4, 1;\n"
          "xor.b32 %r4, %r4, %r1; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r8; ld.shared.u32 %r5, [%r4]; "
          "bar.warp.sync %r10;\n"
          "add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 12; @%p1 bra L; ret; }\n",
     2, 64, 2, 1},
};

static void each(void *user, const ExactOccurrence *o) {
    (void)o;
    ++*(uint64_t *)user;
}

static void run(const Program *p, uint64_t seed, bool asks, uint64_t *occurred, Exact **x) {
    Rig r;
    VmConfig config = {.seed = seed, .quantum = (uint32_t)(seed % 3) * 4};
    ExactOptions options = {.occurred = asks ? each : NULL, .user = occurred};
    rig_open(&r, p->text, &config);
    assert_int_equal(gr_exact_create(&options, x, NULL), GR_OK);
    VmObserver o = gr_exact_observer(*x);
    assert_int_equal(gr_vm_observe(r.dev, &o, NULL), GR_OK);
    uint64_t memory = rig_alloc(&r, 4096);
    for (uint32_t n = 0; n < p->launches; n++)
        assert_int_equal(RIG_RUN(&r, "k", p->grid, p->block, memory), VM_FAULT_NONE);
    assert_int_equal(peek_doubts(*x), 0);
    assert_false(gr_exact_incomplete(*x));
    rig_close(&r);
}

static void are_counted_alike(void **state) {
    const Program *p = *state;
    uint64_t occurred = 0, counted = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        Exact *x, *y;
        run(p, seed, true, &occurred, &x);
        run(p, seed, false, NULL, &y);
        size_t n, m;
        const Race **each_pair = peek_firsts(x, &n), **same_pairs = peek_firsts(y, &m);
        assert_true(each_pair && same_pairs && n >= p->pairs);
        assert_int_equal(n, m);
        for (size_t k = 0; k < n; k++) {
            const Race *r = each_pair[k], *t = same_pairs[k];
            assert_int_equal(r->class, t->class);
            assert_int_equal(r->side[0].site, t->side[0].site);
            assert_int_equal(r->side[1].site, t->side[1].site);
            if (r->count != t->count)
                fail_msg("seed %u: race %u (class %u) occurred %u times, and %u", (unsigned)seed, (unsigned)k,
                         r->class, (unsigned)r->count, (unsigned)t->count);
            counted += r->count;
        }
        free(each_pair);
        free(same_pairs);
        gr_exact_free(x);
        gr_exact_free(y);
    }
    assert_true(counted > MANY && occurred >= counted);
}

int main(void) {
    enum { N = sizeof programs / sizeof *programs };
    struct CMUnitTest tests[N];
    for (unsigned k = 0; k < N; k++)
        tests[k] = (struct CMUnitTest){.name = programs[k].name,
                                       .test_func = are_counted_alike,
                                       .initial_state = (void *)(uintptr_t)&programs[k]};
    return _cmocka_run_group_tests("again", tests, N, NULL, NULL);
}
