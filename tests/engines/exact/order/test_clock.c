// SPDX-License-Identifier: Apache-2.0
// test_clock — clocks against a plain array, and that they share what they can.
#include "engines/core/clock.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS = 600, CLOCKS = 24, STEPS = 20000 };

typedef struct Plain {
    uint32_t v[KEYS];
} Plain;

// Every second is of a lane of some warp; of the others few digits differ between neighbours, so deep nodes occur.
// Some stand apart.
static uint64_t key_of(unsigned k) {
    if (k % 2)
        return (uint64_t)(k / 64 + 1000) << 8 | (uint64_t)(k / 2 % 32) << 3 | 1 |
               (k % 128 > 100 ? GR_CLOCK_APART : 0);
    return (uint64_t)k * (k % 3 ? 1 : UINT64_C(0x100000001)) << (k % 5 * 9) | (k % 7 ? 0 : GR_CLOCK_APART);
}

static void count(void *user, uint64_t key, uint32_t v) {
    (void)v;
    Plain *p = user;
    for (unsigned k = 0; k < KEYS; k++)
        if (key_of(k) == key)
            p->v[k]++;
}

static void same(const Clock *c, const Plain *p) {
    Plain seen = {{0}};
    for (unsigned k = 0; k < KEYS; k++)
        assert_int_equal(gr_clock_get(c, key_of(k)), p->v[k]);
    gr_clock_each(c, count, &seen);
    for (unsigned k = 0; k < KEYS; k++)
        assert_true(seen.v[k] == (p->v[k] != 0) || (k && key_of(k) == 0) || k == 0);
}

static bool is_apart(unsigned k) { return key_of(k) >> 63; }

// The part that stands apart has its entries and no others.
static void parts(Clock *c, const Plain *p) {
    Clock *apart = gr_clock_apart(c);
    for (unsigned k = 0; k < KEYS; k++)
        assert_int_equal(gr_clock_get(apart, key_of(k)), is_apart(k) ? p->v[k] : 0);
    Clock *same_again = gr_clock_apart(apart), *all = gr_clock_join(c, apart);
    assert_ptr_equal(same_again, apart);
    assert_ptr_equal(all, c);
    gr_clock_release(same_again);
    gr_clock_release(all);
    gr_clock_release(apart);
}

static void note_change(void *user, uint64_t key, uint32_t v) {
    Plain *p = user;
    for (unsigned k = 0; k < KEYS; k++)
        if (key_of(k) == key)
            p->v[k] = v;
}

// What `now` says more than `old` is told, and nothing else.
static void changed(const Clock *old, const Plain *was, const Clock *now, const Plain *is) {
    Plain told = {{0}};
    gr_clock_changes(old, now, note_change, &told);
    for (unsigned k = 1; k < KEYS; k++)
        assert_int_equal(told.v[k], is->v[k] > was->v[k] ? is->v[k] : 0);
}

static bool includes(const Plain *a, const Plain *b) {
    for (unsigned k = 0; k < KEYS; k++)
        if (a->v[k] < b->v[k])
            return false;
    return true;
}

static void random_clocks(void **state) {
    (void)state;
    static Clock *c[CLOCKS];
    static Plain p[CLOCKS];
    Rng rng = gr_rng(7);
    memset(p, 0, sizeof p);
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned x = gr_rng_below(&rng, CLOCKS), y = gr_rng_below(&rng, CLOCKS),
                 z = gr_rng_below(&rng, CLOCKS);
        unsigned what = gr_rng_below(&rng, 16);
        Clock *n;
        if (what == 0) { // begin anew
            n = NULL;
            memset(&p[z], 0, sizeof p[z]);
        } else if (what < 10) {
            unsigned k = gr_rng_below(&rng, what < 6 ? 40 : KEYS);
            uint32_t v = gr_rng_below(&rng, 50);
            n = gr_clock_with(c[x], key_of(k), v);
            p[z] = p[x];
            if (p[z].v[k] < v)
                p[z].v[k] = v;
            else
                assert_ptr_equal(n, c[x]);
        } else {
            n = gr_clock_join(c[x], c[y]);
            Plain both = p[x];
            for (unsigned k = 0; k < KEYS; k++)
                if (both.v[k] < p[y].v[k])
                    both.v[k] = p[y].v[k];
            if (includes(&p[x], &p[y]))
                assert_true(n == c[x] || (includes(&p[y], &p[x]) && n == c[y]));
            else if (includes(&p[y], &p[x]))
                assert_ptr_equal(n, c[y]);
            if (step % 50 == 0) {
                changed(c[x], &p[x], n, &both);
                changed(c[y], &p[y], n, &both);
            }
            p[z] = both;
        }
        gr_clock_release(c[z]);
        c[z] = n;
        if (step % 50 == 0) {
            same(c[z], &p[z]);
            parts(c[z], &p[z]);
        }
    }
    for (unsigned k = 0; k < CLOCKS; k++) {
        same(c[k], &p[k]);
        gr_clock_release(c[k]);
    }
}

static bool is_low(void *user, uint64_t key) {
    const uint64_t *below = user;
    return key < *below;
}

// What is left of two clocks that share nearly all of their nodes.
static void left_out(void **state) {
    (void)state;
    for (uint64_t below = 0; below < 4000; below += 93) {
        Clock *c[2] = {NULL, NULL};
        for (uint64_t k = 0; k < 500; k++) {
            Clock *n = gr_clock_with(c[0], k * 8, (uint32_t)k + 1);
            gr_clock_release(c[0]);
            c[0] = n;
        }
        c[1] = gr_clock_with(c[0], 16, 1000);
        ClockFilter f = {.keep = is_low, .user = &below};
        for (unsigned i = 0; i < 2; i++)
            gr_clock_filter(&f, &c[i]);
        gr_clock_filter_end(&f);
        for (uint64_t k = 0; k < 500; k++)
            for (unsigned i = 0; i < 2; i++)
                assert_int_equal(gr_clock_get(c[i], k * 8), k * 8 >= below ? 0 : i && k == 2 ? 1000 : k + 1);
        Clock *both = gr_clock_join(c[0], c[1]);
        assert_ptr_equal(both, c[1]);
        gr_clock_release(both);
        for (unsigned i = 0; i < 2; i++)
            gr_clock_release(c[i]);
    }
    assert_int_equal(gr_clock_bytes(), 0);
}

static void sharing(void **state) {
    (void)state;
    Clock *a = NULL;
    for (unsigned k = 1; k <= 1000; k++) {
        Clock *n = gr_clock_with(a, k, k);
        gr_clock_release(a);
        a = n;
    }
    Clock *b = gr_clock_with(a, 5, 77), *old = gr_clock_join(b, a), *other = gr_clock_join(a, b);
    assert_ptr_equal(old, b);
    assert_ptr_equal(other, b);
    assert_int_equal(gr_clock_get(a, 5), 5);
    assert_int_equal(gr_clock_get(b, 5), 77);
    assert_int_equal(gr_clock_get(b, 1001), 0);
    assert_null(gr_clock_join(NULL, NULL));
    assert_false(gr_clock_starved());
    gr_clock_release(old);
    gr_clock_release(other);
    gr_clock_release(b);
    gr_clock_release(a);
}

static Clock *of_streams(unsigned n) {
    Clock *c = NULL;
    for (unsigned k = 1; k <= n; k++)
        gr_clock_add(&c, (uint64_t)k << 3 | 3, 1);
    return c;
}

// The host learns again what it knows, from a stream that knows a little more: then it has that stream's nodes, which
// others have, too. A copy of its own would make every further wait for one of them look at all of it.
static void shared_by_the_host(void **state) {
    (void)state;
    enum { STREAMS = 2000, FEW = 4096 }; // bytes: the nodes on the way to the host's own key
    Clock *host = of_streams(STREAMS), *stream = of_streams(STREAMS + 1);
    gr_clock_add(&host, 1 << 20, 1);
    gr_clock_merge(&host, stream);
    uint64_t both = gr_clock_bytes();
    gr_clock_take(&host, NULL);
    uint64_t alone = gr_clock_bytes();
    gr_clock_take(&stream, NULL);
    assert_in_range(both - alone, 1, FEW);
    assert_in_range(alone, 2 * FEW, UINT32_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_clocks), cmocka_unit_test(left_out),
                                       cmocka_unit_test(sharing), cmocka_unit_test(shared_by_the_host)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
