// SPDX-License-Identifier: Apache-2.0
// test_sweep — launches that nothing remembers are given back, and the numbers of their blocks go on.
#include "engines/exact/order/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { LAUNCHES = 3000, BLOCKS = 7, SWEPT_EVERY = 50 };

static void sweep(Order *o) {
    Sweep s;
    gr_order_mark_begin(o);
    gr_order_sweep(o, &s);
    gr_order_sweep_end(&s);
}

// One launch of that many blocks, whose numbers are all new and say which block is meant.
static void launch(Order *o, uint64_t number, unsigned blocks, uint64_t *last) {
    VmLaunchEvent e = {.launch = number, .grid = {blocks, 1, 1}, .block = {64, 1, 1}, .cluster = {1, 1, 1}};
    gr_order_expect(o, number, NULL);
    Launch *l = gr_order_launch_begin(o, &e);
    assert_non_null(l);
    for (unsigned k = 0; k < blocks; k++) {
        Block *b = gr_order_block_begin(o, l, k);
        assert_non_null(b);
        assert_true(b->id > *last);
        *last = b->id;
        assert_int_equal(gr_order_info(o, b->id)->linear, k);
        assert_int_equal(gr_order_info(o, b->id)->launch, l->index);
    }
    for (unsigned k = 0; k < blocks; k++)
        gr_order_block_end(o, gr_order_block(l, k));
    gr_order_launch_end(o, l, false);
    assert_ptr_equal(gr_order_told(o, number), l);
    gr_order_had_turn(l, (WorkTurn){1, (uint32_t)number});
}

static void launches(Order *o, unsigned blocks, bool waits) {
    uint64_t last = o->next_id ? o->next_id - 1 : 0;
    for (unsigned k = 1; k <= LAUNCHES; k++) {
        launch(o, k, blocks, &last);
        if (k % SWEPT_EVERY == 0)
            sweep(o);
        if (k % SWEPT_EVERY == 0) {
            assert_true(o->infos.len <= 1);
            assert_true(o->first_info <= o->next_id >> INFO_SHIFT);
            assert_int_equal(o->active.len, 0);
        }
        if (waits && k % (3 * SWEPT_EVERY) == 0)
            gr_order_settle(o);
    }
    assert_false(o->nomem);
}

static void test_nothing_remembered(void **state) {
    (void)state;
    for (unsigned blocks = 1; blocks <= BLOCKS; blocks += 3) {
        Order o = {0};
        launches(&o, blocks, false);
        gr_order_free(&o);
    }
}

static void test_waits(void **state) {
    (void)state;
    Order o = {0};
    launches(&o, 1, true);
    gr_order_free(&o);
}

// The number that is next may be the first of a page that is not there yet.
static void test_full_page(void **state) {
    (void)state;
    Order o = {0};
    uint64_t last = 0;
    for (uint64_t k = 1; k < INFO_BLOCKS; k++)
        launch(&o, k, 1, &last);
    assert_int_equal(o.next_id % INFO_BLOCKS, 0);
    sweep(&o);
    sweep(&o);
    launch(&o, INFO_BLOCKS, 1, &last);
    sweep(&o);
    assert_int_equal(o.infos.len, 1);
    gr_order_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_remembered),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_full_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
