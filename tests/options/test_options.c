// SPDX-License-Identifier: Apache-2.0
// The options: defaults, both spellings, the environment's text and back, and messages about nonsense.
#include "base/outfile.h"
#include "engines/collider/options.h"
#include "engines/core/engine.h"
#include "options/options.h"
#include "pages.h"

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

static const ColliderWords *delays(const GrOptions *o) { return gr_options_of(o, &gr_collider_options); }

static void test_defaults(void **state) {
    (void)state;
    GrOptions o = defaults();
    assert_string_equal(o.engine, "auto");
    assert_string_equal(o.device, "auto");
    assert_int_equal(o.seed, 1);
    assert_int_equal(delays(&o)->read_delay, 5000);
    assert_int_equal(delays(&o)->write_delay, 5000);
    assert_int_equal(o.error_exitcode, 66);
    assert_true(o.same_value);
    assert_string_equal(o.strict, "auto");
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
    assert_string_equal(o.strict, "yes");
    gr_options_free(&o);
}

static void test_words_between_options(void **state) {
    (void)state;
    char *argv[] = {"run",   "a.cu", "--kernel", "--",     "b.cu", "-", "-o",
                    "f.txt", "c.cu", "--",       "--seed", "7",    NULL};
    GrOptions o = defaults();
    int n, rest;
    bool help;
    assert_int_equal(gr_options_parse_words(&o, OPT_RUN, 12, argv, &n, &rest, &help, &err), GR_OK);
    assert_int_equal(n, 4);
    assert_string_equal(argv[1], "a.cu");
    assert_string_equal(argv[2], "b.cu");
    assert_string_equal(argv[3], "-");
    assert_string_equal(argv[4], "c.cu");
    assert_int_equal(rest, 10);
    assert_string_equal(o.kernel, "--"); // a value, not the end of the options
    assert_string_equal(o.output, "f.txt");
    assert_int_equal(o.seed, 1);
    gr_options_free(&o);
}

static void test_words_behind_dashes(void **state) {
    (void)state;
    char *argv[] = {"report", "a.json", "--quiet", "--", "--b.json", "c.json", NULL};
    char *wrong[] = {"report", "a.json", "--quite", NULL};
    GrOptions o = defaults();
    int n;
    bool help;
    assert_int_equal(gr_options_parse_words(&o, OPT_REPORT, 6, argv, &n, NULL, &help, &err), GR_OK);
    assert_int_equal(n, 3);
    assert_string_equal(argv[1], "a.json");
    assert_string_equal(argv[2], "--b.json");
    assert_string_equal(argv[3], "c.json");
    assert_true(o.quiet);
    assert_int_equal(gr_options_parse_words(&o, OPT_REPORT, 3, wrong, &n, NULL, &help, &err),
                     GR_ERR_ARGUMENT);
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
    assert_int_equal(delays(&o)->read_delay, 10);
    assert_string_equal(o.kernel, "a b|c");
    assert_string_equal(o.strict, "yes");
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
    gr_options_reproduce(&p, OPT_RUN, &text);
    assert_string_equal(text.data, " --engine auto --device cpu --seed 9 --kernel 'it'\"'\"'s a' --stop");
    gr_str_free(&text);
    // A default that was given is said, as GPURACE_OPTIONS may say something else.
    assert_int_equal(gr_options_parse_text(&p, "kernel='' stop=no schedule=auto", &err), GR_OK);
    gr_options_reproduce(&p, OPT_RUN, &text);
    assert_string_equal(text.data, " --engine auto --device cpu --seed 9 --kernel '' --schedule auto");
    gr_str_free(&text);
    gr_options_free(&o);
    gr_options_free(&p);
}

// A command is one line of what can be shown, whatever its words are; the text for children keeps the bytes.
static void test_hidden_characters_are_quoted(void **state) {
    (void)state;
    static const struct {
        const char *word, *quoted;
    } words[] = {{"a.cu", "a.cu"},         {"", "''"},
                 {"it's", "'it'\"'\"'s'"}, {"gr\303\244f", "'gr\303\244f'"},
                 {"a\nb", "$'a\\012b'"},   {"\033[2J'\\", "$'\\033[2J\\'\\\\'"},
                 {"\377", "$'\\377'"},     {"\342\200\256", "$'\\342\\200\\256'"}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        StrBuf out = {0};
        GrOptions o = defaults(), p = defaults();
        gr_shell_quote(words[k].word, &out);
        assert_string_equal(out.data, words[k].quoted);
        gr_str_free(&out);
        o.output = words[k].word;
        gr_options_to_text(&o, &out);
        assert_int_equal(gr_options_parse_text(&p, out.data ? out.data : "", &err), GR_OK);
        assert_string_equal(p.output, words[k].word);
        gr_str_free(&out);
        o.output = "";
        gr_options_free(&o);
        gr_options_free(&p);
    }
}

// Each option of a command stands in its help once, below the question of its group.
static void test_help_is_grouped(void **state) {
    (void)state;
    static const char *const questions[] = {
#define GROUP(id, question) "\n" question ":\n",
#include "options/groups.def"
#undef GROUP
    };
    static const unsigned commands[] = {OPT_RUN, OPT_CHECK, OPT_CAMPAIGN};
    for (size_t c = 0; c < sizeof commands / sizeof *commands; c++) {
        char *text = NULL;
        size_t size = 0;
        FILE *f = open_memstream(&text, &size);
        gr_options_help(commands[c], f);
        fclose(f);
        const GrOptRow *r;
        for (size_t k = 0; (r = gr_options_row(k, NULL)); k++) {
            char line[64];
            if (!(r->commands & commands[c]))
                continue;
            snprintf(line, sizeof line, "\n  --%s%s", r->name, *r->arg ? " " : "\n");
            if (!*r->arg && strlen(r->name) + 6 <= 27)
                snprintf(line, sizeof line, "\n  --%s ", r->name);
            const char *at = strstr(text, line), *heading = NULL;
            if (!at || strstr(at + 1, line))
                fail_msg("--%s is not in the help once", r->name);
            for (size_t g = 0; g < OPT_GROUPS; g++) {
                const char *q = strstr(text, questions[g]);
                if (q && q < at && (!heading || q > heading))
                    heading = q;
            }
            if (!heading || strncmp(heading, questions[r->group], strlen(questions[r->group])))
                fail_msg("--%s stands below %.40s", r->name, heading ? heading : "nothing");
        }
        free(text);
    }
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
    expect_text_error("seed=x", "seed takes a number from 0 to 9223372036854775807, not 'x'");
    expect_text_error("seed=-1", "seed takes a number from 0 to 9223372036854775807, not '-1'");
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

// A key of the environment means the row of `run` where there is one.
static bool is_meant_by_key(const GrOptRow *row) {
    const GrOptRow *r;
    for (size_t k = 0; !(row->commands & OPT_RUN) && (r = gr_options_row(k, NULL)); k++)
        if (r->commands & OPT_RUN && !strcmp(r->name, row->name))
            return false;
    return true;
}

static bool takes(const GrOptRow *r, const char *value) {
    GrOptions o = defaults();
    StrBuf word = {0};
    char *argv[] = {"run", NULL, "app", NULL};
    int rest;
    bool help;
    gr_str_addf(&word, "--%s=%s", r->name, value);
    argv[1] = word.data;
    err = (gr_error){0};
    gr_status args = gr_options_parse_args(&o, r->commands, 3, argv, &rest, &help, &err);
    word.len = 0;
    gr_str_addf(&word, "%s='%s'", r->name, value);
    if (is_meant_by_key(r)) // the environment takes the same
        assert_int_equal(args, gr_options_parse_text(&o, word.data, &err));
    if (args != GR_OK) {
        assert_int_equal(args, GR_ERR_ARGUMENT);
        assert_non_null(strstr(err.msg, r->name)); // the message names the option and the value
        assert_non_null(strstr(err.msg, value));
    }
    gr_str_free(&word);
    gr_options_free(&o);
    return args == GR_OK;
}

static const char *number(uint64_t v, const char *behind) {
    static char buf[4][64];
    static unsigned k;
    k = (k + 1) % 4;
    snprintf(buf[k], sizeof buf[k], "%llu%s", (unsigned long long)v, behind);
    return buf[k];
}

static void expect_number(const GrOptTable *t, const GrOptRow *r) {
    static const char *const nonsense[] = {"",
                                           " ",
                                           "x",
                                           "-1",
                                           "+1",
                                           "-0",
                                           "1x",
                                           "1 ",
                                           " 1",
                                           "0x",
                                           "0xg",
                                           "1e3",
                                           "1.5",
                                           "1,2",
                                           "--1",
                                           "nan",
                                           "1_",
                                           "0b1",
                                           "0x1p",
                                           "0x-1",
                                           "18446744073709551616",
                                           "99999999999999999999999999",
                                           "yes"};
    uint64_t lowest, highest;
    char hex[32];
    if (!gr_options_range(t, r, &lowest, &highest))
        fail_msg("--%s has no RANGE in options.def", r->name);
    for (size_t k = 0; k < sizeof nonsense / sizeof *nonsense; k++)
        if (takes(r, nonsense[k]))
            fail_msg("--%s takes '%s'", r->name, nonsense[k]);
    assert_true(takes(r, number(lowest, "")));
    assert_true(takes(r, number(highest, "")));
    assert_true(takes(r, r->deflt));
    snprintf(hex, sizeof hex, "0x%llx", (unsigned long long)highest);
    assert_true(takes(r, hex));
    assert_false(takes(r, number(highest + 1, "")));
    assert_false(takes(r, number(highest, "0")));
    snprintf(hex, sizeof hex, "0x%llx", (unsigned long long)highest + 1);
    assert_false(takes(r, hex));
    if (lowest)
        assert_false(takes(r, number(lowest - 1, "")));
}

// Every row of the table, with what it takes and what it does not.
static void test_every_row_refuses_nonsense(void **state) {
    (void)state;
    static const char *const words[] = {"",       " ",        "|",   "no such word", "3",
                                        "yes|no", "auto|cpu", "YES", "yesno"};
    const GrOptRow *r;
    const GrOptTable *t;
    for (size_t k = 0; (r = gr_options_row(k, &t)); k++) {
        if (r->type == OPT_NUMBER)
            expect_number(t, r);
        for (size_t w = 0; w < sizeof words / sizeof *words; w++)
            if ((r->type == OPT_CHOICE || r->type == OPT_WORDS || r->type == OPT_YESNO ||
                 r->type == OPT_FLAG) &&
                takes(r, words[w]))
                fail_msg("--%s takes '%s'", r->name, words[w]);
        if (r->type == OPT_YESNO || r->type == OPT_FLAG)
            assert_true(takes(r, "yes") && takes(r, "no"));
        if (r->type == OPT_REGEX)
            assert_true(takes(r, "a|b") && !takes(r, "a(b") && !takes(r, "[") && !takes(r, "*{"));
        assert_true(takes(r, r->deflt));
    }
    GrOptions o = defaults();
    assert_int_equal(gr_options_parse_text(&o, "seed=010 jobs=0x10", &err), GR_OK);
    assert_int_equal(o.seed, 10); // no octal numbers
    assert_int_equal(o.jobs, 16);
    gr_options_free(&o);
}

static void collect(void *user, const char *option, const char *why) {
    gr_str_addf(user, "%s: %s\n", option, why);
}

static void expect_unheeded(const char *text, const char *expected) {
    GrOptions o = defaults();
    StrBuf told = {0};
    assert_int_equal(gr_options_parse_text(&o, text, &err), GR_OK);
    gr_engine_choose(&o, false);
    gr_options_unheeded(&o, collect, &told);
    assert_string_equal(told.data ? told.data : "", expected);
    gr_str_free(&told);
    gr_options_free(&o);
}

static void test_options_without_effect(void **state) {
    (void)state;
    // All defaults, whatever runs; and what asks for nothing.
    expect_unheeded("engine=exact device=cpu", "");
    expect_unheeded("engine=collider device=gpu", "");
    expect_unheeded("engine=none device=gpu jobs=1 watchdog=0 watchpoints=no weak=no schedule=auto kernel=''",
                    "");
    expect_unheeded("engine=exact device=cpu schedule=rr weak kernel=k same-value=no stop volatile=yes "
                    "speculated=yes cpu-devices=2 shuffle-blocks watchdog=3",
                    "");
    expect_unheeded("engine=collider device=cpu schedule=pct pct-depth=2 poison-writes attribute replays=2 "
                    "watchpoints=yes read-delay=1",
                    "");
    expect_unheeded(
        "engine=collider device=gpu read-delay=1 write-delay=1 attribute stop sample=3 shuffle-blocks", "");
    expect_unheeded("engine=none device=cpu jobs=4", "");
    expect_unheeded("engine=collider device=cpu jobs=4 schedule=default", "");

    expect_unheeded("engine=collider device=gpu weak schedule=pct watchdog=3 cpu-devices=2 watchpoints=yes "
                    "jobs=2 pct-steps=7",
                    "--watchpoints yes: the program ran on a GPU\n"
                    "--weak: the program ran on a GPU\n"
                    "--schedule pct: the program ran on a GPU\n"
                    "--pct-steps 7: the program ran on a GPU\n"
                    "--watchdog 3: the program ran on a GPU\n"
                    "--cpu-devices 2: the program ran on a GPU\n"
                    "--jobs 2: the program ran on a GPU\n");
    expect_unheeded("engine=exact device=cpu read-delay=1 poison-writes attribute",
                    "--attribute: the engine does not wait at accesses\n"
                    "--read-delay 1: it is for the engine collider\n"
                    "--poison-writes: it is for the engine collider\n");
    expect_unheeded("engine=collider device=cpu volatile=yes speculated=yes",
                    "--volatile yes: the engine does not look at what orders accesses\n"
                    "--speculated yes: it is for the engine exact\n");
    expect_unheeded("engine=tracker device=gpu volatile=yes", "");
    expect_unheeded("engine=collider+exact device=cpu volatile=yes", "");
    expect_unheeded("engine=collider+exact device=cpu speculated=yes",
                    "--speculated yes: beside a second engine they are always told\n");
    expect_unheeded("engine=none device=cpu kernel='a b' stop",
                    "--kernel 'a b': the engine checks nothing\n--stop: the engine checks nothing\n");
    expect_unheeded("engine=collider+exact device=cpu replays=9 pct-depth=2",
                    "--replays 9: --attribute was not given\n--pct-depth 2: the schedule is not pct\n");
    expect_unheeded("engine=collider device=cpu write-delay=0", "");
    expect_unheeded("engine=collider device=cpu write-delay=1",
                    "--write-delay 1: under --schedule directed a thread waits until no other can move, so "
                    "delays have no "
                    "length (0 still means no delay)\n");
    for (unsigned k = 0; k < 2; k++)
        expect_unheeded(k ? "engine=exact device=cpu jobs=4" : "engine=collider+exact device=cpu jobs=4",
                        "--jobs 4: the engine listens to the device, which then runs on one thread\n");
    expect_unheeded("engine=none device=cpu jobs=4 weak",
                    "--jobs 4: with --weak the device runs on one thread\n");
    expect_unheeded(
        "engine=collider device=cpu jobs=4 watchpoints=yes",
        "--jobs 4: only --schedule default runs on several threads, and the engine chose another schedule\n");
    expect_unheeded(
        "engine=collider device=cpu jobs=4 schedule=default watchpoints=yes",
        "--watchpoints yes: blocks ran on several threads (--jobs), where no engine can listen\n");
}

// docs/options.md is what the table says; UPDATE_DOCS=1 in the environment writes it.
static void test_page_is_up_to_date(void **state) {
    (void)state;
    StrBuf now = {0};
    unsigned check = gr_engines_that(CAP_STATIC)[0] ? OPT_CHECK : 0;
    options_page(OPT_RUN | OPT_PTX | OPT_COVERAGE | OPT_REPORT | OPT_DIFF | OPT_CAMPAIGN | OPT_REPAIR | check,
                 &now);
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
        cmocka_unit_test(test_words_between_options),
        cmocka_unit_test(test_words_behind_dashes),
        cmocka_unit_test(test_program_without_dashes),
        cmocka_unit_test(test_environment_then_command_line),
        cmocka_unit_test(test_hidden_characters_are_quoted),
        cmocka_unit_test(test_text_round_trip),
        cmocka_unit_test(test_help_is_grouped),
        cmocka_unit_test(test_nonsense_is_named),
        cmocka_unit_test(test_every_row_refuses_nonsense),
        cmocka_unit_test(test_options_without_effect),
        cmocka_unit_test(test_page_is_up_to_date),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
