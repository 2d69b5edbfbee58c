// SPDX-License-Identifier: Apache-2.0
// test_weak — VmConfig.weak: the litmus tests whose weak outcomes show there, those that must never, and that a
// sequentially consistent device shows none of them.
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { SEEDS = 400, X = 0, Y = 128, OUT = 256, BYTES = 512 };

// Two threads, in two blocks or as the first lanes of two warps; both have x, y and results r1 and r2 that are stored
// at the end, by strong stores.
#define PROGRAM(p0, p1)                                                                                      \
    ".visible .entry k(.param .u64 m) {\n.reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %q<3>;\n"              \
    "ld.param.u64 %q1, [m]; mov.u32 %r3, %ctaid.x; setp.ne.u32 %p1, %r3, 0; mov.u32 %r1, 0; mov.u32 %r2, "   \
    "0;\n@%p1 bra P1;\n" p0 "\nst.relaxed.gpu.global.u32 [%q1+256], %r1; st.relaxed.gpu.global.u32 "         \
    "[%q1+260], %r2; ret;\nP1:\n" p1 "\nst.relaxed.gpu.global.u32 [%q1+264], %r1; "                          \
    "st.relaxed.gpu.global.u32 [%q1+268], %r2; ret; }\n"
#define STORE(at, v)  "st.global.u32 [%q1+" #at "], " #v ";"
#define STRONG(at, v) "st.relaxed.gpu.global.u32 [%q1+" #at "], " #v ";"
#define LOAD(r, at)   "ld.global.u32 %r" #r ", [%q1+" #at "];"
#define LISTEN(r, at) "ld.relaxed.gpu.global.u32 %r" #r ", [%q1+" #at "];"
#define FENCE         "fence.acq_rel.gpu;"
#define FENCE_SC      "fence.sc.gpu;"

typedef struct Outcome {
    uint32_t r[4]; // of thread 0, of thread 1
    uint32_t x, y;
} Outcome;

static Outcome run(const char *text, uint64_t seed, bool weak) {
    Rig r;
    Outcome o;
    VmConfig c = {.seed = seed, .weak = weak, .quantum = 2, .split_one_in = 2};
    rig_open(&r, text, &c);
    uint64_t m = rig_alloc(&r, BYTES);
    assert_int_equal(RIG_RUN(&r, "k", 2, 1, m), VM_FAULT_NONE);
    const uint8_t *at = rig_view(&r, m, BYTES);
    memcpy(o.r, at + OUT, sizeof o.r);
    memcpy(&o.x, at + X, 4);
    memcpy(&o.y, at + Y, 4);
    rig_close(&r);
    return o;
}

// In how many of the seeds the outcome was such.
static unsigned count(const char *text, bool weak, bool (*such)(const Outcome *o)) {
    unsigned n = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        Outcome o = run(text, seed, weak);
        n += such(&o);
    }
    return n;
}

static void shows(const char *text, bool (*such)(const Outcome *o)) {
    assert_true(count(text, true, such) > 0);
    assert_int_equal(count(text, false, such), 0);
}

static void never(const char *text, bool (*such)(const Outcome *o)) {
    assert_int_equal(count(text, true, such), 0);
    assert_int_equal(count(text, false, such), 0);
}

static bool flag_without_data(const Outcome *o) { return o->r[2] == 1 && o->r[3] == 0; }
static bool both_early(const Outcome *o) { return o->r[0] == 0 && o->r[3] == 0; }
static bool backwards(const Outcome *o) { return o->r[2] > o->r[3]; }
static bool own_lost(const Outcome *o) { return o->r[0] == 0 || (o->r[0] == 3 && o->r[1] == 5); }
static bool not_seven(const Outcome *o) { return o->r[0] != 5 || o->x != 7 || o->r[1] != 7; }

// EM-130
static void stores_wait(void **state) {
    (void)state;
    // The reader does everything right, the writer has no fence.
    shows(PROGRAM(STORE(0, 1) STRONG(128, 1), LISTEN(1, 128) FENCE LOAD(2, 0)), flag_without_data);
    shows(PROGRAM(STORE(0, 1) LOAD(1, 128), STORE(128, 1) LOAD(2, 0)), both_early);
}

// EM-131
static void loads_are_stale(void **state) {
    (void)state;
    // The writer does everything right, the reader has no fence.
    shows(PROGRAM(STORE(0, 1) FENCE STRONG(128, 1), LISTEN(1, 128) LOAD(2, 0)), flag_without_data);
}

// EM-132
static void order_is_kept(void **state) {
    (void)state;
    never(PROGRAM(STORE(0, 1) FENCE STRONG(128, 1), LISTEN(1, 128) FENCE LOAD(2, 0)), flag_without_data);
    never(PROGRAM(STORE(0, 1) "st.release.gpu.global.u32 [%q1+128], 1;",
                  "ld.acquire.gpu.global.u32 %r1, [%q1+128];" LOAD(2, 0)),
          flag_without_data);
    never(PROGRAM(STORE(0, 1) "atom.release.gpu.global.exch.b32 %r4, [%q1+128], 1;",
                  "atom.acquire.gpu.global.or.b32 %r1, [%q1+128], 0;" LOAD(2, 0)),
          flag_without_data);
    never(PROGRAM(STORE(0, 1) FENCE_SC LOAD(1, 128), STORE(128, 1) FENCE_SC LOAD(2, 0)), both_early);
}

// EM-133
static void locations_are_coherent(void **state) {
    (void)state;
    never(PROGRAM(STORE(0, 1) STORE(0, 2) STORE(0, 3), LOAD(1, 0) LOAD(2, 0)), backwards);
    never(PROGRAM(STORE(0, 1) STORE(0, 2) STORE(0, 3), LISTEN(1, 0) LOAD(2, 0)), backwards);
    never(PROGRAM(STORE(0, 5) LOAD(1, 0) LOAD(2, 0), STORE(0, 3)), own_lost);
    never(PROGRAM(STORE(0, 5) "atom.relaxed.gpu.global.add.u32 %r1, [%q1], 2;" LOAD(2, 0), STORE(128, 1)),
          not_seven);
}

// Every allocation in turn fails.
static unsigned allocations, failing;

void *__wrap_calloc(size_t n, size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size) {
    return failing && ++allocations == failing ? NULL : __real_calloc(n, size);
}

static void memory_that_runs_out_is_told(void **state) {
    (void)state;
    static const char text[] = PROGRAM(STORE(0, 1) STORE(0, 7) LOAD(1, 0), STORE(128, 1) LOAD(2, 128));
    unsigned told = 0;
    for (unsigned k = 1; k <= 40; k++) {
        Rig r;
        VmConfig c = {.seed = k, .weak = true, .quantum = 2, .split_one_in = 2};
        rig_open(&r, text, &c);
        uint64_t m = rig_alloc(&r, BYTES);
        VmLaunch *l = rig_start(&r, "k", (Dims){2, 1, 0}, 1, &m);
        allocations = 0;
        failing = k;
        while (!gr_vm_launch_done(l))
            gr_vm_run(r.dev, 100000);
        bool failed = allocations >= failing;
        failing = 0;
        uint32_t x;
        memcpy(&x, rig_view(&r, m, BYTES), sizeof x);
        if (!gr_vm_launch_fault(l)) { // which others have
            assert_int_equal(x, 7);
            told += gr_vm_weak_incomplete(r.dev);
        }
        assert_true(failed || !gr_vm_weak_incomplete(r.dev));
        gr_vm_launch_free(l);
        rig_close(&r);
    }
    assert_true(told > 0);
}

// EM-132: a tree of sums in shared memory, one barrier a step, and its result through a flag to the other block.
static void programs_without_races(void **state) {
    (void)state;
    static const char text[] =
        ".visible .entry k(.param .u64 m) {\n.reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %q<3>; .shared "
        ".b32 "
        "s[64];\nld.param.u64 %q1, [m]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r2, "
        "0;\n"
        "@%p1 bra READER;\nmov.u32 %r3, s; shl.b32 %r4, %r1, 2; add.u32 %r3, %r3, %r4; st.shared.u32 [%r3], "
        "%r1; "
        "mov.u32 %r5, 32;\nL: bar.sync 0; setp.ge.u32 %p2, %r1, %r5; @%p2 bra NEXT;\n"
        "shl.b32 %r6, %r5, 2; add.u32 %r6, %r3, %r6; ld.shared.u32 %r7, [%r6]; ld.shared.u32 %r8, [%r3]; "
        "add.u32 "
        "%r8, %r8, %r7; st.shared.u32 [%r3], %r8;\nNEXT: shr.u32 %r5, %r5, 1; setp.ne.u32 %p3, %r5, 0; @%p3 "
        "bra "
        "L;\nsetp.ne.u32 %p1, %r1, 0; @%p1 bra END; ld.shared.u32 %r9, [s]; st.global.u32 [%q1], %r9; "
        "st.release.gpu.global.u32 [%q1+128], 1; bra END;\n"
        "READER: setp.ne.u32 %p1, %r1, 0; @%p1 bra END;\n"
        "SPIN: ld.acquire.gpu.global.u32 %r9, [%q1+128]; setp.eq.u32 %p2, %r9, 0; @%p2 bra SPIN; "
        "ld.global.u32 "
        "%r10, [%q1]; st.global.u32 [%q1+256], %r10; END: ret; }\n";
    for (uint64_t seed = 1; seed <= SEEDS / 4; seed++) {
        Rig r;
        VmConfig c = {.seed = seed, .weak = true, .quantum = 8, .split_one_in = 4};
        uint32_t sum;
        rig_open(&r, text, &c);
        uint64_t m = rig_alloc(&r, BYTES);
        assert_int_equal(RIG_RUN(&r, "k", 2, 64, m), VM_FAULT_NONE);
        memcpy(&sum, (const uint8_t *)rig_view(&r, m, BYTES) + OUT, sizeof sum);
        assert_int_equal(sum, 63 * 64 / 2);
        rig_close(&r);
    }
}

// EM-130: a thread that waits for a weak store by plain loads sees it in the end, though the other stores nothing more.
static void everything_arrives(void **state) {
    (void)state;
    static const char text[] = PROGRAM(
        "st.global.u32 [%q1], 1; W: ld.relaxed.gpu.global.u32 %r1, [%q1+128]; setp.eq.u32 %p1, %r1, 0; "
        "@%p1 bra W;",
        "V: ld.global.u32 %r1, [%q1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra V; "
        "st.relaxed.gpu.global.u32 [%q1+128], 1;");
    for (uint64_t seed = 1; seed <= SEEDS / 4; seed++)
        assert_int_equal(run(text, seed, true).r[2], 1);
}

// EM-2 holds for weak outcomes too.
static void is_repeatable(void **state) {
    (void)state;
    static const char text[] =
        PROGRAM(STORE(0, 1) LOAD(1, 128) LOAD(2, 0), STORE(128, 1) LOAD(1, 0) LOAD(2, 128));
    for (uint64_t seed = 1; seed <= SEEDS / 4; seed++) {
        Outcome a = run(text, seed, true), b = run(text, seed, true);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_wait),
        cmocka_unit_test(loads_are_stale),
        cmocka_unit_test(order_is_kept),
        cmocka_unit_test(locations_are_coherent),
        cmocka_unit_test(programs_without_races),
        cmocka_unit_test(memory_that_runs_out_is_told),
        cmocka_unit_test(everything_arrives),
        cmocka_unit_test(is_repeatable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
