// SPDX-License-Identifier: Apache-2.0
// test_copies — asynchronous copies under the collider, on the CPU device: what races is found, at the right
// instruction and end, in some of the seeds; what does not race is silent and computes the same as without the checks.
// Likewise with the code of a GPU, where threads hold copies back.
#include "../../../vm/harness.h"
#include "vm/core/launch.h"

#include "engines/collider/device/record.h"
#include "engines/collider/pass/collider.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Thread %r1 of 64 has 16 bytes at %rd3 (in), at %rd4 (out) and at %r3 (shared memory); %r4 is those of a thread of the
// other warp.
#define KERNEL(body)                                                                                         \
    ".version 8.6\n.target sm_90\n.address_size 64\n"                                                        \
    ".visible .entry k(.param .u64 in, .param .u64 out) {\n"                                                 \
    ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .shared .align 128 .b8 s[8192];\n"               \
    ".shared .align 8 .b64 bar[4];\n"                                                                        \
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, s;\n"              \
    "mul.wide.u32 %rd3, %r1, 16; add.s64 %rd4, %rd2, %rd3; add.s64 %rd3, %rd1, %rd3;\n"                      \
    "mad.lo.u32 %r3, %r1, 16, %r2; xor.b32 %r4, %r1, 32; mad.lo.u32 %r4, %r4, 16, %r2;\n" body "ret; }\n"

#define COMMIT "cp.async.commit_group;\n"
#define WAIT   "cp.async.wait_all;\n"
#define BAR    "bar.sync 0;\n"
// Shared memory's value there becomes thread's output.
#define OUT(shared, offset) "ld.shared.u32 %r9, [" shared "]; st.global.u32 [%rd4+" #offset "], %r9;\n"

// The first thread copies: %p3 is false for it. %p2: the thread is of the other warp. %r20: mbarriers, of one arrival.
#define BULK_INIT                                                                                            \
    "setp.ne.u32 %p3, %r1, 0; setp.ge.u32 %p2, %r1, 32; mov.u32 %r20, bar;\n"                                \
    "@!%p3 mbarrier.init.shared.b64 [%r20], 1; @!%p3 mbarrier.init.shared.b64 [%r20+8], 1; "                 \
    "fence.proxy.async;\n" BAR
#define BULK_BEGIN BULK_INIT "@%p3 bra AFTER;\n"
#define LOAD(to, from, bytes)                                                                                \
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r20], " bytes ";\n"                                           \
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [" to "], [" from "], " bytes             \
    ", [%r20];\n"
#define BULK_END                                                                                             \
    "AFTER: @%p2 bra NOT;\nW: mbarrier.try_wait.parity.shared.b64 %p4, [%r20], 0; @!%p4 bra W;\nNOT:\n"
#define BULK_FILL                                                                                            \
    "st.shared.u32 [%r3], %r1; fence.proxy.async.shared::cta; setp.ne.u32 %p3, %r1, 0; setp.ge.u32 %p2, "    \
    "%r1, 32;\n" BAR
#define STORE(to, from, bytes)                                                                               \
    "cp.async.bulk.global.shared::cta.bulk_group [" to "], [" from "], " bytes                               \
    ";\ncp.async.bulk.commit_group;\n"

enum { THREADS = 64, IN = THREADS * 16 * 16, OUT_BYTES = THREADS * 16, MAX_SITES = 64 };
static unsigned seeds =
    SANITIZED
        ? 6
        : 20; // an argument: of fewer, which take less time under a sanitizer, nothing is asked that comes by chance

typedef struct Case {
    const char *name, *text;
    GrRaceClass class; // that is found …
    uint32_t site;     // … here: a number of a site; 0: nothing is
    bool shared;       // where
    bool often;        // in every seed
} Case;

static const Case cases[] = {
    {"a copy that is not awaited", KERNEL("cp.async.ca.shared.global [%r3], [%rd3], 4;\n" OUT("%r3", 0)),
     GR_CLASS_CLOBBERED_READ, 2, true, false},
    {"its last byte only",
     KERNEL("cp.async.cg.shared.global [%r3], [%rd3], 16;\nld.shared.u8 %r9, [%r3+15]; st.global.u32 [%rd4], "
            "%r9;\n"),
     GR_CLASS_CLOBBERED_READ, 2, true, false},
    {"zeros that are not awaited", KERNEL("cp.async.ca.shared.global [%r3], [%rd3], 8, 0;\n" OUT("%r3+4", 0)),
     GR_CLASS_CLOBBERED_READ, 2, true, false},
    {"three bytes and a zero that are not awaited",
     KERNEL("mov.u32 %r5, 3; cp.async.ca.shared.global [%r3], [%rd3], 4, %r5;\n" OUT("%r3", 0)),
     GR_CLASS_CLOBBERED_READ, 2, true, false},
    {"the source is written by the other warp",
     KERNEL("cp.async.ca.shared.global [%r3], [%rd3], 8;\nxor.b32 %r5, %r1, 32; mul.wide.u32 %rd5, %r5, 16;\n"
            "add.s64 %rd5, %rd1, %rd5; st.global.u32 [%rd5+4], %r3;\n" WAIT),
     GR_CLASS_CLOBBERED_READ, 1, false, false},
    {"the read part of the source is written by the other warp",
     KERNEL("mov.u32 %r6, 7; cp.async.ca.shared.global [%r3], [%rd3], 8, %r6;\nxor.b32 %r5, %r1, 32; "
            "mul.wide.u32 "
            "%rd5, %r5, 16;\nadd.s64 %rd5, %rd1, %rd5; st.global.u8 [%rd5+6], %r3;\n" WAIT),
     GR_CLASS_CLOBBERED_READ, 1, false, false},
    {"the destination is written by the other warp",
     KERNEL("cp.async.cg.shared.global [%r3], [%rd3], 16;\nst.shared.u32 [%r4+8], 7;\n" WAIT),
     GR_CLASS_LOST_UPDATE, 1, true, false},
    {"the zeros of the destination are written by the other warp",
     KERNEL(
         "mov.u32 %r6, 7; cp.async.ca.shared.global [%r3], [%rd3], 8, %r6;\nst.shared.u8 [%r4+7], 7;\n" WAIT),
     GR_CLASS_LOST_UPDATE, 1, true, false},
    {"two warps copy to one place",
     KERNEL("and.b32 %r5, %r1, 31; mad.lo.u32 %r5, %r5, 16, %r2; cp.async.cg.shared.global [%r5], [%rd3], "
            "16;\n" WAIT),
     GR_CLASS_LOST_UPDATE, 1, true, false},
    {"two lanes copy to one place",
     KERNEL("and.b32 %r5, %r1, 62; mad.lo.u32 %r5, %r5, 16, %r2; cp.async.ca.shared.global [%r5], [%rd3], "
            "4;\n" WAIT),
     GR_CLASS_INTRA_WARP, 1, true, true},

    {"a bulk load that is not awaited", KERNEL(BULK_BEGIN LOAD("s", "%rd1", "1024") OUT("%r3", 0) BULK_END),
     GR_CLASS_CLOBBERED_READ, 2, true, false},
    {"the source of a bulk load is written by the other warp",
     KERNEL(BULK_BEGIN LOAD("s", "%rd1", "1024") BULK_END "@%p2 st.global.u8 [%rd3+5], 77;\n"),
     GR_CLASS_CLOBBERED_READ, 1, false, false},
    {"the destination of a bulk load is written by the other warp",
     KERNEL(BULK_BEGIN LOAD("s", "%rd1", "1024") BULK_END "@%p2 st.shared.u8 [%r3+15], 77;\n"),
     GR_CLASS_LOST_UPDATE, 1, true, false},
    {"a bulk store that is not awaited",
     KERNEL(BULK_FILL "@%p3 bra AFTER;\n" STORE("%rd2", "s", "1024") "AFTER: ld.global.u32 %r9, [%rd4]; "
                                                                     "@!%p3 cp.async.bulk.wait_group 0;\n"),
     GR_CLASS_CLOBBERED_READ, 3, false, false},
    {"the source of a bulk store is written by the other warp",
     KERNEL(BULK_FILL "@%p3 bra AFTER;\n" STORE("%rd2", "s", "1024") "cp.async.bulk.wait_group 0;\n"
                                                                     "AFTER: @%p2 st.shared.u32 [%r3], 0;\n"),
     GR_CLASS_CLOBBERED_READ, 2, true, false},
    {"the destination of a bulk store is written by the other warp",
     KERNEL(BULK_FILL
            "@%p3 bra AFTER;\n" STORE("%rd2", "s", "1024") "cp.async.bulk.wait_group 0;\n"
                                                           "AFTER: @%p2 st.global.u32 [%rd4], 0;\n"),
     GR_CLASS_LOST_UPDATE, 2, false, false},
    {"the source of a bulk reduction is written by the other warp",
     KERNEL(
         BULK_FILL
         "@%p3 bra AFTER;\ncp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [s], 1024;\n"
         "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nAFTER: @%p2 st.shared.u32 [%r3], 0;\n"),
     GR_CLASS_CLOBBERED_READ, 2, true, false},

    // Nothing is wrong with these.
    {"the issuer of a bulk load waits for threads that wait for it",
     KERNEL(
         BULK_INIT
         ".shared .align 4 .b32 flag; setp.eq.u32 %p5, %r1, 32; @!%p3 st.volatile.shared.u32 [flag], 0;\n" BAR
         "@%p3 bra OTHERS;\n" LOAD(
             "s", "%rd1", "1024") "F: ld.volatile.shared.u32 %r9, [flag]; setp.eq.u32 %p4, %r9, 0; @%p4 bra "
                                  "F;\n" LOAD("s+1024", "%rd1+1024",
                                              "512") "OTHERS: @!%p5 bra AFTER;\n"
                                                     "W: mbarrier.try_wait.parity.shared.b64 %p4, [%r20], 0; "
                                                     "@!%p4 bra W;\n"
                                                     "ld.shared.u32 %r9, [s+4]; st.global.u32 [%rd4], %r9; "
                                                     "st.volatile.shared.u32 [flag], 1;\n"
                                                     "AFTER: " BAR "X: mbarrier.try_wait.parity.shared.b64 "
                                                     "%p4, [%r20], 1; @!%p4 bra X;\n"
                                                     "ld.shared.u32 %r9, [s+1024]; st.global.u32 [%rd4+4], "
                                                     "%r9;\n"),
     0, 0, false, false},
    {"a caller waits for the copy of a function",
     ".version 8.6\n.target sm_90\n.address_size 64\n"
     ".func brings(.param .u64 to, .param .u64 from) {\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [to]; "
     "ld.param.u64 %rd2, [from];\n"
     "cp.async.ca.shared.global [%rd1], [%rd2], 8; cp.async.commit_group; ret;\n}\n"
     ".visible .entry k(.param .u64 in, .param .u64 out) {\n"
     ".reg .b32 %r<8>; .reg .b64 %rd<8>; .shared .align 16 .b8 s[1024];\n"
     "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 16;\n"
     "add.s64 %rd4, %rd2, %rd3; add.s64 %rd3, %rd1, %rd3; mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 16, %r2; "
     "cvt.u64.u32 %rd5, %r3;\n"
     "{ .param .u64 a; .param .u64 b; st.param.u64 [a], %rd5; st.param.u64 [b], %rd3; call.uni brings, (a, "
     "b); }\n"
     "cp.async.ca.shared.global [%r3+8], [%rd3+8], 4; cp.async.commit_group; cp.async.wait_group 0; bar.sync "
     "0;\n"
     "xor.b32 %r4, %r3, 512; ld.shared.u32 %r5, [%r4+4]; ld.shared.u32 %r6, [%r4+8]; st.global.v2.u32 "
     "[%rd4], {%r5, %r6}; ret;\n}\n",
     0, 0, false, false},
    {"a function waits for the copy of its caller",
     ".version 8.6\n.target sm_90\n.address_size 64\n"
     ".func waits() {\ncp.async.wait_all; bar.sync 0; ret;\n}\n"
     ".visible .entry k(.param .u64 in, .param .u64 out) {\n"
     ".reg .b32 %r<8>; .reg .b64 %rd<8>; .shared .align 16 .b8 s[1024];\n"
     "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 16;\n"
     "add.s64 %rd4, %rd2, %rd3; add.s64 %rd3, %rd1, %rd3; mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 16, %r2;\n"
     "cp.async.ca.shared.global [%r3], [%rd3], 4; call.uni waits; xor.b32 %r4, %r3, 512;\n"
     "ld.shared.u32 %r5, [%r4]; st.global.u32 [%rd4], %r5; ret;\n}\n",
     0, 0, false, false},
    {"a bulk load into one of two buffers while the other is read, eight times",
     KERNEL(BULK_INIT
            "mov.u32 %r10, 0; mov.u32 %r11, 0;\n@!%p3 bra.uni L;\n"
            "L: and.b32 %r12, %r10, 1; shl.b32 %r13, %r12, 10; add.u32 %r14, %r2, %r13; add.u32 %r15, %r4, "
            "%r13;\n"
            "mad.lo.u32 %r16, %r12, 8, %r20; shr.u32 %r17, %r10, 1; and.b32 %r17, %r17, 1;\n"
            "mul.wide.u32 %rd6, %r10, 1024; add.s64 %rd6, %rd1, %rd6; mov.u32 %r18, 1024;\n"
            "@!%p3 mbarrier.arrive.expect_tx.shared.b64 _, [%r16], 1024;\n"
            "@!%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r14], [%rd6], %r18, "
            "[%r16];\n"
            "W: mbarrier.try_wait.parity.shared.b64 %p4, [%r16], %r17; @!%p4 bra W;\n"
            "ld.shared.u32 %r19, [%r15+4]; mad.lo.u32 %r11, %r11, 31, %r19;\n" BAR
            "add.u32 %r10, %r10, 1; setp.lt.u32 %p5, %r10, 8; @%p5 bra L;\nst.global.u32 [%rd4], %r11;\n"),
     0, 0, false, false},
    {"bulk stores and reductions by all threads, the source used again",
     KERNEL("mad.lo.u32 %r5, %r1, 3, 1; st.shared.u32 [%r3], %r5; st.shared.u32 [%r3+4], %r5; st.shared.u64 "
            "[%r3+8], "
            "0; fence.proxy.async.shared::cta;\n"
            "cp.async.bulk.global.shared::cta.bulk_group [%rd4], [%r3], 16;\ncp.async.bulk.commit_group;\n"
            "cp.async.bulk.wait_group 0;\nst.shared.u32 [%r3], %r1; fence.proxy.async.shared::cta;\n" BAR
            "setp.lt.u32 %p1, %r1, 32;\n"
            "@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [s+1008], 16;\n"
            "@!%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [s+1008], 16;\n"
            "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\nst.shared.u32 [%r4+1024], 5;\n"
            "cp.async.bulk.wait_group 0;\n"),
     0, 0, false, false},
    {"every form, awaited",
     KERNEL(
         "and.b32 %r5, %r1, 15; and.b32 %r6, %r1, 7; and.b32 %r7, %r1, 1; setp.ne.u32 %p1, %r7, 0;\n"
         "setp.gt.u32 %p2, %r1, 40; setp.eq.u32 %p3, %r5, 3; add.u32 %r8, %r6, 1;\n"
         "cp.async.cg.shared.global [%r3], [%rd3], 16;\ncp.async.cg.shared.global [%r3+1024], [%rd3], 16, "
         "%r5;\n"
         "cp.async.ca.shared.global [%r3+2048], [%rd3], 8, %r8;\n@%p1 cp.async.ca.shared.global [%r3+3072], "
         "[%rd3+4], 4;\n@!%p2 cp.async.ca.shared.global [%r3+4096], [%rd3], 4, 2;\n"
         "cp.async.ca.shared.global [%r3+5120], [%rd3+4], 4, %p3;\n@%p1 cp.async.cg.shared.global "
         "[%r3+6144], "
         "[%rd3], 16, %p3;\n" COMMIT "cp.async.wait_group 0;\n" BAR "mov.u32 %r10, 0; mov.u32 %r11, 0;\n"
         "L: ld.shared.u32 %r12, [%r4]; mad.lo.u32 %r11, %r11, 31, %r12; ld.shared.u8 %r12, [%r4+7]; xor.b32 "
         "%r11, "
         "%r11, %r12; add.u32 %r4, %r4, 1024; add.u32 %r10, %r10, 1; setp.lt.u32 %p4, %r10, 7; @%p4 bra L;\n"
         "st.global.u32 [%rd4], %r11;\n"),
     0, 0, false, false},
    {"a pipeline of three stages",
     KERNEL("mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u64 %rd6, %rd3;\n"
            "cp.async.cg.shared.global [%r3], [%rd6], 16;\n" COMMIT
            "cp.async.cg.shared.global [%r3+1024], [%rd6+1024], 16;\n" COMMIT
            "L: add.u32 %r12, %r10, 2; rem.u32 %r13, %r12, 3; mad.lo.u32 %r13, %r13, 1024, %r3; mul.wide.u32 "
            "%rd7, "
            "%r12, 1024; add.s64 %rd7, %rd3, %rd7; setp.lt.u32 %p1, %r12, 16;\n"
            "@%p1 cp.async.cg.shared.global [%r13], [%rd7], 16;\n" COMMIT "cp.async.wait_group 2;\n" BAR
            "rem.u32 %r14, %r10, 3; mad.lo.u32 %r14, %r14, 1024, %r4; ld.shared.u32 %r15, [%r14+8]; "
            "mad.lo.u32 %r11, "
            "%r11, 31, %r15;\n" BAR "add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 16; @%p2 bra L;\n"
            "st.global.u32 [%rd4], %r11;\n"),
     0, 0, false, false},
    {"awaited by an mbarrier",
     KERNEL("setp.eq.u32 %p1, %r1, 0; mov.u32 %r20, bar; @%p1 mbarrier.init.shared.b64 [%r20], 64;\n" BAR
            "cp.async.ca.shared.global [%r3], [%rd3], 4;\ncp.async.mbarrier.arrive.noinc.shared.b64 [%r20];\n"
            "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r20], 0; @!%p2 bra W;\n" OUT("%r4", 0)),
     0, 0, false, false},
    {"the rest of the source is written by the other warp",
     KERNEL("mov.u32 %r6, 3; cp.async.ca.shared.global [%r3], [%rd3], 8, %r6;\nxor.b32 %r5, %r1, 32; "
            "mul.wide.u32 "
            "%rd5, %r5, 16;\nadd.s64 %rd5, %rd1, %rd5; st.global.u8 [%rd5+3], %r3;\nst.global.u32 [%rd5+4], "
            "%r3;\n"
            "st.shared.u32 [%r4+8], 7;\n" WAIT BAR OUT("%r4", 0)),
     0, 0, false, false},
};

// The thread itself does not wait: it sees that where it holds the copy back.
static const Case held_cases[] = {
    {"a wait that leaves the newest group alone",
     KERNEL("cp.async.ca.shared.global [%r3], [%rd3], 4;\n" COMMIT
            "cp.async.cg.shared.global [%r3+1024], [%rd3+1024], 16;\n" COMMIT
            "cp.async.wait_group 1;\n" OUT("%r3", 0) OUT("%r3+1036", 4) WAIT),
     GR_CLASS_CLOBBERED_READ, 5, true, false},
    {"a copy that no group has",
     KERNEL("cp.async.ca.shared.global [%r3], [%rd3], 4;\n" COMMIT
            "cp.async.ca.shared.global [%r3+1024], [%rd3+1024], 8;\n"
            "cp.async.wait_group 0;\n" OUT("%r3+1028", 0)),
     GR_CLASS_CLOBBERED_READ, 3, true, false},
    {"the thread writes to the source before it waits",
     KERNEL("cp.async.cg.shared.global [%r3], [%rd3], 16;\n" COMMIT "st.global.u8 [%rd3+15], %r1;\n" WAIT),
     GR_CLASS_CLOBBERED_READ, 1, false, false},
    {"the thread writes to the source, and comes by other memory before it waits",
     KERNEL(
         "cp.async.cg.shared.global [%r3], [%rd3], 16;\n" COMMIT "st.global.u8 [%rd3+15], %r1;\n"
         "st.shared.u32 [%r3+1024], %r1; ld.shared.u32 %r9, [%r3+1024]; st.global.u32 [%rd4], %r9;\n" WAIT),
     GR_CLASS_CLOBBERED_READ, 1, false, false},
    {"the thread writes to the destination before it waits",
     KERNEL("cp.async.ca.shared.global [%r3], [%rd3], 4;\n" COMMIT "st.shared.u32 [%r3], %r1;\n" WAIT),
     GR_CLASS_LOST_UPDATE, 1, true, false},
    {"a bulk load into what an older one may still write to",
     KERNEL(BULK_BEGIN
            "mbarrier.arrive.expect_tx.shared.b64 _, [%r20], 2048;\n"
            "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [%rd1], 1024, [%r20];\n"
            "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [%rd1+1024], 1024, "
            "[%r20];\n" BULK_END),
     GR_CLASS_LOST_UPDATE, 1, true, false},
};

typedef struct Outcome {
    uint8_t out[OUT_BYTES], in[IN];
    GrSlot slots[MAX_SITES][GR_CLASS_COUNT];
} Outcome;

static char *rewritten(const char *text, uint32_t seed, bool holds) {
    PtxModule *m;
    gr_error err = {0};
    StrBuf out = {0};
    GrSiteStatus status[MAX_SITES];
    ColliderOptions o = {.seed = seed,
                         .read_delay_ns = 5000,
                         .write_delay_ns = 5000,
                         .thinned = holds,
                         .holds = holds,
                         .suffix = ""};
    if (gr_ptx_parse_ours(text, strlen(text), "k", &m, &err) != GR_OK)
        fail_msg("%s", err.msg);
    assert_true(m->n_sites < MAX_SITES);
    assert_int_equal(gr_collider_rewrite(m, &o, status, &err), GR_OK);
    for (uint32_t k = 1; k <= m->n_sites; k++)
        assert_true(status[k] == GR_SITE_CHECKED || status[k] == GR_SITE_PRIVATE ||
                    status[k] == GR_SITE_STRONG);
    assert_int_equal(gr_ptx_print(m, 0, &out, &err), GR_OK);
    gr_ptx_free(m);
    return out.data;
}

// Yields how many instructions the launch took.
static uint64_t run(const char *name, const char *text, uint64_t seed, Outcome *o) {
    Rig r;
    VmConfig c = {.seed = seed, .split_one_in = 64};
    rig_open(&r, text, &c);
    uint64_t args[2] = {rig_alloc(&r, IN), rig_alloc(&r, OUT_BYTES)}, at, size;
    uint8_t *in = rig_view(&r, args[0], IN);
    for (unsigned k = 0; k < IN; k++)
        in[k] = (uint8_t)(k * 37 + k / 256 + 1);
    GrControl control = {.slots = rig_alloc(&r, sizeof o->slots), .n_sites = MAX_SITES - 1};
    bool managed;
    char control_name[64];
    if (gr_vm_module_global(r.mod, gr_collider_control_name("", control_name, sizeof control_name), &at,
                            &size, &managed))
        memcpy(rig_view(&r, at, sizeof control), &control, sizeof control);
    VmLaunch *l = rig_start(&r, "k", (Dims){1, THREADS, 0}, 2, args);
    rig_drain(&r, 100000);
    if (gr_vm_launch_fault(l))
        fail_msg("%s: %s", name, gr_vm_launch_fault(l)->msg);
    uint64_t instructions = l->instructions;
    gr_vm_launch_free(l);
    memcpy(o->in, rig_view(&r, args[0], IN), IN);
    memcpy(o->out, rig_view(&r, args[1], OUT_BYTES), OUT_BYTES);
    memcpy(o->slots, rig_view(&r, control.slots, sizeof o->slots), sizeof o->slots);
    rig_close(&r);
    return instructions;
}

static void check(const Case *c, bool holds) {
    Outcome *plain = calloc(1, sizeof *plain), *o = calloc(1, sizeof *o);
    unsigned found = 0;
    assert_true(plain && o);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        char *text = rewritten(c->text, (uint32_t)seed, holds);
        run(c->name, text, seed, o);
        free(text);
        const GrSlot *s = &o->slots[c->site][c->class];
        if (c->site && s->count) {
            found++;
            assert_int_equal(s->space, c->shared);
            if (c->class == GR_CLASS_CLOBBERED_READ &&
                !c->shared) // of the source: nobody has touched the destination
                assert_int_equal(o->slots[c->site][GR_CLASS_LOST_UPDATE].count, 0);
        }
        if (c->site)
            continue;
        for (unsigned k = 0; k < MAX_SITES; k++)
            for (unsigned x = 0; x < GR_CLASS_COUNT; x++)
                if (o->slots[k][x].count)
                    fail_msg("%s: seed %u: class %u at site %u", c->name, (unsigned)seed, x, k);
        run(c->name, c->text, seed, plain);
        if (memcmp(plain->out, o->out, sizeof o->out) || memcmp(plain->in, o->in, sizeof o->in))
            fail_msg("%s: seed %u: the checks changed the result", c->name, (unsigned)seed);
    }
    if (c->site && ((!found && seeds >= 20) || (c->often && found < seeds)))
        fail_msg("%s: found in %u of %u seeds", c->name, found, seeds);
    print_message("%s: %u of %u%s\n", c->name, found, seeds, holds ? ", held" : "");
    free(plain);
    free(o);
}

static void copies(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        check(&cases[k], false);
}

static void held_copies(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        check(&cases[k], true);
    for (size_t k = 0; k < sizeof held_cases / sizeof *held_cases; k++)
        check(&held_cases[k], true);
}

// EM-91: what is inserted before copies, too, is executed more and more rarely.
static void checks_become_rare(void **state) {
    (void)state;
#define LOOP(times)                                                                                          \
    KERNEL("mov.u32 %r10, 0;\nL: cp.async.ca.shared.global [%r3], [%rd3], 4; cp.async.wait_all;\n"           \
           "add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, " times "; @%p1 bra L;\n")
    static const char *const text[] = {LOOP("32"), LOOP("2048")};
    uint64_t n[2];
    Outcome *o = calloc(1, sizeof *o);
    assert_non_null(o);
    for (unsigned k = 0; k < 2; k++) {
        char *with = rewritten(text[k], 1, false);
        n[k] = run("loop", with, 1, o) - run("loop", text[k], 1, o);
        free(with);
    }
    assert_true(n[0] > 32 * 2 && n[1] < 16 * n[0]);
    free(o);
}

int main(int argc, char **argv) {
    seeds = argc > 1 ? (unsigned)atoi(argv[1]) : seeds;
    const struct CMUnitTest tests[] = {cmocka_unit_test(copies), cmocka_unit_test(held_copies),
                                       cmocka_unit_test(checks_become_rare)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
