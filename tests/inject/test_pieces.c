// SPDX-License-Identifier: Apache-2.0
// test_pieces — what one kernel needs of a module's text: each part is a module, and what must not be cut is not.
#include "inject/pieces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define HEAD ".version 9.0\n.target sm_90\n.address_size 64\n"

static PtxModule *parse(const char *text) {
    PtxModule *m;
    gr_error err = {0};
    if (gr_ptx_parse(text, strlen(text), "k", &m, &err) != GR_OK)
        fail_msg("%s", err.msg);
    return m;
}

static const char cut_up[] =
    HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
         ".extern .shared .align 16 .b8 dynamic[];\n"
         ".global .align 1 .b8 $str[3] = {104, 105, 0};\n"
         ".visible .global .align 4 .u32 unused;\n"
         ".func helper();\n"
         ".func deeper() { ret; }\n"
         ".func helper() { call deeper, (); ret; }\n"
         ".func other() { ret; }\n"
         ".visible .entry a() { call helper, (); ret; }\n"
         ".visible .entry b() { .reg .b64 %rd; .reg .b32 %r; mov.u64 %rd, $str; mov.u32 %r, dynamic; ret; }\n"
         ".visible .entry c() { call other, (); ret; }\n";

static void expect_part(const Pieces *p, const char *text, const char *kernel, const char *const *has,
                        const char *const *lacks) {
    StrBuf out = {0};
    gr_error err = {0};
    assert_int_equal(gr_pieces_cut(p, text, kernel, &out, &err), GR_OK);
    for (; *has; has++)
        if (!strstr(out.data, *has))
            fail_msg("%s lacks %s:\n%s", kernel, *has, out.data);
    for (; *lacks; lacks++)
        if (strstr(out.data, *lacks))
            fail_msg("%s has %s:\n%s", kernel, *lacks, out.data);
    gr_ptx_free(parse(out.data)); // it is a module
    gr_str_free(&out);
}

static void each_kernel_has_its_part(void **state) {
    (void)state;
    PtxModule *m = parse(cut_up);
    Arena arena;
    gr_arena_init(&arena);
    const char *why;
    gr_error err = {0};
    StrBuf text = {0};
    Pieces *p = gr_pieces_find(m, &arena, &why);
    if (!p)
        fail_msg("%s", why);
    assert_int_equal(gr_ptx_print_later(m, 0, &text, NULL, NULL, &err), GR_OK);
    assert_true(gr_pieces_printed(p, m, text.len, &arena));
    expect_part(p, text.data, "a",
                (const char *const[]){"entry a", "deeper()", ".target sm_90", "dynamic", "$str", NULL},
                (const char *const[]){"entry b", "entry c", "other()", "unused", NULL});
    expect_part(p, text.data, "b", (const char *const[]){"entry b", "$str", NULL},
                (const char *const[]){"entry a", "helper()", NULL});
    expect_part(p, text.data, "c", (const char *const[]){"entry c", "other()", NULL},
                (const char *const[]){"helper()", NULL});
    StrBuf none = {0};
    assert_int_equal(gr_pieces_cut(p, text.data, "d", &none, &err), GR_ERR_NOT_FOUND);
    gr_str_free(&text);
    gr_arena_free(&arena);
    gr_ptx_free(m);
}

static void what_is_shared_stays_whole(void **state) {
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {HEAD ".visible .entry a() { ret; }", "one kernel"},
        {HEAD ".global .u32 v;\n.visible .entry a() { .reg .b32 %r; ld.global.u32 %r, [v]; ret; }\n.visible "
              ".entry b() { ret; }",
         "variables of the module"},
        {HEAD ".const .u32 v;\n.func f() { .reg .b32 %r; ld.const.u32 %r, [v]; ret; }\n.visible .entry a() { "
              "call f, (); ret; }\n"
              ".visible .entry b() { ret; }",
         "variables of the module"},
        {HEAD ".visible .global .u32 $v = 1;\n.visible .entry a() { .reg .b64 %r; mov.u64 %r, $v; ret; "
              "}\n.visible .entry b() { ret; }",
         "variables of the module"},
        {HEAD ".extern .global .u32 v;\n.visible .entry a() { ret; }\n.visible .entry b() { ret; }",
         "other modules"},
        {HEAD ".func f() { ret; }\n.visible .entry a() { .reg .b64 %r; mov.u64 %r, f; ret; }\n.visible "
              ".entry b() { ret; }",
         "a function's address"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        PtxModule *m = parse(cases[k].text);
        Arena arena;
        gr_arena_init(&arena);
        const char *why = NULL;
        assert_null(gr_pieces_find(m, &arena, &why));
        if (!why || !strstr(why, cases[k].why))
            fail_msg("case %zu: %s", k, why ? why : "no reason");
        gr_arena_free(&arena);
        gr_ptx_free(m);
    }
}

// What is kept of each kernel is what it needs, not a flag for each of the others.
static void many_kernels_take_little(void **state) {
    (void)state;
    enum { KERNELS = 5000 };
    StrBuf program = {0}, text = {0};
    gr_str_add(&program, HEAD ".func helper() { ret; }\n.func other() { ret; }\n");
    for (unsigned k = 0; k < KERNELS; k++)
        gr_str_addf(&program, ".visible .entry k%u() { call helper, (); ret; }\n", k);
    PtxModule *m = parse(program.data);
    Arena arena;
    const char *why;
    gr_error err = {0};
    gr_arena_init(&arena);
    Pieces *p = gr_pieces_find(m, &arena, &why);
    assert_non_null(p);
    assert_int_equal(gr_ptx_print_later(m, 0, &text, NULL, NULL, &err), GR_OK);
    assert_true(gr_pieces_printed(p, m, text.len, &arena));
    assert_in_range(arena.total, 1, KERNELS * 256);
    expect_part(p, text.data, "k4321", (const char *const[]){"entry k4321", "helper()", NULL},
                (const char *const[]){"entry k4320", "other()", NULL});
    gr_str_free(&program);
    gr_str_free(&text);
    gr_arena_free(&arena);
    gr_ptx_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kernel_has_its_part),
        cmocka_unit_test(what_is_shared_stays_whole),
        cmocka_unit_test(many_kernels_take_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
