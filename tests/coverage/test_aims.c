// SPDX-License-Identifier: Apache-2.0
// test_aims — what a run aims at, given what earlier ones noted (coverage/aims.h), and conflicts as records of a
// results file.
#include "aim/aim.h"
#include "coverage/aims.h"
#include "findings/conflict_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static gr_error err;

enum { K = 1, L = 2, OLD = 3, NEW = 4 }; // functions; OLD was changed and is NEW now

static GrCoverage file(void) {
    GrCoverage c;
    gr_coverage_init(&c);
    c.runs = 9;
    static const char *const names[] = {"k", "l", "changed", "changed"};
    for (unsigned k = 0; k < 4; k++) {
        GrCoveredFunction *f = gr_coverage_function(&c, K + k, names[k]);
        assert_non_null(f);
        f->last = k == 2 ? 4 : 9;
    }
    return c;
}

// `how`: w may wait, f came first.
static ConflictSide side(uint64_t function, uint32_t nth, const char *how) {
    return (ConflictSide){.function = function,
                          .nth = nth,
                          .waits = strchr(how, 'w') != NULL,
                          .first = strchr(how, 'f') != NULL,
                          .launch = 10 * nth,
                          .block = nth + 1,
                          .warp = nth + 2};
}

static Conflict *add(GrCoverage *c, ConflictSide a, ConflictSide b, bool likely) {
    Conflict f = {.side = {a, b}, .likely = likely};
    for (unsigned k = 0; k < 2; k++) { // what waits is an access that can be watched
        GrCoveredFunction *g = gr_coverage_function(c, f.side[k].function, NULL);
        assert_true(!g || !f.side[k].waits || gr_coverage_add_site(g, f.side[k].nth));
    }
    size_t n = c->conflicts.len;
    assert_true(gr_aims_note(c, &f));
    assert_int_equal(c->conflicts.len, n + 1);
    return &c->conflicts.data[n];
}

static char *choose(const GrCoverage *c, uint64_t seed) {
    StrBuf out = {0};
    assert_int_equal(gr_aims_choose(c, seed, &out, &err), GR_OK);
    gr_str_addn(&out, "", 0);
    char *text = gr_str_take(&out);
    assert_non_null(text);
    assert_int_equal(gr_aim_check(text, &err), GR_OK); // whatever it says is understood
    return text;
}

static void chooses(const GrCoverage *c, const char *want) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        char *got = choose(c, seed);
        assert_string_equal(got, want);
        free(got);
    }
}

// Whether the word is among those that seed 1 to 20 choose: never, always, or now and then.
enum { NEVER, SOMETIMES, ALWAYS };
static int has(const GrCoverage *c, const char *word) {
    unsigned n = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        char *got = choose(c, seed);
        n += gr_words_have(got, strlen(got), word);
        free(got);
    }
    return n == 0 ? NEVER : n == 20 ? ALWAYS : SOMETIMES;
}

static unsigned count(const char *text, char what) {
    unsigned n = 0;
    for (; *text; text++)
        n += *text == what;
    return n;
}

#define WORD(function, nth) "000000000000000" function ":" nth

// ---- Choosing ------------------------------------------------------------------------------------------------

static void nothing_known(void **state) {
    (void)state;
    GrCoverage c = file();
    chooses(&c, "");
    gr_coverage_free(&c);
}

static void nothing_left(void **state) {
    (void)state;
    GrCoverage c = file();
    add(&c, side(K, 1, "wf"), side(K, 2, "w"), true)->met = true;
    chooses(&c, "new");
    Conflict *f = add(&c, side(K, 3, "f"), side(K, 4, ""), false);
    chooses(&c, "new"); // nobody can wait
    f->likely = true;
    assert_int_equal(has(&c, "new"), SOMETIMES); // but they may meet
    for (uint64_t seed = 1; seed <= 20; seed++) {
        char *got = choose(&c, seed);
        assert_true(!*got || !strcmp(got, "new"));
        free(got);
    }
    f->met = true;
    chooses(&c, "new");
    add(&c, side(K, 3, "f"), side(OLD, 4, ""), true);
    chooses(&c, "new");
    add(&c, side(OLD, 1, "wf"), side(K, 5, "wf"), true)->met = true;
    add(&c, side(OLD, 1, "wf"), side(OLD, 2, "wf"), true);
    chooses(&c, "new"); // its code is another one
    add(&c, side(7, 1, "wf"), side(7, 2, "wf"), true);
    chooses(&c, "new"); // never heard of
    Conflict unwatched = {.side = {side(K, 77, "wf"), side(K, 78, "wf")}, .likely = true};
    assert_true(gr_aims_note(&c, &unwatched));
    chooses(&c, "new"); // no run may watch them
    add(&c, side(K, 79, "w"), side(K, 80, ""), true);
    chooses(&c, WORD("1", "79") "@790.80.81");
    gr_coverage_free(&c);
}

static void who_comes_first_waits(void **state) {
    (void)state;
    GrCoverage c = file();
    add(&c, side(K, 1, "wf"), side(K, 2, "w"), true);
    chooses(&c, WORD("1", "1") "@10.2.3," WORD("1", "2")); // the other one is stopped, too, for a while
    gr_coverage_free(&c);
    c = file();
    add(&c, side(K, 1, "wf"), side(K, 2, ""), true);
    chooses(&c, WORD("1", "1") "@10.2.3"); // that cannot wait
    gr_coverage_free(&c);
    c = file();
    add(&c, side(K, 1, "wf"), side(OLD, 2, "w"), true);
    chooses(&c, WORD("1", "1") "@10.2.3"); // that is no more
    gr_coverage_free(&c);
}

// Who comes later but is the only one that can wait has to be there first: the other one's kernel begins late.
static void late_kernel(void **state) {
    (void)state;
    GrCoverage c = file();
    add(&c, side(K, 1, "w"), side(L, 2, "f"), true);
    chooses(&c, WORD("1", "1") "@10.2.3," WORD("2", "0"));
    add(&c, side(K, 1, "w"), side(L, 3, "f"), true);
    chooses(&c, WORD("1", "1") "@10.2.3," WORD("2", "0"));
    gr_coverage_free(&c);
    c = file();
    add(&c, side(K, 1, "wf"), side(L, 2, "f"), true); // both orders were seen
    chooses(&c, WORD("1", "1") "@10.2.3");
    gr_coverage_free(&c);
    c = file(); // both can wait, and nobody knows who came first
    add(&c, side(K, 1, "wf"), side(K, 2, ""), true);
    add(&c, side(K, 1, "w"), side(L, 2, "wf"), true);
    assert_int_equal(has(&c, WORD("2", "0")), NEVER);
    gr_coverage_free(&c);
    c = file();
    add(&c, side(K, 1, "w"), side(L, 2, ""), true);
    chooses(&c, WORD("1", "1") "@10.2.3");
    gr_coverage_free(&c);
    c = file(); // several wait for one kernel: it is named once
    for (uint32_t k = 1; k <= 4; k++)
        add(&c, side(K, k, "w"), side(L, 9, "f"), true);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        char *got = choose(&c, seed);
        assert_int_equal(count(got, ','), 4);
        assert_int_equal(gr_aims_waiting(got), 2);
        free(got);
    }
    gr_coverage_free(&c);
}

// Half of them, rounded up; the seed decides which.
static void half_of_them(void **state) {
    (void)state;
    for (uint32_t n = 1; n <= 12; n++) {
        GrCoverage c = file();
        for (uint32_t k = 1; k <= n; k++)
            add(&c, side(K, k, "wf"), side(L, k, ""), true);
        bool differ = false;
        char *first = choose(&c, 1);
        for (uint64_t seed = 1; seed <= 20; seed++) {
            char *got = choose(&c, seed), *again = choose(&c, seed);
            assert_string_equal(got, again);
            assert_int_equal(gr_aims_waiting(got), (n + 1) / 2);
            assert_int_equal(count(got, ',') + 1, n); // all of them at least stop
            differ |= strcmp(first, got) != 0;
            free(got);
            free(again);
        }
        assert_int_equal(differ, n > 1);
        c.runs++;
        char *later = choose(&c, 1); // another run is another choice
        if (n > 8)
            assert_string_not_equal(first, later);
        free(later);
        free(first);
        gr_coverage_free(&c);
    }
}

static void least_aimed_first(void **state) {
    (void)state;
    GrCoverage c = file();
    for (uint32_t k = 1; k <= 4; k++)
        add(&c, side(K, k, "wf"), side(L, k, ""), true)->side[0].aimed = k == 2 || k == 3 ? 1 : 2;
    assert_int_equal(has(&c, WORD("1", "2") "@20.3.4"), ALWAYS);
    assert_int_equal(has(&c, WORD("1", "3") "@30.4.5"), ALWAYS);
    assert_int_equal(has(&c, WORD("1", "1") "@10.2.3"), NEVER);
    assert_int_equal(has(&c, WORD("1", "1")), ALWAYS);
    // The next run has another half.
    char *got = choose(&c, 1);
    gr_aims_count(&c, got);
    gr_aims_count(&c, got);
    free(got);
    assert_int_equal(has(&c, WORD("1", "1") "@10.2.3"), ALWAYS);
    assert_int_equal(has(&c, WORD("1", "4") "@40.5.6"), ALWAYS);
    gr_coverage_free(&c);
}

// As long as there are likely ones, they alone count.
static void likely_first(void **state) {
    (void)state;
    GrCoverage c = file();
    for (uint32_t k = 1; k <= 6; k++)
        add(&c, side(K, k, "wf"), side(L, k, ""), k > 4)->side[0].aimed = k > 4 ? 3 : 0;
    assert_int_equal(has(&c, WORD("1", "5") "@50.6.7"), SOMETIMES);
    assert_int_equal(has(&c, WORD("1", "6") "@60.7.8"), SOMETIMES);
    assert_int_equal(has(&c, WORD("1", "1") "@10.2.3"), NEVER);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        char *got = choose(&c, seed);
        assert_int_equal(gr_aims_waiting(got), 1);
        free(got);
    }
    // Not for ever.
    c.conflicts.data[4].side[0].aimed = 4;
    assert_int_equal(has(&c, WORD("1", "6") "@60.7.8"), ALWAYS);
    c.conflicts.data[5].side[0].aimed = 4;
    assert_int_equal(has(&c, WORD("1", "1") "@10.2.3"), SOMETIMES);
    assert_int_equal(has(&c, WORD("1", "6") "@60.7.8"), NEVER);
    c.conflicts.data[4].met = c.conflicts.data[5].met = true;
    assert_int_equal(has(&c, WORD("1", "1") "@10.2.3"), SOMETIMES);
    assert_int_equal(has(&c, WORD("1", "5")), NEVER);
    gr_coverage_free(&c);
}

// Of an access that is a side of several conflicts any may be the one.
static void any_place(void **state) {
    (void)state;
    GrCoverage c = file();
    add(&c, side(K, 1, "wf"), side(L, 1, ""), true);
    add(&c, side(K, 1, "wf"), side(L, 2, ""), true)->side[0].launch = 77;
    assert_int_equal(has(&c, WORD("1", "1") "@10.2.3"), SOMETIMES);
    assert_int_equal(has(&c, WORD("1", "1") "@77.2.3"), SOMETIMES);
    gr_coverage_free(&c);
}

static void fits(const GrCoverage *c) {
    for (uint64_t seed = 1; seed <= 20; seed++) {
        char *got = choose(c, seed);
        assert_int_equal(count(got, ',') + 1, 64);
        free(got);
    }
}

static void no_more_than_fit(void **state) {
    (void)state;
    GrCoverage c = file();
    for (uint32_t k = 1; k <= 300; k++)
        add(&c, side(K, k, k % 2 ? "w" : "wf"), side(L, k, k % 2 ? "f" : ""), true);
    fits(&c);
    gr_coverage_free(&c);
    // Two words each, but for one in some choices.
    c = file();
    for (uint32_t k = 1; k <= 200; k++) {
        uint64_t other = k % 5 ? 100 + k : K;
        add(&c, side(K, k, "w"), side(other, k, "f"), true);
        assert_non_null(gr_coverage_function(&c, other, "of many"));
    }
    fits(&c);
    gr_coverage_free(&c);
}

// ---- Noting --------------------------------------------------------------------------------------------------

static void merges(void **state) {
    (void)state;
    GrCoverage c = file();
    Conflict *f = add(&c, side(K, 1, "w"), side(K, 2, "f"), false);
    f->side[0].aimed = 3;
    Conflict again = {.side = {side(K, 1, "f"), side(K, 2, "")}, .likely = true};
    again.side[0].launch = 5;
    again.side[1].launch = 0; // not said
    again.side[0].aimed = 99;
    assert_true(gr_aims_note(&c, &again));
    assert_int_equal(c.conflicts.len, 1);
    f = &c.conflicts.data[0];
    assert_true(f->side[0].waits && f->side[0].first && !f->side[1].waits && f->side[1].first && f->likely &&
                !f->met);
    assert_int_equal(f->side[0].launch, 5);
    assert_int_equal(f->side[1].launch, 20);
    assert_int_equal(f->side[1].block, 3);
    assert_int_equal(f->side[1].warp, 4);
    assert_int_equal(f->side[0].aimed, 3);
    Conflict met = {.side = {{.function = K, .nth = 1}, {.function = K, .nth = 2}}, .met = true};
    assert_true(gr_aims_note(&c, &met));
    f = &c.conflicts.data[0];
    assert_true(f->met && f->likely && f->side[0].launch == 5 && f->side[0].waits);
    assert_true(gr_aims_note(&c, &again));
    assert_true(c.conflicts.data[0].met); // stays so
    // Others are others.
    static const struct {
        uint64_t f0, f1;
        uint32_t n0, n1;
    } others[] = {{L, K, 1, 2}, {K, L, 1, 2}, {K, K, 2, 2}, {K, K, 1, 1}};
    for (unsigned k = 0; k < 4; k++)
        add(&c, side(others[k].f0, others[k].n0, ""), side(others[k].f1, others[k].n1, ""), false);
    gr_coverage_free(&c);
}

static void limit(void **state) {
    (void)state;
    GrCoverage c = file();
    for (uint32_t k = 1; k <= 2048; k++)
        add(&c, side(K, k, "w"), side(L, k, "w"), false);
    Conflict more = {.side = {side(K, 2049, "w"), side(L, 1, "w")}};
    assert_true(gr_aims_note(&c, &more)); // is dropped
    assert_int_equal(c.conflicts.len, 2048);
    Conflict known = {.side = {side(K, 2048, "w"), side(L, 2048, "w")}, .met = true};
    assert_true(gr_aims_note(&c, &known));
    assert_true(c.conflicts.data[2047].met);
    gr_aims_make_room(&c);
    assert_int_equal(c.conflicts.len, 2048); // nothing is outdated
    c.conflicts.data[3].side[0].function = c.conflicts.data[2046].side[1].function = OLD;
    c.conflicts.data[4].side[0].function = 99; // not known
    gr_aims_make_room(&c);
    assert_int_equal(c.conflicts.len, 2046);
    assert_int_equal(c.conflicts.data[2].side[0].nth, 3);
    assert_int_equal(c.conflicts.data[3].side[0].nth, 5);
    assert_true(c.conflicts.data[2045].met);
    assert_true(gr_aims_note(&c, &more));
    assert_int_equal(c.conflicts.len, 2047);
    c.conflicts.data[0].side[0].function = OLD;
    gr_aims_make_room(&c);
    assert_int_equal(c.conflicts.len, 2047); // there is room
    gr_coverage_free(&c);
}

static void counts(void **state) {
    (void)state;
    GrCoverage c = file();
    add(&c, side(K, 1, "w"), side(K, 11, "w"), false);
    add(&c, side(K, 1, "w"), side(L, 1, "w"), false);
    gr_aims_count(&c, WORD("1", "1") "@10.2.3," WORD("1", "11") "," WORD("2", "0"));
    gr_aims_count(&c, WORD("2", "1") "@10.2.3," WORD("1", "1") "@9.9.9");
    gr_aims_count(&c, "new");
    gr_aims_count(&c, "");
    const Conflict *f = c.conflicts.data;
    assert_int_equal(f[0].side[0].aimed, 2);
    assert_int_equal(f[0].side[1].aimed, 0); // stopped, but not for everybody
    assert_int_equal(f[1].side[0].aimed, 2);
    assert_int_equal(f[1].side[1].aimed, 1);
    assert_int_equal(gr_aims_waiting(""), 0);
    assert_int_equal(gr_aims_waiting("new"), 0);
    assert_int_equal(gr_aims_waiting("1:1@1.2.3,1:2,1:3@1.2.3,1:0"), 2);
    gr_coverage_free(&c);
}

// ---- Records -------------------------------------------------------------------------------------------------

static gr_status read_back(const StrBuf *b, size_t len, Conflict *out) {
    uint8_t *exact = malloc(len + 1); // so that a sanitizer sees what is read beyond
    memcpy(exact, b->data, len);
    GrRecord r = {.kind = GR_RECORD_CONFLICT, .payload = exact, .size = len};
    gr_status st = gr_conflict_read(&r, out, &err);
    free(exact);
    return st;
}

static void records(void **state) {
    (void)state;
    Conflict c = {.side = {{.function = UINT64_MAX,
                            .nth = UINT32_MAX,
                            .waits = true,
                            .launch = UINT64_MAX - 1,
                            .block = UINT64_MAX - 2,
                            .warp = UINT32_MAX - 3},
                           {.function = 5, .nth = 6, .first = true, .launch = 7, .block = 8, .warp = 9}}};
    for (unsigned flags = 0; flags < 4; flags++) {
        c.likely = flags & 1;
        c.met = flags & 2;
        StrBuf b = {0};
        Conflict got;
        gr_conflict_write(&c, &b);
        assert_int_equal(read_back(&b, b.len, &got), GR_OK);
        for (unsigned k = 0; k < 2; k++) {
            assert_true(got.side[k].function == c.side[k].function && got.side[k].nth == c.side[k].nth);
            assert_true(got.side[k].waits == c.side[k].waits && got.side[k].first == c.side[k].first);
            assert_true(got.side[k].launch == c.side[k].launch && got.side[k].block == c.side[k].block);
            assert_true(got.side[k].warp == c.side[k].warp && got.side[k].aimed == 0);
        }
        assert_true(got.likely == c.likely && got.met == c.met);
        for (size_t n = 0; n < b.len; n++) {
            assert_int_equal(read_back(&b, n, &got), GR_ERR_FORMAT);
            assert_non_null(strstr(err.msg, "cut short"));
        }
        gr_str_free(&b);
    }
    // What the file of --coverage could not hold.
    for (unsigned k = 0; k < 2; k++) {
        Conflict none = c, got;
        none.side[k].nth = 0;
        StrBuf b = {0};
        gr_conflict_write(&none, &b);
        assert_int_equal(read_back(&b, b.len, &got), GR_ERR_FORMAT);
        gr_str_free(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_known),
        cmocka_unit_test(nothing_left),
        cmocka_unit_test(who_comes_first_waits),
        cmocka_unit_test(late_kernel),
        cmocka_unit_test(half_of_them),
        cmocka_unit_test(least_aimed_first),
        cmocka_unit_test(likely_first),
        cmocka_unit_test(any_place),
        cmocka_unit_test(no_more_than_fit),
        cmocka_unit_test(merges),
        cmocka_unit_test(limit),
        cmocka_unit_test(counts),
        cmocka_unit_test(records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
