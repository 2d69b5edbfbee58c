// SPDX-License-Identifier: Apache-2.0
// Which kernels get a limit of registers: ptxas takes a directive where a kernel is defined, and none where it is only
// declared.
#include "passes/registers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *limit_of(const char *kernels, PtxModule **m) {
    StrBuf text = {0};
    gr_error err = {0};
    gr_str_addf(&text, ".version 8.0\n.target sm_90\n.address_size 64\n%s\n", kernels);
    if (gr_ptx_parse(text.data, text.len, "it", m, &err) != GR_OK)
        fail_msg("%s: %s", kernels, err.msg);
    assert_int_equal(gr_registers_limit(*m, &err), GR_OK);
    gr_str_free(&text);
    return (*m)->funcs[0]->directives ? (*m)->funcs[0]->directives : "";
}

static void expect(const char *kernels, const char *limit) {
    PtxModule *m;
    const char *found = limit_of(kernels, &m);
    if (strcmp(found, limit))
        fail_msg("'%s' and not '%s': %s", found, limit, kernels);
    gr_ptx_free(m);
}

static void test_kernels(void **state) {
    (void)state;
    expect(".entry k(.param .u64 a) { ret; }", ".maxnreg 64");
    expect(".entry k(.param .u64 a) .maxntid 256 { ret; }", ".maxntid 256");
    expect(".entry k(.param .u64 a) .maxnreg 32 { ret; }", ".maxnreg 32");
    expect(".func k(.param .u64 a) { ret; }", "");
}

static void test_declarations(void **state) {
    (void)state;
    expect(".entry k(.param .u64 a);", "");
    expect(".entry k(.param .u64 a);\n.entry other(.param .u64 a) { ret; }", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels), cmocka_unit_test(test_declarations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
