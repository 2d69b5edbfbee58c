// SPDX-License-Identifier: Apache-2.0
// A device runtime that stays apart: the module calls it, declares its variables, and names its text for the loader.
#include "passes/runtime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEADER ".version 8.0\n.target sm_90\n.address_size 64\n"

static const char program[] = HEADER ".visible .entry k() { ret; }\n";
static const char runtime[] = HEADER ".func own() { ret; }\n"
                                     ".visible .global .align 8 .b8 __gr_control[16] = {1, 2};\n"
                                     ".visible .func __gr_look(.param .b32 n) { call own; ret; }\n";

static PtxModule *rewritten(bool apart, StrBuf *out) {
    PtxModule *m;
    gr_error err = {0};
    assert_int_equal(gr_ptx_parse(program, strlen(program), "it", &m, &err), GR_OK);
    m->apart.wanted = apart;
    assert_int_equal(gr_runtime_link(m, runtime, "12", &err), GR_OK);
    assert_int_equal(
        gr_ptx_insert(m->funcs[0], m->funcs[0]->first, 0,
                      ".reg .b32 %x; ld.global.u32 %x, [__gr12_control+8]; call __gr12_look, (%x);", NULL, 0,
                      NULL, &err),
        GR_OK);
    assert_int_equal(gr_ptx_print(m, 0, out, &err), GR_OK);
    return m;
}

static void test_apart(void **state) {
    (void)state;
    StrBuf text = {0};
    PtxModule *m = rewritten(true, &text);
    assert_int_equal(m->apart.n, 1);
    assert_ptr_equal(m->apart.texts[0], runtime);
    assert_string_equal(m->apart.suffix, "12");
    assert_non_null(strstr(text.data, ".extern .global .align 8 .b8 __gr12_control[16];"));
    assert_non_null(strstr(text.data, "call __gr12_look"));
    assert_null(strstr(text.data, "own"));
    assert_null(strstr(text.data, ".func"));
    gr_ptx_free(m);
    gr_str_free(&text);
}

static void test_within(void **state) {
    (void)state;
    StrBuf text = {0};
    PtxModule *m = rewritten(false, &text);
    assert_int_equal(m->apart.n, 0);
    assert_non_null(strstr(text.data, "own()"));
    assert_non_null(strstr(text.data, ".visible .global .align 8 .b8 __gr12_control[16]"));
    gr_ptx_free(m);
    gr_str_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_apart), cmocka_unit_test(test_within)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
