// SPDX-License-Identifier: Apache-2.0
// test_checks — the engine's internal checks: while a kernel runs, the engine is made to be mistaken, and must say so
// instead of reporting a race that contradicts what else it knows.
#include "engines/exact/exact_internal.h"
#include "engines/exact/order/order_internal.h"
#include "harness.h"
#include "peek.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// Block 1 reads what block 0 wrote, and lane 1 what lane 0 wrote in shared memory; nothing orders them.
static const char text[] =
    ".visible .entry k(.param .u64 p) { .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p<4>; .shared .b32 "
    "s;\n"
    "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 0;\n"
    "setp.eq.u32 %p2, %r1, 0; mov.u32 %r3, s;\n"
    "@!%p1 bra B;\n"
    "@%p2 st.global.u32 [%rd1], %r1;\n"
    "ret;\n"
    "B: mov.u32 %r4, 0;\n"
    "L: add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 100; @%p3 bra L;\n"
    "ld.global.u32 %r5, [%rd1];\n"
    "@%p2 st.shared.u32 [%r3], %r1;\n"
    "ld.shared.u32 %r5, [%r3];\n"
    "ret; }\n";

typedef struct Fault Fault;
struct Fault {
    ExactCheck check;
    void (*inject)(Exact *x, Stamp *s); // into a stamp that an access is remembered by; NULL: give_back
};

typedef struct Trial {
    const Fault *fault;
    Exact *x;
    void (*access)(void *user, const VmAccessEvent *e); // the engine's
    unsigned doubted;
    char said[128];
} Trial;

static Trial run;

static void was_read(Exact *x, Stamp *s) {
    (void)x;
    s->access = PTX_ACCESS_READ;
}
static void of_another_launch(Exact *x, Stamp *s) {
    ((BlockInfo *)(uintptr_t)gr_order_info(&x->order, s->at.id))->launch = s->at.launch + 1;
}
static void by_no_thread(Exact *x, Stamp *s) {
    (void)x;
    s->at.warp = 3;
}
static void by_another_block(Exact *x, Stamp *s) {
    (void)x;
    s->at.id--;
}
static void at_other_addresses(Exact *x, Stamp *s) {
    (void)x;
    s->low += 64;
}
static void in_other_memory(Exact *x, Stamp *s) { x->reach.data[s->site] ^= 3; }

static const Fault faults[] = {
    {CHECK_READS, was_read},          {CHECK_FORGOTTEN, NULL},           {CHECK_READS, NULL},
    {CHECK_BLOCK, of_another_launch}, {CHECK_THREAD, by_no_thread},      {CHECK_OWNER, by_another_block},
    {CHECK_SPACE, in_other_memory},   {CHECK_RANGE, at_other_addresses},
};

static void doubted(void *user, const char *check) {
    Trial *r = user;
    r->doubted++;
    snprintf(r->said, sizeof r->said, "%s", check);
}

// Numbers are given back although they are in use. `held`: nobody else gets them yet.
static void give_back(Shadow *s, bool held) {
    gr_shadow_collect_begin(s);
    memset(s->used, 0, (s->stamps.len / 64 + 1) * sizeof *s->used);
    s->used[0] = 1;
    gr_shadow_collect_end(s);
    if (held)
        s->used_to = 0;
}

// What is remembered is spoilt before somebody reads: in the second launch, where another could be meant.
static void on_access(void *user, const VmAccessEvent *e) {
    Exact *x = user;
    Shadow *s = &x->shadow;
    bool shared = run.fault && run.fault->check == CHECK_OWNER;
    if (run.fault && e->where.launch == 2 && e->access == PTX_ACCESS_READ &&
        (e->space == PTX_SHARED) == shared) {
        assert_true(s->stamps.len > 1);
        for (size_t k = 1; k < s->stamps.len && run.fault->inject; k++)
            run.fault->inject(x, &s->stamps.data[k]);
        if (!run.fault->inject)
            give_back(s, run.fault->check == CHECK_FORGOTTEN);
    }
    run.access(user, e);
}

// Runs the kernel twice. The races found in the second launch.
static size_t spoil(const Fault *fault) {
    Rig rig;
    VmConfig config = {.seed = 1, .quantum = 4};
    run = (Trial){.fault = fault};
    ExactOptions options = {.doubted = doubted, .user = &run};
    rig_open(&rig, text, &config);
    assert_int_equal(gr_exact_create(&options, &run.x, NULL), GR_OK);
    VmObserver o = gr_exact_observer(run.x);
    run.access = o.access;
    o.access = on_access;
    o.glance = NULL;
    assert_int_equal(gr_vm_observe(rig.dev, &o, NULL), GR_OK);
    uint64_t memory = rig_alloc(&rig, 256), first = 0;
    assert_int_equal(RIG_RUN(&rig, "k", 2, 32, memory), VM_FAULT_NONE);
    for (size_t k = 0; k < gr_exact_races(run.x); k++)
        first += peek_race(run.x, k)->count;
    assert_int_equal(gr_exact_races(run.x), 2);
    assert_int_equal(run.doubted, 0);
    assert_int_equal(RIG_RUN(&rig, "k", 2, 32, memory), VM_FAULT_NONE);
    uint64_t all = 0;
    for (size_t k = 0; k < gr_exact_races(run.x); k++)
        all += peek_race(run.x, k)->count;
    assert_false(gr_exact_incomplete(run.x));
    rig_close(&rig);
    return (size_t)(all - first);
}

// 31 lanes of block 1 read what was written in global memory, and 31 others than the writer in shared memory.
static void nothing_is_wrong(void **state) {
    (void)state;
    assert_int_equal(spoil(NULL), 32 + 31);
    assert_int_equal(run.doubted, 0);
    assert_int_equal(peek_doubts(run.x), 0);
    gr_exact_free(run.x);
}

static void is_noticed(void **state) {
    const Fault *f = *state;
    size_t found = spoil(f);
    assert_int_equal(peek_doubts(run.x), 1u << f->check);
    assert_int_equal(run.doubted, 1); // told once
    assert_string_equal(run.said, gr_exact_check_text(f->check));
    assert_int_equal(found, f->check == CHECK_OWNER ? 32 : 31); // what is not contradicted
    gr_exact_free(run.x);
}

// A thread does not race with itself: order sees to that, so that no run shows it.
static void with_itself(void **state) {
    (void)state;
    (void)spoil(NULL);
    Exact *x = run.x;
    Stamp write = {.at = {.id = x->order.next_id - 1, .epoch = 1, .launch = 1},
                   .site = 1,
                   .size = 4,
                   .access = PTX_ACCESS_WRITE},
          other = write;
    Access a = {.stamp = gr_shadow_new_stamp(&x->shadow, &write, 1)};
    gr_stamp_reaches(&x->shadow.stamps.data[a.stamp], 64, 68);
    gr_stamp_reaches(&other, 64, 68);
    other.low = 64;
    assert_true(gr_exact_is_sound(x, &a, 0, &other, 1, 64));
    assert_false(gr_exact_is_sound(x, &a, 1, &other, 1, 64));
    assert_int_equal(peek_doubts(x), 1u << CHECK_SELF);
    gr_exact_free(x);
}

// The addresses of a stamp: all that it was used for, and never less.
static void ranges(void **state) {
    (void)state;
    static const uint64_t used[][2] = {{0x7f0000001000, 0x7f0000001004},
                                       {0x7f0000001004, 0x7f0000001080},
                                       {0x7f0000000ffc, 0x7f0000001000},
                                       {0x7f00a0001000, 0x7f00a0001001},
                                       {0, 1},
                                       {0x7fffffffffff, 0x800000000000}};
    Stamp s = {.low = NO_ADDRESS};
    assert_false(gr_stamp_has_reached(&s, 0));
    gr_stamp_reaches(&s, 16, 16);
    assert_false(gr_stamp_has_reached(&s, 16));
    for (unsigned k = 0; k < sizeof used / sizeof *used; k++) {
        gr_stamp_reaches(&s, used[k][0], used[k][1]);
        for (unsigned n = 0; n <= k; n++) {
            assert_true(gr_stamp_has_reached(&s, used[n][0]));
            assert_true(gr_stamp_has_reached(&s, used[n][1] - 1));
        }
        if (k < 3)
            assert_false(gr_stamp_has_reached(&s, 0x7f0000002000));
    }
}

// A place in the memory of block 0x7f0000 is none of global memory.
static void places(void **state) {
    (void)state;
    assert_true(gr_place(0x7f0000, 0x10, 4) != gr_place(0, 0x7f0000000010, 4));
    assert_true(gr_place(1, 0x10, 4) != gr_place(2, 0x10, 4));
}

int main(void) {
    enum { N = sizeof faults / sizeof *faults };
    struct CMUnitTest tests[N + 4];
    for (unsigned k = 0; k < N; k++)
        tests[k] = (struct CMUnitTest){.name = gr_exact_check_text(faults[k].check),
                                       .test_func = is_noticed,
                                       .initial_state = (void *)(uintptr_t)&faults[k]};
    tests[N] = (struct CMUnitTest)cmocka_unit_test(nothing_is_wrong);
    tests[N + 1] = (struct CMUnitTest)cmocka_unit_test(with_itself);
    tests[N + 2] = (struct CMUnitTest)cmocka_unit_test(ranges);
    tests[N + 3] = (struct CMUnitTest)cmocka_unit_test(places);
    return _cmocka_run_group_tests("checks", tests, N + 4, NULL, NULL);
}
