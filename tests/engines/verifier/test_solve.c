// SPDX-License-Identifier: Apache-2.0
// The solver.
#include "queries.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_overflow(void **state) {
    (void)state;
    begin();
    own_block = false;
    T n = all("n", 1, INT32_MAX), i = thr("i", 0, 1 << 20);
    must(ne(of(i, 1), of(i, 2)));
    meet(mul(i, mul(n, num(2))), mul(i, mul(n, num(2))), 4);
    q.wrap = true;
    GrSolved s = solved();
    printf("%d %s %f\n", s.answer, s.how, s.seconds);
    assert_int_equal(s.answer, GR_ANSWER_YES);
    assert_true(model_is_right(&s));
    gr_solved_free(&s);
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
