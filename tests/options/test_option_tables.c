// SPDX-License-Identifier: Apache-2.0
// Tables of options besides everybody's: of an engine with more rows than a word has bits, and with one name for two
// commands.
#include "options/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 150 };

typedef struct Many {
    uint64_t number[MANY];
} Many;

typedef struct Twice {
    uint64_t run, ptx;
    const char *word;
} Twice;

static char names[MANY][8];
static GrOptRow many_rows[MANY];
static GrOptRange many_ranges[MANY];
static GrOptTable many = {"many", many_rows, many_ranges, MANY, MANY, sizeof(Many)};

static const GrOptRow twice_rows[] = {
    {"turns", "1", "N", "of a run", offsetof(Twice, run), OPT_NUMBER, OPT_RUN | OPT_REPRODUCE, 0,
     OPT_GROUP_HOW},
    {"turns", "20", "N", "of a file", offsetof(Twice, ptx), OPT_NUMBER, OPT_PTX, 0, OPT_GROUP_HOW},
    {"word", "red", "red|blue", "a colour", offsetof(Twice, word), OPT_CHOICE, OPT_RUN, 0, OPT_GROUP_HOW},
};
static const GrOptRange twice_ranges[] = {{offsetof(Twice, run), 1, 9}, {offsetof(Twice, ptx), 10, 99}};
static const GrOptTable twice = {"twice", twice_rows, twice_ranges, 3, 2, sizeof(Twice)};

const GrOptTable *const gr_option_tables[] = {&gr_common_options, &many, &twice, NULL};

static gr_error err;

static int fill_many(void **state) {
    (void)state;
    for (unsigned k = 0; k < MANY; k++) {
        snprintf(names[k], sizeof names[k], "n%u", k);
        many_rows[k] = (GrOptRow){
            names[k],     "0", "N", "a number", k * sizeof(uint64_t), OPT_NUMBER, OPT_RUN | OPT_REPRODUCE, 0,
            OPT_GROUP_HOW};
        many_ranges[k] = (GrOptRange){k * sizeof(uint64_t), 0, 1000};
    }
    return 0;
}

static void test_any_number_of_rows(void **state) {
    (void)state;
    GrOptions o;
    StrBuf text = {0};
    assert_int_equal(gr_options_init(&o, &err), GR_OK);
    assert_int_equal(gr_options_parse_text(&o, "n0=1 n63=2 n64=3 n149=4 word=blue", &err), GR_OK);
    const Many *m = gr_options_of(&o, &many);
    assert_int_equal(m->number[0], 1);
    assert_int_equal(m->number[63], 2);
    assert_int_equal(m->number[64], 3);
    assert_int_equal(m->number[149], 4);
    assert_int_equal(m->number[148], 0);
    gr_options_to_text(&o, &text);
    assert_string_equal(text.data, "n0=1 n63=2 n64=3 n149=4 word=blue");
    assert_int_equal(gr_options_parse_text(&o, "n149=1001", &err), GR_ERR_ARGUMENT);
    gr_str_free(&text);
    gr_options_free(&o);
}

static void test_a_row_for_each_command(void **state) {
    (void)state;
    char *ten[] = {"x", "--turns", "10", NULL}, *nine[] = {"x", "--turns", "9", NULL};
    GrOptions o;
    int rest;
    bool help;
    assert_int_equal(gr_options_init(&o, &err), GR_OK);
    const Twice *t = gr_options_of(&o, &twice);
    assert_int_equal(t->run, 1);
    assert_int_equal(t->ptx, 20);
    assert_int_equal(gr_options_parse_args(&o, OPT_RUN, 3, ten, &rest, &help, &err), GR_ERR_ARGUMENT);
    assert_int_equal(gr_options_parse_args(&o, OPT_PTX, 3, nine, &rest, &help, &err), GR_ERR_ARGUMENT);
    assert_int_equal(gr_options_parse_args(&o, OPT_RUN, 3, nine, &rest, &help, &err), GR_OK);
    assert_int_equal(gr_options_parse_args(&o, OPT_PTX, 3, ten, &rest, &help, &err), GR_OK);
    assert_int_equal(t->run, 9);
    assert_int_equal(t->ptx, 10);
    // No row of that command.
    char *word[] = {"x", "--word", "blue", NULL};
    assert_int_equal(gr_options_parse_args(&o, OPT_PTX, 3, word, &rest, &help, &err), GR_ERR_ARGUMENT);
    gr_options_free(&o);
}

static void collect(void *user, const char *option, const char *why) {
    gr_str_addf(user, "%s: %s\n", option, why);
}

static void test_they_are_for_their_engine(void **state) {
    (void)state;
    static const struct {
        const char *engine, *told;
    } cases[] = {{"many", "--turns 3: it is for the engine twice\n"},
                 {"twice", "--n7 5: it is for the engine many\n"},
                 {"many+twice", ""},
                 {"twice+many", ""},
                 {"many2", "--n7 5: it is for the engine many\n--turns 3: it is for the engine twice\n"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        GrOptions o;
        StrBuf told = {0};
        assert_int_equal(gr_options_init(&o, &err), GR_OK);
        assert_int_equal(gr_options_parse_text(&o, "n7=5 turns=3 device=cpu", &err), GR_OK);
        o.engine = cases[k].engine;
        gr_options_unheeded(&o, collect, &told);
        assert_string_equal(told.data ? told.data : "", cases[k].told);
        gr_str_free(&told);
        gr_options_free(&o);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_number_of_rows),
        cmocka_unit_test(test_a_row_for_each_command),
        cmocka_unit_test(test_they_are_for_their_engine),
    };
    return cmocka_run_group_tests(tests, fill_many, NULL);
}
