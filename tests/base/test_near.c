// SPDX-License-Identifier: Apache-2.0
// "Did you mean": distances of words, and which name is near enough.
#include "base/near.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void distances(void **state) {
    (void)state;
    static const struct {
        const char *word, *name;
        size_t whole, inside;
    } rows[] = {
        {"seed", "seed", 0, 0},          {"sede", "seed", 1, 1},       {"sed", "seed", 1, 1},
        {"sseed", "seed", 1, 1},         {"soed", "seed", 1, 1},       {"", "seed", 4, 0},
        {"kitten", "sitting", 3, 2},     {"hsito", "histogram", 5, 1}, {"exact", "tracker", 5, 3},
        {"gram", "histograms_of", 9, 0}, {"ca", "abc", 3, 1},          {"max-reprots", "max-reports", 1, 1},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        size_t n = strlen(rows[k].word);
        if (gr_word_distance(rows[k].word, n, rows[k].name, false) != rows[k].whole ||
            gr_word_distance(rows[k].word, n, rows[k].name, true) != rows[k].inside)
            fail_msg("%s and %s: %zu, %zu", rows[k].word, rows[k].name,
                     gr_word_distance(rows[k].word, n, rows[k].name, false),
                     gr_word_distance(rows[k].word, n, rows[k].name, true));
    }
    char word[200];
    memset(word, 'a', sizeof word - 1);
    word[sizeof word - 1] = 0;
    assert_int_equal(gr_word_distance(word, strlen(word), "a", false), 200);
}

static void the_nearest(void **state) {
    (void)state;
    static const char *const names[] = {"seed", "seeds", "device", "schedule", "strict"};
    static const struct {
        const char *word, *best;
    } rows[] = {{"sede", "seed"},     {"seeds", "seeds"}, {"shedule", "schedule"},
                {"devise", "device"}, {"fast", NULL},     {"s", NULL},
                {"", NULL},           {"seeed=3", NULL}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        GrNear n = {.word = rows[k].word};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            gr_near_try(&n, names[i]);
        if (!rows[k].best != !n.best || (n.best && strcmp(n.best, rows[k].best)))
            fail_msg("%s: %s", rows[k].word, n.best ? n.best : "nothing");
    }
    char hint[GR_NEAR_ROOM];
    GrNear part = {.word = "seeed=3", .len = 5};
    assert_string_equal(gr_near_text(&part, "--", hint), "");
    gr_near_try(&part, "seed");
    assert_string_equal(gr_near_text(&part, "--", hint), "; did you mean --seed?");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(distances), cmocka_unit_test(the_nearest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
