// SPDX-License-Identifier: Apache-2.0
// test_shapes — which words of a line the lanes of a run touch, for all forms, lane by lane and byte by byte.
#include "base/rng.h"
#include "engines/exact/shapes.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { ROUNDS = 20000 };

// The first byte that the lane touches, by the words of shadow.h.
static int byte_of(Shape shape, uint32_t lane) {
    int base = gr_shape_base(shape), stride = gr_shape_stride(shape);
    switch (gr_shape_form(shape)) {
    case FORM_SAME:
    case FORM_WHOLE: return base;
    case FORM_PAIR: return lane < 16 ? base : base + stride;
    case FORM_TWICE: return base + stride * (int)(lane % 16);
    default: return base + stride * (int)lane;
    }
}

// A shape, some lanes that lie in the line, and the bytes of each.
static Shape draw(uint64_t r, uint32_t *lanes, uint32_t *size) {
    Form form = (Form)(r % 8);
    *size = UINT32_C(1) << (r >> 8) % 5;
    unsigned at = (unsigned)(r >> 16) % (LINE_BYTES / *size) * *size;
    Shape shape;
    if (form <= FORM_STEP4) {
        unsigned stride = (1u << form) * (1 + (unsigned)(r >> 24) % 3);
        *size = 1u << form;
        shape = gr_shape_strided(form, stride, (int)(at & ~(*size - 1)) - (int)(stride * ((r >> 32) % 32)));
    } else if (form == FORM_SAME) {
        shape = gr_shape(FORM_SAME, (int)at);
    } else if (form == FORM_WHOLE) {
        *size = LINE_BYTES;
        shape = gr_shape(FORM_WHOLE, 0);
    } else if (r >> 24 & 1) {
        shape = gr_shape_strided(FORM_PAIR, (unsigned)(r >> 32) % (LINE_BYTES / *size) * *size, (int)at);
    } else {
        shape = gr_shape_strided(FORM_TWICE, *size, (int)at);
    }
    for (uint32_t l = 0; l < LANES; l++) {
        int from = byte_of(shape, l);
        if (from < 0 || from + (int)*size > LINE_BYTES)
            *lanes &= ~(UINT32_C(1) << l);
    }
    return shape;
}

static void tell_words(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (unsigned n = 0; n < ROUNDS; n++) {
        uint64_t r = gr_mix64(seed += UINT64_C(0x9e3779b97f4a7c15)), more = gr_mix64(r + 1);
        uint32_t lanes = (uint32_t)more, asked = (uint32_t)(more >> 32), size, by[LINE_CELLS];
        Shape shape = draw(r, &lanes, &size);
        if (gr_shape_form(shape) == FORM_WHOLE)
            lanes &= 1;
        if (!lanes)
            continue;
        uint32_t theirs[LINE_CELLS] = {0}, words = 0, at = 0;
        for (uint32_t m = lanes; m; m &= m - 1) {
            int from = byte_of(shape, (uint32_t)__builtin_ctz(m));
            for (int b = from; b < from + (int)size; b++)
                theirs[b / CELL_BYTES] |= m & -m;
        }
        for (unsigned w = 0; w < LINE_CELLS; w++) {
            words |= (uint32_t)(theirs[w] != 0) << w;
            at |= asked >> w & 1 ? theirs[w] : 0;
        }
        assert_int_equal(gr_shape_words(shape, lanes, size), words);
        assert_int_equal(gr_shape_lanes_at(shape, lanes, size, asked), at);
        gr_shape_by_word(shape, lanes, size, by);
        assert_memory_equal(by, theirs, sizeof by);
        for (uint32_t left = lanes, together; left; left &= ~together) {
            together = gr_shape_together(shape, left);
            int from = byte_of(shape, (uint32_t)__builtin_ctz(left));
            for (uint32_t m = left; m; m &= m - 1) // distances of 0 may be found apart
                assert_true(!(together & m & -m) || byte_of(shape, (uint32_t)__builtin_ctz(m)) == from);
            assert_true(together & left & -left);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tell_words)};
    return cmocka_run_group_tests_name("shapes", tests, NULL, NULL);
}
