// SPDX-License-Identifier: Apache-2.0
// What the lists of a campaign mean, and that a run and its number are one.
#include "campaign/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static gr_error err;

static void test_seeds(void **state) {
    (void)state;
    GrCampaignPlan p;
    gr_plan_init(&p);
    assert_int_equal(gr_plan_seeds(&p, "20..22,5,7..7", &err), GR_OK);
    assert_int_equal(gr_plan_engines(&p, "exact", &err), GR_OK);
    assert_int_equal(gr_plan_schedules(&p, "auto", &err), GR_OK);
    assert_int_equal(gr_plan_close(&p, &err), GR_OK);
    static const uint64_t seeds[] = {5, 7, 20, 21, 22};
    assert_int_equal(p.n, 5);
    for (uint64_t n = 1; n <= p.n; n++)
        assert_int_equal(gr_plan_run(&p, n).seed, seeds[n - 1]);
    gr_plan_free(&p);
}

static void test_bad_seeds(void **state) {
    (void)state;
    static const char *const bad[] = {"",       "x",      "1..", "..3", "1,,2",  "1,",
                                      "3..1",   "1..5,4", "7,7", "-1",  "1 ..2", "99999999999999999999",
                                      "1..2..3"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        GrCampaignPlan p;
        gr_plan_init(&p);
        assert_int_equal(gr_plan_seeds(&p, bad[k], &err), GR_ERR_ARGUMENT);
        assert_non_null(strstr(err.msg, "--seeds"));
        gr_plan_free(&p);
    }
}

static void test_words(void **state) {
    (void)state;
    static const char *const bad[] = {"", ",", "a,", "a,,b", "a,b,a"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        GrCampaignPlan p;
        gr_plan_init(&p);
        assert_int_equal(gr_plan_engines(&p, bad[k], &err), GR_ERR_ARGUMENT);
        gr_plan_free(&p);
    }
}

static gr_status inputs(GrCampaignPlan *p, const char *text) {
    gr_plan_init(p);
    return gr_plan_inputs(p, "in.txt", text, strlen(text), &err);
}

static void test_inputs(void **state) {
    (void)state;
    GrCampaignPlan p;
    assert_int_equal(inputs(&p, "# none\n\n  -n 3 \n'two words' \"a \\\" b\" c\\ d ''\r\nlast"), GR_OK);
    assert_int_equal(p.inputs.len, 3);
    assert_string_equal(p.inputs.data[0].text, "-n 3");
    assert_string_equal(p.inputs.data[0].words[1], "3");
    assert_null(p.inputs.data[0].words[2]);
    assert_int_equal(p.inputs.data[1].n, 4);
    assert_string_equal(p.inputs.data[1].words[0], "two words");
    assert_string_equal(p.inputs.data[1].words[1], "a \" b");
    assert_string_equal(p.inputs.data[1].words[2], "c d");
    assert_string_equal(p.inputs.data[1].words[3], "");
    assert_string_equal(p.inputs.data[2].words[0], "last");
    gr_plan_free(&p);
}

static void test_bad_inputs(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
        unsigned line;
    } bad[] = {
        {"", "no line", 0}, {"# only\n", "no line", 0}, {"a\nb 'c\n", "quote", 2}, {"a\nb\na\n", "twice", 3}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        GrCampaignPlan p;
        assert_int_equal(inputs(&p, bad[k].text), GR_ERR_SYNTAX);
        assert_non_null(strstr(err.msg, bad[k].message));
        assert_int_equal(err.line, bad[k].line);
        assert_string_equal(err.file, "in.txt");
        gr_plan_free(&p);
    }
}

// Seeds change slowest; every run has one number, and the other way round.
static void test_numbers(void **state) {
    (void)state;
    GrCampaignPlan p;
    assert_int_equal(inputs(&p, "a\nb"), GR_OK);
    assert_int_equal(gr_plan_seeds(&p, "1..3,9", &err), GR_OK);
    assert_int_equal(gr_plan_engines(&p, "exact,collider", &err), GR_OK);
    assert_int_equal(gr_plan_schedules(&p, "rr,pct,random", &err), GR_OK);
    assert_int_equal(gr_plan_close(&p, &err), GR_OK);
    assert_int_equal(p.n, 4 * 2 * 2 * 3);
    for (uint64_t n = 1; n <= p.n; n++) {
        GrCampaignRun r = gr_plan_run(&p, n);
        assert_int_equal(gr_plan_number(&p, r.seed, r.engine, r.schedule, r.input->text), n);
        assert_int_equal(r.seed, n <= 36 ? (n - 1) / 12 + 1 : 9);
    }
    assert_string_equal(gr_plan_run(&p, 2).schedule, "pct");
    assert_string_equal(gr_plan_run(&p, 4).engine, "collider");
    assert_string_equal(gr_plan_run(&p, 7).input->text, "b");
    assert_int_equal(gr_plan_number(&p, 4, "exact", "rr", "a"), 0);
    assert_int_equal(gr_plan_number(&p, 10, "exact", "rr", "a"), 0);
    assert_int_equal(gr_plan_number(&p, 1, "tracker", "rr", "a"), 0);
    assert_int_equal(gr_plan_number(&p, 1, "exact", "auto", "a"), 0);
    assert_int_equal(gr_plan_number(&p, 1, "exact", "rr", ""), 0);
    gr_plan_free(&p);
}

static void test_limit(void **state) {
    (void)state;
    static const char *const seeds[] = {"1..1000001", "0..9223372036854775807", "1..500001"};
    for (size_t k = 0; k < sizeof seeds / sizeof *seeds; k++) {
        GrCampaignPlan p;
        gr_plan_init(&p);
        assert_int_equal(gr_plan_seeds(&p, seeds[k], &err), GR_OK);
        assert_int_equal(gr_plan_engines(&p, "exact,collider", &err), GR_OK);
        assert_int_equal(gr_plan_schedules(&p, "auto", &err), GR_OK);
        assert_int_equal(gr_plan_close(&p, &err), GR_ERR_LIMIT);
        gr_plan_free(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seeds),  cmocka_unit_test(test_bad_seeds),  cmocka_unit_test(test_words),
        cmocka_unit_test(test_inputs), cmocka_unit_test(test_bad_inputs), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
