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

// What a stream is for. The numbers stay: a seed stands for one execution. The index of each is in brackets.
enum {
    RNG_DEVICE = 0,          // the CPU device itself [device]
    RNG_LAUNCH = 1,          // which split runs, and how long [launch]
    RNG_SLEEP = 2,           // how long nanosleep sleeps [launch]
    RNG_TEAM = 3,            // RNG_LAUNCH of one of several threads [launch and thread]
    RNG_TEAM_SLEEP = 4,      // RNG_SLEEP of it
    RNG_ASYNC = 5,           // when asynchronous copies happen [launch]
    RNG_BLOCK_ORDER = 6,     // in which order blocks start [launch]
    RNG_HOLD = 7,            // which threads are held [launch]
    RNG_PCT = 8,             // priorities of --schedule pct [device]
    RNG_TEAM_ASYNC = 9,      // RNG_ASYNC of one of several threads
    RNG_SHUFFLE = 10,        // the order that the rewritten module gives its blocks
    RNG_AIMS = 11,           // what the next run aims at [runs so far]
    RNG_LATE = 12,           // which work comes late, and how much [kind and how many there were]
    RNG_ARRIVE = 13,         // which warps stay away at counters and flags [launch]
    RNG_QUEUE = 0x71756575,  // how streams and kernels interleave [0 which, 1 how far, 2 the order]
    RNG_ITEM = 0x6974656d,   // one piece of submitted work [its number]
    RNG_WEAK = 0x7765616b,   // what --weak delays [device]
    RNG_SAMPLE = 0x71b5a3d9, // which accesses --sample checks [module]
};

// An independent stream for consumer `what` (RNG_DEVICE, …) number `index`.
static inline Rng gr_rng_fork(uint64_t seed, uint64_t what, uint64_t index) {
    return gr_rng(gr_mix64(seed ^ gr_mix64(what)) + gr_mix64(index));
}

static inline uint64_t gr_rng_next(Rng *r) { return gr_mix64(r->state += 0x9e3779b97f4a7c15u); }

// Uniform in [0, n); n > 0. The bias of the multiply is below 2^-32 for n < 2^32.
static inline uint32_t gr_rng_below(Rng *r, uint32_t n) {
    return (uint32_t)(((gr_rng_next(r) >> 32) * n) >> 32);
}

#endif
