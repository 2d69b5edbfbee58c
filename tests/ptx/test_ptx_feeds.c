// SPDX-License-Identifier: Apache-2.0
// What the value of a load is for, in loops as nvcc writes them: data, or only a flag that is polled.
#include "ptx/feeds.h"
#include "ptx_test.h"

#define REGS ".reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<8>;\nmov.b32 %r1, 16; mov.b64 %rd1, 64;\n"
#define LOAD "ld.volatile.shared.u32 %r2, [%r1];\n"

// The volatile loads of the body in their order: 'd' feeds data, '-' does not.
static void check(const char *body, const char *want) {
    char text[4096];
    snprintf(text, sizeof text, "%s%s", REGS, body);
    PtxModule *m = parse_body(text);
    const PtxFunc *f = m->funcs[0];
    for (const PtxStmt *s = f->first; s; s = s->next) {
        if (s->kind != PTX_INSTR || s->instr->op != PTX_OP_LD || s->instr->sem != PTX_VOLATILE)
            continue;
        if (!*want || gr_ptx_feeds_data(f, s) != (*want == 'd'))
            fail_msg("line %u is not as wanted in:\n%s", s->line, text);
        want++;
    }
    assert_int_equal(*want, 0);
    gr_ptx_free(m);
}

static void test_straight(void **state) {
    (void)state;
    check(LOAD "st.global.u32 [%rd1], %r2;\nret;", "d");
    check(LOAD "add.s32 %r3, %r2, 1;\nst.volatile.shared.u32 [%r1], %r3;\nret;", "d");
    check(LOAD "ld.shared.u32 %r3, [%r2];\nret;", "d"); // an address
    check(LOAD "shfl.sync.idx.b32 %r3, %r2, 0, 31, -1;\nret;", "d");
    check(LOAD "setp.eq.s32 %p1, %r2, 0;\n@%p1 bra B;\nst.global.u32 [%rd1], %r1;\nB: ret;", "-");
}

static void test_polls(void **state) {
    (void)state;
    check("A: " LOAD "setp.eq.s32 %p1, %r2, 0;\n@%p1 bra A;\nret;", "-");
    // masked and shifted; a vote over the test; a pause that depends on it
    check("A: " LOAD
          "and.b32 %r3, %r2, 255;\nshr.u32 %r4, %r3, 3;\nsetp.ne.s32 %p1, %r4, 7;\n@%p1 bra A;\nret;",
          "-");
    check("A: " LOAD "setp.eq.s32 %p1, %r2, 0;\nvote.sync.any.pred %p2, %p1, -1;\n@%p2 bra A;\nret;", "-");
    check("A: " LOAD "nanosleep.u32 %r2;\nsetp.eq.s32 %p1, %r2, 0;\n@%p1 bra A;\nret;", "-");
    // a counted number of looks
    check("mov.b32 %r5, 0;\nA: " LOAD "setp.eq.s32 %p1, %r2, 0;\nsetp.lt.u32 %p2, %r5, 100;\n"
          "and.pred %p3, %p1, %p2;\nadd.s32 %r5, %r5, 1;\n@%p3 bra A;\nret;",
          "-");
}

static void test_polled_then_used(void **state) {
    (void)state;
    check("A: " LOAD "setp.eq.s32 %p1, %r2, 0;\n@%p1 bra A;\nand.b32 %r3, %r2, 65535;\n"
          "st.global.u32 [%rd1], %r3;\nret;",
          "-");
    // one loop within another: what the outer one does comes behind the inner one
    check("mov.b32 %r6, 0;\nO: mov.b32 %r7, %r6;\nA: " LOAD "setp.eq.s32 %p1, %r2, 0;\n@%p1 bra A;\n"
          "st.global.u32 [%rd1], %r2;\nadd.s32 %r6, %r6, 1;\nsetp.lt.s32 %p2, %r6, 9;\n@%p2 bra O;\nret;",
          "-");
}

// Store a tag, read it back, and repeat.
static void test_used_in_the_loop(void **state) {
    (void)state;
    check("A: " LOAD "and.b32 %r3, %r2, 255;\nadd.s32 %r4, %r3, 1;\nst.volatile.shared.u32 [%r1], %r4;\n"
          "ld.volatile.shared.u32 %r5, [%r1];\nsetp.ne.s32 %p1, %r5, %r4;\n@%p1 bra A;\nret;",
          "d-");
    check("A: " LOAD "atom.shared.exch.b32 %r3, [%r1+4], %r2;\nsetp.ne.s32 %p1, %r2, 9;\n@%p1 bra A;\nret;",
          "d");
    check("A: " LOAD
          "shl.b32 %r3, %r2, 2;\nld.shared.u32 %r4, [%r3];\nsetp.ne.s32 %p1, %r2, %r4;\n@%p1 bra A;\n"
          "ret;",
          "d");
    // a block of the loop that stands behind it in the text
    check("A: " LOAD "setp.ne.s32 %p1, %r2, 9;\n@%p1 bra C;\nret;\nC: st.volatile.shared.u32 [%r1+4], %r2;\n"
          "bra.uni A;",
          "d");
    // one that stands in the midst of it and is none of it
    check("bra.uni A;\nB: st.global.u32 [%rd1], %r2;\nret;\nA: " LOAD
          "setp.ne.s32 %p1, %r2, 9;\n@%p1 bra A;\n"
          "bra.uni B;",
          "-");
}

// Compilers take the first look out of `while (…) nanosleep();`.
static void test_first_look(void **state) {
    (void)state;
    check(LOAD "setp.ne.s32 %p1, %r2, 0;\n@%p1 bra B;\nA: nanosleep.u32 10;\n" LOAD
               "setp.eq.s32 %p2, %r2, 0;\n@%p2 bra A;\nB: st.global.u32 [%rd1], %r2;\nret;",
          "--");
    // in a loop over several
    check("mov.b32 %r6, 0;\nO: " LOAD "setp.ne.s32 %p1, %r2, 0;\n@%p1 bra B;\nA: nanosleep.u32 10;\n" LOAD
          "setp.eq.s32 %p2, %r2, 0;\n@%p2 bra A;\nB: st.global.u32 [%rd1], %r2;\nadd.s32 %r6, %r6, 1;\n"
          "setp.lt.s32 %p3, %r6, 9;\n@%p3 bra O;\nret;",
          "--");
    // a load of the same place whose value is stored on the way to the loop
    check(LOAD "st.volatile.shared.u32 [%r1], %r2;\nA: ld.volatile.shared.u32 %r5, [%r1];\n"
               "setp.ne.s32 %p1, %r5, %r2;\n@%p1 bra A;\nret;",
          "d-");
}

static void check_decides(const char *body, PtxDecides want) {
    char text[4096];
    snprintf(text, sizeof text, "%s%s", REGS, body);
    PtxModule *m = parse_body(text);
    const PtxFunc *f = m->funcs[0];
    Arena arena = {0};
    Cfg g;
    assert_int_equal(gr_cfg_build(f, &arena, &g, NULL), GR_OK);
    for (const PtxStmt *s = f->first; s; s = s->next)
        if (s->kind == PTX_INSTR && s->instr->op == PTX_OP_ATOM && gr_ptx_decides(f, &g, s) != want)
            fail_msg("line %u decides %d in:\n%s", s->line, gr_ptx_decides(f, &g, s), text);
    gr_arena_free(&arena);
    gr_ptx_free(m);
}

#define ADD "atom.global.add.u32 %r2, [%rd1], 1;\n"

static void test_decides(void **state) {
    (void)state;
    check_decides(ADD "st.global.u32 [%rd1], %r2;\nret;", PTX_DECIDES_NOTHING);
    check_decides(ADD "setp.eq.s32 %p1, %r2, 3;\n@%p1 bra B;\nst.global.u32 [%rd1], %r1;\nB: ret;",
                  PTX_DECIDES_ONCE);
    check_decides(ADD "setp.eq.s32 %p1, %r2, 3;\nbar.red.or.pred %p2, 0, %p1;\n@%p2 bra B;\nB: ret;",
                  PTX_DECIDES_ONCE);
    check_decides("A: " ADD "setp.lt.s32 %p1, %r2, 3;\n@%p1 bra A;\nret;", PTX_DECIDES_LOOK);
    // numbers that are taken until there are no more
    check_decides("A: " ADD
                  "setp.gt.s32 %p1, %r2, 3;\n@%p1 bra B;\nst.shared.u32 [%r2], %r1;\nbra.uni A;\nB: ret;",
                  PTX_DECIDES_NOTHING);
    // a branch in a loop that goes on whatever the value is
    check_decides("mov.b32 %r5, 0;\nA: " ADD
                  "setp.ne.s32 %p1, %r2, 0;\n@%p1 bra B;\nst.shared.u32 [%r1], %r5;\n"
                  "B: add.s32 %r5, %r5, 1;\nsetp.lt.s32 %p2, %r5, 9;\n@%p2 bra A;\nret;",
                  PTX_DECIDES_ONCE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_straight),         cmocka_unit_test(test_polls),
        cmocka_unit_test(test_polled_then_used), cmocka_unit_test(test_used_in_the_loop),
        cmocka_unit_test(test_first_look),       cmocka_unit_test(test_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
