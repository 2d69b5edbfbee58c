// SPDX-License-Identifier: Apache-2.0
// test_first — of what is found under one name, the one that comes first in the program has the greatest key, and the
// key gives it back.
#include "engines/privatizer/device/first.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// In order, each later than the one before.
static const GrPrivFound differing[] = {
    {.kind = GR_FOUND_WRITES, .bytes = 4},
    {.kind = GR_FOUND_WRITES, .bytes = 4, .offset = 1},
    {.kind = GR_FOUND_WRITES, .bytes = 1, .offset = (UINT64_C(1) << 31) - 1},
    {.kind = GR_FOUND_WRITES, .bytes = 4, .block = 1},
    {.kind = GR_FOUND_WRITES, .bytes = 4, .block = 1, .offset = 8},
    {.kind = GR_FOUND_WRITES, .bytes = 4, .block = (1 << 20) - 1, .offset = 3},
    {.kind = GR_FOUND_WRITES, .bytes = 4, .sequence = 1},
    {.kind = GR_FOUND_WRITES, .bytes = 4, .sequence = 2, .block = 7, .offset = 5},
    {.kind = GR_FOUND_WRITES,
     .bytes = 4,
     .sequence = (1 << 13) - 1,
     .block = (1 << 20) - 1,
     .offset = 1 << 30},
};
static const GrPrivFound lanes[] = {
    {.kind = GR_FOUND_LANES, .copy = {0, 1}, .bytes = 4},
    {.kind = GR_FOUND_LANES, .copy = {0, 1}, .bytes = 4, .offset = 4},
    {.kind = GR_FOUND_LANES, .copy = {0, 31}, .bytes = 4},
    {.kind = GR_FOUND_LANES, .copy = {40, 33}, .bytes = 4},
    {.kind = GR_FOUND_LANES, .copy = {1023, 992}, .bytes = 4, .offset = (UINT64_C(1) << 30) - 1},
    {.kind = GR_FOUND_LANES, .copy = {0, 1}, .bytes = 4, .block = 1},
    {.kind = GR_FOUND_LANES, .copy = {5, 6}, .bytes = 4, .block = (1 << 18) - 1},
    {.kind = GR_FOUND_LANES, .copy = {0, 1}, .bytes = 4, .same = 1},
    {.kind = GR_FOUND_LANES, .copy = {2, 3}, .bytes = 4, .block = 9, .same = 1},
};

static void are_in_order(const GrPrivFound *f, unsigned n) {
    for (unsigned k = 0; k < n; k++) {
        GrPrivFound taken = {
            .kind = f[k].kind, .bytes = f[k].bytes, .offset = 99, .block = 99, .copy = {77, 78}};
        taken.first = gr_first_key(&f[k]);
        assert_true(taken.first);
        if (k)
            assert_true(taken.first < gr_first_key(&f[k - 1]));
        gr_first_take(&taken);
        assert_int_equal(taken.offset, f[k].offset);
        assert_int_equal(taken.block, f[k].block);
        assert_int_equal(taken.sequence, f[k].sequence);
        assert_int_equal(taken.bytes, f[k].bytes);
        assert_int_equal(taken.same, f[k].same);
        if (f[k].kind == GR_FOUND_LANES)
            assert_memory_equal(taken.copy, f[k].copy, sizeof taken.copy);
    }
}

static void earlier_is_greater(void **state) {
    (void)state;
    are_in_order(differing, sizeof differing / sizeof *differing);
    are_in_order(lanes, sizeof lanes / sizeof *lanes);
}

// What a thread has in registers has no place in memory, and comes behind all that has.
static void registers_come_last(void **state) {
    GrPrivFound held = {.kind = GR_FOUND_READ, .sequence = 3, .block = 2},
                placed = {.kind = GR_FOUND_READ, .sequence = 3, .block = 2, .offset = 1 << 30, .bytes = 4};
    (void)state;
    assert_true(gr_first_key(&placed) > gr_first_key(&held));
    placed.first = gr_first_key(&held);
    gr_first_take(&placed);
    assert_int_equal(placed.bytes, 0);
    assert_int_equal(placed.offset, 0);
    assert_int_equal(placed.sequence, 3);
    held.first = gr_first_key(&(GrPrivFound){.kind = GR_FOUND_READ, .sequence = 1, .offset = 12, .bytes = 8});
    gr_first_take(&held);
    assert_int_equal(held.offset, 12);
    assert_int_equal(held.bytes, 1);
}

static void what_does_not_fit_has_no_key(void **state) {
    static const GrPrivFound wide[] = {{.kind = GR_FOUND_WRITES, .sequence = 1 << 13},
                                       {.kind = GR_FOUND_WRITES, .block = 1 << 20},
                                       {.kind = GR_FOUND_READ, .bytes = 1, .offset = UINT64_C(1) << 31},
                                       {.kind = GR_FOUND_LANES, .block = 1 << 18},
                                       {.kind = GR_FOUND_LANES, .copy = {1024, 1025}},
                                       {.kind = GR_FOUND_LANES, .offset = UINT64_C(1) << 30}};
    (void)state;
    for (unsigned k = 0; k < sizeof wide / sizeof *wide; k++) {
        GrPrivFound f = wide[k];
        assert_int_equal(f.first = gr_first_key(&f), 0);
        gr_first_take(&f);
        assert_memory_equal(&f, &wide[k], sizeof f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(earlier_is_greater),
        cmocka_unit_test(registers_come_last),
        cmocka_unit_test(what_does_not_fit_has_no_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
