// SPDX-License-Identifier: Apache-2.0
// window — a launch in which each unit has a private copy of all memory that it may write, as in the LDetector paper:
// which an access finds without a look (control.h, GrPrivWindow). A warp takes lines, its lanes words, and looks at all
// copies of them. For the one file that has what the host launches between the passes.
//
//     line 0 of unit 0 | line 0 of unit 1 | ... | line 1 of unit 0 | ... | union | words | GrPrivWindow.stored
//
// words: of each line 4 bytes, a bit for each word that two units changed alike.
//
// What no unit has stored to is not looked at: there the union is not made.
#ifndef GR_ENGINES_PRIVATIZER_DEVICE_WINDOW_H
#define GR_ENGINES_PRIVATIZER_DEVICE_WINDOW_H

#include "engines/privatizer/device/rows.h"

GR_SREG32(ntid_x, "ntid.x")
GR_SREG32(nctaid_x, "nctaid.x")

#define EACH_LINE(k, n)                                                                                      \
    GR_ROLLED for (uint32_t k = (gr_ctaid_x() * ntid_x() + gr_tid_x()) / 32; k < (n);                        \
                   k += nctaid_x() * ntid_x() / 32)

// Where the program has line number `number` of the spans.
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

GR_INLINE uint32_t *window_twice(uint64_t copies, uint64_t size, uint32_t units, uint32_t k) {
    return (uint32_t *)(copies + (units + 1) * size) + k;
}

// Copies the window for all units. Lanes take 16 bytes each, so a warp does four units at a time.
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
        if (k % PARTS)
            continue;
        GR_ROLLED for (uint32_t unit = lane; unit < units; unit += 32)
            put_byte(w->stored + (from - w->at) / GR_LINE * units + unit, 0);
        // No unit stores here before pass 2.
        if (lane == 0)
            *window_twice(w->copies, w->size, units, k / PARTS) = 0;
        if (lane < 8) {
            uint64_t *out = (uint64_t *)(w->copies + units * w->size + (from - w->at) + 16 * lane);
            out[0] = low;
            out[1] = high;
        }
    }
}

// The units that have stored to the line, some at a time, and the lane's word of each. All lanes together.
enum { UNITS_AT_A_TIME = 4 };
typedef struct Stored {
    uint64_t from, at; // of the line: which units have stored; the lane's word of unit 0
    uint32_t next, units, bits, n, unit[UNITS_AT_A_TIME], word[UNITS_AT_A_TIME];
} Stored;

GR_INLINE Stored stored_of(GR_GLOBAL const GrPrivWindow *w, uint64_t from, uint32_t units) {
    uint64_t off = from - w->at;
    return (Stored){.from = w->stored + off / GR_LINE * units,
                    .at = w->copies + off * units + 4 * (gr_tid_x() % 32),
                    .units = units};
}

GR_INLINE int next_stored(Stored *s) {
    GR_ROLLED while (!s->bits) {
        uint32_t unit = s->next + gr_tid_x() % 32;
        if (s->next >= s->units)
            return 0;
        s->bits = gr_ballot(~0u, unit < s->units && byte_at(s->from + unit));
        s->next += 32;
    }
    s->n = 0;
#pragma unroll
    for (uint32_t i = 0; i < UNITS_AT_A_TIME; i++) {
        if (!s->bits)
            continue;
        s->unit[i] = s->next - 32 + (uint32_t)__builtin_ctz(s->bits);
        s->bits &= s->bits - 1;
        s->word[i] = word_at(s->at + s->unit[i] * GR_LINE);
        s->n = i + 1;
    }
    return 1;
}

#define EACH_STORED(s, i)                                                                                    \
    while (next_stored(&s))                                                                                  \
    _Pragma("unroll") for (uint32_t i = 0; i < UNITS_AT_A_TIME; i++) if (i < s.n)

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

// Reports what the lanes of a warp found in a line at once.
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

// Merges a line behind pass 1: makes the union, and what each copy begins pass 2 with. `k`: the line's number; the
// program has it at `from`.
static GR_NOINLINE void gr_priv_merge_line(const Slot *s, GR_GLOBAL const GrPrivWindow *w, uint64_t from,
                                           uint32_t line, uint32_t k) {
    uint32_t lane = gr_tid_x() % 32, units = s->n, was = word_at(from + 4 * lane), all = was, changed = 0,
             twice = 0, some = 0;
    // The first and the last unit that changed the word, and which bytes they changed.
    uint32_t n = 0, first = 0, last = 0, firsts = 0, lasts = 0;
    Stored of = stored_of(w, from, units);
    Told told = {0};
    EACH_STORED(of, i) {
        some = 1;
        if (of.word[i] == was)
            continue;
        uint32_t own = bytes_of(of.word[i] ^ was), again = own & changed;
        if (again)
            tell(&told, of.unit[i], last, again & ~twice);
        twice |= again;
        changed |= own;
        first = n ? first : of.unit[i];
        firsts = n ? firsts : own;
        last = of.unit[i];
        lasts = own;
        n++;
        all = (all & ~own) | (of.word[i] & own);
    }
    if (!some)
        return;
    put_word(w->copies + units * w->size + (from - w->at) + 4 * lane, all);
    uint32_t both = gr_ballot(~0u, twice != 0);
    if (lane == 0)
        *window_twice(w->copies, w->size, units, k) = both;
    if (both)
        gr_priv_report_line(s, GR_FOUND_WRITES, (uint64_t)line * GR_LINE + 4 * lane, &told);
    if (gr_all(~0u, n <= 2)) {
        GR_ROLLED for (uint32_t unit = 0; n && unit < units; unit++) {
            uint32_t own = unit == first ? firsts : unit == last ? lasts : 0;
            put_word(of.at + unit * GR_LINE, (all & ~own) | (was & own));
        }
        return;
    }
    of = stored_of(w, from, units);
    EACH_STORED(of, i) {
        uint32_t own = bytes_of(of.word[i] ^ was);
        put_word(of.at + of.unit[i] * GR_LINE, (all & ~own) | (was & own));
    }
    GR_ROLLED for (uint32_t next = 0; next < units; next += 32) {
        uint32_t others = gr_ballot(~0u, next + lane < units && !byte_at(of.from + next + lane));
        GR_ROLLED for (; others; others &= others - 1)
            put_word(of.at + (next + (uint32_t)__builtin_ctz(others)) * GR_LINE, all);
    }
}

// Checks a line behind pass 2: each copy has to be the union, except where two units wrote.
static GR_NOINLINE void gr_priv_check_line(const Slot *s, GR_GLOBAL const GrPrivWindow *w, uint64_t from,
                                           uint32_t line, uint32_t k) {
    uint32_t lane = gr_tid_x() % 32, units = s->n, differ = 0;
    uint32_t all = word_at(w->copies + units * w->size + (from - w->at) + 4 * lane),
             silent = *window_twice(w->copies, w->size, units, k) >> lane & 1;
    Stored of = stored_of(w, from, units);
    Told told = {0};
    EACH_STORED(of, i) {
        if (of.word[i] == all || silent)
            continue;
        uint32_t other = bytes_of(of.word[i] ^ all);
        tell(&told, of.unit[i], of.unit[i], other & ~differ);
        differ |= other;
    }
    if (!gr_all(~0u, !told.any))
        gr_priv_report_line(s, GR_FOUND_READ, (uint64_t)line * GR_LINE + 4 * lane, &told);
}

#endif
