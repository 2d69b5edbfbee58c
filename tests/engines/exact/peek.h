// SPDX-License-Identifier: Apache-2.0
// peek — what tests look up in an Exact.
#ifndef GR_TESTS_EXACT_PEEK_H
#define GR_TESTS_EXACT_PEEK_H

#include "engines/exact/exact_internal.h"

static inline const Race *peek_race(const Exact *x, size_t k) { return &x->races.data[k]->race; }
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
