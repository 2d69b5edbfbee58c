// SPDX-License-Identifier: Apache-2.0
// test_schedules — each schedule is repeatable and starves nobody; what PCT and the race-directed one do besides.
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const VmSchedule all[] = {VM_SCHEDULE_DEFAULT, VM_SCHEDULE_RR, VM_SCHEDULE_RANDOM, VM_SCHEDULE_PCT,
                                 VM_SCHEDULE_DIRECTED};

// A window as the collider makes them, as far as the device sees it.
#define WINDOW "/*@gr:1*/ nanosleep.u32 100;\n"

// Lanes part, meet at barriers, and take numbers from a counter.
static const char mixed[] =
    ".visible .entry k(.param .u64 out) {\n"
    ".reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<6>; .shared .b32 s[64];\n"
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, 0; mov.u32 %r8, s; shl.b32 %r9, %r1, 2; "
    "add.u32 %r8, %r8, %r9;\n"
    "L: atom.global.add.u32 %r3, [%rd1], 1; and.b32 %r4, %r3, 255; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, "
    "%rd1, %rd2;\n"
    "setp.lt.u32 %p1, %r4, 100; @%p1 bra M; st.global.u32 [%rd3+4], %r1; " WINDOW "M:\n"
    "st.shared.u32 [%r8], %r3; " WINDOW "bar.sync 0; ld.shared.u32 %r5, [%r8]; " WINDOW
    "add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 6; @%p2 bra L; ret; }\n";

static Ear listen_to(VmSchedule s, uint64_t seed) {
    Rig r;
    Ear ear = {0};
    VmConfig c = {.seed = seed, .schedule = s, .split_one_in = 64};
    rig_open(&r, mixed, &c);
    uint64_t out = rig_alloc(&r, 4096);
    rig_listen(&r, &ear);
    if (RIG_RUN(&r, "k", 6, 64, out))
        fail_msg("schedule %d: %s", s, r.fault.msg);
    assert_int_equal(*(uint32_t *)rig_view(&r, out, 4), 6 * 64 * 6);
    rig_close(&r);
    return ear;
}

// EM-136
static void same_seed_same_execution(void **state) {
    (void)state;
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++) {
        uint64_t other = 0;
        for (uint64_t seed = 1; seed <= 3; seed++) {
            Ear a = listen_to(all[k], seed), b = listen_to(all[k], seed);
            assert_memory_equal(&a, &b, sizeof a);
            assert_int_not_equal(a.hash, other);
            other = a.hash;
        }
    }
}

// ---- Nobody starves ------------------------------------------------------------------------------------------

// Each warp counts in a word of its own until somebody has come to 2000, and says how far it came.
static const char race_to[] =
    ".visible .entry k(.param .u64 out) {\n"
    ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<6>;\n"
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; shr.u32 %r1, %r1, 5; mul.wide.u32 %rd2, %r1, 4; add.s64 "
    "%rd3, %rd1, %rd2;\n"
    "mov.u32 %r2, 0;\n"
    "L: add.u32 %r2, %r2, 1; ld.relaxed.gpu.global.u32 %r3, [%rd1+128]; setp.ne.u32 %p1, %r3, 0; @%p1 bra "
    "OUT;\n"
    "setp.lt.u32 %p2, %r2, 2000; @%p2 bra L; mov.u32 %r4, 1; st.relaxed.gpu.global.u32 [%rd1+128], %r4;\n"
    "OUT: st.global.u32 [%rd3], %r2; ret; }\n";

// EM-137, EM-138
static void nobody_starves(void **state) {
    (void)state;
    static const struct {
        VmSchedule s;
        uint32_t least;
    } want[] = {{VM_SCHEDULE_RR, 1800}, {VM_SCHEDULE_RANDOM, 1500}, {VM_SCHEDULE_DIRECTED, 200}};
    for (unsigned k = 0; k < sizeof want / sizeof *want; k++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            Rig r;
            VmConfig c = {.seed = seed, .schedule = want[k].s, .quantum = 64};
            rig_open(&r, race_to, &c);
            uint64_t out = rig_alloc(&r, 4096);
            assert_int_equal(RIG_RUN(&r, "k", 1, 8 * 32, out), VM_FAULT_NONE);
            const uint32_t *n = rig_view(&r, out, 64);
            for (unsigned w = 0; w < 8; w++)
                assert_in_range(n[w], want[k].least, 2000);
            rig_close(&r);
        }
}

// ---- PCT -----------------------------------------------------------------------------------------------------

// Each warp takes 40 numbers, and writes its own at each.
static const char takes[] = ".visible .entry k(.param .u64 out) {\n"
                            ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<6>;\n"
                            "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; and.b32 %r6, %r1, 31; "
                            "setp.ne.u32 %p3, %r6, 0; @%p3 exit;\n"
                            "shr.u32 %r1, %r1, 5; mov.u32 %r2, 0;\n"
                            "L: atom.global.add.u32 %r3, [%rd1], 1; mul.wide.u32 %rd2, %r3, 4; add.s64 %rd3, "
                            "%rd1, %rd2; st.global.u32 [%rd3+4], %r1;\n"
                            "add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 40; @%p2 bra L; ret; }\n";

// How often the one who takes changes; *first: who was first.
static unsigned changes(uint64_t seed, uint32_t depth, uint32_t steps, uint32_t *first, VmBound *bound) {
    Rig r;
    VmConfig c = {.seed = seed,
                  .schedule = VM_SCHEDULE_PCT,
                  .pct_depth = depth,
                  .pct_steps = steps,
                  .split_one_in = 64};
    rig_open(&r, takes, &c);
    uint64_t out = rig_alloc(&r, 4096);
    assert_int_equal(RIG_RUN(&r, "k", 1, 4 * 32, out), VM_FAULT_NONE);
    const uint32_t *by = (uint32_t *)rig_view(&r, out, 4096) + 1;
    unsigned n = 0;
    for (unsigned k = 1; k < 160; k++)
        n += by[k] != by[k - 1];
    *first = by[0];
    assert_true(gr_vm_bound(r.dev, bound));
    rig_close(&r);
    return n;
}

// EM-139
static void pct_runs_by_priority(void **state) {
    (void)state;
    unsigned who[4] = {0}, most = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint32_t first;
        VmBound b;
        assert_int_equal(changes(seed, 1, 10000, &first, &b), 3); // each to its end, without a change point
        who[first]++;
        unsigned n = changes(seed, 3, 1200, &first, &b);
        assert_in_range(n, 3, 3 + 2); // each change point puts one last
        most = n > most ? n : most;
    }
    assert_int_equal(most, 5);
    for (unsigned k = 0; k < 4; k++)
        assert_in_range(who[k], 5, 30);
}

// EM-140
static void pct_states_its_bound(void **state) {
    (void)state;
    uint32_t first;
    VmBound b;
    (void)changes(1, 2, 5000, &first, &b);
    assert_true(b.holds);
    assert_int_equal(b.warps, 4);
    assert_int_equal(b.depth, 2);
    assert_in_range(b.steps, 4 * 40 * 7, 4 * 40 * 7 + 200);
    assert_true(b.probability > 1 / 20001.0 && b.probability < 1 / 19999.0);
    (void)changes(1, 2, 500, &first, &b);
    assert_false(b.holds); // more steps than that
    assert_true(b.probability == 0);
    Rig r;
    VmConfig c = {.seed = 1, .schedule = VM_SCHEDULE_PCT, .pct_steps = 100000000};
    rig_open(&r,
             ".visible .entry k(.param .u64 out) { .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<6>;\n"
             "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 31; @%p1 bra SET;\n"
             "L: ld.relaxed.gpu.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra L; ret;\n"
             "SET: mov.u32 %r3, 1; st.relaxed.gpu.global.u32 [%rd1], %r3; ret; }\n",
             &c);
    bool spun = false;
    for (unsigned k = 0; k < 16; k++) { // whoever has the higher priority
        assert_int_equal(RIG_RUN(&r, "k", 1, 64, rig_alloc(&r, 4)), VM_FAULT_NONE);
        assert_true(gr_vm_bound(r.dev, &b));
        spun |= b.spins != 0;
        assert_int_equal(b.holds, b.spins == 0);
    }
    assert_true(spun);
    rig_close(&r);
}

// ---- Race-directed -------------------------------------------------------------------------------------------

// Each of two warps stores its number, waits in the window, and looks: whether it is another one now.
static const char both_store[] =
    ".visible .entry k(.param .u64 out) {\n"
    ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<6>;\n"
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; and.b32 %r6, %r1, 31; setp.ne.u32 %p3, %r6, 0; @%p3 "
    "exit;\n"
    "add.u32 %r2, %r1, 7; st.global.u32 [%rd1], %r2; " WINDOW
    "ld.relaxed.sys.global.u32 %r3, [%rd1]; setp.eq.u32 %p1, %r2, %r3; @%p1 exit;\n"
    "mov.u32 %r4, 1; st.relaxed.sys.global.u32 [%rd1+4], %r4; ret; }\n";

// EM-141
static void windows_outlast_others(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        Rig r;
        VmConfig c = {.seed = seed, .schedule = VM_SCHEDULE_DIRECTED, .split_one_in = 0};
        rig_open(&r, both_store, &c);
        uint64_t out = rig_alloc(&r, 4096);
        assert_int_equal(RIG_RUN(&r, "k", 1, 64, out), VM_FAULT_NONE);
        assert_int_equal(((uint32_t *)rig_view(&r, out, 8))[1], 1);
        rig_close(&r);
    }
}

// EM-142: the lanes of one instruction, and those that left a branch before those that are held in it.
static void lanes_outlast_lanes(void **state) {
    (void)state;
    unsigned together = 0, ahead = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        Rig r;
        VmConfig c = {.seed = seed, .schedule = VM_SCHEDULE_DIRECTED};
        rig_open(&r,
                 // s[lane + 1] is read before that lane, or after it, has stored there
                 ".visible .entry k(.param .u64 out) {\n"
                 ".reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<6>; .shared .b32 s[40];\n"
                 "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, s; shl.b32 %r3, %r1, 2; "
                 "add.u32 %r2, %r2, %r3;\n"
                 "mov.u32 %r5, 0; st.shared.u32 [%r2], %r5; bar.sync 0;\n"
                 "ld.shared.u32 %r4, [%r2+4]; " WINDOW
                 "ld.shared.u32 %r6, [%r2+4]; add.u32 %r1, %r1, 1; st.shared.u32 [%r2], %r1;\n"
                 "setp.eq.u32 %p1, %r4, %r6; @%p1 exit; mov.u32 %r7, 1; st.global.u32 [%rd1], %r7; ret; }\n"
                 // lane 0 stores in a branch; whether the others are past it in its window
                 ".visible .entry b(.param .u64 out) {\n"
                 ".reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<6>;\n"
                 "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra M;\n"
                 "st.global.u32 [%rd1], %r1; " WINDOW
                 "ld.relaxed.gpu.global.u32 %r2, [%rd1+4]; st.global.u32 [%rd1+8], %r2;\n"
                 "M: mov.u32 %r3, 1; st.relaxed.gpu.global.u32 [%rd1+4], %r3; ret; }\n",
                 &c);
        uint64_t out = rig_alloc(&r, 64), other = rig_alloc(&r, 64);
        assert_int_equal(RIG_RUN(&r, "k", 1, 32, out), VM_FAULT_NONE);
        together += *(uint32_t *)rig_view(&r, out, 4) == 0;
        assert_int_equal(RIG_RUN(&r, "b", 1, 32, other), VM_FAULT_NONE);
        ahead += ((uint32_t *)rig_view(&r, other, 12))[2];
        rig_close(&r);
    }
    assert_in_range(together, 5, 35);
    assert_in_range(ahead, 8, 32);
}

// EM-143
static void pollers_get_what_they_poll_for(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        Rig r;
        VmConfig c = {.seed = seed, .schedule = VM_SCHEDULE_DIRECTED, .watchdog_ns = 100000000};
        rig_open(
            &r,
            ".visible .entry k(.param .u64 out) { .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<6>;\n"
            "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r5, 0; setp.gt.u32 %p1, %r1, 31; @%p1 "
            "bra SET;\n"
            "L: nanosleep.u32 1000000; ld.relaxed.gpu.global.u32 %r2, [%rd1]; setp.lt.u32 %p2, %r2, 50; @%p2 "
            "bra L; ret;\n"
            "SET: st.global.u32 [%rd1+4], %r1; " WINDOW
            "add.u32 %r5, %r5, 1; st.relaxed.gpu.global.u32 [%rd1], %r5;\n"
            "setp.lt.u32 %p3, %r5, 50; @%p3 bra SET; ret; }\n"
            ".visible .entry spin(.param .u64 out) { .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<6>;\n"
            "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r5, 0; setp.gt.u32 %p1, %r1, 31; @%p1 "
            "bra SET;\n"
            "L: ld.relaxed.gpu.global.u32 %r2, [%rd1]; setp.lt.u32 %p2, %r2, 50; @%p2 bra L; ret;\n"
            "SET: st.global.u32 [%rd1+4], %r1; " WINDOW
            "add.u32 %r5, %r5, 1; st.relaxed.gpu.global.u32 [%rd1], %r5;\n"
            "setp.lt.u32 %p3, %r5, 50; @%p3 bra SET; ret; }\n",
            &c);
        assert_int_equal(RIG_RUN(&r, "k", 1, 64, rig_alloc(&r, 64)), VM_FAULT_NONE);
        assert_int_equal(RIG_RUN(&r, "spin", 1, 64, rig_alloc(&r, 64)), VM_FAULT_NONE);
        rig_close(&r);
    }
}

// EM-25: a warp whose lanes are parted in a window, come to a barrier one part after the other, and exit, counts as one
// warp.
static void parted_warps_count_once(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        Rig r;
        VmConfig c = {.seed = seed, .schedule = VM_SCHEDULE_DIRECTED};
        rig_open(&r,
                 ".visible .entry k(.param .u64 out) { .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<6>;\n"
                 "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 63; @%p1 bra WAITS;\n"
                 "ld.global.u32 %r2, [%rd1]; " WINDOW
                 "atom.global.add.u32 %r2, [%rd1], 1; barrier.cta.arrive 1, 96; ret;\n"
                 "WAITS: barrier.cta.sync 1, 96; ld.relaxed.gpu.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, "
                 "%r2, 64; @%p2 exit;\n"
                 "mov.u32 %r3, 1; st.global.u32 [%rd1+4], %r3; ret; }\n",
                 &c);
        uint64_t out = rig_alloc(&r, 64);
        assert_int_equal(RIG_RUN(&r, "k", 1, 96, out), VM_FAULT_NONE);
        assert_int_equal(((uint32_t *)rig_view(&r, out, 8))[1], 0);
        rig_close(&r);
    }
}

// EM-144: blocks beyond the first start while those are held, and so do other launches; then the device says so.
static void all_are_held_before_one_goes_on(void **state) {
    (void)state;
    Rig r;
    VmConfig c = {.seed = 1, .schedule = VM_SCHEDULE_DIRECTED};
    rig_open(&r,
             ".visible .entry k(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
             "ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, "
             "%rd1, %rd2;\n"
             "mov.u32 %r2, 1; st.global.u32 [%rd3], %r2; " WINDOW
             "mov.u32 %r2, 2; st.global.u32 [%rd3], %r2; ret; }\n",
             &c);
    uint64_t out[2] = {rig_alloc(&r, 256), rig_alloc(&r, 256)};
    VmLaunch *l[2];
    for (unsigned k = 0; k < 2; k++)
        l[k] = rig_start(&r, "k", (Dims){16, 1, 0}, 1, &out[k]);
    while (gr_vm_run(r.dev, 100000) != VM_RUN_HELD)
        ;
    assert_true(gr_vm_all_held(r.dev));
    for (unsigned k = 0; k < 32; k++)
        assert_int_equal(((uint32_t *)rig_view(&r, out[k / 16], 64))[k % 16], 1);
    assert_non_null(gr_vm_release(r.dev));
    assert_false(gr_vm_all_held(r.dev));
    while (gr_vm_run(r.dev, 100000) != VM_RUN_HELD)
        ;
    unsigned done = 0;
    for (unsigned k = 0; k < 32; k++)
        done += ((uint32_t *)rig_view(&r, out[k / 16], 64))[k % 16] == 2;
    assert_int_equal(done, 1);
    rig_drain(&r, 100000);
    for (unsigned k = 0; k < 2; k++)
        gr_vm_launch_free(l[k]);
    assert_null(gr_vm_release(r.dev));
    rig_close(&r);
}

// EM-141: a copy that would come next, when the thread that started it is held, mostly comes after that.
static void operations_come_late(void **state) {
    (void)state;
    enum { SEEDS = 80 };
    unsigned late = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        Rig r;
        VmConfig c = {.seed = seed, .schedule = VM_SCHEDULE_DIRECTED};
        rig_open(&r,
                 ".visible .entry k(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %rd<4>; .shared .b32 s;\n"
                 "ld.param.u64 %rd1, [out]; mov.u32 %r1, s; mov.u32 %r2, 0; st.shared.u32 [%r1], %r2;\n"
                 "cp.async.ca.shared.global [%r1], [%rd1], 4; ld.global.u32 %r3, [%rd1+4]; " WINDOW
                 "ld.shared.u32 %r2, [%r1]; st.global.u32 [%rd1+4], %r2;\n"
                 "cp.async.wait_all; ld.shared.u32 %r2, [%r1]; st.global.u32 [%rd1+8], %r2; ret; }\n",
                 &c);
        uint64_t out = rig_alloc(&r, 64);
        uint32_t *words = rig_view(&r, out, 12);
        words[0] = 77;
        assert_int_equal(RIG_RUN(&r, "k", 1, 1, out), VM_FAULT_NONE);
        assert_true(words[1] == 0 || words[1] == 77);
        assert_int_equal(words[2], 77);
        late += words[1] == 0;
        rig_close(&r);
    }
    assert_in_range(late, SEEDS / 2, SEEDS - 1); // else only where it takes longer than the window
}

// EM-157: whether a copy has arrived after 200 µs or more that its thread sleeps.
static unsigned late_copies(VmSchedule s, unsigned seeds) {
    unsigned late = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        Rig r;
        VmConfig c = {.seed = seed, .schedule = s};
        rig_open(&r,
                 ".visible .entry k(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %rd<4>; .shared .b32 s;\n"
                 "ld.param.u64 %rd1, [out]; mov.u32 %r1, s; mov.u32 %r2, 0; st.shared.u32 [%r1], %r2;\n"
                 "cp.async.ca.shared.global [%r1], [%rd1], 4; nanosleep.u32 400000;\n"
                 "ld.shared.u32 %r2, [%r1]; st.global.u32 [%rd1+4], %r2; cp.async.wait_all; ret; }\n",
                 &c);
        uint64_t out = rig_alloc(&r, 64);
        uint32_t *words = rig_view(&r, out, 8);
        words[0] = 77;
        assert_int_equal(RIG_RUN(&r, "k", 1, 1, out), VM_FAULT_NONE);
        late += words[1] == 0;
        rig_close(&r);
    }
    return late;
}

static void operations_outlast_sleepers(void **state) {
    (void)state;
    assert_int_equal(late_copies(VM_SCHEDULE_DEFAULT, 40), 0);
    assert_in_range(late_copies(VM_SCHEDULE_DIRECTED, 80), 10,
                    50); // the source may come late, or the destination
}

// ---- What an observer wishes ---------------------------------------------------------------------------------

typedef struct Wishes {
    VmWish kernel, first, others; // of accesses 1, and of all else
} Wishes;

static VmWish wish(void *user, const VmWhere *w) {
    const Wishes *x = user;
    return !w->site ? x->kernel : w->site == 1 ? x->first : x->others;
}

// Warp 0 stores, waits in its window, and says how many of the others have ended. They wait in some windows themselves.
static const char counts_ended[] =
    ".visible .entry k(.param .u64 out) {\n"
    ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<6>;\n"
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 31; mov.u32 %r2, 0; @%p1 bra L;\n"
    "st.global.u32 [%rd1], %r1; " WINDOW "ld.relaxed.gpu.global.u32 %r3, [%rd1+4];\n"
    "st.relaxed.gpu.global.u32 [%rd1+8], %r3; ret;\n"
    "L: st.global.u32 [%rd1+16], %r1; /*@gr:2*/ nanosleep.u32 100;\n"
    "add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 4; @%p2 bra L;\n"
    "and.b32 %r4, %r1, 31; setp.ne.u32 %p3, %r4, 0; @%p3 exit; atom.global.add.u32 %r3, [%rd1+4], 1; ret; "
    "}\n";

// Runs with the seeds 1 to 40; how many of three warps had ended, at least and at most.
static void ended(Wishes *wishes, uint32_t *least, uint32_t *most) {
    *least = 3;
    *most = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        Rig r;
        VmConfig c = {.seed = seed, .schedule = VM_SCHEDULE_DIRECTED, .split_one_in = 0};
        rig_open(&r, counts_ended, &c);
        uint64_t out = rig_alloc(&r, 64);
        VmObserver o = {.user = wishes, .wish = wish};
        assert_int_equal(gr_vm_observe(r.dev, &o, NULL), GR_OK);
        assert_int_equal(RIG_RUN(&r, "k", 1, 128, out), VM_FAULT_NONE);
        uint32_t n = ((uint32_t *)rig_view(&r, out, 12))[2];
        *least = n < *least ? n : *least;
        *most = n > *most ? n : *most;
        rig_close(&r);
    }
}

// EM-155
static void who_is_aimed_at_waits(void **state) {
    (void)state;
    uint32_t least, most;
    ended(&(Wishes){VM_WISH_NONE, VM_WISH_NONE, VM_WISH_NONE}, &least, &most);
    assert_true(least < 3 && most > 0); // now this, now that
    ended(&(Wishes){VM_WISH_PASSES, VM_WISH_STAYS, VM_WISH_PASSES}, &least, &most);
    assert_true(least == 3);
    ended(&(Wishes){VM_WISH_PASSES, VM_WISH_STAYS, VM_WISH_STOPS}, &least, &most);
    assert_true(least == 3);
    ended(&(Wishes){VM_WISH_PASSES, VM_WISH_STOPS, VM_WISH_PASSES}, &least, &most);
    assert_true(least == 3); // those who are held by chance come back before it
    ended(&(Wishes){VM_WISH_PASSES, VM_WISH_STOPS, VM_WISH_STAYS}, &least, &most);
    assert_true(most == 0);
}

// EM-155: of two launches, in one of which all are to wait for everybody else, that one comes last.
static const char takes_numbers[] = ".visible .entry k(.param .u64 out, .param .u64 counter) {\n"
                                    ".reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
                                    "ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [counter]; mov.u32 %r1, "
                                    "%ctaid.x; mul.wide.u32 %rd3, %r1, 4;\n"
                                    "add.s64 %rd3, %rd3, %rd1; st.global.u32 [%rd3], %r1; " WINDOW
                                    "atom.global.add.u32 %r2, [%rd2], 1; st.global.u32 [%rd3], %r2; ret; }\n";

static VmWish wish_of_launch(void *user, const VmWhere *w) {
    const uint64_t *stays = user;
    return !w->site ? VM_WISH_PASSES : w->launch == *stays ? VM_WISH_STAYS : VM_WISH_STOPS;
}

// How many of 2 x 4 blocks of the launch `stays` come after all of the other; 0: nobody wishes anything, and it is the
// first one.
static unsigned last_ones(uint64_t stays, uint64_t seed) {
    enum { BLOCKS = 4 };
    Rig r;
    VmConfig c = {.seed = seed, .schedule = VM_SCHEDULE_DIRECTED, .split_one_in = 0};
    rig_open(&r, takes_numbers, &c);
    uint64_t counter = rig_alloc(&r, 64), out[2] = {rig_alloc(&r, 256), rig_alloc(&r, 256)};
    VmObserver o = {.user = &stays, .wish = wish_of_launch};
    if (stays)
        assert_int_equal(gr_vm_observe(r.dev, &o, NULL), GR_OK);
    VmLaunch *l[2];
    for (unsigned k = 0; k < 2; k++)
        l[k] = rig_start(&r, "k", (Dims){BLOCKS, 1, 0}, 2, (uint64_t[]){out[k], counter});
    rig_drain(&r, 100000);
    unsigned n = 0;
    for (unsigned k = 0; k < BLOCKS; k++)
        n += ((uint32_t *)rig_view(&r, out[stays == 2], 64))[k] >= BLOCKS;
    for (unsigned k = 0; k < 2; k++)
        gr_vm_launch_free(l[k]);
    rig_close(&r);
    return n;
}

static void launches_that_stay_come_last(void **state) {
    (void)state;
    unsigned usual = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        assert_int_equal(last_ones(1, seed), 4);
        assert_int_equal(last_ones(2, seed), 4);
        usual += last_ones(0, seed);
    }
    assert_in_range(usual, 20, 140);
}

typedef struct Places {
    const PtxModule *module;
    VmWish wish;
    unsigned asked;
} Places;

// Who comes to the window as warp 2 of block 1, and nobody else.
static VmWish wish_of_place(void *user, const VmWhere *w) {
    Places *x = user;
    if (!w->site)
        return VM_WISH_PASSES;
    bool there =
        w->module == x->module && w->launch == 1 && w->block_linear == 1 && w->warp == 2 && w->site == 1;
    x->asked += there;
    return there ? x->wish : VM_WISH_PASSES;
}

// EM-155: it is asked of each; and of what several observers wish the strongest goes.
static void one_of_them_waits(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++)
        for (unsigned first = 0; first < 2; first++) {
            Rig r;
            VmConfig c = {.seed = seed, .schedule = VM_SCHEDULE_DIRECTED, .split_one_in = 0};
            rig_open(
                &r,
                ".visible .entry k(.param .u64 out) { .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
                "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; setp.ne.u32 %p1, %r2, "
                "0;\n"
                "@%p1 exit; shr.u32 %r1, %r1, 5; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 4, %r1;\n"
                "mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd2, %rd1; st.global.u32 [%rd2+4], %r1; " WINDOW
                "atom.global.add.u32 %r3, [%rd1], 1; st.global.u32 [%rd2+4], %r3; ret; }\n",
                &c);
            uint64_t out = rig_alloc(&r, 256);
            Places x = {.module = r.ptx, .wish = VM_WISH_STAYS};
            Wishes none = {VM_WISH_NONE, VM_WISH_NONE, VM_WISH_NONE};
            for (unsigned k = 0; k < 2; k++) {
                VmObserver strong = {.user = &x, .wish = wish_of_place}, weak = {.user = &none, .wish = wish};
                assert_int_equal(gr_vm_observe(r.dev, k == first ? &strong : &weak, NULL), GR_OK);
            }
            assert_int_equal(RIG_RUN(&r, "k", 2, 128, out), VM_FAULT_NONE);
            assert_int_equal(x.asked, 1);
            assert_int_equal(((uint32_t *)rig_view(&r, out, 64))[1 + 6], 7); // of eight it is the last
            rig_close(&r);
        }
}

// EM-155: how often the only thread is held, of 400 windows.
static unsigned held_of(VmWish others, uint64_t seed) {
    Rig r;
    VmConfig c = {.seed = seed, .schedule = VM_SCHEDULE_DIRECTED, .split_one_in = 0};
    rig_open(&r,
             ".visible .entry k(.param .u64 out) { .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
             "ld.param.u64 %rd1, [out]; mov.u32 %r1, 0;\n"
             "L: st.global.u32 [%rd1], %r1; " WINDOW
             "add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 400; @%p1 bra L; ret; }\n",
             &c);
    uint64_t out = rig_alloc(&r, 64);
    Wishes wishes = {VM_WISH_PASSES, others, others};
    VmObserver o = {.user = &wishes, .wish = wish};
    assert_int_equal(gr_vm_observe(r.dev, &o, NULL), GR_OK);
    VmLaunch *l = rig_start(&r, "k", (Dims){1, 1, 0}, 1, &out);
    unsigned n = 0;
    for (VmRunResult was; (was = gr_vm_run(r.dev, 100000)) != VM_RUN_IDLE;)
        if (was == VM_RUN_HELD) {
            assert_non_null(gr_vm_release(r.dev));
            n++;
        }
    gr_vm_launch_free(l);
    rig_close(&r);
    return n;
}

static void who_should_go_on_does(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        assert_in_range(held_of(VM_WISH_PASSES, seed), 20, 100); // one in eight
        assert_int_equal(held_of(VM_WISH_STOPS, seed), 400);
        assert_int_equal(held_of(VM_WISH_STAYS, seed), 400);
    }
}

// EM-155: a copy comes before who waits for everybody else, where it would mostly come after somebody.
static void operations_come_before_who_stays(void **state) {
    (void)state;
    enum { SEEDS = 80 };
    unsigned late[2] = {0, 0};
    for (uint64_t k = 0; k < 2 * SEEDS; k++) {
        Rig r;
        VmConfig c = {.seed = 1 + k / 2, .schedule = VM_SCHEDULE_DIRECTED, .split_one_in = 0};
        rig_open(&r,
                 ".visible .entry k(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %rd<4>; .shared .b32 s;\n"
                 "ld.param.u64 %rd1, [out]; mov.u32 %r1, s; mov.u32 %r2, 0; st.shared.u32 [%r1], %r2;\n"
                 "cp.async.ca.shared.global [%r1], [%rd1], 4; ld.global.u32 %r3, [%rd1+4]; " WINDOW
                 "ld.shared.u32 %r2, [%r1]; st.global.u32 [%rd1+4], %r2; cp.async.wait_all; ret; }\n",
                 &c);
        uint64_t out = rig_alloc(&r, 64);
        uint32_t *words = rig_view(&r, out, 8);
        words[0] = 77;
        Wishes wishes = {VM_WISH_PASSES, k % 2 ? VM_WISH_STAYS : VM_WISH_STOPS, VM_WISH_PASSES};
        VmObserver o = {.user = &wishes, .wish = wish};
        assert_int_equal(gr_vm_observe(r.dev, &o, NULL), GR_OK);
        assert_int_equal(RIG_RUN(&r, "k", 1, 1, out), VM_FAULT_NONE);
        late[k % 2] += words[1] == 0;
        rig_close(&r);
    }
    assert_in_range(late[0], SEEDS / 2, SEEDS - 1);
    assert_in_range(late[1], 0, SEEDS / 3); // EM-143
}

// EM-156: how many of 40 seeds hold a warp of a kernel without any windows.
static unsigned begin_late(VmWish kernel) {
    Wishes wishes = {kernel, VM_WISH_PASSES, VM_WISH_PASSES};
    unsigned n = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        Rig r;
        VmConfig c = {.seed = seed, .schedule = VM_SCHEDULE_DIRECTED};
        rig_open(&r,
                 ".visible .entry k(.param .u64 out) { .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
                 "ld.param.u64 %rd1, [out]; mov.u32 %r1, 1; red.global.add.u32 [%rd1], %r1; ret; }\n",
                 &c);
        uint64_t out = rig_alloc(&r, 64);
        VmObserver o = {.user = &wishes, .wish = wish};
        assert_int_equal(gr_vm_observe(r.dev, &o, NULL), GR_OK);
        VmLaunch *l = rig_start(&r, "k", (Dims){40, 64, 0}, 1, &out);
        bool holds = false;
        for (VmRunResult was = VM_RUN_PROGRESS; was != VM_RUN_IDLE && was != VM_RUN_ENDED;) {
            was = gr_vm_run(r.dev, 1);
            if (was != VM_RUN_HELD)
                continue;
            if (!holds) // at most 16 of the 80 warps have not begun
                assert_in_range(*(uint32_t *)rig_view(&r, out, 4), 64 * 32, 80 * 32);
            holds = true;
            assert_non_null(gr_vm_release(r.dev));
        }
        assert_int_equal(*(uint32_t *)rig_view(&r, out, 4), 40 * 64);
        n += holds;
        gr_vm_launch_free(l);
        rig_close(&r);
    }
    return n;
}

static void warps_begin_late(void **state) {
    (void)state;
    assert_int_equal(begin_late(VM_WISH_NONE), 0);
    assert_int_equal(begin_late(VM_WISH_PASSES), 0);
    assert_in_range(begin_late(VM_WISH_NEW), 5, 40);
    assert_in_range(begin_late(VM_WISH_STAYS), 10, 39);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_seed_same_execution),
        cmocka_unit_test(nobody_starves),
        cmocka_unit_test(pct_runs_by_priority),
        cmocka_unit_test(pct_states_its_bound),
        cmocka_unit_test(windows_outlast_others),
        cmocka_unit_test(lanes_outlast_lanes),
        cmocka_unit_test(pollers_get_what_they_poll_for),
        cmocka_unit_test(parted_warps_count_once),
        cmocka_unit_test(all_are_held_before_one_goes_on),
        cmocka_unit_test(operations_come_late),
        cmocka_unit_test(operations_outlast_sleepers),
        cmocka_unit_test(who_is_aimed_at_waits),
        cmocka_unit_test(launches_that_stay_come_last),
        cmocka_unit_test(one_of_them_waits),
        cmocka_unit_test(who_should_go_on_does),
        cmocka_unit_test(operations_come_before_who_stays),
        cmocka_unit_test(warps_begin_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
