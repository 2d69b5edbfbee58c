// SPDX-License-Identifier: Apache-2.0
// peek — what tests look up in an Exact.
#ifndef GR_TESTS_EXACT_PEEK_H
#define GR_TESTS_EXACT_PEEK_H

#include "engines/exact/exact_internal.h"

#include <stdlib.h>

static inline const Race *peek_race(const Exact *x, size_t k) { return &x->races.data[k]->race; }
// The races that are the first of their pairs, in the order in which they were found: these count the accesses of all
// widths. *n: how many. Freed by the caller.
static inline const Race **peek_firsts(const Exact *x, size_t *n) {
    const Race **firsts = calloc(x->races.len + 1, sizeof *firsts);
    *n = 0;
    for (size_t k = 0; firsts && k < x->races.len; k++)
        if (x->races.data[k]->counts == x->races.data[k])
            firsts[(*n)++] = &x->races.data[k]->race;
    return firsts;
}
// A bit for each of checks.def that has failed.
static inline unsigned peek_doubts(const Exact *x) { return x->doubts; }
// How often numbers of stamps that nothing referred to any more were collected.
static inline uint64_t peek_collections(const Exact *x) { return x->shadow.collections; }
// How often an access was held against another one, what a warp did in one epoch, or what one instruction did to a line
// in earlier launches: what races and order cost.
static inline uint64_t peek_looks(const Exact *x) { return x->looks; }
// What is kept of launches and their blocks, and of what threads, streams and places know.
static inline uint64_t peek_order_bytes(const Exact *x) { return gr_order_bytes(&x->order); }

#endif
