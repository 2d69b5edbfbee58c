// SPDX-License-Identifier: Apache-2.0
// rng — the one source of chance: splitmix64 streams drawn from the user's --seed.
//
// A stream is a 64-bit counter, so that it can be forked by name (gr_rng_fork) without the streams sharing
// state: what one consumer draws never changes what another one sees.
#ifndef GR_BASE_RNG_H
#define GR_BASE_RNG_H

#include <stdint.h>

typedef struct Rng {
    uint64_t state;
} Rng;

static inline uint64_t gr_mix64(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline Rng gr_rng(uint64_t seed) { return (Rng){gr_mix64(seed + 0x9e3779b97f4a7c15u)}; }

// An independent stream for consumer `what` (any constant) number `index`.
static inline Rng gr_rng_fork(uint64_t seed, uint64_t what, uint64_t index) {
    return gr_rng(gr_mix64(seed ^ gr_mix64(what)) + gr_mix64(index));
}

static inline uint64_t gr_rng_next(Rng *r) { return gr_mix64(r->state += 0x9e3779b97f4a7c15u); }

// Uniform in [0, n); n > 0. The bias of the multiply is below 2^-32 for n < 2^32.
static inline uint32_t gr_rng_below(Rng *r, uint32_t n) {
    return (uint32_t)(((gr_rng_next(r) >> 32) * n) >> 32);
}

#endif
