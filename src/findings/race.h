// SPDX-License-Identifier: Apache-2.0
// race — a race both of whose sides are known, as engines that listen to an execution tell it: causality (exact.h), and
// watchpoints, which find the same classes in another way.
#ifndef GR_FINDINGS_RACE_H
#define GR_FINDINGS_RACE_H

#include "ptx/ptx.h"

// FREE: the memory was freed, by a thread of the device when `launch` is set, else by the API. ALLOC: it was allocated,
// by the API or a node of a graph.
typedef enum RaceBy {
    RACE_BY_KERNEL,
    RACE_BY_COPY,
    RACE_BY_FILL,
    RACE_BY_HOST,
    RACE_BY_FREE,
    RACE_BY_ALLOC,
} RaceBy;

typedef struct RaceSide {
    RaceBy by;       // else site and threads mean nothing
    uint64_t module; // a fingerprint
    uint32_t site;   // within it
    PtxAccess access;
    bool strong, async;          // async: done by an asynchronous operation that this thread started
    bool is_volatile, discarded; // discarded: what was read was not used
    bool node;                   // FREE, ALLOC: a node of a graph did it
    PtxScope scope;              // of strong ones
    uint64_t pc;                 // of the host's instruction
    uint32_t call;               // GrWork.call of the launch, or of what the API did
    const char *file, *function; // FREE by a thread: where it called free(); NULL: not known
    uint32_t line, ptx_line;
    uint64_t launch, block_linear;
    uint32_t thread[3], block[3];
    uint64_t address, size;
} RaceSide;

// Counts accesses: each once, although it may race with many others. All that is said of one moment comes in one go.
typedef struct RaceTally {
    uint64_t *count; // NULL: not needed
    uint64_t moment; // of the last
    uint32_t lanes;  // that were counted then
} RaceTally;

// How many lanes these are. (__builtin_popcount is a call where processors need not have an instruction for it.)
static inline uint64_t gr_lane_count(uint32_t lanes) {
    lanes -= lanes >> 1 & 0x55555555;
    lanes = (lanes & 0x33333333) + (lanes >> 2 & 0x33333333);
    return ((lanes + (lanes >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

// How many of these lanes' accesses had not been counted.
static inline uint64_t gr_tally(RaceTally *t, uint64_t moment, uint32_t lanes) {
    if (t->moment != moment)
        t->lanes = 0;
    t->moment = moment;
    uint64_t more = gr_lane_count(lanes & ~t->lanes);
    t->lanes |= lanes;
    if (t->count)
        *t->count += more;
    return more;
}

typedef struct Race {
    unsigned class; // place in the classes of RaceWriter
    PtxSpace space;
    RaceSide side[2]; // the later one first: it is the one that noticed
    uint64_t overlap; // first byte that both touched, and how many
    uint64_t overlap_bytes;
    const char *order; // what would have ordered them, a sentence's end: "no __syncthreads() … between"
    // How many accesses noticed this pair: a thread's access counts once, whatever else it raced with.
    uint64_t count;
    RaceTally mine, *ours; // what counts too; ours: together with other pairs, NULL: none
} Race;

// Counts the accesses of `lanes` at `moment`, which have raced (again).
static inline void gr_race_count(Race *r, uint64_t moment, uint32_t lanes) {
    r->count += gr_tally(&r->mine, moment, lanes);
    if (r->ours)
        gr_tally(r->ours, moment, lanes);
}

#endif
