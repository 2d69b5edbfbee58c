// SPDX-License-Identifier: Apache-2.0
// test_warps — divergence, rejoining, warp-synchronous instructions: EM-11 to EM-22 of docs/execution-model.md.
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define KERNEL(name) ".visible .entry " name "(.param .u64 out) {\n"
#define REGS         ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;\n"
// %rd1 the buffer, %r1 the thread, %rd2 the thread's word.
#define PROLOGUE                                                                                             \
    REGS "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd2, %rd1, "    \
         "%rd3;\n"

static uint32_t *words(Rig *r, uint64_t at, unsigned n) { return rig_view(r, at, n * 4u); }

static void open1(Rig *r, const char *text, uint64_t seed, uint32_t split, uint64_t *buf) {
    VmConfig c = {.seed = seed, .split_one_in = split};
    rig_open(r, text, &c);
    *buf = rig_alloc(r, 4096);
}

// Opens the rig and runs the text's kernel k by one block of so many threads; the words of the buffer.
static const uint32_t *run_block(Rig *r, const char *text, uint64_t seed, uint32_t split, unsigned threads) {
    uint64_t out;
    open1(r, text, seed, split, &out);
    assert_int_equal(RIG_RUN(r, "k", 1, threads, out), VM_FAULT_NONE);
    return words(r, out, 1024);
}

// EM-11
static void lanes_are_consecutive_threads(void **state) {
    (void)state;
    Rig r;
    uint64_t out;
    open1(&r,
          KERNEL("k") REGS
          "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;"
          "mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y; mad.lo.u32 %r6, %r3, %r5, %r2; mad.lo.u32 %r6, %r6, "
          "%r4, %r1;"
          "mov.u32 %r7, %warpid; mov.u32 %r8, %laneid; mad.lo.u32 %r9, %r7, 32, %r8;"
          "mul.wide.u32 %rd3, %r6, 4; add.s64 %rd2, %rd1, %rd3; st.global.u32 [%rd2], %r9; ret; }",
          0, 0, &out);
    VmLaunchParams p = {.func = gr_vm_module_func(r.mod, "k"),
                        .grid = {1, 1, 1},
                        .block = {5, 4, 3},
                        .params = &out,
                        .launch = 1};
    VmLaunch *l;
    assert_int_equal(gr_vm_launch(r.dev, &p, &l, NULL), GR_OK);
    rig_drain(&r, 1000);
    assert_null(gr_vm_launch_fault(l));
    for (unsigned k = 0; k < 60; k++)
        assert_int_equal(words(&r, out, 60)[k], k);
    gr_vm_launch_free(l);
    rig_close(&r);
}

// Lanes below 16 wait for a word that the others write: lock-step execution would hang, whichever side went first.
// EM-12
static void parted_lanes_run_for_themselves(void **state) {
    (void)state;
    for (unsigned flip = 0; flip < 2; flip++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            Rig r;
            uint64_t out;
            open1(&r,
                  flip ? KERNEL("k") PROLOGUE
                      "setp.lt.u32 %p1, %r1, 16; @%p1 bra WAIT;"
                      "st.volatile.global.u32 [%rd1+512], 7; bra DONE;"
                      "WAIT: ld.volatile.global.u32 %r2, [%rd1+512]; setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT;"
                      "st.global.u32 [%rd2], %r2; DONE: ret; }"
                       : KERNEL("k") PROLOGUE
                      "setp.ge.u32 %p1, %r1, 16; @%p1 bra SET;"
                      "WAIT: ld.volatile.global.u32 %r2, [%rd1+512]; setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT;"
                      "st.global.u32 [%rd2], %r2; bra DONE;"
                      "SET: st.volatile.global.u32 [%rd1+512], 7; DONE: ret; }",
                  seed, 0, &out);
            assert_int_equal(RIG_RUN(&r, "k", 1, 32, out), VM_FAULT_NONE);
            assert_int_equal(words(&r, out, 32)[15], 7);
            rig_close(&r);
        }
}

// Nested branches, a loop with a different trip count per lane, and a call that returns at different places: after
// each, everybody is together again.
// EM-13
static void lanes_meet_at_the_post_dominator(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        Rig r;
        uint64_t out;
        open1(&r,
              ".func (.param .b32 ret) f(.param .b32 x) { .reg .b32 %r<4>; .reg .pred %p<3>; ld.param.b32 "
              "%r1, [x];"
              "setp.lt.u32 %p1, %r1, 9; @%p1 bra SMALL; add.u32 %r2, %r1, 100; st.param.b32 [ret], %r2; ret;"
              "SMALL: setp.lt.u32 %p2, %r1, 3; @%p2 ret; st.param.b32 [ret], %r1; ret; }\n" KERNEL("k")
                  PROLOGUE
              "and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra EVEN;"
              "setp.lt.u32 %p2, %r1, 8; @%p2 bra LOW; add.u32 %r4, %r4, 1; bra IN;"
              "LOW: add.u32 %r4, %r4, 2; IN: activemask.b32 %r5; bra OUT;"
              "EVEN: add.u32 %r4, %r4, 3; OUT: activemask.b32 %r6;"
              "mov.u32 %r7, %r1; LOOP: setp.eq.u32 %p3, %r7, 0; @%p3 bra END; sub.u32 %r7, %r7, 1; bra LOOP;"
              "END: activemask.b32 %r8;"
              "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), f, (a); ld.param.b32 %r9, "
              "[b]; }"
              "activemask.b32 %r10;"
              "@%p1 bra SKIP; st.global.u32 [%rd1+512], %r5; SKIP:"
              "st.global.u32 [%rd1+516], %r6; st.global.u32 [%rd1+520], %r8; st.global.u32 [%rd1+524], %r10;"
              "st.global.u32 [%rd2], %r9; ret; }",
              seed, 0, &out);
        assert_int_equal(RIG_RUN(&r, "k", 1, 32, out), VM_FAULT_NONE);
        const uint32_t *w = words(&r, out, 256);
        assert_int_equal(w[128], 0xaaaaaaaa);
        assert_int_equal(w[129], 0xffffffff);
        assert_int_equal(w[130], 0xffffffff);
        assert_int_equal(w[131], 0xffffffff);
        assert_int_equal(w[31], 131);
        assert_int_equal(w[5], 5);
        rig_close(&r);
    }
}

// 64 threads take a lock, one at a time, and add to a counter without an atomic. Three shapes of the loop.
// EM-14
static void spin_locks(void **state) {
    (void)state;
    static const char *const shapes[] = {
        // while (atomicCAS(lock, 0, 1)); ...; unlock
        "L: atom.global.cas.b32 %r2, [%rd1], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra L;"
        "ld.volatile.global.u32 %r3, [%rd1+4]; add.u32 %r3, %r3, 1; st.volatile.global.u32 [%rd1+4], %r3;"
        "membar.gl; atom.global.exch.b32 %r4, [%rd1], 0; ret; }",
        // for (;;) if (!atomicCAS(lock, 0, 1)) { ...; unlock; break; }
        "L: atom.global.cas.b32 %r2, [%rd1], 0, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra IN; bra L;"
        "IN: ld.volatile.global.u32 %r3, [%rd1+4]; add.u32 %r3, %r3, 1; st.volatile.global.u32 [%rd1+4], %r3;"
        "membar.gl; atom.global.exch.b32 %r4, [%rd1], 0; ret; }",
        // do { if (!atomicCAS(lock, 0, 1)) { ...; unlock; done = true; } } while (!done);
        "mov.u32 %r5, 0; L: atom.global.cas.b32 %r2, [%rd1], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra NO;"
        "ld.volatile.global.u32 %r3, [%rd1+4]; add.u32 %r3, %r3, 1; st.volatile.global.u32 [%rd1+4], %r3;"
        "membar.gl; atom.global.exch.b32 %r4, [%rd1], 0; mov.u32 %r5, 1;"
        "NO: setp.eq.u32 %p2, %r5, 0; @%p2 bra L; ret; }",
    };
    for (unsigned s = 0; s < 3; s++)
        for (uint64_t seed = 0; seed < 5; seed++) {
            char text[2048];
            snprintf(text, sizeof text, "%s%s", KERNEL("k") PROLOGUE, shapes[s]);
            Rig r;
            uint64_t out;
            open1(&r, text, seed, seed % 2 ? 16 : 0, &out);
            assert_int_equal(RIG_RUN(&r, "k", 2, 64, out), VM_FAULT_NONE);
            assert_int_equal(words(&r, out, 2)[1], 128);
            rig_close(&r);
        }
}

// Code for debuggers puts labels of its own before those that branches go to.
// EM-13
static void labels_in_a_row(void **state) {
    (void)state;
    Rig r;
    uint64_t out;
    open1(&r,
          KERNEL("k") PROLOGUE "setp.lt.u32 %p1, %r1, 7; @%p1 bra OUT; add.u32 %r4, %r4, 1; bra OUT;"
                               "TMP: OUT: activemask.b32 %r6; st.global.u32 [%rd2], %r6; ret; }",
          1, 0, &out);
    assert_int_equal(RIG_RUN(&r, "k", 1, 32, out), VM_FAULT_NONE);
    assert_int_equal(words(&r, out, 32)[0], 0xffffffff);
    assert_int_equal(words(&r, out, 32)[31], 0xffffffff);
    rig_close(&r);
}

// A warp reduction in shared memory without __syncwarp, volatile so that nothing else is wrong with it.
// `inserted`: as after a pass that put branches behind the loads.
static uint32_t unsynchronized_sum(uint64_t seed, uint32_t split, bool repaired, bool inserted) {
    Rig r;
    uint64_t out;
    char text[8192];
    int n = snprintf(text, sizeof text, "%s",
                     KERNEL("k") PROLOGUE
                     ".shared .b32 s[64]; mov.u32 %r2, s; shl.b32 %r3, %r1, 2; add.u32 %r2, %r2, %r3;"
                     "st.volatile.shared.u32 [%r2], 1; st.volatile.shared.u32 [%r2+128], 0;");
    for (unsigned k = 16; k; k /= 2) {
        if (repaired)
            n += snprintf(text + n, sizeof text - (size_t)n, "bar.warp.sync 0xffffffff;");
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "ld.volatile.shared.u32 %%r4, [%%r2]; ld.volatile.shared.u32 %%r5, [%%r2+%u];", k * 4);
        if (inserted)
            n += snprintf(text + n, sizeof text - (size_t)n,
                          "\n/*@gr:1*/ setp.eq.u32 %%p1, %%r5, 9999;\n/*@gr:1*/ @%%p1 bra $G%u;\n"
                          "/*@gr:1*/ $G%u:\n",
                          k, k);
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "add.u32 %%r4, %%r4, %%r5;%s st.volatile.shared.u32 [%%r2], %%r4;",
                      repaired ? "bar.warp.sync 0xffffffff;" : "");
    }
    snprintf(text + n, sizeof text - (size_t)n, "st.global.u32 [%%rd2], %%r4; ret; }");
    open1(&r, text, seed, split, &out);
    assert_int_equal(RIG_RUN(&r, "k", 1, 32, out), VM_FAULT_NONE);
    uint32_t sum = words(&r, out, 1)[0];
    rig_close(&r);
    return sum;
}

// EM-15, EM-16
static void missing_syncwarp_shows(void **state) {
    (void)state;
    for (int inserted = 0; inserted < 2; inserted++) {
        unsigned wrong = 0, rarely = 0;
        for (uint64_t seed = 0; seed < 40; seed++) {
            wrong += unsynchronized_sum(seed, 4, false, inserted) != 32;
            rarely += unsynchronized_sum(seed, 1000, false, inserted) != 32;
            assert_int_equal(unsynchronized_sum(seed, 4, true, inserted), 32);
            assert_int_equal(unsynchronized_sum(seed, 0, false, inserted), 32);
        }
        assert_in_range(wrong, 5, 40);
        assert_in_range(rarely, 5, 40); // the kernel makes far fewer accesses than that
    }
}

// EM-17, EM-18
static void conflicting_lanes(void **state) {
    (void)state;
    uint32_t store_winners = 0, part_winners = 0, first_atomics = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        Rig r;
        uint64_t out;
        open1(&r,
              KERNEL("k") PROLOGUE
              "st.global.u32 [%rd1+512], %r1;"
              "setp.gt.u32 %p1, %r1, 9; @%p1 st.global.u32 [%rd1+516], %r1;"
              "atom.global.add.u32 %r2, [%rd1+520], 1; st.global.u32 [%rd2], %r2; ret; }",
              seed, 0, &out);
        assert_int_equal(RIG_RUN(&r, "k", 1, 32, out), VM_FAULT_NONE);
        const uint32_t *w = words(&r, out, 256);
        assert_in_range(w[128], 0, 31);
        assert_in_range(w[129], 10, 31);
        store_winners |= UINT32_C(1) << w[128];
        part_winners |= UINT32_C(1) << w[129];
        uint32_t seen = 0;
        for (unsigned l = 0; l < 32; l++) {
            seen |= UINT32_C(1) << w[l];
            if (w[l] == 0)
                first_atomics |= UINT32_C(1) << l;
        }
        assert_int_equal(seen, UINT32_MAX); // one after the other
        rig_close(&r);
    }
    assert_true(__builtin_popcount(store_winners) > 16);
    assert_true(__builtin_popcount(part_winners) > 11);
    assert_true(__builtin_popcount(first_atomics) > 16);
}

// The two halves of the warp shuffle with each other from different places; lanes 30 and 31 are gone by then.
// EM-19, EM-20
static void collectives_meet_from_different_places(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        Rig r;
        const uint32_t *w = run_block(
            &r,
            KERNEL("k") PROLOGUE
            "setp.ge.u32 %p3, %r1, 30; @%p3 exit; setp.lt.u32 %p1, %r1, 16; @%p1 bra LOW;"
            "add.u32 %r2, %r1, 100; shfl.sync.bfly.b32 %r3, %r2, 16, 31, 0xffffffff;"
            "vote.sync.ballot.b32 %r4, %p1, 0xffffffff; bra OUT;"
            "LOW: shfl.sync.bfly.b32 %r3, %r1, 16, 31, 0xffffffff; vote.sync.ballot.b32 %r4, %p1, 0xffffffff;"
            "OUT: st.global.u32 [%rd2], %r3; st.global.u32 [%rd2+512], %r4; ret; }",
            seed, 0, 32);
        for (unsigned l = 0; l < 30; l++) {
            // 14 and 15 read from lanes that are gone
            assert_int_equal(w[l], l >= 16 ? l - 16 : l >= 14 ? 0 : l + 116);
            assert_int_equal(w[128 + l], 0xffff);
        }
        rig_close(&r);
    }
}

// EM-21
static void undefined_sources(void **state) {
    (void)state;
    Rig r;
    const uint32_t *w =
        run_block(&r,
                  KERNEL("k") PROLOGUE
                  "setp.lt.u32 %p1, %r1, 8; @!%p1 bra OUT;"
                  "shfl.sync.idx.b32 %r2, %r1, 20, 31, 0xff; st.global.u32 [%rd2], %r2;"
                  "shfl.sync.down.b32 %r2, %r1, 1, 31, 0x7f; st.global.u32 [%rd2+512], %r2; OUT: ret; }",
                  3, 0, 32);
    assert_int_equal(r.undefined,
                     8 + 2); // lane 7 is outside its own mask, and reads from 8
    for (unsigned l = 0; l < 8; l++) {
        assert_int_equal(w[l], 0);
        assert_int_equal(w[128 + l], l < 7 ? l + 1 : 0);
    }
    rig_close(&r);
}

// What an H200 was seen to give when a whole warp runs an instruction whose mask leaves out its upper half, however the
// device parts the warp at the accesses before it. Here the mask is a constant, or comes from a register.
// EM-21, EM-158
static void masks_that_leave_lanes_out(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        Rig r;
        uint64_t out;
        char text[2048];
        const char *m = seed % 2 ? "0xffff" : "%r20";
        snprintf(
            text, sizeof text,
            "%s ld.global.u32 %%r20, [%%rd1+1024]; st.global.u32 [%%rd2], %%r1; ld.global.u32 %%r4, [%%rd2];"
            "shfl.sync.up.b32 %%r5, %%r4, 1, 0, %s; st.global.u32 [%%rd2], %%r5; ld.global.u32 %%r4, [%%rd2];"
            "shfl.sync.bfly.b32 %%r5, %%r1, 16, 31, %s; st.global.u32 [%%rd2+128], %%r5; ld.global.u32 %%r4, "
            "[%%rd2];"
            "setp.gt.u32 %%p1, %%r1, 13; vote.sync.ballot.b32 %%r5, %%p1, %s; st.global.u32 [%%rd2+256], "
            "%%r5;"
            "redux.sync.add.u32 %%r5, %%r1, %s; st.global.u32 [%%rd2+384], %%r5; ld.global.u32 %%r4, [%%rd2];"
            "shr.u32 %%r6, %%r1, 3; match.sync.any.b32 %%r5, %%r6, %s; st.global.u32 [%%rd2+512], %%r5; ret; "
            "}",
            KERNEL("k") PROLOGUE, m, m, m, m, m);
        open1(&r, text, seed, 3, &out);
        words(&r, out, 512)[256] = 0xffff;
        assert_int_equal(RIG_RUN(&r, "k", 1, 32, out), VM_FAULT_NONE);
        const uint32_t *w = words(&r, out, 512);
        for (unsigned l = 0; l < 32; l++) {
            assert_int_equal(w[l], l ? l - 1 : 0);
            assert_int_equal(w[32 + l], l ^ 16);
            assert_int_equal(w[64 + l], 0xffffc000);
            assert_int_equal(w[96 + l], 496);
            assert_int_equal(w[128 + l], UINT32_C(0xff) << (l & 24));
        }
        assert_int_equal(r.undefined, 5 * 16);
        rig_close(&r);
    }
}

// Lanes outside their own masks wait for nobody, here for lanes that have gone another way.
// EM-21
static void outside_lanes_go_on(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        Rig r;
        const uint32_t *w = run_block(
            &r,
            KERNEL("k") PROLOGUE
            "setp.lt.u32 %p1, %r1, 16; @%p1 bra LOW; bar.warp.sync 0xffff;"
            "shfl.sync.up.b32 %r2, %r1, 1, 0, 0xffff; st.volatile.global.u32 [%rd1+512], 1; bra OUT;"
            "LOW: ld.volatile.global.u32 %r3, [%rd1+512]; setp.eq.u32 %p2, %r3, 0; @%p2 bra LOW; mov.u32 "
            "%r2, 77;"
            "OUT: st.global.u32 [%rd2], %r2; ret; }",
            seed, 3, 32);
        for (unsigned l = 0; l < 32; l++)
            assert_int_equal(w[l], l < 16 ? 77 : l == 16 ? 0 : l - 1);
        rig_close(&r);
    }
}

// A shuffle reaches all that run it at once, whatever masks they use; votes and the like those that use the same mask.
// EM-21
static void shuffles_across_masks(void **state) {
    (void)state;
    Rig r;
    const uint32_t *w = run_block(
        &r,
        KERNEL("k") PROLOGUE "setp.lt.u32 %p1, %r1, 16; selp.u32 %r2, 0xffff, 0xffff0000, %p1;"
                             "shfl.sync.bfly.b32 %r3, %r1, 16, 31, %r2; vote.sync.ballot.b32 %r4, %p1, %r2;"
                             "st.global.u32 [%rd2], %r3; st.global.u32 [%rd2+128], %r4; ret; }",
        1, 0, 32);
    for (unsigned l = 0; l < 32; l++) {
        assert_int_equal(w[l], l ^ 16);
        assert_int_equal(w[32 + l], l < 16 ? 0xffff : 0);
    }
    assert_int_equal(r.undefined, 0);
    rig_close(&r);
}

// A block of 16 threads with a full mask: lanes that do not exist give 0.
// EM-21
static void lanes_that_do_not_exist(void **state) {
    (void)state;
    Rig r;
    const uint32_t *w =
        run_block(&r,
                  KERNEL("k") PROLOGUE "add.u32 %r2, %r1, 1; shfl.sync.down.b32 %r3, %r2, 8, 31, -1;"
                                       "st.global.u32 [%rd2], %r3; ret; }",
                  1, 0, 16);
    for (unsigned l = 0; l < 16; l++)
        assert_int_equal(w[l], l < 8 ? l + 9 : 0);
    assert_int_equal(r.undefined, 8);
    rig_close(&r);
}

// Accesses part the warp; after a uniform exit, in a branch that lanes take from where they were parted, and behind it,
// activemask gives all that a converged warp would have.
// EM-158
static void active_lanes_are_whole(void **state) {
    (void)state;
    unsigned parted = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        Rig r;
        uint64_t out;
        VmConfig c = {.seed = seed, .split_one_in = 2, .schedule = (VmSchedule)(seed % 5)};
        rig_open(&r,
                 KERNEL("k") PROLOGUE
                 "setp.ge.u32 %p3, %r1, 29; @%p3 exit; ld.global.u32 %r3, [%rd2+1024];"
                 "activemask.b32 %r5; st.global.u32 [%rd2], %r5; ld.global.u32 %r3, [%rd2+1024];"
                 "setp.lt.u32 %p1, %r1, 9; @!%p1 bra HIGH; ld.global.u32 %r3, [%rd2+1024]; activemask.b32 "
                 "%r6; bra OUT;"
                 "HIGH: ld.global.u32 %r3, [%rd2+1024]; add.u32 %r3, %r3, 1; activemask.b32 %r6;"
                 "OUT: activemask.b32 %r7; st.global.u32 [%rd2+128], %r6; st.global.u32 [%rd2+256], %r7;"
                 "activemask.b32 %r8; st.global.u32 [%rd2+384], %r8;"
                 // meanwhile the device does part: not all see the same count
                 "atom.global.add.u32 %r9, [%rd1+2048], 1; ld.global.u32 %r9, [%rd1+2048];"
                 "st.global.u32 [%rd2+512], %r9; ret; }",
                 &c);
        out = rig_alloc(&r, 4096);
        assert_int_equal(RIG_RUN(&r, "k", 1, 32, out), VM_FAULT_NONE);
        const uint32_t *w = words(&r, out, 256);
        for (unsigned l = 0; l < 29; l++) {
            assert_int_equal(w[l], 0x1fffffff);
            assert_int_equal(w[32 + l], l < 9 ? 0x1ff : 0x1ffffe00);
            assert_int_equal(w[64 + l], 0x1fffffff);
            assert_int_equal(w[96 + l], 0x1fffffff);
            parted += w[128 + l] != 29;
        }
        rig_close(&r);
    }
    assert_true(parted > 100);
}

// A lane works for longer than a rejoin point waits: hardware waits there, so those that go on are not seen to be
// alone. EM-158
static void active_lanes_after_a_long_branch(void **state) {
    (void)state;
    Rig r;
    const uint32_t *w =
        run_block(&r,
                  KERNEL("k") PROLOGUE "setp.ne.u32 %p1, %r1, 5; @%p1 bra OUT; mov.u32 %r3, 0;"
                                       "L: add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 5000; @%p2 bra L;"
                                       "OUT: activemask.b32 %r7; st.global.u32 [%rd2], %r7; ret; }",
                  1, 0, 32);
    for (unsigned l = 0; l < 32; l++)
        assert_int_equal(w[l], UINT32_MAX);
    rig_close(&r);
}

// Two tiles of 16 with masks of their own, in one instruction; and afterwards the parted warp is whole again.
// EM-22
static void lanes_go_on_together(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        Rig r;
        const uint32_t *w = run_block(
            &r,
            KERNEL("k") PROLOGUE
            "setp.lt.u32 %p1, %r1, 16; selp.u32 %r2, 0xffff, 0xffff0000, %p1;"
            "st.global.u32 [%rd2], %r1; ld.global.u32 %r3, [%rd2]; add.u32 %r3, %r3, 1; st.global.u32 "
            "[%rd2], %r3;"
            "redux.sync.add.u32 %r4, %r1, %r2; st.global.u32 [%rd2], %r4;"
            "bar.warp.sync 0xffffffff; activemask.b32 %r5; st.global.u32 [%rd2+512], %r5; ret; }",
            seed, 2, 32);
        for (unsigned l = 0; l < 32; l++) {
            assert_int_equal(w[l], l < 16 ? 120 : 376);
            assert_int_equal(w[128 + l], UINT32_MAX);
        }
        rig_close(&r);
    }
}

// Lanes that were parted in front of a call, and in front of the next one in it, are together where the warp meets;
// what their registers and parameters of all sizes hold goes with them, and each returns to its own caller. EM-22
static void calls_become_one(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        Rig r;
        const uint32_t *w = run_block(
            &r,
            // x + 1 + (x odd) + the structure's bytes + x * 3 + x * 5 + x * 7, and all lanes that are there
            ".func (.param .b64 got) inner(.param .b32 x, .param .align 8 .b8 s[16], .param .b64 at) {\n" REGS
            ".reg .b128 %q<2>; .reg .b16 %h<2>; ld.param.u32 %r1, [x]; ld.param.u64 %rd1, [at];"
            "ld.global.u32 %r2, [%rd1]; and.b32 %r3, %r2, 1; setp.ne.u32 %p1, %r3, 0;"
            "cvt.u16.u32 %h1, %r2; mul.lo.u16 %h1, %h1, 3; cvt.u64.u32 %rd2, %r2; mul.lo.u64 %rd3, %rd2, 5; "
            "mul.lo.u64 %rd4, %rd2, 7;"
            "mov.b128 %q1, {%rd3, %rd4}; st.global.u32 [%rd1], %r2; ld.global.u32 %r4, [%rd1];"
            "bar.warp.sync 0xffffffff; activemask.b32 %r5; st.global.u32 [%rd1+512], %r5;"
            "mov.b128 {%rd5, %rd6}, %q1; add.u64 %rd7, %rd5, %rd6; cvt.u64.u16 %rd8, %h1; add.u64 %rd7, "
            "%rd7, %rd8;"
            "selp.u32 %r6, 1, 0, %p1; add.u32 %r6, %r6, %r1; cvt.u64.u32 %rd8, %r6; add.u64 %rd7, %rd7, %rd8;"
            "ld.param.u64 %rd9, [s]; add.u64 %rd7, %rd7, %rd9; ld.param.u32 %r7, [s+8]; cvt.u64.u32 %rd9, "
            "%r7; add.u64 "
            "%rd7, %rd7, %rd9;"
            "st.param.b64 [got], %rd7; ret; }\n"
            ".func (.param .b32 got) outer(.param .b64 at) {\n" REGS
            "ld.param.u64 %rd1, [at]; ld.global.u32 %r1, [%rd1]; mul.lo.u32 %r2, %r1, 1000; st.global.u32 "
            "[%rd1], %r1;"
            "ld.global.u32 %r1, [%rd1]; add.u32 %r3, %r1, 1; cvt.u64.u32 %rd2, %r1;"
            "{ .param .b32 a; .param .align 8 .b8 b[16]; .param .b64 c; .param .b64 d; st.param.b32 [a], "
            "%r3; st.param.b64 [b], "
            "%rd2; st.param.b32 [b+8], %r1; st.param.b64 [c], %rd1;"
            "call.uni (d), inner, (a, b, c); ld.param.b64 %rd3, [d]; }"
            "cvt.u32.u64 %r4, %rd3; add.u32 %r4, %r4, %r2; st.param.b32 [got], %r4; ret; }\n" KERNEL("k")
                PROLOGUE "st.global.u32 [%rd2], %r1; ld.global.u32 %r3, [%rd2]; st.global.u32 [%rd2], %r3;"
                         "{ .param .b64 a; .param .b32 b; st.param.b64 [a], %rd2; call.uni (b), outer, (a); "
                         "ld.param.b32 %r4, [b]; }"
                         "st.global.u32 [%rd2], %r4; bar.warp.sync 0xffffffff; activemask.b32 %r5; "
                         "st.global.u32 [%rd2+1024], %r5; ret; }",
            seed, 2, 32);
        for (uint32_t l = 0; l < 32; l++) {
            assert_int_equal(w[l], 1000 * l + (l + 1) + (l & 1) + 2 * l + 15 * l);
            assert_int_equal(w[128 + l], UINT32_MAX);
            assert_int_equal(w[256 + l], UINT32_MAX);
        }
        rig_close(&r);
    }
}

// Every mode of every collective, against the definition.
static void collective_results(void **state) {
    (void)state;
    Rig r;
    uint64_t out;
    open1(&r,
          KERNEL("k") PROLOGUE
          "shfl.sync.up.b32 %r2|%p1, %r1, 3, 0x1800, -1; selp.u32 %r3, 256, 0, %p1; add.u32 %r2, %r2, %r3; "
          "st.global.u32 [%rd2], %r2;"
          "shfl.sync.down.b32 %r2|%p1, %r1, 3, 0x181f, -1; selp.u32 %r3, 256, 0, %p1; add.u32 %r2, %r2, %r3; "
          "st.global.u32 [%rd2+128], %r2;"
          "shfl.sync.idx.b32 %r2|%p1, %r1, 5, 0x181f, -1; selp.u32 %r3, 256, 0, %p1; add.u32 %r2, %r2, %r3; "
          "st.global.u32 [%rd2+256], %r2;"
          "rem.u32 %r4, %r1, 3; match.any.sync.b32 %r5, %r4, -1; st.global.u32 [%rd2+384], %r5;"
          "cvt.u64.u32 %rd5, %r4; match.all.sync.b64 %r5|%p2, %rd5, -1; selp.u32 %r6, 1, 0, %p2; or.b32 %r5, "
          "%r5, %r6; st.global.u32 [%rd2+512], %r5;"
          "sub.s32 %r7, %r1, 10; redux.sync.min.s32 %r8, %r7, -1; st.global.u32 [%rd2+640], %r8;"
          "redux.sync.max.u32 %r8, %r7, -1; st.global.u32 [%rd2+768], %r8; redux.sync.xor.b32 %r8, %r1, -1; "
          "st.global.u32 [%rd2+896], %r8;"
          "setp.lt.u32 %p3, %r1, 40; vote.sync.all.pred %p4, %p3, -1; vote.sync.any.pred %p5, !%p3, -1; "
          "vote.sync.uni.pred %p6, %p3, -1;"
          "selp.u32 %r9, 1, 0, %p4; selp.u32 %r10, 2, 0, %p5; selp.u32 %r11, 4, 0, %p6; or.b32 %r9, %r9, "
          "%r10; or.b32 %r9, %r9, %r11;"
          "elect.sync %r12|%p7, -1; selp.u32 %r13, 8, 0, %p7; or.b32 %r9, %r9, %r13; st.global.u32 "
          "[%rd2+1024], %r9; ret; }",
          1, 0, &out);
    assert_int_equal(RIG_RUN(&r, "k", 1, 32, out), VM_FAULT_NONE);
    const uint32_t *w = words(&r, out, 1024);
    for (unsigned l = 0; l < 32; l++) {
        unsigned t = l % 8, base = l - t; // segments of 8
        assert_int_equal(w[l], t >= 3 ? l - 3 + 256 : l);
        assert_int_equal(w[32 + l], t + 3 < 8 ? l + 3 + 256 : l);
        assert_int_equal(w[64 + l], base + 5 + 256);
        uint32_t same = 0;
        for (unsigned k = l % 3; k < 32; k += 3)
            same |= UINT32_C(1) << k;
        assert_int_equal(w[96 + l], same);
        assert_int_equal(w[128 + l], 0);
        assert_int_equal(w[160 + l], (uint32_t)-10);
        assert_int_equal(w[192 + l], UINT32_MAX);
        assert_int_equal(w[224 + l], 0);
        assert_int_equal(w[256 + l], l ? 5 : 13);
    }
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_are_consecutive_threads),
        cmocka_unit_test(parted_lanes_run_for_themselves),
        cmocka_unit_test(lanes_meet_at_the_post_dominator),
        cmocka_unit_test(labels_in_a_row),
        cmocka_unit_test(spin_locks),
        cmocka_unit_test(missing_syncwarp_shows),
        cmocka_unit_test(conflicting_lanes),
        cmocka_unit_test(collectives_meet_from_different_places),
        cmocka_unit_test(undefined_sources),
        cmocka_unit_test(masks_that_leave_lanes_out),
        cmocka_unit_test(outside_lanes_go_on),
        cmocka_unit_test(shuffles_across_masks),
        cmocka_unit_test(lanes_that_do_not_exist),
        cmocka_unit_test(active_lanes_are_whole),
        cmocka_unit_test(active_lanes_after_a_long_branch),
        cmocka_unit_test(lanes_go_on_together),
        cmocka_unit_test(calls_become_one),
        cmocka_unit_test(collective_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
