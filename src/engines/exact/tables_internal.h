// SPDX-License-Identifier: Apache-2.0
// tables_internal — what tables.c and reads.c share: the elements of a table.
#ifndef GR_ENGINES_EXACT_TABLES_INTERNAL_H
#define GR_ENGINES_EXACT_TABLES_INTERNAL_H

#include "engines/exact/exact_internal.h"

#include <string.h>

static inline bool gr_element_in(const uint64_t bits[2], unsigned e) { return bits[e / 64] >> e % 64 & 1; }
static inline void gr_element_put(uint64_t bits[2], unsigned e) { bits[e / 64] |= UINT64_C(1) << e % 64; }
static inline void gr_element_take(uint64_t bits[2], unsigned e) { bits[e / 64] &= ~(UINT64_C(1) << e % 64); }

// Sets the bits of the lanes' elements, of which lane 0 has number `at`.
static inline void gr_bits_of(uint32_t lanes, int at, uint64_t bits[2]) {
    uint64_t m = lanes;
    bits[0] = at < 0 ? m >> -at : at < 64 ? m << at : 0;
    bits[1] = at >= 64 ? m << (at - 64) : at > 32 ? m >> (64 - at) : 0;
}

// The lanes of these elements.
static inline uint32_t gr_lanes_of(const uint64_t bits[2], int at) {
    return (uint32_t)(at < 0    ? bits[0] << -at
                      : at < 64 ? bits[0] >> at | (at > 32 ? bits[1] << (64 - at) : 0)
                                : bits[1] >> (at - 64));
}

static inline uint32_t gr_history_lanes(const Shadow *s, History h) {
    return h >> 31 ? s->nodes.data[h & INT32_MAX].lanes : UINT32_C(1) << (h & 31);
}

static inline void gr_history_set(Shadow *s, History *to, History h) {
    History old = *to;
    *to = gr_history_retain(s, h);
    gr_history_release(s, old);
}

static inline History gr_table_second(const Table *t, unsigned e) {
    return gr_element_in(t->two, e) ? t->second[e] : 0;
}

// Sets the first access of the table's last launch to that element, which replaces all before. Reads the old one only
// if nodes have to be counted.
static inline void gr_table_set_first(Shadow *s, Table *t, unsigned e, History h) {
    t->nodes |= h >> 31;
    if (t->nodes) {
        gr_history_set(s, &t->first[e], h);
        if (gr_element_in(t->two, e))
            gr_history_set(s, &t->second[e], 0);
    } else {
        t->first[e] = h;
    }
    gr_element_take(t->two, e);
    gr_element_put(t->fresh, e);
    gr_element_take(t->told, e);
}

// The table of the accesses like `mine`, ready for that access's launch. NULL: that launch and the table's last know
// nothing of each other, or memory is out.
Table *gr_table_for(Exact *x, Line *line, const Stamp *mine, uint32_t shift);
// Makes the table ready for the launch of `mine`. NULL: as above.
Table *gr_table_ready(Exact *x, Table *t, const Stamp *mine);
// Tables may hold accesses under the stamp.
bool gr_table_fits(const Exact *x, uint32_t stamp);

#endif
