// SPDX-License-Identifier: Apache-2.0
// The words of the rules of PTX: what goes in comes out, up to the limits, and halves of two accesses are told.
#include "engines/tracker/device/word.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static GrEntry some(uint32_t k) {
    uint32_t r = k * 2654435761u;
    return (GrEntry){.bytes = 1 + r % 15,
                     .strength = r >> 4 & 7,
                     .launch = r >> 3 & 0xffffff,
                     .block = r >> 7 & 0x1ffff,
                     .tid = r >> 11 & 0x3ff,
                     .barriers = r >> 5 & 0x3ffff,
                     .syncs = r >> 9 & 0x1ffff,
                     .site = r >> 13 & 0xffff,
                     .value = r >> 17 & 0xff,
                     .wide = (int)(r >> 19 & 1),
                     .writes = (int)(r >> 23 & 1)};
}

static void same(const GrEntry *a, const GrEntry *b) {
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->strength, b->strength);
    assert_int_equal(a->launch, b->launch);
    assert_int_equal(a->block, b->block);
    assert_int_equal(a->tid, b->tid);
    assert_int_equal(a->barriers, b->barriers);
    assert_int_equal(a->syncs, b->syncs);
    assert_int_equal(a->site, b->site);
    assert_int_equal(a->value, b->value);
    assert_int_equal(a->wide, b->wide);
    assert_int_equal(a->writes, b->writes);
}

static void test_round_trip(void **state) {
    (void)state;
    for (uint32_t k = 0; k < 100000; k++) {
        GrEntry in = some(k), out = {0};
        uint64_t word = gr_word_of(&in), more = gr_word_more(&in, word);
        assert_true(gr_word_read(word, more, &out));
        assert_int_equal(out.seen, 0);
        same(&in, &out);
        assert_true(gr_word_read(word | GR_WORD_SEEN, more, &out));
        assert_int_equal(out.seen, 1);
        same(&in, &out);
        assert_int_equal(gr_word_launch(word), in.launch & 0x1f);
        assert_int_equal(gr_word_barriers(word), in.barriers & 0x7ff);
    }
}

static void test_limits(void **state) {
    (void)state;
    GrEntry most = {.bytes = 15,
                    .strength = 7,
                    .launch = 0xffffff,
                    .block = 0x1ffff,
                    .tid = 0x3ff,
                    .barriers = 0x3ffff,
                    .syncs = 0x1ffff,
                    .site = 0xffff,
                    .value = 0xff,
                    .wide = 1,
                    .writes = 1},
            out = {0};
    uint64_t word = gr_word_of(&most);
    assert_int_equal(word, ~(uint64_t)GR_WORD_SEEN);
    assert_true(gr_word_read(word, gr_word_more(&most, word), &out));
    same(&most, &out);
    // A site that does not fit is not known, and no other.
    most.site = GR_WORD_SITES;
    assert_true(gr_word_read(word, gr_word_more(&most, word), &out));
    assert_int_equal(out.site, 0);
    // Counters are full before they wrap.
    assert_true(gr_word_room(0x3ffff, 0x1ffff));
    assert_false(gr_word_room(0x40000, 0));
    assert_false(gr_word_room(0, 0x20000));
}

// Barriers 2048 apart and more look alike in the word, not in both halves.
static void test_no_wrap(void **state) {
    (void)state;
    static const uint32_t apart[] = {255, 256, 257, 2047, 2048, 4096, 65536};
    for (unsigned k = 0; k < sizeof apart / sizeof *apart; k++) {
        GrEntry a = some(7), b = {0};
        a.barriers = 5;
        uint64_t word = gr_word_of(&a), more = gr_word_more(&a, word);
        a.barriers += apart[k];
        uint64_t later = gr_word_of(&a);
        assert_true(gr_word_read(later, gr_word_more(&a, later), &b));
        assert_int_equal(b.barriers, 5 + apart[k]);
        assert_true(gr_word_read(word, more, &b));
        assert_int_equal(b.barriers, 5);
    }
}

// Halves of two accesses: at most one in a hundred goes unnoticed (one in 256 is expected).
static void test_torn(void **state) {
    (void)state;
    enum { TRIES = 20000 };
    unsigned unnoticed = 0;
    for (uint32_t k = 0; k < TRIES; k++) {
        GrEntry a = some(k), b = some(k + 77777), out = {0};
        uint64_t word = gr_word_of(&a), other = gr_word_of(&b);
        unnoticed += word != other && gr_word_read(word, gr_word_more(&b, other), &out);
    }
    assert_true(unnoticed < TRIES / 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_no_wrap),
        cmocka_unit_test(test_torn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
