// SPDX-License-Identifier: Apache-2.0
// Suppressions: what patterns match, what a file of rules may hold, and which races a rule hides.
#include "base/outfile.h"
#include "report/suppress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void patterns(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool matches;
    } rows[] = {
        {"scan", "a/scan.cu", true},
        {"^scan", "a/scan.cu", false},
        {"^a/", "a/scan.cu", true},
        {"scan$", "a/scan.cu", false},
        {".cu$", "a/scan.cu", true},
        {"a*cu$", "a/scan.cu", true},
        {"a*s$", "a/scan.cu", false},
        {"^a*b*c$", "aXbYbZc", true},
        {"^a*b*c$", "aXbYbZcd", false},
        {"*", "", true},
        {"^$", "", true},
        {"^$", "x", false},
        {"**a", "bba", true},
        {"x", "", false},
        {"a$b", "xa$by", true},
        {"^ab$", "aab", false},
        {"ab$", "aab", true},
        {"a*", "b", false},
        {"^*end$", "the end", true},
        {"^*end$", "the end ends", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (gr_pattern_matches(rows[i].pattern, rows[i].text) != rows[i].matches)
            fail_msg("'%s' and '%s'", rows[i].pattern, rows[i].text);
}

static char path[64];

static gr_status read_text(const char *text, GrSuppressions *out, gr_error *err) {
    strcpy(path, "/tmp/gpurace-test-rules-XXXXXX");
    close(mkstemp(path));
    assert_int_equal(gr_file_write(path, text, strlen(text), err), GR_OK);
    gr_status st = gr_suppressions_read(path, out, err);
    unlink(path);
    return st;
}

static void reading(void **state) {
    (void)state;
    GrSuppressions s;
    gr_error err = {0};
    assert_int_equal(
        read_text("# known: bug 17\n\n  race:^histogram$ \r\n\tfile:third party/*.cuh", &s, &err), GR_OK);
    assert_int_equal(s.rules.len, 2);
    assert_string_equal(s.rules.data[0].pattern, "^histogram$"); // a name, as a whole
    assert_int_equal(s.rules.data[0].line, 3);
    assert_int_equal(s.rules.data[1].kind, GR_RULE_FILE);
    assert_string_equal(s.rules.data[1].pattern, "third party/*.cuh");
    gr_suppressions_free(&s);
    assert_int_equal(read_text("", &s, &err), GR_OK);
    assert_int_equal(s.rules.len, 0);
    gr_suppressions_free(&s);
}

static void mistakes(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
        unsigned line;
    } rows[] = {
        {"race:a\nthread:b\n", "'thread'", 2},      {"histogram\n", "'histogram'", 1},
        {"\n\nkernel:\n", "no pattern", 3},         {":x", "''", 1},
        {"pair:a.cu:1\n", "two places", 1},         {"pair:a.cu:1 b.cu:2 c.cu:3\n", "no more", 1},
        {"pair:a.cu b.cu:2\n", "FILE:LINE", 1},     {"pair:a.cu:1 b.cu:0\n", "a line is", 1},
        {"pair:a.cu:1 b.cu:2,x\n", "a line is", 1}, {"pair:a.cu:1 b.cu:2<\n", "FILE:LINE", 1},
        {"sides:x a.cu:1\n", "two sides", 1},       {"sides:x a b c\n", "no more", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        GrSuppressions s;
        gr_error err = {0};
        assert_int_equal(read_text(rows[i].text, &s, &err), GR_ERR_SYNTAX);
        assert_int_equal(err.line, rows[i].line);
        assert_non_null(strstr(err.msg, rows[i].says));
        gr_suppressions_free(&s);
    }
    GrSuppressions s;
    gr_error err = {0};
    assert_int_equal(gr_suppressions_read("/nonexistent/rules", &s, &err), GR_ERR_IO);
    gr_suppressions_free(&s);
}

static const GrClass *class_of(uint32_t number) {
    static const GrClass it = {1, "read-write race", "one read", GR_KIND_RACE},
                         other = {2, "lost update (R1)", "", GR_KIND_RACE};
    return number == 1 ? &it : number == 2 ? &other : NULL;
}

// Whether the rule hides the race, or the misuse, and counts what it hid.
static void check_rule(const char *rule, const GrRace *race, const GrFinding *misuse, bool hides) {
    GrSuppressions s;
    GrReport r;
    gr_error err = {0};
    assert_int_equal(read_text(rule, &s, &err), GR_OK);
    gr_report_init(&r);
    r.find_class = class_of;
    r.suppressions = &s;
    assert_true(race ? gr_vec_push(&r.races, *race) : gr_vec_push(&r.misuses, ((GrRace){.found = *misuse})));
    assert_true(gr_suppressions_apply(&r));
    if (r.races.len + r.misuses.len == hides)
        fail_msg("'%s'", rule);
    assert_int_equal(s.rules.data[0].races, hides);
    assert_int_equal(s.rules.data[0].count, !hides ? 0 : race ? race->found.count : misuse->count);
    gr_report_free(&r);
    gr_suppressions_free(&s);
}

static void hiding(void **state) {
    (void)state;
    static const GrFrame at = {"_Z4pushPi", "src/list.cuh", 7, 1}, caller = {NULL, "src/app.cu", 90, 1};
    GrRace race = {
        .found.kernel = "_Z6kernelPi", .found.module = "app.ptx", .found.count = 5, .found.n_accesses = 2};
    race.found.accesses[0] = (GrAccess){.at = {NULL, "src/app.cu", 12, 1}};
    race.found.accesses[1] = gr_access_in(&at, &caller, 1);
    static const struct {
        const char *rule;
        bool hides;
    } rows[] = {
        {"race:push(int*)", true}, // of the other side, as the source spells it
        {"race:list.cuh", true},     {"race:kernel", true},     {"race:^_Z6kernelPi$", true},
        {"race:app.ptx", false},     {"kernel:kernel(", false}, {"kernel:push", false},
        {"race:pus", false},         {"race:ush", false},       {"race:pu*", true},
        {"race:*us*", true},         {"kernel:kern", false},    {"kernel:kern*", true},
        {"race:src/list.cuh", true}, {"race:ist.cuh", false},   {"race:src", false},
        {"file:app.cu$", true},      {"file:list.cuh$", true},  {"file:push", false},
        {"module:app", true},        {"module:^list", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_rule(rows[i].rule, &race, NULL, rows[i].hides);
    }
}

// Names are compared as a whole, in each form that people know them by.
static void names(void **state) {
    (void)state;
    static const struct {
        const char *name, *pattern;
        bool matches;
    } rows[] = {
        {"domain_step(int*)", "main", false},
        {"domain_step(int*)", "domain_step", true},
        {"domain_step(int*)", "domain", false},
        {"void ns::scan<int>(int*)", "scan", true},
        {"void ns::scan<int>(int*)", "ns::scan", true},
        {"void ns::scan<int>(int*)", "scan<int>", true},
        {"void ns::scan<int>(int*)", "ns::scan<*>", true},
        {"void ns::scan<int>(int*)", "void ns::scan<int>(int*)", true},
        {"void ns::scan<int>(int*)", "ns", false},
        {"void ns::scan<int>(int*)", "can", false},
        {"void ns::scan<int>(int*)", "int", false},
        {"List<int>::push(int)", "push", true},
        {"List<int>::push(int)", "List::push", true},
        {"List<int>::push(int)", "List", false},
        {"(anonymous namespace)::fill(int*)", "fill", true},
        {"_ZN2ns4pushEPi", "push", true},
        {"_ZN2ns4pushEPi", "_ZN2ns4pushEPi", true},
        {"plain_c", "plain_c", true},
        {"a(int (*)(int))", "a", true},
    };
    char rule[128];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        GrRace race = {.found.kernel = rows[i].name, .found.count = 1, .found.n_accesses = 1};
        snprintf(rule, sizeof rule, "kernel:%s", rows[i].pattern);
        check_rule(rule, &race, NULL, rows[i].matches);
    }
}

static void comments(void **state) {
    (void)state;
    static const struct {
        const char *line, *reason; // NULL: there is none
        bool alone;
    } rows[] = {
        {"x++; // gpurace: ok benign counter", "benign counter", false},
        {"  // gpurace: ok: bug 7  ", "bug 7", true},
        {"\t/* gpurace: ok here */", "here", true},
        {"x++; /* gpurace: ok here */ y++;", "here", false},
        {"/* gpurace: ok here */ y++;", "here", false},
        {"x++; // gpurace: ok", "", false},
        {"x++; // gpurace: ok   ", "", false},
        {"x++; /* gpurace: ok */", "", false},
        {"x++; // gpurace:ok so", "so", false},
        {"x++; // gpurace: okay so", NULL, false},
        {"x++; // see gpurace: ok so", NULL, false},
        {"gpurace: ok so", NULL, false},
        {"x++; // gpurace: no", NULL, false},
        {"", NULL, false},
        {"//", NULL, false},
        {"// gpurace:", NULL, false},
        {"// gpurace: o", NULL, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        GrComment c;
        bool is = gr_comment_read(rows[i].line, strlen(rows[i].line), &c);
        if (is != (rows[i].reason != NULL) ||
            (is && (c.len != strlen(rows[i].reason) || memcmp(c.reason, rows[i].reason, c.len) != 0 ||
                    c.alone != rows[i].alone)))
            fail_msg("'%s'", rows[i].line);
    }
}

// The rule that is offered hides what it was made for, and a change of any of its words does not.
static void hiding_sides(void **state) {
    (void)state;
    GrReport r;
    gr_report_init(&r);
    r.find_class = class_of;
    GrRace race = {
        .found = {.class = 1, .space = "shared", .count = 2, .n_accesses = 2, .order = "nothing between"}};
    race.found.accesses[0] = (GrAccess){.kind = "load", .at = {NULL, "/home/a b/x.cu", 12, 1}, .ptx_line = 9};
    race.found.accesses[1] =
        (GrAccess){.kind = "host read", .at = {NULL, "/src/main.cu", 7, 1}, .host = true};
    StrBuf rule = {0};
    gr_race_rule(&r, &race, &rule);
    assert_string_equal(rule.data, "sides:read-write-race/shared a%20b/x.cu:12 host-read@src/main.cu:7");
    check_rule(rule.data, &race, NULL, true);
    gr_str_free(&rule);
    static const struct {
        const char *rule;
        bool hides;
    } rows[] = {
        {"sides:read-write-race/shared \t host-read@src/main.cu:7 a%20b/x.cu:12", true}, // in either order
        {"sides:read-write-race/global a%20b/x.cu:12 host-read@src/main.cu:7", false},
        {"sides:read-write-race/shared a%20b/x.cu:13 host-read@src/main.cu:7", false},
        {"sides:read-write-race/shared a%20b/x.cu:12 host-write@src/main.cu:7", false},
        {"sides:read-write-race/shared a%20b/x.cu:12 ?", false},
        {"sides:lost-update-R1/shared a%20b/x.cu:12 host-read@src/main.cu:7", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_rule(rows[i].rule, &race, NULL, rows[i].hides);
    race.found.class = 2;
    check_rule(rows[4].rule, &race, NULL, false);
    check_rule(rows[5].rule, &race, NULL, true);
    gr_report_free(&r);
}

// `file:` goes by the place that the report names, `race:` by any.
static void hiding_by_headline(void **state) {
    (void)state;
    static const GrFrame at = {"scan", "/usr/local/cuda/include/cub/scan.cuh", 7, 1},
                         own = {NULL, "src/list.cuh", 20, 1}, caller = {NULL, "src/app.cu", 90, 1};
    const GrFrame callers[] = {own, caller};
    GrRace race = {.found = {.count = 5, .n_accesses = 1, .accesses = {gr_access_in(&at, callers, 2)}}};
    static const struct {
        const char *rule;
        bool hides;
    } rows[] = {
        {"file:list.cuh", true}, {"file:scan.cuh", false}, {"file:app.cu", false},
        {"race:list.cuh", true}, {"race:scan.cuh", true},  {"race:app.cu", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_rule(rows[i].rule, &race, NULL, rows[i].hides);
}

static void hiding_misuse(void **state) {
    (void)state;
    const GrFrame at = {NULL, "src/sort.cu", 9, 1};
    GrFinding m = {
        .kernel = "_Z4sortPi", .accesses = {gr_access_in(&at, NULL, 0)}, .n_accesses = 1, .count = 3};
    static const struct {
        const char *rule;
        bool hides;
    } rows[] = {{"kernel:sort(int*)", true},
                {"file:sort.cu$", true},
                {"race:sort", true},
                {"race:sor", false},
                {"module:sort", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_rule(rows[i].rule, NULL, &m, rows[i].hides);
    }
}

// Both sides, in either order, by the ends of their paths and by where they were inlined.
static void hiding_pairs(void **state) {
    (void)state;
    static const GrFrame callers[] = {{NULL, "/inc/cub/block/load.cuh", 70, 1}, {NULL, "src/app.cu", 90, 1}};
    GrRace race = {.found.kernel = "_Z6kernelPi",
                   .found.count = 5,
                   .found.n_accesses = 2,
                   .found.order = "nothing between"};
    race.found.accesses[0] = (GrAccess){.at = {NULL, "/inc/cub/agent/select.cuh", 12, 1}};
    race.found.accesses[1] =
        (GrAccess){.at = {NULL, "/inc/cub/thread/load.cuh", 7, 1}, .inlined = callers, .n_inlined = 2};
    static const struct {
        const char *rule;
        bool hides;
    } rows[] = {
        {"pair:agent/select.cuh:12 thread/load.cuh:7", true},
        {"pair:cub/thread/load.cuh:7 \t select.cuh:12", true},
        {"pair:select.cuh:11,12,13 load.cuh:7<cub/block/load.cuh:70", true},
        {"pair:select.cuh:12 load.cuh:7<block/load.cuh:70<app.cu:90", true},
        {"pair:select.cuh:12 load.cuh:7<app.cu:89,90", true},
        {"pair:select.cuh:12 load.cuh:7<app.cu:90<block/load.cuh:70", false}, // in that order
        {"pair:select.cuh:12 load.cuh:70", false},                            // not the innermost
        {"pair:select.cuh:12 load.cuh:7<app.cu:91", false},
        {"pair:select.cuh:12 select.cuh:12", false},
        {"pair:elect.cuh:12 load.cuh:7", false}, // not the beginning of a name
        {"pair:select.cuh:1 load.cuh:7", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_rule(rows[i].rule, &race, NULL, rows[i].hides);
    race.found.n_accesses = 1;
    race.found.order = NULL;
    check_rule("pair:agent/select.cuh:12 thread/load.cuh:7", &race, NULL, false); // one side is not known
}

// The rules that come with the tool can be read, have reasons, and are all of pairs.
static void bundled(void **state) {
    (void)state;
    GrSuppressions s;
    gr_error err = {0};
    assert_int_equal(gr_suppressions_bundled(&s, &err), GR_OK);
    assert_true(s.rules.len > 5);
    for (size_t k = 0; k < s.rules.len; k++) {
        assert_int_equal(s.rules.data[k].kind, GR_RULE_PAIR);
        assert_non_null(strstr(s.rules.data[k].why, "(CUDA 13.0)"));
    }
    gr_suppressions_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(patterns),      cmocka_unit_test(reading),
                                       cmocka_unit_test(mistakes),      cmocka_unit_test(hiding),
                                       cmocka_unit_test(names),         cmocka_unit_test(comments),
                                       cmocka_unit_test(hiding_sides),  cmocka_unit_test(hiding_by_headline),
                                       cmocka_unit_test(hiding_misuse), cmocka_unit_test(hiding_pairs),
                                       cmocka_unit_test(bundled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
