// SPDX-License-Identifier: Apache-2.0
// What the accesses of a kernel are called: a variable, an argument, or nothing where it is not certain.
#include "passes/named.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char head[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".global .align 4 .b8 total[64];\n.extern .shared .align 4 .b8 dynamic[];\n"
                           ".visible .entry k(.param .u64 k_0, .param .u32 k_1, .param .u64 k_2)\n{\n"
                           ".reg .pred %p<4>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n"
                           ".shared .align 4 .b8 tile[256];\n.shared .align 4 .b8 other[256];\n"
                           "ld.param.u64 %rd1, [k_0];\nld.param.u32 %r1, [k_1];\nld.param.u64 %rd2, [k_2];\n"
                           "mov.u32 %r2, %tid.x;\nsetp.eq.s32 %p1, %r2, 0;\ncvta.to.global.u64 %rd3, %rd1;\n";

// The last access of the kernel with these statements: "tile", "argument 1" or "".
static void expect(const char *body, const char *name) {
    StrBuf text = {0};
    PtxModule *m;
    gr_error err = {0};
    gr_str_addf(&text, "%s%s\nret;\n}\n", head, body);
    if (gr_ptx_parse(text.data, text.len, "it", &m, &err) != GR_OK)
        fail_msg("%s: %s", body, err.msg);
    Arena arena;
    Named n;
    char found[64] = "";
    gr_arena_init(&arena);
    assert_true(m->n_sites > 0);
    const PtxSite *site = &m->sites[m->n_sites];
    assert_true(gr_named_index(site->func, &arena, &n));
    NamedAs as = gr_named_at(&n, site->stmt);
    assert_false(as.variable && as.argument);
    if (as.variable)
        snprintf(found, sizeof found, "%s", as.variable->name);
    else if (as.argument)
        snprintf(found, sizeof found, "argument %u", as.argument);
    if (strcmp(found, name))
        fail_msg("'%s' and not '%s': %s", found, name, body);
    gr_arena_free(&arena);
    gr_ptx_free(m);
    gr_str_free(&text);
}

static void test_variables(void **state) {
    (void)state;
    expect("st.shared.u32 [tile+4], %r2;", "tile");
    expect("mov.u32 %r3, tile;\nadd.s32 %r4, %r3, %r2;\nst.shared.u32 [%r4], 0;", "tile");
    expect("mov.u32 %r3, tile;\nshl.b32 %r4, %r2, 2;\nadd.s32 %r5, %r4, %r3;\nld.shared.u32 %r6, [%r5+64];",
           "tile");
    expect("mov.u32 %r3, dynamic;\nmad.lo.s32 %r4, %r2, 4, %r3;\nst.shared.u32 [%r4], 0;", "dynamic");
    expect("mov.u64 %rd5, total;\ncvta.global.u64 %rd6, %rd5;\nst.u32 [%rd6], 0;", "total");
    expect("atom.global.add.u32 %r3, [total], 1;", "total");
    // An index that comes out of memory is a number.
    expect("ld.global.u32 %r3, [%rd3];\nmov.u32 %r4, tile;\nadd.s32 %r5, %r4, %r3;\nst.shared.u32 [%r5], 0;",
           "tile");
    expect("ld.global.u64 %rd5, [%rd3];\nmov.u64 %rd6, total;\nadd.s64 %rd7, %rd6, %rd5;\nst.global.u32 "
           "[%rd7], 0;",
           "total");
}

static void test_arguments(void **state) {
    (void)state;
    expect("st.global.u32 [%rd3], 0;", "argument 1");
    expect("mul.wide.u32 %rd4, %r1, 4;\nadd.s64 %rd5, %rd3, %rd4;\nst.global.u32 [%rd5], 0;", "argument 1");
    expect("cvta.to.global.u64 %rd4, %rd2;\nld.global.u32 %r3, [%rd4+8];", "argument 3");
    // A loop over an array.
    expect("mov.u64 %rd4, %rd3;\nloop:\nst.global.u32 [%rd4], 0;\nadd.s64 %rd4, %rd4, 4;\n@%p1 bra loop;\n"
           "ld.global.u32 %r3, [%rd4];",
           "argument 1");
    expect("selp.b64 %rd4, %rd3, %rd3, %p1;\nst.global.u32 [%rd4], 0;", "argument 1");
}

// Two places, a pointer that lies in memory, or a sum of which nobody knows which one is the pointer.
static void test_none(void **state) {
    (void)state;
    expect("selp.b64 %rd4, %rd1, %rd2, %p1;\nst.global.u32 [%rd4], 0;", "");
    expect("ld.global.u64 %rd4, [%rd3];\nst.global.u32 [%rd4], 0;", "");
    expect("ld.global.u64 %rd4, [%rd3];\nadd.s64 %rd5, %rd4, %rd2;\nst.global.u32 [%rd5], 0;", "");
    expect("add.s64 %rd4, %rd1, %rd2;\nst.global.u32 [%rd4], 0;", "");
    expect("mov.u32 %r3, tile;\nmov.u32 %r4, other;\nselp.b32 %r5, %r3, %r4, %p1;\nst.shared.u32 [%r5], 0;",
           "");
    expect("mov.u32 %r3, tile;\n@%p1 mov.u32 %r3, other;\nst.shared.u32 [%r3], 0;", "");
    expect("st.global.u32 [4096], 0;", "");
}

// Each register doubles the ways back: they are not all gone.
static void test_many_ways(void **state) {
    (void)state;
    StrBuf body = {0};
    gr_str_add(&body, ".reg .b64 %w<60>;\nmov.u64 %w0, %rd3;\n");
    for (unsigned k = 1; k < 40; k++)
        gr_str_addf(&body, "selp.b64 %%w%u, %%w%u, %%w%u, %%p1;\n", k, k - 1, k - 1);
    gr_str_add(&body, "st.global.u32 [%w39], 0;");
    expect(body.data, "argument 1");
    gr_str_free(&body);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_variables), cmocka_unit_test(test_arguments),
                                       cmocka_unit_test(test_none), cmocka_unit_test(test_many_ways)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
