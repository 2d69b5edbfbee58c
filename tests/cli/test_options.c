// SPDX-License-Identifier: Apache-2.0
// The options: defaults, both spellings, the environment's text and back, and messages about nonsense.
#include "cli/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static gr_error err;

static GrOptions defaults(void) {
    GrOptions o;
    assert_int_equal(gr_options_init(&o, &err), GR_OK);
    return o;
}

static void test_defaults(void **state) {
    (void)state;
    GrOptions o = defaults();
    assert_string_equal(o.engine, "auto");
    assert_string_equal(o.device, "auto");
    assert_int_equal(o.seed, 1);
    assert_int_equal(o.read_delay, 5000);
    assert_int_equal(o.write_delay, 5000);
    assert_int_equal(o.error_exitcode, 66);
    assert_true(o.same_value);
    assert_false(o.strict);
    gr_options_free(&o);
}

static void test_command_line(void **state) {
    (void)state;
    char *argv[] = {"run", "--seed", "7",  "--engine=none", "--strict", "--kernel", "^add",
                    "-o",  "f.json", "--", "app",           "--seed",   "9",        NULL};
    GrOptions o = defaults();
    int rest;
    bool help;
    assert_int_equal(gr_options_parse_args(&o, OPT_RUN, 13, argv, &rest, &help, &err), GR_OK);
    assert_int_equal(rest, 10);
    assert_false(help);
    assert_int_equal(o.seed, 7);
    assert_string_equal(o.engine, "none");
    assert_string_equal(o.kernel, "^add");
    assert_string_equal(o.output, "f.json");
    assert_true(o.strict);
    gr_options_free(&o);
}

static void test_program_without_dashes(void **state) {
    (void)state;
    char *argv[] = {"run", "./app", "--seed", "9", NULL};
    GrOptions o = defaults();
    int rest;
    bool help;
    assert_int_equal(gr_options_parse_args(&o, OPT_RUN, 4, argv, &rest, &help, &err), GR_OK);
    assert_int_equal(rest, 1);
    assert_int_equal(o.seed, 1);
    gr_options_free(&o);
}

static void test_environment_then_command_line(void **state) {
    (void)state;
    char *argv[] = {"run", "--seed", "7", "app", NULL};
    GrOptions o = defaults();
    int rest;
    bool help;
    assert_int_equal(
        gr_options_parse_text(&o, "  seed=3 read-delay=10\tkernel='a b|c' strict same-value=no ", &err),
        GR_OK);
    assert_int_equal(gr_options_parse_args(&o, OPT_RUN, 4, argv, &rest, &help, &err), GR_OK);
    assert_int_equal(o.seed, 7);
    assert_int_equal(o.read_delay, 10);
    assert_string_equal(o.kernel, "a b|c");
    assert_true(o.strict);
    assert_false(o.same_value);
    gr_options_free(&o);
}

static void test_text_round_trip(void **state) {
    (void)state;
    GrOptions o = defaults(), p = defaults();
    assert_int_equal(
        gr_options_parse_text(&o, "seed=9 kernel=\"it's a\" output='' stop=yes device=cpu", &err), GR_OK);
    StrBuf text = {0};
    gr_options_to_text(&o, &text);
    assert_int_equal(gr_options_parse_text(&p, text.data, &err), GR_OK);
    assert_string_equal(p.kernel, "it's a");
    assert_int_equal(p.seed, 9);
    assert_true(p.stop);
    assert_string_equal(p.device, "cpu");
    gr_str_free(&text);
    gr_options_reproduce(&p, &text);
    assert_string_equal(text.data, " --engine auto --device cpu --seed 9 --kernel 'it'\"'\"'s a' --stop");
    gr_str_free(&text);
    gr_options_free(&o);
    gr_options_free(&p);
}

static void expect_text_error(const char *text, const char *message) {
    GrOptions o = defaults();
    assert_int_equal(gr_options_parse_text(&o, text, &err), GR_ERR_ARGUMENT);
    assert_non_null(strstr(err.msg, message));
    gr_options_free(&o);
}

static void test_nonsense_is_named(void **state) {
    (void)state;
    expect_text_error("sed=3", "unknown option 'sed'");
    expect_text_error("seed=x", "seed takes a number, not 'x'");
    expect_text_error("seed=-1", "seed takes a number, not '-1'");
    expect_text_error("seed=99999999999999999999", "seed takes a number");
    expect_text_error("seed", "seed needs a value");
    expect_text_error("device=gp", "device takes one of auto|cpu|gpu, not 'gp'");
    expect_text_error("device=", "device takes one of auto|cpu|gpu");
    expect_text_error("same-value=maybe", "same-value takes yes or no");
    expect_text_error("kernel='a(b'", "is no regular expression");
    expect_text_error("kernel='ab", "a quote is not closed");
    GrOptions o = defaults();
    int rest;
    bool help;
    char *unknown[] = {"run", "--fast", "app", NULL}, *missing[] = {"run", "--seed", NULL},
         *other[] = {"ptx", "--timeout", "3", NULL};
    assert_int_equal(gr_options_parse_args(&o, OPT_RUN, 3, unknown, &rest, &help, &err), GR_ERR_ARGUMENT);
    assert_non_null(strstr(err.msg, "unknown option '--fast'"));
    assert_int_equal(gr_options_parse_args(&o, OPT_RUN, 2, missing, &rest, &help, &err), GR_ERR_ARGUMENT);
    assert_non_null(strstr(err.msg, "--seed needs a value: N"));
    assert_int_equal(gr_options_parse_args(&o, OPT_PTX, 3, other, &rest, &help, &err), GR_ERR_ARGUMENT);
    gr_options_free(&o);
}

// docs/options.md is what the table says; UPDATE_DOCS=1 in the environment writes it.
static void test_page_is_up_to_date(void **state) {
    (void)state;
    StrBuf now = {0};
    gr_options_markdown(&now);
    if (getenv("UPDATE_DOCS"))
        assert_int_equal(gr_file_write(OPTIONS_MD, now.data, now.len, &err), GR_OK);
    char *page;
    size_t len;
    assert_int_equal(gr_file_read(OPTIONS_MD, &page, &len, &err), GR_OK);
    assert_string_equal(page, now.data);
    free(page);
    gr_str_free(&now);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_command_line),
        cmocka_unit_test(test_program_without_dashes),
        cmocka_unit_test(test_environment_then_command_line),
        cmocka_unit_test(test_text_round_trip),
        cmocka_unit_test(test_nonsense_is_named),
        cmocka_unit_test(test_page_is_up_to_date),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
