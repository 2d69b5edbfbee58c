// SPDX-License-Identifier: Apache-2.0
// test_recycled — kernels in which what is remembered of accesses was once taken for other accesses, because the
// numbers that stand for them had been given away: nothing races. Here they are given away after every 64 new ones, or
// at once.
#include "engines/exact/exact.h"
#include "harness.h"
#include "peek.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { OFTEN = 100 };

typedef struct Program {
    const char *name, *text;
    uint32_t grid, block, launches, every;
} Program;

static const Program programs[] = {
    // Nobody reads the counters at p + 4096, and only atomics touch them.
    {"counters beside an array that is read",
     ".visible .entry k(.param .u64 p) { .reg .b64 %rd<8>; .reg .b32 %r<8>;\n"
     "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
     "mad.lo.u32 %r3, %r2, 37, %r1; and.b32 %r3, %r3, 1023; mul.wide.u32 %rd2, %r3, 4; add.s64 %rd3, %rd1, "
     "%rd2;\n"
     "ld.global.u32 %r4, [%rd3];\n"
     "and.b32 %r5, %r2, 255; mul.wide.u32 %rd4, %r5, 4; add.s64 %rd5, %rd1, %rd4;\n"
     "red.global.add.u32 [%rd5+4096], %r4;\n"
     "ret; }\n",
     3000, 128, 1, 64},
    // Words that lanes read here and there, and one thread of each block writes, all of them ordered by the lock.
    {"a lock",
     ".visible .entry k(.param .u64 p) { .reg .b64 %rd<8>; .reg .b32 %r<16>; .reg .pred %p<4>;\n"
     "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0;\n"
     "@%p1 bra E;\n"
     "L: atom.acquire.gpu.global.cas.b32 %r2, [%rd1], 0, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra L;\n"
     "ld.global.u32 %r3, [%rd1+4096]; add.u32 %r3, %r3, 1; st.global.u32 [%rd1+4096], %r3;\n"
     "ld.global.u16 %r3, [%rd1+4200]; st.global.u8 [%rd1+4201], %r3;\n"
     "st.release.gpu.global.u32 [%rd1], 0;\n"
     "E: ret; }\n",
     1200, 32, 1, 64},
    // Each warp reads what all read, of which two readers are remembered, and what is its own, by one instruction; then
    // it writes its own.
    {"reads that are not remembered",
     ".visible .entry k(.param .u64 p) { .reg .b64 %rd<8>; .reg .b32 %r<16>; .reg .pred %p<4>;\n"
     "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
     "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; mul.wide.u32 %rd4, %r2, 128; add.s64 %rd4, %rd3, "
     "%rd4;\n"
     "add.s64 %rd4, %rd4, 4096; mov.u32 %r3, 0;\n"
     "L: setp.lt.u32 %p1, %r3, 7; selp.b64 %rd5, %rd3, %rd4, %p1; ld.global.u32 %r4, [%rd5];\n"
     "add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 8; @%p2 bra L;\n"
     "st.global.u32 [%rd4], %r3;\n"
     "ret; }\n",
     400, 32, 1, 1},
};

static void nothing_races(void **state) {
    const Program *p = *state;
    Rig r;
    Exact *x;
    VmConfig config = {.seed = 1, .quantum = 8};
    ExactOptions options = {.collect_every = p->every};
    rig_open(&r, p->text, &config);
    assert_int_equal(gr_exact_create(&options, &x, NULL), GR_OK);
    VmObserver o = gr_exact_observer(x);
    assert_int_equal(gr_vm_observe(r.dev, &o, NULL), GR_OK);
    uint64_t memory = rig_alloc(&r, 1 << 18);
    for (uint32_t n = 0; n < p->launches; n++)
        assert_int_equal(RIG_RUN(&r, "k", p->grid, p->block, memory), VM_FAULT_NONE);
    if (peek_collections(x) < OFTEN)
        fail_msg("collected %u times only", (unsigned)peek_collections(x));
    assert_int_equal(gr_exact_races(x), 0);
    assert_int_equal(peek_doubts(x), 0);
    assert_false(gr_exact_incomplete(x));
    rig_close(&r);
    gr_exact_free(x);
}

int main(void) {
    enum { N = sizeof programs / sizeof *programs };
    struct CMUnitTest tests[N];
    for (unsigned k = 0; k < N; k++)
        tests[k] = (struct CMUnitTest){.name = programs[k].name,
                                       .test_func = nothing_races,
                                       .initial_state = (void *)(uintptr_t)&programs[k]};
    return _cmocka_run_group_tests("recycled", tests, N, NULL, NULL);
}
