// SPDX-License-Identifier: Apache-2.0
// paper_word — how the rule set of the iGUARD paper packs figure 4's entry into a cell: encoder and decoder.
// Freestanding: for the device and for tests on the host.
//
// A cell has two sides, each with a `word` and a `more`: side 0 is the last writer, side 1 is the last accessor.
//
//   half   bits    figure 4                 what it holds
//   word   0- 3    Valid; Modified          the bytes of the four that the access touched; 0: no access. Side 0 exists:
//          Modified
//          4       Atomic | DevShared       side 0: the access was an atomic; side 1: two blocks have met here
//          5       Scope | BlkShared        side 0: the scope of the atomic is the block; side 1: two warps have met
//          6       -                        side 1: the access writes; side 0: always 1
//          7-27    WarpID                   block, its low 21 bits
//         28-37    WarpID, ThreadID         thread within the block: warp, then lane
//         38-43    DevFenceID               device fences of the thread, modulo 64
//         44-49    BlkFenceID               block fences of the thread, modulo 64
//         50-57    BlkBarID                 barriers of the block, modulo 256
//         58-63    WarpBarID                barriers of the warp, modulo 64
//   more   0-15    Locks                    Bloom filter of the locks held, two bits for each lock
//         16-31    -                        site; 0: above 65535
//         32-34    -                        GrStrength
//         35-55    Tag                      launch, its low 21 bits: what another launch left is no entry
//         56-63    -                        a hash of `word`: tells that both halves are of one access
//
// The widths of the counters are the paper's ("limited to 6-8 bits", section 6.7). The authors' code has 6 bits for
// fences and warp barriers and 8 for block barriers. They wrap as the paper's do: after 256 barriers it looks as if
// there had been none. The paper keeps one set of locks for both sides; table 2 speaks of md.Locks, so each side has
// its own here. An address needs no tag: a cell belongs to one address.
#ifndef GR_ENGINES_TRACKER_DEVICE_PAPER_WORD_H
#define GR_ENGINES_TRACKER_DEVICE_PAPER_WORD_H

#include "engines/tracker/device/record.h"

enum {
    GR_PAPER_BLOCK_BITS = 21,
    GR_PAPER_LAUNCH_BITS = 20,
    GR_PAPER_FENCE_BITS = 6,
    GR_PAPER_BARRIER_BITS = 8,
    GR_PAPER_WARP_BITS = 6,
    GR_PAPER_SITES = 1 << 16,
};

typedef struct GrPaperSide {
    uint32_t bytes;                   // 0: no access
    uint32_t block, tid;              // tid: within the block
    uint32_t dev, blk, bar, warp_bar; // counters as they were at the access
    uint32_t locks;
    uint32_t site, strength, launch;
    int atomic, narrow;
    int dev_shared, blk_shared; // side 1
    int writes;
} GrPaperSide;

static inline uint64_t gr_paper_field(uint64_t v, unsigned at, unsigned bits) {
    return (v & ((UINT64_C(1) << bits) - 1)) << at;
}

static inline uint32_t gr_paper_get(uint64_t w, unsigned at, unsigned bits) {
    return (uint32_t)(w >> at & ((UINT64_C(1) << bits) - 1));
}

// `accessor`: the side for which the entry is.
static inline uint64_t gr_paper_word_of(const GrPaperSide *s, int accessor) {
    int first = accessor ? s->dev_shared : s->atomic, second = accessor ? s->blk_shared : s->narrow;
    return gr_paper_field(s->bytes, 0, 4) | gr_paper_field(first != 0, 4, 1) |
           gr_paper_field(second != 0, 5, 1) | gr_paper_field(s->writes != 0, 6, 1) |
           gr_paper_field(s->block, 7, GR_PAPER_BLOCK_BITS) | gr_paper_field(s->tid, 28, 10) |
           gr_paper_field(s->dev, 38, GR_PAPER_FENCE_BITS) | gr_paper_field(s->blk, 44, GR_PAPER_FENCE_BITS) |
           gr_paper_field(s->bar, 50, GR_PAPER_BARRIER_BITS) |
           gr_paper_field(s->warp_bar, 58, GR_PAPER_WARP_BITS);
}

static inline uint32_t gr_paper_check(uint64_t word) {
    return (uint32_t)(word * UINT64_C(0x9E3779B97F4A7C15) >> 56);
}

static inline uint64_t gr_paper_more(const GrPaperSide *s, uint64_t word) {
    return gr_paper_field(s->locks, 0, 16) | gr_paper_field(s->site < GR_PAPER_SITES ? s->site : 0, 16, 16) |
           gr_paper_field(s->strength, 32, 3) | gr_paper_field(s->atomic != 0, 35, 1) |
           gr_paper_field(s->launch, 36, GR_PAPER_LAUNCH_BITS) | (uint64_t)gr_paper_check(word) << 56;
}

// Both halves are of one access.
static inline int gr_paper_whole(uint64_t word, uint64_t more) { return gr_paper_check(word) == more >> 56; }

// Reads an entry. Returns 0, and an entry without an access, if there is none, or if it is another launch's, or its
// halves are of two accesses.
static inline int gr_paper_read(uint64_t word, uint64_t more, int accessor, uint32_t launch, GrPaperSide *s) {
    uint32_t first = gr_paper_get(word, 4, 1), second = gr_paper_get(word, 5, 1);
    *s = (GrPaperSide){.bytes = gr_paper_get(word, 0, 4),
                       .writes = (int)gr_paper_get(word, 6, 1),
                       .block = gr_paper_get(word, 7, GR_PAPER_BLOCK_BITS),
                       .tid = gr_paper_get(word, 28, 10),
                       .dev = gr_paper_get(word, 38, GR_PAPER_FENCE_BITS),
                       .blk = gr_paper_get(word, 44, GR_PAPER_FENCE_BITS),
                       .bar = gr_paper_get(word, 50, GR_PAPER_BARRIER_BITS),
                       .warp_bar = gr_paper_get(word, 58, GR_PAPER_WARP_BITS),
                       .locks = gr_paper_get(more, 0, 16),
                       .site = gr_paper_get(more, 16, 16),
                       .strength = gr_paper_get(more, 32, 3),
                       .atomic = (int)gr_paper_get(more, 35, 1),
                       .launch = gr_paper_get(more, 36, GR_PAPER_LAUNCH_BITS)};
    s->narrow = accessor ? s->atomic && s->strength == GR_STRONG_CTA : (int)second;
    s->dev_shared = accessor && first;
    s->blk_shared = accessor && second;
    if (gr_paper_whole(word, more) && s->launch == (launch & ((1u << GR_PAPER_LAUNCH_BITS) - 1)) && s->bytes)
        return 1;
    s->bytes = 0;
    return 0;
}

// ---- Lock tables -----------------------------------------------------------------------------------------------
//
// Figure 7, 64 bits: three entries of 21 bits (an 18-bit hash of the lock's address, Scope, Active, Valid), and
// isThread in bit 63.

enum {
    GR_LOCKS = 3,
    GR_LOCK_BITS = 21,
    GR_LOCK_HASH_BITS = 18,
    GR_LOCK_NARROW = 1 << 18, // the scope is the block
    GR_LOCK_ACTIVE = 1 << 19,
    GR_LOCK_VALID = 1 << 20,
    GR_LOCK_THREAD_BIT = 63,
};

static inline uint32_t gr_lock_hash(uint64_t address) { return gr_paper_get(address, 2, GR_LOCK_HASH_BITS); }

static inline uint32_t gr_lock_entry(uint64_t table, unsigned k) {
    return gr_paper_get(table, k * GR_LOCK_BITS, GR_LOCK_BITS);
}

static inline uint64_t gr_lock_put(uint64_t table, unsigned k, uint32_t entry) {
    uint64_t all = ((UINT64_C(1) << GR_LOCK_BITS) - 1) << (k * GR_LOCK_BITS);
    return (table & ~all) | gr_paper_field(entry, k * GR_LOCK_BITS, GR_LOCK_BITS);
}

// Takes an atomicCAS of that address into the table: valid, and not yet active. A full table forgets one of its locks.
static inline uint64_t gr_lock_take(uint64_t table, uint64_t address, int narrow) {
    uint32_t hash = gr_lock_hash(address);
    unsigned place = hash % GR_LOCKS;
    for (unsigned k = GR_LOCKS; k-- > 0;)
        if (!(gr_lock_entry(table, k) & GR_LOCK_VALID))
            place = k;
    for (unsigned k = 0; k < GR_LOCKS; k++)
        if (gr_lock_entry(table, k) & GR_LOCK_VALID &&
            gr_paper_get(gr_lock_entry(table, k), 0, GR_LOCK_HASH_BITS) == hash)
            place = k;
    return gr_lock_put(table, place, hash | (narrow ? GR_LOCK_NARROW : 0u) | GR_LOCK_VALID);
}

// A fence: activates the entries of its scope and of narrower ones.
static inline uint64_t gr_lock_fence(uint64_t table, int narrow) {
    for (unsigned k = 0; k < GR_LOCKS; k++) {
        uint32_t e = gr_lock_entry(table, k);
        if (e & GR_LOCK_VALID && (!narrow || e & GR_LOCK_NARROW))
            table = gr_lock_put(table, k, e | GR_LOCK_ACTIVE);
    }
    return table;
}

// An atomicExch of that address: removes the entry of that scope.
static inline uint64_t gr_lock_give(uint64_t table, uint64_t address, int narrow) {
    for (unsigned k = 0; k < GR_LOCKS; k++) {
        uint32_t e = gr_lock_entry(table, k);
        if (gr_paper_get(e, 0, GR_LOCK_HASH_BITS) == gr_lock_hash(address) &&
            narrow == ((e & GR_LOCK_NARROW) != 0))
            table = gr_lock_put(table, k, 0);
    }
    return table;
}

// The locks held, as a Bloom filter: each lock sets one of the low eight bits and one of the high eight, by all 18 bits
// of its hash.
static inline uint32_t gr_lock_bloom(uint64_t table) {
    uint32_t bloom = 0;
    for (unsigned k = 0; k < GR_LOCKS; k++) {
        uint32_t e = gr_lock_entry(table, k);
        uint32_t hash = gr_paper_get(e, 0, GR_LOCK_HASH_BITS) * UINT32_C(0x9E3779B1) >> 26;
        if (e & GR_LOCK_VALID && e & GR_LOCK_ACTIVE)
            bloom |= 1u << (hash & 7) | 1u << (8 + (hash >> 3));
    }
    return bloom;
}

// Both filters may hold one lock: they share a bit in each half.
static inline int gr_lock_common(uint32_t a, uint32_t b) { return a & b & 0xff && a & b & 0xff00; }

#endif
