// SPDX-License-Identifier: Apache-2.0
// model — PTX's memory consistency model (PTX ISA 9.x, chapter 8), applied to a trace literally: every relation is a
// matrix of bits over the events, every rule a loop. Slow, and to be read beside the chapter.
#ifndef GR_TEST_ORACLE_MODEL_H
#define GR_TEST_ORACLE_MODEL_H

#include "trace.h"

// A byte, and two sites whose accesses raced on it.
typedef struct RacyByte {
    Place place;
    uint32_t site[2]; // the smaller one first
    bool maybe;       // the engine may miss it: see may_be_missed in model.c
    bool chance;      // the two are ordered in this execution, but by chance (model.c)
} RacyByte;

typedef struct RaceSet {
    VEC(RacyByte) bytes; // sorted, no two the same, after race_set_sort
    bool nomem;
} RaceSet;

void race_set_add(RaceSet *s, const Place *p, uint32_t a, uint32_t b, bool maybe, bool chance);
void race_set_sort(RaceSet *s);

// The data races of the execution (8.7.1). False: out of memory.
bool model_races(const Trace *t, RaceSet *out);

#endif
