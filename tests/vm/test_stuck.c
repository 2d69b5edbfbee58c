// SPDX-License-Identifier: Apache-2.0
// test_stuck — kernels that can never go on are told from those that compute: EM-159 of docs/execution-model.md.
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

// %rd1 the buffer, %r1 the thread, %r2 the block, %rd2 the thread's word behind 1024 bytes.
#define KERNEL(body)                                                                                         \
    ".visible .entry k(.param .u64 out) { .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .local "     \
    ".b32 mine;"                                                                                             \
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd3, %r1, 4;"       \
    "add.s64 %rd2, %rd1, %rd3; setp.lt.u32 %p1, %r1, 32; setp.eq.u32 %p2, %r2, 0; setp.eq.u32 %p3, %r1, "    \
    "0;" body " ret; }"

static bool is_stuck_with(VmConfig c, const char *text, unsigned grid, unsigned block, VmFault *fault) {
    Rig r;
    rig_open(&r, text, &c);
    uint64_t out = rig_alloc(&r, 4096);
    VmLaunch *l = rig_start(&r, "k", (Dims){grid, block, 0}, 1, &out);
    bool stuck = false;
    for (unsigned k = 0; k < 200 && !gr_vm_launch_done(l); k++) {
        VmRunResult got = gr_vm_run(r.dev, 1 << 20);
        if (got == VM_RUN_HELD)
            assert_non_null(gr_vm_release(r.dev));
        if (got == VM_RUN_STUCK) {
            stuck = true;
            gr_vm_end_stuck(r.dev);
        }
    }
    if (!gr_vm_launch_done(l))
        print_message("%s under schedule %d\n", strstr(text, "mov.u32 %r1"), (int)c.schedule);
    assert_true(gr_vm_launch_done(l));
    if (fault && gr_vm_launch_fault(l))
        *fault = *gr_vm_launch_fault(l);
    gr_vm_launch_free(l);
    rig_close(&r);
    return stuck;
}

static bool is_stuck(const char *text, unsigned grid, unsigned block, VmSchedule schedule, VmFault *fault) {
    VmConfig c = {.seed = 3, .split_one_in = 100, .schedule = schedule};
    return is_stuck_with(c, text, grid, block, fault);
}

#define POLL(flag) "W: ld.volatile.global.u32 %r4, [%rd1+" flag "]; setp.eq.u32 %p4, %r4, 0; @%p4 bra W;"
#define COUNT(n)   "mov.u32 %r5, 0; C: add.u32 %r5, %r5, 1; setp.lt.u32 %p5, %r5, " n "; @%p5 bra C;"

// EM-159
static void kernels_that_cannot_go_on(void **state) {
    (void)state;
    static const char *const kernels[] = {
        KERNEL("@%p1 bra B;" POLL("0") "bra E; B: bar.sync 0; st.global.u32 [%rd1], 1; E:"),
        KERNEL("L: atom.global.cas.b32 %r4, [%rd1], 1, 1; nanosleep.u32 100; setp.ne.u32 %p4, %r4, 7; @%p4 "
               "bra L;"),
        KERNEL("L: atom.global.add.u32 %r4, [%rd1], 0; st.global.u32 [%rd2+1024], 9; setp.ne.u32 %p4, %r4, "
               "7; @%p4 bra L;"),
        // each lane polls for itself, and votes
        KERNEL("L: ld.volatile.global.u32 %r4, [%rd2]; setp.ne.u32 %p4, %r4, 0; vote.sync.any.pred %p4, %p4, "
               "-1; @!%p4 bra L;"),
    };
    for (unsigned k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (int schedule = VM_SCHEDULE_DEFAULT; schedule <= (k ? VM_SCHEDULE_DEFAULT : VM_SCHEDULE_PCT);
             schedule++) {
            VmFault f = {0};
            assert_true(is_stuck(kernels[k], 2, 64, (VmSchedule)schedule, &f));
            assert_int_equal(f.kind, VM_FAULT_TIMEOUT);
            assert_non_null(strstr(f.msg, "can make no progress: "));
            if (k < 3) // lanes may wait for each other in a vote
                assert_non_null(strstr(f.msg, "31 more repeat a loop that changes nothing (PTX line "));
            if (k == 0)
                assert_non_null(strstr(f.msg, "thread (0,0,0) and 31 more wait at a barrier (PTX line "));
        }
}

// They look for a while as if they did nothing.
// EM-159
static void kernels_that_do(void **state) {
    (void)state;
    static const char *const kernels[] = {
        KERNEL(COUNT("1000000") "st.global.u32 [%rd2], %r5;"),
        // one block counts, then tells the others, which poll meanwhile
        KERNEL("@!%p2 bra P;" COUNT("800000") "st.volatile.global.u32 [%rd1], 1; P:" POLL("0")),
        // until the clock has gone on
        KERNEL("mov.u64 %rd4, %globaltimer; L: mov.u64 %rd5, %globaltimer; sub.u64 %rd5, %rd5, %rd4; "
               "setp.lt.u64 %p4, %rd5, "
               "25000000; @%p4 bra L;"),
        // a lane leaves every now and then, which the others see in nothing but their number
        KERNEL("@%p3 bra O;" POLL("0") "bra E; O:" COUNT("150000") "st.volatile.global.u32 [%rd1], 1; E:"),
    };
    for (unsigned k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        VmFault f = {0};
        assert_false(is_stuck(kernels[k], 2, 32, VM_SCHEDULE_DEFAULT, &f));
        assert_int_equal(f.kind, VM_FAULT_NONE);
    }
}

// A poll that counts: another split's turn may come before its load, which is then executed later, and still once.
// EM-159
static void a_poll_that_counts(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        assert_false(is_stuck_with(
            (VmConfig){.seed = seed, .split_one_in = 4},
            KERNEL("mov.u32 %r5, 0; C: ld.volatile.global.u32 %r4, [%rd1]; setp.eq.u32 %p4, %r4, 0; add.u32 "
                   "%r5, %r5, 1; setp.lt.u32 %p5, %r5, 900000; and.pred %p4, %p4, %p5; @%p4 bra C;"),
            1, 1, NULL));
}

// Memory that changes from outside lets it go on, if the caller does not end it.
// EM-159
static void stuck_until_memory_changes(void **state) {
    (void)state;
    Rig r;
    rig_open(&r, KERNEL(POLL("0") "st.global.u32 [%rd2+1024], %r4;"), NULL);
    uint64_t out = rig_alloc(&r, 4096);
    VmLaunch *l = rig_start(&r, "k", (Dims){1, 32, 0}, 1, &out);
    unsigned times = 0;
    while (!gr_vm_launch_done(l))
        if (gr_vm_run(r.dev, 1 << 22) == VM_RUN_STUCK && ++times == 2)
            *(volatile uint32_t *)rig_view(&r, out, 4) = 5;
    assert_null(gr_vm_launch_fault(l));
    assert_int_equal(((uint32_t *)rig_view(&r, out, 4096))[256 + 31], 5);
    assert_int_equal(times, 2);
    gr_vm_launch_free(l);
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_that_cannot_go_on),
        cmocka_unit_test(kernels_that_do),
        cmocka_unit_test(a_poll_that_counts),
        cmocka_unit_test(stuck_until_memory_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
