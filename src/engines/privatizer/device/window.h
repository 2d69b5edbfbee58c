// SPDX-License-Identifier: Apache-2.0
// window — a launch in which each unit has a private copy of all memory that it may write, as in the LDetector paper: which an access finds without a look (control.h, GrPrivWindow). A
// warp takes lines, its lanes words, and looks at all copies of them. For the one file that has what the host launches between the passes.
//
//     line 0 of unit 0 | line 0 of unit 1 | ... | line 1 of unit 0 | ... | union | of each line 4 bytes: which words of it two units changed alike
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
    enum { PARTS = 4 }; // of the units, each by a warp
    EACH_LINE(k, lines * PARTS) {
        uint32_t line, lane = gr_tid_x() % 32;
        uint64_t from = line_of_spans(spans, k / PARTS, &line),
                 to = w->copies + (from - w->at) * units + 16 * (lane % 8);
        const uint64_t *at = (const uint64_t *)(from + 16 * (lane % 8));
        uint64_t low = at[0], high = at[1];
        GR_ROLLED for (uint32_t unit = 4 * (k % PARTS) + lane / 8; unit < units; unit += 4 * PARTS) {
            uint64_t *out = (uint64_t *)(to + unit * GR_LINE);
            out[0] = low;
            out[1] = high;
        }
    }
}

enum { UNITS_AT_A_TIME = 16 };

// A word of the line's copies from `unit` on; of copies that are none, `none`.
GR_INLINE void window_words(uint64_t at, uint32_t unit, uint32_t units, uint32_t none, uint32_t *out) {
#pragma unroll
    for (uint32_t i = 0; i < UNITS_AT_A_TIME; i++) {
        out[i] = none;
        if (unit + i < units)
            out[i] = word_at(at + (unit + i) * GR_LINE);
    }
}

// gr_priv_part() of memory that is not shared, by all lanes.
GR_INLINE uint32_t part_of_warp(GR_GLOBAL GrPrivControl *c, uint64_t offset) {
    uint32_t n = 0;
    GR_ROLLED for (uint32_t k = 0; k < c->n_extents; k += 32) {
        uint32_t mine = k + gr_lane();
        n += (uint32_t)__builtin_popcount(
            gr_ballot(~0u, mine < c->n_extents && extent(c, mine)->offset <= offset));
    }
    return SHARED_PARTS + n;
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
    uint32_t part = part_of_warp(s->control, gr_shuffle64(~0u, offset, first));
    if (lane != first)
        return;
    gr_priv_found(s->log, &(GrPrivFound){.kind = kind,
                                         .round = s->round,
                                         .part = part,
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
             twice = 0, v[UNITS_AT_A_TIME];
    // The first unit that changed the word, and the last one, and which bytes of it.
    uint32_t n = 0, first = 0, last = 0, firsts = 0, lasts = 0;
    uint64_t at = w->copies + (from - w->at) * units + 4 * lane;
    Told told = {0};
    GR_ROLLED for (uint32_t unit = 0; unit < units; unit += UNITS_AT_A_TIME) {
        window_words(at, unit, units, was, v);
#pragma unroll
        for (uint32_t i = 0; i < UNITS_AT_A_TIME; i++) {
            if (v[i] == was)
                continue;
            uint32_t own = bytes_of(v[i] ^ was), again = own & changed;
            if (again)
                tell(&told, unit + i, last, again & ~twice);
            twice |= again;
            changed |= own;
            first = n ? first : unit + i;
            firsts = n ? firsts : own;
            last = unit + i;
            lasts = own;
            n++;
            all = (all & ~own) | (v[i] & own);
        }
    }
    put_word(w->copies + units * w->size + (from - w->at) + 4 * lane, all);
    uint32_t both = gr_ballot(~0u, twice != 0);
    if (lane == 0)
        *window_twice(w, units, k) = both;
    if (both)
        gr_priv_report_line(s, GR_FOUND_WRITES, (uint64_t)line * GR_LINE + 4 * lane, &told);
    if (gr_all(~0u, n <= 2)) {
        GR_ROLLED for (uint32_t unit = 0; n && unit < units; unit++) {
            uint32_t own = unit == first ? firsts : unit == last ? lasts : 0;
            put_word(at + unit * GR_LINE, (all & ~own) | (was & own));
        }
        return;
    }
    GR_ROLLED for (uint32_t unit = 0; n && unit < units; unit += UNITS_AT_A_TIME) {
        window_words(at, unit, units, was, v);
#pragma unroll
        for (uint32_t i = 0; i < UNITS_AT_A_TIME; i++)
            if (unit + i < units) {
                uint32_t own = bytes_of(v[i] ^ was);
                put_word(at + (unit + i) * GR_LINE, (all & ~own) | (was & own));
            }
    }
}

// Behind pass 2 each copy has to be the union, but where two units wrote.
static GR_NOINLINE void gr_priv_check_line(const Slot *s, GR_GLOBAL const GrPrivWindow *w, uint64_t from,
                                           uint32_t line, uint32_t k) {
    uint32_t lane = gr_tid_x() % 32, units = s->n, differ = 0, v[UNITS_AT_A_TIME];
    uint64_t at = w->copies + (from - w->at) * units + 4 * lane;
    uint32_t all = word_at(w->copies + units * w->size + (from - w->at) + 4 * lane),
             silent = *window_twice(w, units, k) >> lane & 1;
    Told told = {0};
    GR_ROLLED for (uint32_t unit = 0; unit < units; unit += UNITS_AT_A_TIME) {
        window_words(at, unit, units, all, v);
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
