// SPDX-License-Identifier: Apache-2.0
// shapes — which words of a line the lanes of a run touch (shadow.h).
#ifndef GR_ENGINES_EXACT_SHAPES_H
#define GR_ENGINES_EXACT_SHAPES_H

#include "engines/exact/shadow.h"

#include <string.h>

// The bytes of each lane; `size`: of the stamp, which only FORM_SAME asks for.
static inline int gr_shape_bytes(Shape shape, uint32_t size) {
    Form form = gr_shape_form(shape);
    return form < FORM_SAME ? 1 << form : form == FORM_SAME ? (int)size : LINE_BYTES;
}

static inline bool gr_shape_is_words(Shape shape) {
    return gr_shape_form(shape) == FORM_STEP2 && gr_shape_stride(shape) == CELL_BYTES;
}

// The words of the line that the lanes touch, a bit for each.
static inline uint32_t gr_shape_words(Shape shape, uint32_t lanes, uint32_t size) {
    int base = gr_shape_base(shape), step = gr_shape_stride(shape), bytes = gr_shape_bytes(shape, size);
    if (gr_shape_is_words(shape))
        return base >= 0 ? lanes << (base / CELL_BYTES) : lanes >> (-base / CELL_BYTES);
    uint32_t words = 0;
    for (uint32_t m = lanes; m; m = step ? m & (m - 1) : 0) {
        int from = base + __builtin_ctz(m) * step, last = (from + bytes - 1) / CELL_BYTES;
        uint32_t up = last >= LINE_CELLS - 1 ? UINT32_MAX : (UINT32_C(1) << (last + 1)) - 1;
        words |= up & UINT32_MAX << from / CELL_BYTES;
    }
    return words;
}

// Those of the lanes that touch each word of the line.
static inline void gr_shape_by_word(Shape shape, uint32_t lanes, uint32_t size, uint32_t by[LINE_CELLS]) {
    int base = gr_shape_base(shape), step = gr_shape_stride(shape), bytes = gr_shape_bytes(shape, size);
    memset(by, 0, LINE_CELLS * sizeof *by);
    for (uint32_t m = lanes; m; m = step ? m & (m - 1) : 0) {
        int from = base + __builtin_ctz(m) * step;
        for (int w = from / CELL_BYTES; w * CELL_BYTES < from + bytes && w < LINE_CELLS; w++)
            by[w] |= step ? m & -m : lanes;
    }
}

// Those of the lanes that touch some of the words.
static inline uint32_t gr_shape_lanes_at(Shape shape, uint32_t lanes, uint32_t size, uint32_t words) {
    int base = gr_shape_base(shape);
    if (!gr_shape_stride(shape))
        return gr_shape_words(shape, lanes, size) & words ? lanes : 0;
    if (gr_shape_is_words(shape))
        return lanes & (base >= 0 ? words >> (base / CELL_BYTES) : words << (-base / CELL_BYTES));
    uint32_t at = 0;
    for (uint32_t m = lanes; m; m &= m - 1)
        at |= gr_shape_words(shape, m & -m, size) & words ? m & -m : 0;
    return at;
}

#endif
