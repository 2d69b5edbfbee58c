// SPDX-License-Identifier: Apache-2.0
// ptx_test — what the tests of src/ptx share: parse or fail, find a statement, print.
#ifndef GR_TESTS_PTX_TEST_H
#define GR_TESTS_PTX_TEST_H

#include "ptx/ptx.h"

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER ".version 9.0\n.target sm_90\n.address_size 64\n"

static inline PtxModule *parse(const char *text) {
    PtxModule *m = NULL;
    gr_error err = {0};
    if (gr_ptx_parse(text, strlen(text), "test.ptx", &m, &err) != GR_OK)
        fail_msg("%u:%u: %s", err.line, err.col, err.msg);
    return m;
}

// Text that was printed here.
static inline PtxModule *parse_ours(const char *text) {
    PtxModule *m = NULL;
    gr_error err = {0};
    if (gr_ptx_parse_ours(text, strlen(text), "test.ptx", &m, &err) != GR_OK)
        fail_msg("%u:%u: %s", err.line, err.col, err.msg);
    return m;
}

// A module with one kernel of this body.
static inline PtxModule *parse_body(const char *body) {
    StrBuf s = {0};
    gr_str_addf(&s, HEADER ".entry k(.param .u64 parameter)\n{\n%s\n}\n", body);
    PtxModule *m = parse(s.data);
    gr_str_free(&s);
    return m;
}

// The n-th instruction (from 0) of a function.
static inline PtxStmt *nth_instr(const PtxFunc *f, unsigned n) {
    for (PtxStmt *s = f->first; s; s = s->next)
        if (s->kind == PTX_INSTR && n-- == 0)
            return s;
    fail_msg("no such instruction");
    return NULL;
}

static inline char *print(const PtxModule *m, unsigned flags) {
    StrBuf s = {0};
    gr_error err = {0};
    if (gr_ptx_print(m, flags, &s, &err) != GR_OK)
        fail_msg("%s", err.msg);
    return gr_str_take(&s);
}

static inline void assert_contains(const char *text, const char *part) {
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

#endif
