// SPDX-License-Identifier: Apache-2.0
// shapes — which words of a line the lanes of a run touch (shadow.h).
#ifndef GR_ENGINES_EXACT_SHAPES_H
#define GR_ENGINES_EXACT_SHAPES_H

#include "engines/exact/shadow.h"

#include <string.h>

// The bytes of each lane; `size`: the stamp's, which only FORM_SAME and halves need.
static inline int gr_shape_bytes(Shape shape, uint32_t size) {
    Form form = gr_shape_form(shape);
    return form < FORM_SAME ? 1 << form : form == FORM_WHOLE ? LINE_BYTES : (int)size;
}

// Each lane, or two lanes of FORM_TWICE, has a word; the words lie side by side.
static inline bool gr_shape_is_words(Shape shape) {
    return gr_shape_stride(shape) == CELL_BYTES &&
           (gr_shape_form(shape) == FORM_STEP2 || gr_shape_form(shape) == FORM_TWICE);
}
// How the lanes of half h of the warp lie, if each lane has a word.
static inline Shape gr_shape_words_of_half(Shape shape, unsigned h) {
    bool twice = gr_shape_form(shape) == FORM_TWICE && h;
    return gr_shape(FORM_STEP2, gr_shape_base(shape) - (twice ? 16 * CELL_BYTES : 0));
}

// The bits of how many strides from the base the lanes lie.
static inline uint32_t gr_shape_places(Shape shape, uint32_t lanes) {
    switch (gr_shape_form(shape)) {
    case FORM_PAIR: return (uint32_t) !!(lanes & 0xffff) | (uint32_t) !!(lanes >> 16) << 1;
    case FORM_TWICE: return (lanes | lanes >> 16) & 0xffff;
    default: return lanes;
    }
}
static inline uint32_t gr_shape_lanes_of(Shape shape, uint32_t places) {
    switch (gr_shape_form(shape)) {
    case FORM_PAIR: return (places & 1) * 0xffffu | (places >> 1 & 1) * 0xffff0000u;
    case FORM_TWICE: return (places & 0xffff) * 0x10001u;
    default: return places;
    }
}

// The words of the line that contain the `bytes` bytes from `from` on.
static inline uint32_t gr_shape_words_from(int from, int bytes) {
    int last = (from + bytes - 1) / CELL_BYTES;
    uint32_t up = last >= LINE_CELLS - 1 ? UINT32_MAX : (UINT32_C(1) << (last + 1)) - 1;
    return up & UINT32_MAX << from / CELL_BYTES;
}

// Each number of strides is another word of the line, from `base` on.
static inline uint32_t gr_shape_words_at(int base, uint32_t places) {
    return base >= 0 ? places << (base / CELL_BYTES) : places >> (-base / CELL_BYTES);
}

// The words of the line that the lanes touch, a bit for each.
static inline uint32_t gr_shape_words(Shape shape, uint32_t lanes, uint32_t size) {
    int base = gr_shape_base(shape), step = gr_shape_stride(shape), bytes = gr_shape_bytes(shape, size);
    if (gr_shape_is_words(shape))
        return gr_shape_words_at(base, gr_shape_places(shape, lanes));
    uint32_t words = 0;
    if (gr_shape_form(shape) == FORM_PAIR)
        return (lanes & 0xffff ? gr_shape_words_from(base, bytes) : 0) |
               (lanes >> 16 ? gr_shape_words_from(base + step, bytes) : 0);
    for (uint32_t m = gr_shape_places(shape, lanes); m; m = step ? m & (m - 1) : 0)
        words |= gr_shape_words_from(base + __builtin_ctz(m) * step, bytes);
    return words;
}

// Sets for each word of the line the lanes that touch it.
static inline void gr_shape_by_word(Shape shape, uint32_t lanes, uint32_t size, uint32_t by[LINE_CELLS]) {
    int base = gr_shape_base(shape), step = gr_shape_stride(shape), bytes = gr_shape_bytes(shape, size);
    memset(by, 0, LINE_CELLS * sizeof *by);
    for (uint32_t m = gr_shape_places(shape, lanes); m; m = step ? m & (m - 1) : 0) {
        int from = base + __builtin_ctz(m) * step;
        for (int w = from / CELL_BYTES; w * CELL_BYTES < from + bytes && w < LINE_CELLS; w++)
            by[w] |= step ? lanes & gr_shape_lanes_of(shape, m & -m) : lanes;
    }
}

// The lanes that touch some of the words.
static inline uint32_t gr_shape_lanes_at(Shape shape, uint32_t lanes, uint32_t size, uint32_t words) {
    if (gr_shape_is_words(shape))
        return lanes & gr_shape_lanes_of(shape, gr_shape_words_at(-gr_shape_base(shape), words));
    uint32_t at = 0;
    for (uint32_t m = lanes, together; m; m &= ~together) {
        together = gr_shape_together(shape, m);
        at |= gr_shape_words(shape, together, size) & words ? together : 0;
    }
    return at;
}

#endif
