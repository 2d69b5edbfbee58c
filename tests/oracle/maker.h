// SPDX-License-Identifier: Apache-2.0
// maker — what every part of the generator adds statements with.
#ifndef GR_TEST_ORACLE_MAKER_H
#define GR_TEST_ORACLE_MAKER_H

#include "kernel.h"

enum { DATA = 0, DATA_BYTES = 32, FLAGS = 64, LOCKS = 96, COUNTS = 112, OWN = 128, MBARS = 256 };

typedef struct Maker {
    Rng rng;
    Kernel *k;
} Maker;

static inline uint32_t below(Maker *m, uint32_t n) { return gr_rng_below(&m->rng, n); }
static inline bool chance(Maker *m, uint32_t one_in) { return below(m, one_in) == 0; }

static inline Statement *add(Maker *m, StatementOp op) {
    static Statement spare;
    Statement *s = m->k->n < STATEMENTS ? &m->k->s[m->k->n++] : &spare;
    *s = (Statement){.op = op, .who = EVERYONE, .warp = -1, .size = 4, .vec = 1};
    return s;
}

static inline uint32_t slots(const Maker *m) { return m->k->block == 2 ? 2 : SLOTS; }

static inline uint16_t bit(uint32_t block, uint32_t slot) { return (uint16_t)(1u << (4 * block + slot)); }

static inline uint16_t all_slots(const Maker *m) {
    uint16_t who = 0;
    for (uint32_t b = 0; b < m->k->grid; b++)
        for (uint32_t s = 0; s < slots(m); s++)
            who |= bit(b, s);
    return who;
}

static inline uint16_t slot_of_every_block(const Maker *m, uint32_t slot) {
    uint16_t who = 0;
    for (uint32_t b = 0; b < m->k->grid; b++)
        who |= bit(b, slot);
    return who;
}

static inline uint16_t someone(Maker *m) { return bit(below(m, m->k->grid), below(m, slots(m))); }

// The scope that reaches every thread of the kernel that may meet at that place.
static inline PtxScope wide(const Maker *m, Where where) {
    return m->k->grid == 1 || (where == IN_SHARED && !m->k->cluster) ? PTX_SCOPE_CTA
           : m->k->cluster                                           ? PTX_SCOPE_CLUSTER
                                                                     : PTX_SCOPE_GPU;
}

static inline PtxScope wide_or_wider(Maker *m, Where where) {
    PtxScope s = wide(m, where);
    return (PtxScope)(s + below(m, PTX_SCOPE_SYS - s + 1u));
}

static inline Statement *memory(Maker *m, StatementOp op, uint16_t who, Where where, uint32_t at) {
    Statement *s = add(m, op);
    s->who = who;
    s->where = where;
    s->at = (uint16_t)at;
    s->generic = chance(m, 6);
    s->value = 7;
    return s;
}

static inline Statement *strong(Maker *m, StatementOp op, uint16_t who, Where where, uint32_t at,
                                PtxSem sem) {
    Statement *s = memory(m, op, who, where, at);
    s->sem = sem;
    s->scope = wide_or_wider(m, where);
    return s;
}

static inline void fence(Maker *m, uint16_t who, Where where, bool seen) {
    Statement *s = add(m, OP_FENCE);
    s->who = who;
    s->if_seen = seen;
    s->sem = chance(m, 3) ? PTX_SC : PTX_ACQ_REL;
    s->scope = wide_or_wider(m, where);
}

static inline void barrier(Maker *m) {
    Statement *s = add(m, OP_BARRIER);
    if (m->k->block == 64 && chance(m, 3)) {
        s->value = (uint8_t)(1 + below(m, 3));
        s->count = 64;
    }
}

static inline Where either(Maker *m) { return chance(m, 2) ? IN_SHARED : IN_GLOBAL; }
static inline Statement *mbar(Maker *m, StatementOp op, uint16_t who, uint32_t at) {
    Statement *s = add(m, op);
    s->who = who;
    s->at = (uint16_t)at;
    return s;
}

static inline void init_mbar(Maker *m, uint32_t at, uint32_t count) {
    mbar(m, OP_MBAR_INIT, slot_of_every_block(m, 0), at)->count = (uint8_t)count;
    add(m, OP_BARRIER);
}

static inline void wait_mbar(Maker *m, uint16_t who, uint32_t at, uint32_t parity) {
    Statement *s = mbar(m, OP_MBAR_WAIT, who, at);
    s->value = (uint8_t)parity;
    if (chance(m, 3)) {
        s->sem = PTX_ACQUIRE;
        s->scope = chance(m, 2) ? PTX_SCOPE_CTA : PTX_SCOPE_CLUSTER;
    } else if (chance(m, 5)) {
        s->sem = PTX_RELAXED;
        s->scope = PTX_SCOPE_CTA;
        fence(m, who, IN_SHARED, true);
    }
}

// patterns.c: one that is free of races; that of named barriers.
void make_pattern(Maker *m);
void make_named_barriers(Maker *m);
// Not free of races: fence.sc and strong accesses.
void make_fences(Maker *m);

#endif
