// SPDX-License-Identifier: Apache-2.0
// test_barriers — every form of bar and barrier (PTX ISA 9.7.13.1), with numbers and counts as immediates and in
// registers: EM-23 to EM-27 of docs/execution-model.md.
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define HEAD                                                                                                 \
    ".visible .entry k(.param .u64 out) {\n.reg .pred %%p<8>; .reg .b32 %%r<32>; .reg .b64 %%rd<16>;"        \
    "ld.param.u64 %%rd1, [out]; mov.u32 %%r1, %%tid.x; mov.u32 %%r20, 5; mov.u32 %%r21, 96;"                 \
    "mul.wide.u32 %%rd2, %%r1, 4; add.s64 %%rd2, %%rd1, %%rd2;\n"

static void run_kernel(const char *text, uint32_t threads, uint64_t seed, uint32_t *words, unsigned n) {
    Rig r;
    VmConfig c = {.seed = seed, .split_one_in = 10};
    rig_open(&r, text, &c);
    uint64_t out = rig_alloc(&r, 4096);
    if (RIG_RUN(&r, "k", 1, threads, out) != VM_FAULT_NONE)
        fail_msg("%s\n%s", r.fault.msg, text);
    memcpy(words, rig_view(&r, out, n * 4u), n * 4u);
    rig_close(&r);
}

// Three warps count themselves in a word, meet, and look at the word: all must see 96, five times over.
static void sync_forms(void **state) {
    (void)state;
    static const char *const forms[] = {
        "bar.sync 5;",
        "bar.cta.sync 5;",
        "bar.sync 5, 96;",
        "bar.cta.sync %r20, %r21;",
        "barrier.sync 5;",
        "barrier.sync.aligned %r20;",
        "barrier.cta.sync %r20, 96;",
        "barrier.cta.sync.aligned 5, %r21;",
        "bar.red.popc.u32 %r9, 5, %p0;",
        "bar.cta.red.popc.u32 %r9, %r20, %r21, !%p0;",
        "barrier.red.and.pred %p1, 5, 96, %p0;",
        "barrier.cta.red.or.aligned.pred %p1, %r20, %p0;",
        "barrier.red.popc.aligned.u32 %r9, %r20, 96, %p0;",
    };
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        char text[2000];
        snprintf(text, sizeof text,
                 HEAD "setp.ne.u32 %%p0, %%r1, 0; mov.u32 %%r2, 0;"
                      "L: atom.global.add.u32 %%r3, [%%rd1+512], 1; %s mad.lo.u32 %%r4, %%r2, 96, 96;"
                      "ld.global.u32 %%r5, [%%rd1+512]; setp.lt.u32 %%p2, %%r5, %%r4; @%%p2 trap; %s"
                      "add.u32 %%r2, %%r2, 1; setp.lt.u32 %%p3, %%r2, 5; @%%p3 bra L;"
                      "st.global.u32 [%%rd2], %%r2; ret; }",
                 forms[k], forms[k]);
        for (uint64_t seed = 0; seed < 3; seed++) {
            uint32_t words[129];
            run_kernel(text, 96, seed, words, 129);
            assert_int_equal(words[95], 5);
            assert_int_equal(words[128], 5 * 96);
        }
    }
}

// What the reductions yield: predicates true in threads 0 to 69 of 96.
static void reductions(void **state) {
    (void)state;
    static const struct {
        const char *form;
        uint32_t want;
    } rows[] = {
        {"bar.red.popc.u32 %r9, 5, %p0;", 70},
        {"barrier.cta.red.popc.u32 %r9, %r20, %r21, !%p0;", 26},
        {"bar.red.and.pred %p1, 5, %p0; selp.u32 %r9, 1, 0, %p1;", 0},
        {"barrier.red.and.pred %p1, 5, 96, %p7; selp.u32 %r9, 1, 0, %p1;", 1},
        {"bar.red.or.pred %p1, %r20, %p0; selp.u32 %r9, 1, 0, %p1;", 1},
        {"barrier.cta.red.or.aligned.pred %p1, 5, %r21, !%p7; selp.u32 %r9, 1, 0, %p1;", 0},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[1000];
        uint32_t words[96];
        snprintf(
            text, sizeof text,
            HEAD
            "setp.lt.u32 %%p0, %%r1, 70; setp.lt.u32 %%p7, %%r1, 96; %s st.global.u32 [%%rd2], %%r9; ret; }",
            rows[k].form);
        run_kernel(text, 96, k, words, 96);
        for (unsigned t = 0; t < 96; t++)
            assert_int_equal(words[t], rows[k].want);
    }
}

// Warps 1 and 2 arrive and go on, warp 0 waits for what they wrote.
static void arrive_forms(void **state) {
    (void)state;
    static const char *const forms[] = {"bar.arrive 5, 96;", "bar.cta.arrive %r20, %r21;",
                                        "barrier.arrive %r20, 96;", "barrier.cta.arrive.aligned 5, %r21;"};
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++) {
        char text[1500];
        uint32_t words[96];
        snprintf(text, sizeof text,
                 HEAD
                 "setp.lt.u32 %%p0, %%r1, 32; @%%p0 bra TAKE; nanosleep.u32 2000; st.global.u32 [%%rd2], "
                 "%%r1; %s ret;"
                 "TAKE: barrier.sync 5, 96; ld.global.u32 %%r5, [%%rd2+128]; ld.global.u32 %%r6, [%%rd2+256];"
                 "add.u32 %%r5, %%r5, %%r6; st.global.u32 [%%rd2], %%r5; ret; }",
                 forms[k]);
        for (uint64_t seed = 0; seed < 4; seed++) {
            run_kernel(text, 96, seed, words, 96);
            for (unsigned t = 0; t < 32; t++)
                assert_int_equal(words[t], 2 * t + 96);
        }
    }
}

static void misuse(void **state) {
    (void)state;
    static const struct {
        const char *form, *says;
    } rows[] = {
        {"bar.arrive 1, %r30;", "used barrier 1 for 0 threads"},
        {"mov.u32 %r3, 2048; barrier.sync 1, %r3;", "used barrier 1 for 2048 threads"},
        {"barrier.sync 1, 48;", "used barrier 1 for 48 threads"},
        {"mov.u32 %r3, 0xffffffff; barrier.sync %r3;", "used barrier 4294967295; there are 16"},
        {"mov.u32 %r3, 16; bar.arrive %r3, 64;", "used barrier 16; there are 16"},
        {"setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 1, 64; bra B; A: bar.sync 1, 96; B:",
         "while others wait at it for"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char text[1000];
        Rig r;
        snprintf(text, sizeof text, HEAD "mov.u32 %%r30, 0; %s ret; }", rows[k].form);
        rig_open(&r, text, NULL);
        uint64_t out = rig_alloc(&r, 64);
        assert_int_equal(RIG_RUN(&r, "k", 1, 64, out), VM_FAULT_ILLEGAL_INSTRUCTION);
        if (!strstr(r.fault.msg, rows[k].says))
            fail_msg("row %zu: %s", k, r.fault.msg);
        rig_close(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sync_forms),
        cmocka_unit_test(reductions),
        cmocka_unit_test(arrive_forms),
        cmocka_unit_test(misuse),
    };
    return cmocka_run_group_tests_name("vm.barriers", tests, NULL, NULL);
}
