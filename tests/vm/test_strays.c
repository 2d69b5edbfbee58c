// SPDX-License-Identifier: Apache-2.0
// test_strays — accesses to where no memory is that go nowhere (VmConfig.pass_strays): EM-164 of
// docs/execution-model.md. The lane reads zero or writes nothing, observers of misuse hear of it, those of accesses do
// not, and the launch goes on.
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define REGS ".reg .pred %p<8>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .b128 %q<4>;\n"
// %rd1 the buffer, %r1 the thread, %rd2 where the thread accesses: its word, or, of thread 5, what is given as `bad`;
// %rd5 its result.
#define PROLOGUE                                                                                             \
    ".visible .entry k(.param .u64 out, .param .u64 bad, .param .u64 result) {\n" REGS                       \
    ".shared .align 16 .b8 s[512]; .local .align 16 .b8 here[32];\n"                                         \
    "ld.param.u64 %rd1, [out]; ld.param.u64 %rd4, [bad]; ld.param.u64 %rd6, [result]; mov.u32 %r1, "         \
    "%tid.x;\n"                                                                                              \
    "mul.wide.u32 %rd3, %r1, 16; add.s64 %rd2, %rd1, %rd3; add.s64 %rd5, %rd6, %rd3;\n"                      \
    "setp.eq.u32 %p1, %r1, 5; selp.b64 %rd2, %rd4, %rd2, %p1; mov.u32 %r2, 77; mov.u32 %r3, 78; mov.u64 "    \
    "%rd7, 79;\n"

#define NOWHERE UINT64_C(0x123456789000)
enum { LANES = 32, BAD = 5, BYTES = 16 * LANES };

typedef struct Heard {
    unsigned strays, others, seen; // misuses; accesses to where nothing is
    uint32_t thread;
    char detail[256];
} Heard;

static void hear_misuse(void *user, const VmMisuseEvent *e) {
    Heard *h = user;
    if (e->kind != VM_MISUSE_STRAY) {
        h->others++;
        return;
    }
    if (!h->strays)
        snprintf(h->detail, sizeof h->detail, "%s", e->detail);
    h->strays += e->threads;
    h->thread = e->thread[0];
    assert_non_null(e->stmt);
    assert_string_equal(e->kernel, "k");
}

static void hear_access(void *user, const VmAccessEvent *e) {
    for (uint32_t m = e->where.mask; m; m &= m - 1) {
        uint64_t at = e->address[__builtin_ctz(m)];
        ((Heard *)user)->seen += e->space == PTX_GLOBAL ? at < 16 || at - NOWHERE < 16 : at >= 4096;
    }
}

static void hear_async(void *user, const VmAsyncEvent *e) {
    for (uint32_t m = e->where.mask; m && e->address; m &= m - 1)
        ((Heard *)user)->seen += e->space == PTX_GLOBAL ? e->address[__builtin_ctz(m)] - NOWHERE < 16
                                                        : e->address[__builtin_ctz(m)] >= 4096;
}

typedef struct Run {
    Heard heard;
    VmFault fault;
    uint32_t out[BYTES / 4], result[BYTES / 4]; // what is where threads access; what they have of it
} Run;

static Run run(const char *body, uint64_t bad, const VmConfig *config) {
    Rig r;
    Run x = {0};
    char text[4096];
    snprintf(text, sizeof text, "%s%s st.global.v2.u32 [%%rd5], {%%r2, %%r3}; ret; }", PROLOGUE, body);
    rig_open(&r, text, config);
    VmObserver o = {.user = &x.heard, .misuse = hear_misuse, .access = hear_access, .async = hear_async};
    uint64_t at = rig_alloc(&r, BYTES), to = rig_alloc(&r, BYTES);
    memset(rig_view(&r, at, BYTES), 1, BYTES);
    assert_int_equal(gr_vm_observe(r.dev, &o, NULL), GR_OK);
    RIG_RUN(&r, "k", 1, LANES, at, bad, to);
    memcpy(x.out, rig_view(&r, at, BYTES), BYTES);
    memcpy(x.result, rig_view(&r, to, BYTES), BYTES);
    x.fault = r.fault;
    rig_close(&r);
    return x;
}

typedef struct Case {
    const char *body; // of all threads; what a thread has of it is in %r2 then
    uint64_t bad;     // where thread 5 accesses
    uint32_t has;     // what thread 5 has in %r2
    uint32_t others;  // what the others have
} Case;

#define ONES 0x01010101
#define COPY "mul.lo.u32 %r5, %r1, 16; mov.u32 %r4, s; add.u32 %r4, %r4, %r5; st.shared.u32 [%r4], 5; "
static const Case cases[] = {
    {"ld.global.u32 %r2, [%rd2];", 0, 0, ONES},
    {"ld.u32 %r2, [%rd2];", 0, 0, ONES},
    {"ld.global.s8 %r2, [%rd2];", NOWHERE, 0, 1},
    {"ld.volatile.global.u32 %r2, [%rd2];", NOWHERE, 0, ONES},
    {"ld.acquire.gpu.global.u32 %r2, [%rd2];", NOWHERE, 0, ONES},
    {"ld.global.v2.u32 {%r2, %r3}, [%rd2];", NOWHERE, 0, ONES},
    {"ld.global.v4.u32 {%r2, _, _, %r3}, [%rd2];", NOWHERE, 0, ONES},
    {"ld.global.u64 %rd7, [%rd2]; cvt.u32.u64 %r2, %rd7;", NOWHERE, 0, ONES},
    {"ld.global.b128 %q1, [%rd2]; mov.b128 {%rd7, %rd8}, %q1; cvt.u32.u64 %r2, %rd8;", NOWHERE, 0, ONES},
    {"ld.global.u32 %r2, [%rd2];", NOWHERE + 2, 0, ONES}, // misaligned, too
    {"st.global.u32 [%rd2], %r2;", NOWHERE, 77, 77},
    {"st.u32 [%rd2], %r2;", 8, 77, 77},
    {"st.global.v4.u32 [%rd2], {%r2, %r2, %r3, %r3};", NOWHERE, 77, 77},
    {"st.global.u8 [%rd2], %r2;", NOWHERE, 77, 77},
    {"st.release.gpu.global.u32 [%rd2], %r2;", NOWHERE, 77, 77},
    {"atom.global.add.u32 %r2, [%rd2], 1;", NOWHERE, 0, ONES},
    {"atom.global.cas.b32 %r2, [%rd2], 0, 5;", NOWHERE, 0, ONES},
    {"atom.exch.b32 %r2, [%rd2], 9;", NOWHERE, 0, ONES},
    {"atom.global.max.u64 %rd7, [%rd2], 1; cvt.u32.u64 %r2, %rd7;", NOWHERE, 0, ONES},
    {"atom.global.exch.b128 %q1, [%rd2], %q1; mov.b128 {%rd7, %rd8}, %q1; cvt.u32.u64 %r2, %rd8;", NOWHERE, 0,
     ONES},
    {"red.global.add.u32 [%rd2], 1;", NOWHERE, 77, 77},
    {"mov.u32 %r4, s; selp.b32 %r4, 0x40000, %r4, %p1; ld.shared.u32 %r2, [%r4];", 0, 0, 0},
    {"mov.u32 %r4, s; selp.b32 %r4, -4, %r4, %p1; st.shared.u32 [%r4], %r2;", 0, 77, 77},
    {"mov.u32 %r4, s; selp.b32 %r4, 0x40000, %r4, %p1; atom.shared.add.u32 %r2, [%r4], 0;", 0, 0, 0},
    {"mov.u64 %rd8, here; selp.b64 %rd8, 0x4000000, %rd8, %p1; st.local.u32 [%rd8], %r2;", 0, 77, 77},
    {"mov.u64 %rd8, here; st.local.u32 [%rd8], 6; selp.b64 %rd8, 0x4000000, %rd8, %p1; ld.local.u32 %r2, "
     "[%rd8];",
     0, 0, 6},
    // From nowhere come zeros; what goes nowhere leaves the place as it was.
    {COPY "cp.async.cg.shared.global [%r4], [%rd2], 16; cp.async.wait_all; ld.shared.u32 %r2, [%r4];",
     NOWHERE, 0, ONES},
    {COPY
     "selp.b32 %r6, 0x40000, %r4, %p1; add.s64 %rd9, %rd1, %rd3; cp.async.ca.shared.global [%r6], [%rd9], "
     "4; cp.async.wait_all; ld.shared.u32 %r2, [%r4];",
     0, 5, ONES},
    {COPY "setp.eq.u32 %p2, %r1, %r1; add.s64 %rd9, %rd2, 0; cp.async.ca.shared.global [%r4], [%rd9], 8, 8; "
          "cp.async.wait_all; ld.shared.u32 %r2, [%r4+4];",
     NOWHERE, 0, ONES},
};

// One lane of 32, whatever the instruction; and with a schedule and an execution that are others.
static void one_lane_strays(void **state) {
    (void)state;
    static const VmConfig configs[] = {
        {.seed = 1, .pass_strays = true},
        {.seed = 7, .pass_strays = true, .weak = true},
        {.seed = 9, .pass_strays = true, .schedule = VM_SCHEDULE_RANDOM, .split_one_in = 1}};
    for (size_t k = 0; k < 3 * (sizeof cases / sizeof *cases); k++) {
        const Case *c = &cases[k / 3];
        Run x = run(c->body, c->bad, &configs[k % 3]);
        if (x.fault.kind || x.heard.strays != 1)
            print_error("%s\n%s\n", c->body, x.fault.msg);
        assert_int_equal(x.fault.kind, VM_FAULT_NONE);
        assert_int_equal(x.heard.strays, 1);
        assert_int_equal(x.heard.thread, BAD);
        assert_int_equal(x.heard.others, 0);
        assert_int_equal(x.heard.seen, 0);
        assert_int_equal(x.out[BAD * 4], ONES);
        for (unsigned l = 0; l < LANES; l++)
            assert_int_equal(x.result[l * 4], l == BAD ? c->has : c->others);
    }
}

// The same by default.
static void by_default_it_is_a_fault(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        Run x = run(cases[k].body, cases[k].bad, NULL);
        assert_true(x.fault.kind == VM_FAULT_ILLEGAL_ADDRESS || x.fault.kind == VM_FAULT_MISALIGNED);
        assert_int_equal(x.fault.thread[0], BAD);
        assert_int_equal(x.heard.strays, 0);
    }
}

#define BULK                                                                                                 \
    "mov.u32 %r4, s; mov.u32 %r5, %r4; mov.u64 %rd9, %rd1; st.shared.u32 [%r4], 5; "                         \
    "setp.eq.u32 %p2, %r1, 0; @!%p2 bra WAIT; mbarrier.init.shared.b64 [%r4+384], 1;\n"
#define BULK_END                                                                                             \
    "mbarrier.arrive.expect_tx.shared.b64 %rd8, [%r4+384], 128;\n WAIT: bar.sync 0;\n"                       \
    "L: mbarrier.try_wait.parity.shared.b64 %p3, [%r4+384], 0; @!%p3 bra L; ld.shared.u32 %r2, [%r4];"
#define TO_SHARED                                                                                            \
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%rd9], 128, [%r4+384];"
#define TO_GLOBAL                                                                                            \
    "cp.async.bulk.global.shared::cta.bulk_group [%rd9], [%r4], 256; cp.async.bulk.commit_group; "           \
    "cp.async.bulk.wait_group 0;"
static const struct {
    const char *body;
    uint32_t first, of; // what all have in %r2; what is in memory
} bulks[] = {
    {BULK TO_SHARED BULK_END, ONES, ONES},
    {BULK "mov.u64 %rd9, 0x123456789000;" TO_SHARED BULK_END, 0, ONES},
    {BULK "mov.u32 %r5, 0x40000;" TO_SHARED BULK_END, 5, ONES},
    {BULK "add.u64 %rd9, %rd9, 448;" TO_SHARED BULK_END, 0, ONES}, // the end of it is past the end
    {BULK "add.u64 %rd9, %rd9, 384;" TO_GLOBAL " WAIT: ld.shared.u32 %r2, [%r4];", 5, ONES},
    {BULK "mov.u64 %rd9, 0;" TO_GLOBAL " WAIT: ld.shared.u32 %r2, [%r4];", 5, ONES},
    {BULK "mov.u32 %r4, 0x40000;" TO_GLOBAL " WAIT: mov.u32 %r2, 5;", 5, 0},
};

// A bulk copy is stray as a whole; the mbarrier completes all the same.
static void bulk_copies_stray(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++)
        for (size_t k = 0; k < sizeof bulks / sizeof *bulks; k++) {
            Run x = run(bulks[k].body, 0, &(VmConfig){.seed = seed, .pass_strays = true});
            if (x.fault.kind)
                print_error("%s\n%s\n", bulks[k].body, x.fault.msg);
            assert_int_equal(x.fault.kind, VM_FAULT_NONE);
            assert_int_equal(x.heard.strays, k > 0);
            assert_int_equal(x.heard.seen + x.heard.others, 0);
            assert_int_equal(x.out[0], bulks[k].of);
            for (unsigned l = 0; l < LANES; l++)
                assert_int_equal(x.result[l * 4], bulks[k].first);
        }
}

// Nothing can stand for an mbarrier: the kernel ends there.
static void an_mbarrier_must_be_there(void **state) {
    (void)state;
    Run x = run("mbarrier.init.shared.b64 [0x40000], 1;", 0, &(VmConfig){.seed = 1, .pass_strays = true});
    assert_int_equal(x.fault.kind, VM_FAULT_ILLEGAL_ADDRESS);
    assert_int_equal(x.heard.strays, 0);
}

// What it says is what the fault says.
static void the_sentence_is_the_faults(void **state) {
    (void)state;
    const char *body = "add.s64 %rd2, %rd1, %rd3; ld.global.u32 %r2, [%rd2+16];";
    Run x = run(body, 0, &(VmConfig){.seed = 1, .pass_strays = true}),
        y = run(body, 0, &(VmConfig){.seed = 1});
    assert_string_equal(x.heard.detail, y.fault.msg);
    assert_non_null(strstr(x.heard.detail, "thread (31,0,0) of block (0,0,0) read 4 bytes at 0x"));
    assert_non_null(strstr(x.heard.detail, ", 0 bytes past the end of a 512-byte allocation"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_lane_strays),
        cmocka_unit_test(by_default_it_is_a_fault),
        cmocka_unit_test(bulk_copies_stray),
        cmocka_unit_test(an_mbarrier_must_be_there),
        cmocka_unit_test(the_sentence_is_the_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
