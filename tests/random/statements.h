// SPDX-License-Identifier: Apache-2.0
// statements — what random kernels are made of; generate.c puts control flow around it.
#ifndef GR_TEST_RANDOM_STATEMENTS_H
#define GR_TEST_RANDOM_STATEMENTS_H

#include "generate.h"

#include "base/rng.h"

enum { FUNCTIONS = 2 };

typedef struct Gen {
    Rng rng;
    StrBuf *out;
    uint32_t block;
    unsigned labels, masks;
    unsigned budget; // statements yet to be generated
    bool function;   // inside a device function: registers only
} Gen;

// Where code stands: who is certain to be there.
typedef struct Place {
    bool block; // all threads of the block
    int mask;   // number of the register with the lanes of the warp that are here; -1: all, -2: not known
    unsigned depth;
} Place;

static inline uint32_t below(Gen *g, uint32_t n) { return gr_rng_below(&g->rng, n); }

#define PICK(g, list) (list)[below((g), sizeof(list) / sizeof *(list))]

// Emits `t` with each $x replaced: r d f g h p u by a register of that pool (u: the same value in the whole block), i
// by a number below 32, n by one above 0, w by any word, c by a comparison, L by the number of the label in hand.
void emit(Gen *g, const char *t);

// Anywhere.
void compute(Gen *g);
void own_memory(Gen *g); // the thread's own, global or on its stack
void read_table(Gen *g);
void copy_async(
    Gen *g); // from the table to the thread's own slot of shared memory, and from there to a register
void read_constant(Gen *g);
void count(Gen *g); // updates that commute: each word of the counters knows one operation only
void call(Gen *g);

// Where all threads of the block are.
void compute_uniform(Gen *g);   // of values that are the same in the whole block
void exchange_in_block(Gen *g); // everybody writes a slot; then everybody reads anybody's
void count_in_block(Gen *g);

// Where it is known which lanes of the warp are there.
void exchange_in_warp(Gen *g, const Place *at);
void mask_name(const Place *at, char out[16]);

#endif
