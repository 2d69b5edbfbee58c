// SPDX-License-Identifier: Apache-2.0
// word — how the rule set of PTX packs an access into the two halves of a cell: encoder and decoder. Freestanding: for
// the device and for tests on the host.
//
//   word   bits  0- 3  bytes of the four that it touched; 0: no access
//          bits  4- 6  GrStrength
//          bit      7  it writes
//          bit      8  GR_WHAT_WIDE
//          bit      9  a strong read of another thread has seen it
//          bits 10-14  launch, its low 5 bits
//          bits 15-31  block, its low 17 bits
//          bits 32-41  thread within the block
//          bits 42-52  barriers of the whole block that the thread had passed, low 11 bits
//          bits 53-63  other synchronization of the thread, low 11 bits
//   more   bits  0-15  site; 0: above 65535
//          bits 16-34  launch, the next 19 bits, changed by a hash of `word`
//          bits 35-41  barriers, the next 7 bits
//          bits 42-47  other synchronization, the next 6 bits
//          bits 48-55  what a store stored, hashed; 0: not known. 1: GR_WHAT_DATA, of a load; GR_WHAT_BULK. 2:
//                      GR_WHAT_REDUCES
//          bits 56-63  the same hash again. It leaves out bits 4 to 6 and 9 of `word`, which may change
//
// The common path compares the two halves of 32 bits. If the low halves differ in bits 0 to 9 only, both accesses are
// of one launch and block.
//
// The two halves are written one after the other, and each by itself is written at once (PTX ISA 8.2.1: scalar accesses
// of 64 bits). So another thread may see the word of one access and the rest of another: read so, it has another launch
// and another hash, but for one case in 2^27. Then the report names the wrong instruction. Counters do not wrap unseen:
// a thread whose counters are full records nothing more (gr_word_room).
#ifndef GR_ENGINES_TRACKER_DEVICE_WORD_H
#define GR_ENGINES_TRACKER_DEVICE_WORD_H

#include "engines/tracker/device/record.h"

// The classes of exact (GrClass.number).
enum {
    CLASS_WRITE_WRITE = 20,
    CLASS_READ_WRITE = 21,
    CLASS_SCOPE = 22,
    CLASS_SIZE = 23,
    CLASS_SAME_VALUE = 25,
    CLASS_VOLATILE = 26,
    CLASS_FREED = 28,
    CLASS_ALLOCATED = 29,
    CLASS_CHANCE = 31,
};

typedef struct GrEntry {
    uint32_t bytes, strength, launch, block, tid, barriers, syncs, site, value;
    int wide, writes, seen;
} GrEntry;

enum {
    GR_WORD_WRITES = 1 << 7,
    GR_WORD_WIDE = 1 << 8,
    GR_WORD_SEEN = 1 << 9,
    GR_WORD_STRENGTH = 0x70,
    GR_WORD_OF_ACCESS = 0x3ff, // the bits that are of the access alone
    GR_WORD_LAUNCH = 10,
    GR_WORD_LAUNCH_LOW = 5,
    GR_WORD_BLOCK = 15,
    GR_WORD_BARRIERS = 42,
    GR_WORD_SYNCS = 53,
    GR_WORD_LAUNCH_BITS = 24,
    GR_WORD_BARRIER_BITS = 18,
    GR_WORD_SYNC_BITS = 17,
    GR_WORD_COUNT_LOW = 11, // bits of either count in the first half
    GR_WORD_SITES = 1 << 16,
};
#define GR_WORD_LAUNCHES            ((uint32_t)0x1f << GR_WORD_LAUNCH) // the low bits of the launch, where they stand
#define GR_WORD_SAME_LAUNCH(launch) ((launch) & ((1u << GR_WORD_LAUNCH_LOW) - 1))

// `own`, the first half without its low 10 bits: what the accesses of a thread have in common until it synchronizes. It
// has only the low bits of the counters. The low bits of a whole word are the access's own.
#define GR_OWN_BITS (~(uint64_t)GR_WORD_OF_ACCESS)
#define GR_OWN_SLOW (UINT64_C(0x7ff) << GR_WORD_SYNCS | 1 << 6) // it does not tell: bit 6
// Below that a thread has only passed barriers of the whole block, and one more adds GR_OWN_BARRIER.
#define GR_OWN_BARRIER  (UINT64_C(1) << GR_WORD_BARRIERS)
#define GR_OWN_BARRIERS (UINT64_C(0x7ff) << GR_WORD_BARRIERS)

static inline int gr_own_is_slow(uint64_t own) { return (int)(own >> 6 & 1); }
static inline int gr_own_is_plain(uint64_t own) { return !gr_own_is_slow(own) && !(own >> GR_WORD_SYNCS); }

static inline uint64_t gr_word_of(const GrEntry *e) {
    return (uint64_t)e->bytes | (uint64_t)e->strength << 4 | (e->writes ? GR_WORD_WRITES : 0) |
           (e->wide ? GR_WORD_WIDE : 0) | (e->seen ? GR_WORD_SEEN : 0) |
           (uint64_t)GR_WORD_SAME_LAUNCH(e->launch) << GR_WORD_LAUNCH |
           (uint64_t)(e->block & 0x1ffff) << GR_WORD_BLOCK | (uint64_t)(e->tid & 0x3ff) << 32 |
           (uint64_t)(e->barriers & 0x7ff) << GR_WORD_BARRIERS |
           (uint64_t)(e->syncs & 0x7ff) << GR_WORD_SYNCS;
}

static inline uint32_t gr_mix(uint32_t low, uint32_t high) {
    uint32_t h = low * 0x9E3779B1u + high * 0x85EBCA77u;
    return h ^ h >> 15;
}

// A second hash in the high 8 bits, where gr_mix() has only bits of its sum.
static inline uint32_t gr_mix_again(uint32_t mixed) { return mixed * 0xC2B2AE3Du & 0xff000000; }

static inline uint32_t gr_word_hash(uint64_t word) {
    return gr_mix((uint32_t)word & ~(uint32_t)(GR_WORD_SEEN | GR_WORD_STRENGTH), (uint32_t)(word >> 32));
}

static inline uint32_t gr_word_check(uint64_t word) { return gr_mix_again(gr_word_hash(word)) >> 24; }

// The launch in `more`, without its low bits.
static inline uint32_t gr_more_launch(uint64_t word, uint64_t more) {
    return ((uint32_t)(more >> 16) ^ gr_word_hash(word)) & 0x7ffff;
}

// `more` of a thread whose counters are all in the word.
static inline uint64_t gr_word_more_of(uint32_t site, uint32_t launch, uint32_t value, uint64_t word) {
    uint32_t hash = gr_word_hash(word), high = (launch >> GR_WORD_LAUNCH_LOW ^ hash) & 0x7ffff;
    return (uint64_t)(gr_mix_again(hash) | value << 16 | high >> 16) << 32 | (site | high << 16);
}

static inline uint64_t gr_word_more(const GrEntry *e, uint64_t word) {
    return gr_word_more_of(e->site < GR_WORD_SITES ? e->site : 0, e->launch, e->value & 0xff, word) |
           (uint64_t)(e->barriers >> GR_WORD_COUNT_LOW & 0x7f) << 35 |
           (uint64_t)(e->syncs >> GR_WORD_COUNT_LOW & 0x3f) << 42;
}

static inline uint32_t gr_word_bytes(uint64_t w) { return (uint32_t)w & 0xf; }
static inline uint32_t gr_word_strength(uint64_t w) { return (uint32_t)w >> 4 & 7; }
static inline uint32_t gr_word_launch(uint64_t w) {
    return GR_WORD_SAME_LAUNCH((uint32_t)w >> GR_WORD_LAUNCH);
}
static inline uint32_t gr_word_block(uint64_t w) { return (uint32_t)w >> GR_WORD_BLOCK; }
static inline uint32_t gr_word_tid(uint64_t w) { return (uint32_t)(w >> 32) & 0x3ff; }
static inline uint32_t gr_word_barriers(uint64_t w) { return (uint32_t)(w >> GR_WORD_BARRIERS) & 0x7ff; }
static inline uint32_t gr_word_syncs(uint64_t w) { return (uint32_t)(w >> GR_WORD_SYNCS); }

// The word is of an earlier launch than `launch`, though the low bits of both are equal. Not while the other half is
// still to come.
static inline int gr_word_is_old(uint64_t word, uint64_t more, uint32_t launch) {
    return word && gr_word_launch(word) == GR_WORD_SAME_LAUNCH(launch) &&
           gr_more_launch(word, more) != (launch >> GR_WORD_LAUNCH_LOW & 0x7ffff) &&
           gr_word_check(word) == more >> 56;
}

// Reads both halves. 0: they are of two accesses.
static inline int gr_word_read(uint64_t w, uint64_t more, GrEntry *e) {
    if (gr_word_check(w) != more >> 56)
        return 0;
    e->bytes = gr_word_bytes(w);
    e->strength = gr_word_strength(w);
    e->wide = (w & GR_WORD_WIDE) != 0;
    e->writes = (w & GR_WORD_WRITES) != 0;
    e->seen = (w & GR_WORD_SEEN) != 0;
    e->launch = gr_word_launch(w) | gr_more_launch(w, more) << GR_WORD_LAUNCH_LOW;
    e->block = gr_word_block(w);
    e->tid = gr_word_tid(w);
    e->barriers = gr_word_barriers(w) | (uint32_t)(more >> 35 & 0x7f) << GR_WORD_COUNT_LOW;
    e->syncs = gr_word_syncs(w) | (uint32_t)(more >> 42 & 0x3f) << GR_WORD_COUNT_LOW;
    e->site = (uint32_t)(more & 0xffff);
    e->value = (uint32_t)(more >> 48 & 0xff);
    return 1;
}

// A thread with these counters can still record accesses.
static inline int gr_word_room(uint32_t barriers, uint32_t syncs) {
    return barriers >> GR_WORD_BARRIER_BITS == 0 && syncs >> GR_WORD_SYNC_BITS == 0;
}

#endif
