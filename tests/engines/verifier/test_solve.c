// SPDX-License-Identifier: Apache-2.0
// The solver: kernels as people write them, with and without what keeps their threads apart.
#include "kernels.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char *const answers[] = {"no", "yes", "unknown"};

static void test_kernels(void **state) {
    (void)state;
    for (unsigned k = 0; k < N_KERNELS; k++) {
        begin();
        kernels[k].build();
        GrSolved s = solved();
        print_message("%-45s %-8s %.3f s  %s\n", kernels[k].name, answers[s.answer], s.seconds, s.how);
        assert_int_equal(s.answer, kernels[k].answer);
        assert_true(s.answer == GR_ANSWER_NO || model_is_right(&s));
        gr_solved_free(&s);
    }
    end();
}

// Two accesses that meet by 32-bit overflow only.
static void test_wrap(void **state) {
    (void)state;
    for (unsigned wrap = 0; wrap < 2; wrap++) {
        begin();
        own_block = false;
        T i = thr("i", 0, 1 << 20);
        must(ne(of(i, 1), of(i, 2)));
        T index = mul(i, num(1 << 14));
        meet(index, index, 4);
        q.wrap = wrap;
        GrSolved s = solved();
        assert_int_equal(s.answer, wrap ? GR_ANSWER_YES : GR_ANSWER_NO);
        assert_true(!wrap || model_is_right(&s));
        gr_solved_free(&s);
    }
    end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
