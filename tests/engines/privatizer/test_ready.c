// SPDX-License-Identifier: Apache-2.0
// test_ready — the memory of a launch as a copy of it is laid out; which lines of it are made ready, or have copies of
// their own; and what a launch is expected to find again.
#include "engines/privatizer/races.h"
#include "engines/privatizer/ready.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ARENA = 1 << 20 };

static const GrArena arena = {.base = ARENA, .size = ARENA};

typedef struct Made {
    Ranges ranges;
    Layout layout;
    Proved proved;
    Passes passes;
} Made;

static void add(Made *m, uint64_t at, uint64_t size, GrRangeKind kind) {
    assert_true(gr_ranges_add(&m->ranges, &(GrRange){.at = at, .size = size, .kind = kind}));
}

static void lay_out(Made *m, uint64_t shared) {
    assert_true(gr_layout_make(&m->ranges, NULL, &arena, shared, NULL, 0, &m->layout));
    m->passes = (Passes){.layout = &m->layout, .proved = &m->proved};
}

static void drop(Made *m) {
    gr_layout_free(&m->layout);
    gr_vec_free(&m->ranges.list);
}

static uint64_t edges(const Layout *l) {
    uint64_t n = 0;
    for (size_t k = 0; k < l->edges.len; k++)
        n += l->edges.data[k].n;
    return n;
}

// Of 300 bytes from 64 on: lines 0 and 2 are not wholly the program's, line 1 is.
static void lines_that_are_in_part_the_programs_are_edges(void **state) {
    Made m = {0};
    (void)state;
    add(&m, ARENA + 64, 300, GR_RANGE_DEVICE);
    lay_out(&m, 200);
    assert_int_equal(m.layout.shared_bytes, 256);
    assert_int_equal(m.layout.arena, ARENA);
    assert_int_equal(m.layout.arena_bytes, 3 * GR_LINE);
    assert_int_equal(m.layout.span, 256 + 3 * GR_LINE);
    assert_int_equal(edges(&m.layout), 2);
    assert_int_equal(gr_layout_address(&m.layout, 100), 100);
    assert_int_equal(gr_layout_address(&m.layout, 256 + 63), 0);
    assert_int_equal(gr_layout_address(&m.layout, 256 + 64), ARENA + 64);
    assert_int_equal(gr_layout_address(&m.layout, 256 + 363), ARENA + 363);
    assert_int_equal(gr_layout_address(&m.layout, 256 + 364), 0);
    drop(&m);
}

static void whole_lines_that_may_be_written_are_made_ready(void **state) {
    Made m = {0};
    GrPrivSpan spans[GR_SPANS];
    uint64_t all;
    (void)state;
    add(&m, ARENA + 64, 300, GR_RANGE_DEVICE);                   // line 1
    add(&m, ARENA + 4 * GR_LINE, 2 * GR_LINE, GR_RANGE_DEVICE);  // two, which are only read
    add(&m, ARENA + 8 * GR_LINE, 3 * GR_LINE, GR_RANGE_MANAGED); // three that the host may have
    add(&m, 8 * ARENA + 4, 2 * GR_LINE, GR_RANGE_DEVICE);        // outside: one, and two parts
    lay_out(&m, 0);
    m.proved.only_read[0] = (GrPrivProved){ARENA + 4 * GR_LINE, 2 * GR_LINE};
    assert_int_equal(gr_ready_spans(&m.passes, GR_OF_BLOCKS, spans), 2);
    assert_int_equal(spans[0].at, ARENA + GR_LINE);
    assert_int_equal(spans[0].first, 1);
    assert_int_equal(spans[0].lines, 1);
    assert_int_equal(spans[1].lines, 1);
    assert_int_equal(gr_layout_address(&m.layout, (uint64_t)spans[1].first * GR_LINE), spans[1].at);
    all = gr_ready_number(&m.passes, GR_OF_BLOCKS);
    m.proved.only_written[0][0] = (GrPrivProved){ARENA + 64, 300}; // by blocks, each elsewhere
    assert_int_equal(gr_ready_spans(&m.passes, GR_OF_BLOCKS, spans), 1);
    assert_int_equal(gr_ready_spans(&m.passes, GR_OF_WARPS, spans), 2);
    assert_int_equal(gr_ready_number(&m.passes, GR_OF_WARPS), all);
    assert_int_not_equal(gr_ready_number(&m.passes, GR_OF_BLOCKS), all);
    drop(&m);
}

static void too_many_pieces_or_lines_are_not_made_ready(void **state) {
    Made pieces = {0}, lines = {0};
    GrPrivSpan spans[GR_SPANS];
    (void)state;
    for (unsigned k = 0; k < GR_SPANS + 1; k++)
        add(&pieces, ARENA + 4ull * k * GR_LINE, GR_LINE, GR_RANGE_DEVICE);
    lay_out(&pieces, 0);
    assert_int_equal(gr_ready_spans(&pieces.passes, GR_OF_BLOCKS, spans), 0);
    pieces.proved.only_read[0] = (GrPrivProved){ARENA, GR_LINE};
    assert_int_equal(gr_ready_spans(&pieces.passes, GR_OF_BLOCKS, spans), GR_SPANS);
    drop(&pieces);
    add(&lines, 64 * ARENA, (GR_MOST_READY + 1ull) * GR_LINE, GR_RANGE_DEVICE);
    lay_out(&lines, 0);
    assert_int_equal(gr_ready_spans(&lines.passes, GR_OF_BLOCKS, spans), 0);
    drop(&lines);
}

// Lines in part, too, if no other memory lies between.
static void a_window_is_one_piece_of_the_arena(void **state) {
    Made m = {0}, apart = {0}, outside = {0};
    GrPrivSpan spans[GR_SPANS];
    (void)state;
    add(&m, ARENA + 64, 300, GR_RANGE_DEVICE);
    add(&m, ARENA + 512, 100, GR_RANGE_DEVICE);
    lay_out(&m, 256);
    assert_int_equal(gr_window_spans(&m.passes, GR_OF_BLOCKS, spans), 5);
    assert_int_equal(spans[0].at, ARENA);
    assert_int_equal(spans[0].first, 2);
    drop(&m);
    add(&apart, ARENA, 256, GR_RANGE_DEVICE);
    add(&apart, ARENA + 1024, 256, GR_RANGE_DEVICE);
    lay_out(&apart, 0);
    assert_int_equal(gr_window_spans(&apart.passes, GR_OF_BLOCKS, spans), 0);
    apart.proved.only_read[0] = (GrPrivProved){ARENA, 256};
    assert_int_equal(gr_window_spans(&apart.passes, GR_OF_BLOCKS, spans), 2);
    drop(&apart);
    add(&outside, 8 * ARENA, 256, GR_RANGE_DEVICE);
    lay_out(&outside, 0);
    assert_int_equal(gr_window_spans(&outside.passes, GR_OF_BLOCKS, spans), 0);
    drop(&outside);
}

static void what_is_not_due_is_expected(void **state) {
    Made m = {0};
    KnownRaces known = {0};
    GrPrivExpected e;
    PassPlan plan = {.mode = GR_OF_WARPS, .rounds = 1};
    (void)state;
    add(&m, ARENA, 256, GR_RANGE_DEVICE);
    lay_out(&m, 0);
    uint64_t layout = gr_layout_number(&m.layout);
    const Known all[] = {
        {.mode = GR_OF_WARPS, .kind = GR_FOUND_READ, .region = 3, .part = 5, .layout = layout, .launches = 2},
        {.mode = GR_OF_WARPS, .kind = GR_FOUND_WRITES, .layout = layout, .launches = 3}, // its fourth is due
        {.mode = GR_OF_WARPS, .kind = GR_FOUND_WRITES, .layout = layout + 1, .launches = 2},
        {.mode = GR_OF_BLOCKS, .kind = GR_FOUND_WRITES, .layout = layout, .launches = 2},
        {.mode = GR_OF_WARPS, .kind = GR_FOUND_LANES, .layout = layout, .launches = 2},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        assert_true(gr_vec_push(&known, all[k]));
    gr_races_expect(&m.passes, &plan, &known, &e);
    assert_int_equal(e.n, 1);
    assert_int_equal(e.of[0].kind, GR_FOUND_READ);
    assert_int_equal(e.of[0].region, 3);
    assert_int_equal(e.of[0].part, 5);
    assert_int_equal(e.of[0].known, 0);
    for (unsigned k = 0; k < 2 * GR_MOST_EXPECTED; k++)
        assert_true(gr_vec_push(&known, all[0]));
    gr_races_expect(&m.passes, &plan, &known, &e);
    assert_int_equal(e.n, GR_MOST_EXPECTED);
    known.len = 1; // what other layouts have, too, if this one has nothing of its own
    Known others = all[0];
    others.others = true;
    others.layout = layout + 1;
    assert_true(gr_vec_push(&known, others));
    gr_races_expect(&m.passes, &plan, &known, &e);
    assert_int_equal(e.n, 1);
    assert_int_equal(e.of[0].known, 0);
    known.data[0].layout = layout + 2;
    gr_races_expect(&m.passes, &plan, &known, &e);
    assert_int_equal(e.n, 1);
    assert_int_equal(e.of[0].known, 1);
    known.data[0].layout = layout;
    plan.rounds = 2; // which round it was is not compared
    gr_races_expect(&m.passes, &plan, &known, &e);
    assert_int_equal(e.n, 0);
    gr_races_free(&known);
    drop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_that_are_in_part_the_programs_are_edges),
        cmocka_unit_test(whole_lines_that_may_be_written_are_made_ready),
        cmocka_unit_test(too_many_pieces_or_lines_are_not_made_ready),
        cmocka_unit_test(a_window_is_one_piece_of_the_arena),
        cmocka_unit_test(what_is_not_due_is_expected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
