// SPDX-License-Identifier: Apache-2.0
// window — a launch in which each unit has a private copy of all memory that it may write, as in the LDetector paper: at a constant distance from the program's own (control.h, GrPrivWindow). A
// warp takes lines, its lanes words, and looks at all copies of them. For the one file that has what the host launches between the passes.
//
//     copy of unit 0 | copy of unit 1 | ... | union | of each line 4 bytes: which words of it two units changed alike
#ifndef GR_PRIVATIZER_WINDOW_H
#define GR_PRIVATIZER_WINDOW_H

#include "engines/privatizer/device/rows.h"

GR_SREG32(ntid_x, "ntid.x")
GR_SREG32(nctaid_x, "nctaid.x")

#define EACH_LINE(k, n)                                                                                      \
    GR_ROLLED for (uint32_t k = (gr_ctaid_x() * ntid_x() + gr_tid_x()) / 32; k < (n);                        \
                   k += nctaid_x() * ntid_x() / 32)

// Where the program has the line with that number, of those in the spans.
GR_INLINE uint64_t line_of_spans(const GrPrivSpan *spans, uint32_t number, uint32_t *line) {
    uint64_t from = 0;
#pragma unroll // parameters of a kernel are not indexed
    for (uint32_t i = 0; i < GR_SPANS; i++) {
        int here = !from && number < spans[i].lines;
        *line = here ? spans[i].first + number : *line;
        from = here ? spans[i].at + (uint64_t)number * GR_LINE : from;
        number -= from ? 0 : spans[i].lines;
    }
    return from;
}

// Lanes have 16 bytes of it each, so a warp has four units at a time.
GR_INLINE void window_make(const GrPrivWindow *w, const GrPrivSpan *spans, uint64_t lines, uint32_t units) {
    EACH_LINE(k, lines) {
        uint32_t line, lane = gr_tid_x() % 32;
        uint64_t from = line_of_spans(spans, k, &line) + 16 * (lane % 8), to = w->copies + (from - w->at);
        const uint64_t *at = (const uint64_t *)from;
        uint64_t low = at[0], high = at[1];
        for (uint32_t unit = lane / 8; unit < units; unit += 4) {
            uint64_t *out = (uint64_t *)(to + unit * w->size);
            out[0] = low;
            out[1] = high;
        }
    }
}

enum { UNITS_AT_A_TIME = 8 };

// The word at `at` of copies `unit` and the next ones; of copies that are none, `none`.
GR_INLINE void window_words(uint64_t at, uint64_t size, uint32_t unit, uint32_t units, uint32_t none,
                            uint32_t *out) {
#pragma unroll
    for (uint32_t i = 0; i < UNITS_AT_A_TIME; i++) {
        out[i] = none;
        if (unit + i < units)
            out[i] = word_at(at + (unit + i) * size);
    }
}

// What the lanes of a warp found in a line is told at once.
static GR_NOINLINE void gr_priv_report_line(const Slot *s, uint32_t kind, uint64_t offset, const Told *of) {
    uint32_t tells = gr_ballot(~0u, (int)of->any), bytes = (uint32_t)__builtin_popcount(of->bytes) / 8,
             first = (uint32_t)__builtin_ctz(tells), lane = gr_lane();
    Told t = *of;
    GR_ROLLED for (uint32_t step = 16; step; step /= 2) {
        bytes += gr_shuffle32(~0u, bytes, lane ^ step);
#pragma unroll
        for (uint32_t i = 0; i < GR_FOUND_COPIES / 64; i++)
            t.copies[i] |= gr_shuffle64(~0u, t.copies[i], lane ^ step);
    }
    if (lane != first)
        return;
    gr_priv_found(s->log, &(GrPrivFound){.kind = kind,
                                         .round = s->round,
                                         .part = gr_priv_part(s->control, offset),
                                         .copy = {t.one, t.other},
                                         .offset = offset,
                                         .bytes = bytes,
                                         .copies = {t.copies[0], t.copies[1], t.copies[2], t.copies[3]}});
}

GR_INLINE uint32_t *window_twice(GR_GLOBAL const GrPrivWindow *w, uint32_t units, uint32_t k) {
    return (uint32_t *)(w->copies + (units + 1) * w->size) + k;
}

// Behind pass 1: the union, and what each copy begins pass 2 with. `k`: the line's number, which the program has at `from`.
static GR_NOINLINE void gr_priv_merge_line(const Slot *s, GR_GLOBAL const GrPrivWindow *w, uint64_t from,
                                           uint32_t line, uint32_t k) {
    uint32_t lane = gr_tid_x() % 32, units = s->n, was = word_at(from + 4 * lane), all = was, changed = 0,
             twice = 0, last = 0, v[UNITS_AT_A_TIME];
    uint64_t size = w->size, at = w->copies + (from - w->at) + 4 * lane;
    Told told = {0};
    GR_ROLLED for (uint32_t unit = 0; unit < units; unit += UNITS_AT_A_TIME) {
        window_words(at, size, unit, units, was, v);
#pragma unroll
        for (uint32_t i = 0; i < UNITS_AT_A_TIME; i++) {
            if (v[i] == was)
                continue;
            uint32_t own = bytes_of(v[i] ^ was), again = own & changed;
            if (again)
                tell(&told, unit + i, last, again & ~twice);
            twice |= again;
            changed |= own;
            last = unit + i;
            all = (all & ~own) | (v[i] & own);
        }
    }
    put_word(at + units * size, all);
    uint32_t both = gr_ballot(~0u, twice != 0);
    if (lane == 0)
        *window_twice(w, units, k) = both;
    if (both)
        gr_priv_report_line(s, GR_FOUND_WRITES, (uint64_t)line * GR_LINE + 4 * lane, &told);
    GR_ROLLED for (uint32_t unit = 0; changed && unit < units; unit += UNITS_AT_A_TIME) {
        window_words(at, size, unit, units, was, v);
#pragma unroll
        for (uint32_t i = 0; i < UNITS_AT_A_TIME; i++)
            if (unit + i < units) {
                uint32_t own = bytes_of(v[i] ^ was);
                put_word(at + (unit + i) * size, (all & ~own) | (was & own));
            }
    }
}

// Behind pass 2 each copy has to be the union, but where two units wrote.
static GR_NOINLINE void gr_priv_check_line(const Slot *s, GR_GLOBAL const GrPrivWindow *w, uint64_t from,
                                           uint32_t line, uint32_t k) {
    uint32_t lane = gr_tid_x() % 32, units = s->n, differ = 0, v[UNITS_AT_A_TIME];
    uint64_t size = w->size, at = w->copies + (from - w->at) + 4 * lane;
    uint32_t all = word_at(at + units * size), silent = *window_twice(w, units, k) >> lane & 1;
    Told told = {0};
    GR_ROLLED for (uint32_t unit = 0; unit < units; unit += UNITS_AT_A_TIME) {
        window_words(at, size, unit, units, all, v);
#pragma unroll
        for (uint32_t i = 0; i < UNITS_AT_A_TIME; i++) {
            if (v[i] == all || silent)
                continue;
            uint32_t other = bytes_of(v[i] ^ all);
            tell(&told, unit + i, unit + i, other & ~differ);
            differ |= other;
        }
    }
    if (!gr_all(~0u, !told.any))
        gr_priv_report_line(s, GR_FOUND_READ, (uint64_t)line * GR_LINE + 4 * lane, &told);
}

#endif
