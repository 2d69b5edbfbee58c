// SPDX-License-Identifier: Apache-2.0
// values — the inputs of the conformance rows: corner values of every type and seeded random ones, and patterns of
// spellings. The same on every machine, since golden results hang on them.
#ifndef GR_CONFORMANCE_VALUES_H
#define GR_CONFORMANCE_VALUES_H

#include "base/rng.h"

#include <stdint.h>

uint64_t value_random(Rng *rng, const char *type);
uint64_t value_corner(const char *type, unsigned k); // k modulo their number
unsigned value_corners(const char *type);
uint64_t value_hash(const char *text); // FNV-1a

typedef void (*OnSpelling)(const char *spelling, const char *operands, void *arg);
// Calls `on` for every combination of the alternatives {a,b} in the pattern.
void value_expand(const char *pattern, const char *operands, OnSpelling on, void *arg);

#endif
