// SPDX-License-Identifier: Apache-2.0
// The results of a campaign: what is added is there, a run is there once, merging twice is merging once, and what is
// known goes by the numbers of runs whatever the order in which they ended.
#include "base/outfile.h"
#include "base/str.h"
#include "campaign/growth.h"
#include "campaign/known.h"
#include "campaign/summary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static gr_error err;
static char folder[64];

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_store-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static const char *in_folder(const char *name) {
    static char path[2][128];
    static unsigned turn;
    snprintf(path[++turn % 2], sizeof path[0], "%s/%s", folder, name);
    return path[turn % 2];
}

static int remove_folder(void **state) {
    (void)state;
    static const char *const names[] = {"one", "two", "all", "other", "text"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        unlink(in_folder(names[k]));
    return rmdir(folder);
}

static GrCampaignPlan plan_of(const char *seeds) {
    GrCampaignPlan p;
    gr_plan_init(&p);
    assert_int_equal(gr_plan_seeds(&p, seeds, &err), GR_OK);
    assert_int_equal(gr_plan_engines(&p, "exact", &err), GR_OK);
    assert_int_equal(gr_plan_schedules(&p, "auto", &err), GR_OK);
    assert_int_equal(gr_plan_close(&p, &err), GR_OK);
    return p;
}

// A run of seed N sees the races of the letters in `races`.
static void add(GrStore *s, const GrCampaignPlan *p, uint64_t number, const char *verdict,
                const char *races) {
    GrCampaignRun run = gr_plan_run(p, number);
    bool failed = !strcmp(verdict, GR_CAMPAIGN_FAILED);
    GrCampaignOutcome o = {.verdict = verdict,
                           .status = failed   ? 139
                                     : *races ? 66
                                              : 0,
                           .report = failed ? NULL : "{}"};
    char ids[8][2] = {""};
    for (size_t k = 0; races[k]; k++) {
        ids[k][0] = races[k];
        assert_true(gr_vec_push(&o.races, ((GrCampaignRace){ids[k], ids[k], 2})));
    }
    if (strcmp(verdict, "races") != 0 && strcmp(verdict, "clean") != 0)
        assert_true(gr_vec_push(&o.reasons, "it is so"));
    assert_int_equal(gr_store_add(s, &run, &o, &err), GR_OK);
    gr_vec_free(&o.races);
    gr_vec_free(&o.reasons);
}

static char *summary_of(GrStore *s, const GrCampaignPlan *p) {
    GrKnown k;
    StrBuf text = {0};
    GrCampaignEnd end = {0};
    assert_int_equal(gr_known_init(&k, p, &err), GR_OK);
    assert_int_equal(gr_known_load(&k, s, false, &err), GR_OK);
    assert_int_equal(gr_growth_svg(&k, &text, &err), GR_OK);
    assert_int_equal(gr_campaign_summary(&k, &end, &text, &err), GR_OK);
    gr_known_free(&k);
    return gr_str_take(&text);
}

static GrStore *open_store(const char *name) {
    GrStore *s;
    assert_int_equal(gr_store_open(in_folder(name), &s, &err), GR_OK);
    return s;
}

static void add_all(GrStore *s, const GrCampaignPlan *p, const unsigned *order, size_t n) {
    static const char *const verdicts[] = {"clean", "races", "races", "inconclusive", GR_CAMPAIGN_FAILED,
                                           "races"};
    static const char *const races[] = {"", "b", "ab", "", "", "ca"};
    for (size_t k = 0; k < n; k++)
        add(s, p, order[k], verdicts[order[k] - 1], races[order[k] - 1]);
}

static void test_order_of_ending_is_nothing(void **state) {
    (void)state;
    GrCampaignPlan p = plan_of("1..6");
    static const unsigned up[] = {1, 2, 3, 4, 5, 6}, mixed[] = {6, 3, 5, 1, 4, 2};
    GrStore *one = open_store("one"), *two = open_store("two");
    add_all(one, &p, up, 6);
    add_all(two, &p, mixed, 6);
    char *first = summary_of(one, &p), *second = summary_of(two, &p);
    assert_string_equal(first, second);
    assert_non_null(strstr(first, "verdict: races (3)"));
    assert_non_null(strstr(first, "first seen in run 3 (seed 3); in 2 runs, 4 times")); // a
    assert_non_null(strstr(first, "first seen in run 2 (seed 2); in 2 runs, 4 times")); // b
    assert_non_null(strstr(first, "6 of 6: 3 with races, 1 clean, 1 inconclusive, 1 failed"));
    assert_non_null(strstr(first, "2 runs: it is so (seed 4; seed 5)"));
    free(first);
    free(second);
    gr_store_close(one);
    gr_store_close(two);
    gr_plan_free(&p);
}

// A run that was cut off is open, and nothing of it is there. One that failed gives way.
static void test_again(void **state) {
    (void)state;
    GrCampaignPlan p = plan_of("1..3");
    GrStore *s = open_store("one");
    GrKnown k;
    add(s, &p, 2, GR_CAMPAIGN_FAILED, "");
    add(s, &p, 3, "races", "x");
    assert_int_equal(gr_known_init(&k, &p, &err), GR_OK);
    assert_int_equal(gr_known_load(&k, s, true, &err), GR_OK);
    assert_int_equal(k.runs[1].state, GR_RUN_OPEN);
    assert_int_equal(k.runs[2].state, GR_RUN_OPEN);
    assert_int_equal(k.runs[3].state, GR_RUN_DONE);
    assert_int_equal(k.settled, 0);
    gr_known_free(&k);
    add(s, &p, 2, "clean", "");
    char *text = summary_of(s, &p);
    assert_non_null(strstr(text, "2 of 3: 1 with races, 1 clean, 0 inconclusive, 0 failed"));
    assert_null(strstr(text, "it is so"));
    assert_non_null(strstr(text, "1 run was not done"));
    free(text);
    gr_store_close(s);
    gr_plan_free(&p);
}

static void test_merging(void **state) {
    (void)state;
    GrCampaignPlan p = plan_of("1..6");
    static const unsigned odd[] = {1, 5, 3}, even[] = {2, 6, 4, 3}, every[] = {1, 2, 3, 4, 5, 6};
    GrStore *one = open_store("one"), *two = open_store("two"), *all = open_store("all"),
            *other = open_store("other");
    uint64_t added;
    add_all(one, &p, odd, 3);
    add_all(two, &p, even, 4); // the third is in both
    add_all(other, &p, every, 6);
    add(all, &p, 4, GR_CAMPAIGN_FAILED, ""); // which a share did better
    assert_int_equal(gr_store_merge(all, in_folder("two"), &added, &err), GR_OK);
    assert_int_equal(added, 4);
    assert_int_equal(gr_store_merge(all, in_folder("one"), &added, &err), GR_OK);
    assert_int_equal(added, 2);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(gr_store_merge(all, in_folder("one"), &added, &err), GR_OK);
        assert_int_equal(added, 0);
        assert_int_equal(gr_store_merge(all, in_folder("two"), &added, &err), GR_OK);
        assert_int_equal(added, 0);
    }
    char *merged = summary_of(all, &p), *wanted = summary_of(other, &p);
    assert_string_equal(merged, wanted);
    free(merged);
    free(wanted);
    gr_store_close(one);
    gr_store_close(two);
    gr_store_close(all);
    gr_store_close(other);
    gr_plan_free(&p);
}

static void test_another_campaign(void **state) {
    (void)state;
    GrStore *one = open_store("one"), *two = open_store("two");
    Arena arena;
    const char *before;
    uint64_t added;
    gr_arena_init(&arena);
    assert_int_equal(gr_store_about(one, "program", "./a", &arena, &before, &err), GR_OK);
    assert_null(before);
    assert_int_equal(gr_store_about(one, "program", "./b", &arena, &before, &err), GR_OK);
    assert_string_equal(before, "./a");
    assert_int_equal(gr_store_about(two, "program", "./b", &arena, &before, &err), GR_OK);
    assert_int_equal(gr_store_merge(one, in_folder("two"), &added, &err), GR_ERR_ARGUMENT);
    assert_non_null(strstr(err.msg, "its program is another"));
    gr_arena_free(&arena);
    gr_store_close(one);
    gr_store_close(two);
}

static void test_no_results(void **state) {
    (void)state;
    GrStore *s;
    assert_int_equal(gr_file_write(in_folder("text"),
                                   "not a database at all, but long enough to be read as one", 56, &err),
                     GR_OK);
    assert_int_equal(gr_store_open(in_folder("text"), &s, &err), GR_ERR_IO);
    assert_null(s);
    assert_int_equal(gr_store_open("/nowhere/at/all", &s, &err), GR_ERR_IO);
}

// What `stop after` goes by: runs up to the first that is open.
static void test_settled(void **state) {
    (void)state;
    GrCampaignPlan p = plan_of("1..6");
    GrStore *s = open_store("one");
    GrKnown k;
    static const unsigned some[] = {6, 1, 3, 2};
    add_all(s, &p, some, 4);
    assert_int_equal(gr_known_init(&k, &p, &err), GR_OK);
    assert_int_equal(gr_known_load(&k, s, false, &err), GR_OK);
    assert_int_equal(k.settled, 3);
    assert_int_equal(k.last_new, 3); // a; that run 6 saw it first in time is nothing
    gr_known_free(&k);
    gr_store_close(s);
    gr_plan_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define EACH(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
        EACH(test_order_of_ending_is_nothing), EACH(test_again),      EACH(test_merging),
        EACH(test_another_campaign),           EACH(test_no_results), EACH(test_settled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
