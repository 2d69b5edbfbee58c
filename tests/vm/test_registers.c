// SPDX-License-Identifier: Apache-2.0
// test_registers — registers that hold what another one held: moves that the decoder may leave out, and moves that it
// may not.
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { LANES = 64 };

#define HEAD                                                                                                 \
    ".visible .entry k(.param .u64 out) {\n"                                                                 \
    ".reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<8>;\n"                                                \
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd2, %rd1, %rd3;\n"
#define TAIL "st.global.u32 [%rd2], %r30; ret; }\n"

// Runs `text`, whose threads store a word each: thread t's is want(t).
static void stores(const char *text, uint32_t (*want)(uint32_t)) {
    Rig r;
    rig_open(&r, text, NULL);
    uint64_t out = rig_alloc(&r, LANES * 4);
    assert_int_equal(RIG_RUN(&r, "k", 1, LANES, out), VM_FAULT_NONE);
    const uint32_t *got = rig_view(&r, out, LANES * 4);
    for (uint32_t t = 0; t < LANES; t++)
        if (got[t] != want(t))
            fail_msg("thread %u stores %u, not %u", t, got[t], want(t));
    rig_close(&r);
}

static uint32_t t_mod_7(uint32_t t) { return t % 7 + 100; }

// `last` has one definition, in a branch; the value that it was given changes in later iterations. Nothing defines it
// before, as where a compiler knows that the loop gives it a value. Through one more move, too.
static void last_value_of_a_loop(void **state) {
    (void)state;
    stores(HEAD "mov.u32 %r2, 0; rem.u32 %r3, %r1, 7;\n"
                "again: add.u32 %r4, %r2, 100;\n"
                "setp.ne.u32 %p1, %r2, %r3; @%p1 bra next;\n"
                "mov.u32 %r30, %r4;\n"
                "next: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 9; @%p2 bra again;\n" TAIL,
           t_mod_7);
    stores(HEAD "mov.u32 %r2, 0; rem.u32 %r3, %r1, 7;\n"
                "again: add.u32 %r4, %r2, 100; mov.u32 %r5, %r4;\n"
                "setp.ne.u32 %p1, %r2, %r3; @%p1 bra next;\n"
                "mov.u32 %r30, %r5;\n"
                "next: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 9; @%p2 bra again;\n" TAIL,
           t_mod_7);
}

static uint32_t eight_before(uint32_t t) { return 2 * (t + 7) + 3 * (t + 8); }

// `before` is defined by a move that comes ahead of its source's one definition: it holds the iteration before's.
static void value_of_the_iteration_before(void **state) {
    (void)state;
    stores(HEAD "mov.u32 %r2, 0;\n"
                "again: mov.u32 %r5, %r4; add.u32 %r4, %r2, %r1;\n"
                "add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 9; @%p2 bra again;\n"
                "mul.lo.u32 %r6, %r5, 2; mad.lo.u32 %r30, %r4, 3, %r6;\n" TAIL,
           eight_before);
}

static uint32_t odd_once(uint32_t t) { return t % 9; }

// The same of predicates, which instructions are guarded by.
static void predicate_of_a_branch(void **state) {
    (void)state;
    stores(HEAD "mov.u32 %r2, 0; mov.u32 %r30, 0; rem.u32 %r3, %r1, 9;\n"
                "again: setp.eq.u32 %p1, %r2, %r3; setp.ge.u32 %p4, %r2, 1; @%p4 bra later;\n"
                "mov.pred %p3, %p1;\n" // in the first iteration: whether the remainder is 0
                "later: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 9; @%p2 bra again;\n"
                "@!%p3 mov.u32 %r30, %r3;\n" TAIL,
           odd_once);
}

static uint32_t t_plus_5(uint32_t t) { return t + 5; }

// A formal parameter in register space has a value before its one definition.
static void formal_register_written_late(void **state) {
    (void)state;
    stores(
        ".func (.reg .b32 %o) f(.reg .b32 %q) {\n.reg .b32 %s;\nmov.u32 %s, %q; mov.u32 %q, 5; add.u32 %o, "
        "%s, %q; ret; }\n" HEAD "call (%r30), f, (%r1);\n" TAIL,
        t_plus_5);
}

static uint32_t twice(uint32_t t) { return 2 * t + 7; }

// Moves that may be left out: of constants, special registers, registers that the move's own dominates.
static void plain_moves(void **state) {
    (void)state;
    stores(HEAD
           "mov.u32 %r2, %tid.x; mov.u32 %r3, %r2; mov.u32 %r4, 7; setp.gt.u32 %p1, %r3, 99; @%p1 bra far;\n"
           "add.u32 %r5, %r3, %r4; bra join;\n"
           "far: mov.u32 %r5, 0;\n"
           "join: add.u32 %r30, %r5, %r3;\n" TAIL,
           twice);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_value_of_a_loop),  cmocka_unit_test(value_of_the_iteration_before),
        cmocka_unit_test(predicate_of_a_branch), cmocka_unit_test(formal_register_written_late),
        cmocka_unit_test(plain_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
