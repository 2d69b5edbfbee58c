// SPDX-License-Identifier: Apache-2.0
// Reading, rewriting and printing PTX when memory runs out at any point: an error that says so, or all of the text,
// never less. And what is the same whether functions are rewritten at once or one by one.
#include "../../../nomem.h"
#include "engines/collider/pass/collider.h"
#include "passes/shuffle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Work {
    char *ptx, *expected;
    size_t len;
    bool later, shuffle, thinned;
} Work;

static gr_status rewrite(const Work *w, StrBuf *out, gr_error *err) {
    PtxModule *m = NULL;
    GrSiteStatus *status = NULL;
    ColliderOptions o = {.seed = 1,
                         .read_delay_ns = 5000,
                         .write_delay_ns = 5000,
                         .same_value = true,
                         .poison = true,
                         .suffix = "",
                         .thinned = w->thinned,
                         .budget = w->thinned,
                         .holds = w->thinned,
                         .later = w->later};
    gr_status st = GR_OK;
    GR_TRY(gr_ptx_parse(w->ptx, w->len, "module", &m, err));
    status = calloc((size_t)m->n_sites + 1, sizeof *status);
    if (!status) {
        st = gr_fail(err, GR_ERR_NOMEM, "out of memory");
        goto done;
    }
    GR_TRY(gr_collider_rewrite(m, &o, status, err));
    if (w->shuffle)
        GR_TRY(gr_shuffle_blocks(m, 1, err));
    GR_TRY(gr_ptx_print_later(m, 0, out, NULL, NULL, err));
done:
    free(status);
    gr_ptx_free(m);
    return st;
}

static void print_different(const char *a, const char *b) {
    size_t k = 0, line = 0;
    for (; a[k] && a[k] == b[k]; k++)
        if (a[k] == '\n')
            line = k + 1;
    print_error("expected: %.*s\nfound:    %.*s\n", (int)strcspn(a + line, "\n"), a + line,
                (int)strcspn(b + line, "\n"), b + line);
}

static bool try(void *user, bool must) {
    Work *w = user;
    StrBuf out = {0};
    gr_error err = {0};
    gr_status st = rewrite(w, &out, &err);
    unsigned long at = nomem_fails_at;
    nomem_stop();
    if (must) {
        assert_int_equal(st, GR_OK);
        w->expected = strdup(out.data);
    } else if (st == GR_OK) { // what failed was not needed
        if (strcmp(out.data, w->expected) != 0) {
            print_different(w->expected, out.data);
            fail_msg("other text when allocation %lu fails", at);
        }
    } else if (st != GR_ERR_NOMEM) {
        fail_msg("when allocation %lu fails: %s", at, err.msg);
    }
    gr_str_free(&out);
    return st == GR_OK;
}

static void test_every_allocation(void **state) {
    (void)state;
    static const char *const names[] = {"accesses", "matrices", "tensor", "wide",  "bulk",
                                        "copies",   "deferred", "held",   "loops", "together"};
    enum { SAME = 4 }; // so many of them are the same where threads choose windows
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (unsigned way = 0; way < 3; way++) {
            char path[1024];
            gr_error err = {0};
            Work w = {.later = way == 0, .shuffle = way == 1, .thinned = way == 2};
            if (way == 2 && k < SAME)
                continue; // nothing that the other two lack
            snprintf(path, sizeof path, "%s/%s.ptx", PASS_DIR, names[k]);
            assert_int_equal(gr_file_read(path, &w.ptx, &w.len, &err), GR_OK);
            assert_true(nomem_each(try, &w, 20) > 50);
            free(w.ptx);
            free(w.expected);
        }
}

static unsigned count_of(const StrBuf *text, const char *word) {
    unsigned n = 0;
    for (const char *p = text->data; (p = strstr(p, word)); p += strlen(word))
        n++;
    return n;
}

// A kernel may end without an instruction that says so: the copy that is held back comes before that end, whether
// functions are rewritten at once or each when it is printed.
static void test_an_end_that_is_not_said(void **state) {
    (void)state;
    static char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a) {\n"
                        ".reg .b32 %r<2>; .reg .b64 %rd<2>; .shared .align 16 .b8 s[64];\n"
                        "ld.param.u64 %rd1, [a]; mov.u32 %r1, s;\n"
                        "cp.async.ca.shared.global [%r1], [%rd1], 16;\n}\n";
    unsigned n[2];
    for (unsigned later = 0; later < 2; later++) {
        Work w = {.ptx = ptx, .len = strlen(ptx), .later = later, .thinned = true};
        StrBuf out = {0};
        gr_error err = {0};
        assert_int_equal(rewrite(&w, &out, &err), GR_OK);
        n[later] = count_of(&out, "call __gr_copy_left,");
        gr_str_free(&out);
    }
    assert_int_equal(n[0], 1);
    assert_int_equal(n[1], 1);
}

// Operations without operands give nothing that a load of a hoisted access could be followed into.
static void test_operations_without_operands(void **state) {
    (void)state;
    static char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a) {\n"
                        ".reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
                        "ld.param.u64 %rd1, [a]; ld.global.u32 %r1, [%rd1];\n"
                        "add; setp; mov; activemask; and; st.global.u32 [%rd1], %r1; ret;\n}\n";
    for (unsigned later = 0; later < 2; later++) {
        Work w = {.ptx = ptx, .len = strlen(ptx), .later = later, .thinned = true};
        StrBuf out = {0};
        gr_error err = {0};
        assert_int_equal(rewrite(&w, &out, &err), GR_OK);
        assert_int_equal(count_of(&out, "\tadd;"), 1);
        gr_str_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_allocation),
                                       cmocka_unit_test(test_an_end_that_is_not_said),
                                       cmocka_unit_test(test_operations_without_operands)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
