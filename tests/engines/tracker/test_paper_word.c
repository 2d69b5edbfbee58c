// SPDX-License-Identifier: Apache-2.0
// The words of the rules of the iGUARD paper: what goes in comes out, counters wrap at the paper's widths, and the lock
// table of figure 7.
#include "engines/tracker/device/paper_word.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// A field of an entry, its width, and which side has it (2: both).
typedef struct Field {
    const char *name;
    size_t at;
    unsigned bits;
    int side;
} Field;

#define FIELD(name, bits, side)                                                                              \
    { #name, offsetof(GrPaperSide, name), bits, side }
static const Field fields[] = {
    FIELD(bytes, 4, 2),  FIELD(block, 21, 2),     FIELD(tid, 10, 2),       FIELD(dev, 6, 2),
    FIELD(blk, 6, 2),    FIELD(bar, 8, 2),        FIELD(warp_bar, 6, 2),   FIELD(locks, 16, 2),
    FIELD(site, 16, 2),  FIELD(strength, 3, 2),   FIELD(launch, 20, 2),    FIELD(atomic, 1, 2),
    FIELD(narrow, 1, 0), FIELD(dev_shared, 1, 1), FIELD(blk_shared, 1, 1), FIELD(writes, 1, 2),
};
enum { FIELDS = sizeof fields / sizeof *fields };

static uint32_t get(const GrPaperSide *s, const Field *f) {
    uint32_t v;
    memcpy(&v, (const char *)s + f->at, sizeof v);
    return v;
}

static void set(GrPaperSide *s, const Field *f, uint32_t v) { memcpy((char *)s + f->at, &v, sizeof v); }

static void there_and_back(const GrPaperSide *in, int side) {
    GrPaperSide out, wanted = *in;
    uint64_t word = gr_paper_word_of(in, side), more = gr_paper_more(in, word);
    assert_true(gr_paper_whole(word, more));
    assert_true(gr_paper_read(word, more, side, in->launch, &out));
    wanted.dev_shared = side && in->dev_shared;
    wanted.blk_shared = side && in->blk_shared;
    wanted.narrow = side ? in->atomic && in->strength == GR_STRONG_CTA : in->narrow;
    for (unsigned k = 0; k < FIELDS; k++)
        assert_int_equal(get(&out, &fields[k]), get(&wanted, &fields[k]));
}

// Each field by itself at its limit, all others at 0 and all others full: no field reaches into another.
static void test_limits(void **state) {
    (void)state;
    for (int side = 0; side < 2; side++)
        for (unsigned k = 0; k < FIELDS; k++) {
            if (fields[k].side != 2 && fields[k].side != side)
                continue;
            for (int full = 0; full < 2; full++) {
                GrPaperSide in = {.bytes = 1};
                for (unsigned n = 0; full && n < FIELDS; n++)
                    set(&in, &fields[n], (1u << fields[n].bits) - 1);
                set(&in, &fields[k],
                    full && strcmp(fields[k].name, "bytes") ? 0 : (1u << fields[k].bits) - 1);
                there_and_back(&in, side);
            }
        }
}

static void test_round_trip(void **state) {
    (void)state;
    uint32_t r = 1;
    for (uint32_t n = 0; n < 100000; n++) {
        GrPaperSide in = {0};
        for (unsigned k = 0; k < FIELDS; k++) {
            r = r * 1664525u + 1013904223u;
            set(&in, &fields[k], r >> 8 & ((1u << fields[k].bits) - 1));
        }
        in.bytes = in.bytes ? in.bytes : 1;
        there_and_back(&in, (int)(n & 1));
    }
}

// The counters wrap as the paper's do; a site that does not fit is not named.
static void test_widths(void **state) {
    (void)state;
    static const struct {
        uint32_t dev, blk, bar, warp_bar;
    } cases[] = {{63, 63, 255, 63}, {64, 64, 256, 64}, {65, 65, 257, 65}};
    for (unsigned k = 0; k < 3; k++) {
        GrPaperSide in = {.bytes = 1,
                          .dev = cases[k].dev,
                          .blk = cases[k].blk,
                          .bar = cases[k].bar,
                          .warp_bar = cases[k].warp_bar,
                          .site = 65535 + k};
        GrPaperSide out;
        uint64_t word = gr_paper_word_of(&in, 1);
        assert_true(gr_paper_read(word, gr_paper_more(&in, word), 1, 0, &out));
        assert_int_equal(out.dev, (63 + k) % 64);
        assert_int_equal(out.blk, (63 + k) % 64);
        assert_int_equal(out.bar, (255 + k) % 256);
        assert_int_equal(out.warp_bar, (63 + k) % 64);
        assert_int_equal(out.site, k ? 0 : 65535);
    }
}

static void test_no_entry(void **state) {
    (void)state;
    GrPaperSide a = {.bytes = 15, .launch = 7, .tid = 1}, b = {.bytes = 15, .launch = 7, .tid = 2}, out;
    uint64_t word = gr_paper_word_of(&a, 0), other = gr_paper_word_of(&b, 0);
    assert_true(gr_paper_read(word, gr_paper_more(&a, word), 0, 7, &out));
    assert_false(gr_paper_read(word, gr_paper_more(&a, word), 0, 8, &out)); // another launch
    assert_int_equal(out.bytes, 0);
    assert_false(gr_paper_read(word, gr_paper_more(&b, other), 0, 7, &out)); // halves of two accesses
    assert_int_equal(out.bytes, 0);
    assert_false(gr_paper_read(0, 0, 0, 0, &out));
    unsigned alike = 0;
    for (uint32_t k = 0; k < 1024; k++) {
        b.tid = k;
        alike += k != a.tid && gr_paper_check(gr_paper_word_of(&b, 0)) == gr_paper_check(word);
    }
    assert_true(alike < 16); // 4 on average
}

// ---- Lock tables -----------------------------------------------------------------------------------------------

static unsigned held(uint64_t table) {
    unsigned n = 0;
    for (unsigned k = 0; k < GR_LOCKS; k++)
        n += (gr_lock_entry(table, k) & (GR_LOCK_VALID | GR_LOCK_ACTIVE)) == (GR_LOCK_VALID | GR_LOCK_ACTIVE);
    return n;
}

// Of one lock that is held.
static uint32_t bloom_of(uint64_t address) {
    return gr_lock_bloom(gr_lock_fence(gr_lock_take(0, address, 0), 0));
}

static void test_lock(void **state) {
    (void)state;
    uint64_t t = gr_lock_take(0, 0x1000, 0);
    assert_int_equal(held(t), 0); // not before a fence
    assert_int_equal(gr_lock_bloom(t), 0);
    assert_int_equal(held(gr_lock_fence(t, 1)), 0); // a narrower fence
    t = gr_lock_fence(t, 0);
    assert_int_equal(held(t), 1);
    assert_int_equal(__builtin_popcount(gr_lock_bloom(t) & 0xff), 1);
    assert_int_equal(__builtin_popcount(gr_lock_bloom(t) >> 8), 1);
    assert_int_equal(held(gr_lock_give(t, 0x1004, 0)), 1); // another lock
    assert_int_equal(held(gr_lock_give(t, 0x1000, 1)), 1); // another scope
    assert_int_equal(gr_lock_give(t, 0x1000, 0), 0);
    assert_int_equal(held(gr_lock_take(t, 0x1000, 0)), 0); // it is tried again
    t = gr_lock_fence(gr_lock_take(0, 0x1000, 1), 1);
    assert_int_equal(held(t), 1); // a lock of the block's scope needs no wider fence
    assert_int_equal(held(gr_lock_fence(gr_lock_take(0, 0x1000, 1), 0)), 1);
}

// Locks at all usual distances are told apart, and one that is held by both is found whatever else they hold.
static void test_common(void **state) {
    (void)state;
    static const unsigned strides[] = {1,  2,  3,   4,   8,   16,  31,   32,   33,   63,
                                       64, 65, 128, 255, 256, 512, 1024, 4096, 16384};
    for (uint64_t at = 0x7f0000000000; at < 0x7f0000000000 + 4096; at += 256)
        for (unsigned k = 0; k < sizeof strides / sizeof *strides; k++) {
            uint64_t other = at + 4 * strides[k];
            assert_false(gr_lock_common(bloom_of(at), bloom_of(other)));
            assert_true(gr_lock_common(bloom_of(at), bloom_of(at) | bloom_of(other)));
        }
    assert_false(gr_lock_common(0x101, 0x201)); // one bit is not enough
    assert_false(gr_lock_common(0x101, 0x102));
    assert_false(gr_lock_common(0, 0x101));
    assert_true(gr_lock_common(0x101, 0x703));
}

static void test_three_locks(void **state) {
    (void)state;
    uint64_t t = UINT64_C(1) << GR_LOCK_THREAD_BIT;
    for (uint64_t k = 0; k < 3; k++)
        t = gr_lock_take(t, 0x1000 + k * 36, 0);
    t = gr_lock_fence(t, 0);
    assert_int_equal(held(t), 3);
    assert_int_equal(gr_lock_bloom(t), bloom_of(0x1000) | bloom_of(0x1000 + 36) | bloom_of(0x1000 + 72));
    uint64_t fewer = gr_lock_give(t, 0x1000 + 36, 0);
    assert_int_equal(gr_lock_bloom(fewer), bloom_of(0x1000) | bloom_of(0x1000 + 72));
    assert_int_equal(held(gr_lock_fence(gr_lock_take(fewer, 0x2000, 0), 0)), 3);
    assert_int_equal(held(gr_lock_take(t, 0x2004, 0)), 2); // a fourth drives out one of three
    assert_int_equal(t >> GR_LOCK_THREAD_BIT, 1);
    assert_int_equal(fewer >> GR_LOCK_THREAD_BIT, 1);
}

static void test_hash(void **state) {
    (void)state;
    assert_int_equal(gr_lock_hash(0), gr_lock_hash(3)); // one word
    assert_int_not_equal(gr_lock_hash(0), gr_lock_hash(4));
    assert_int_equal(gr_lock_hash(4), gr_lock_hash(4 + (4u << GR_LOCK_HASH_BITS))); // 1 MiB apart
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits), cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_widths), cmocka_unit_test(test_no_entry),
        cmocka_unit_test(test_lock),   cmocka_unit_test(test_three_locks),
        cmocka_unit_test(test_common), cmocka_unit_test(test_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
