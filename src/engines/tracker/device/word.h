// SPDX-License-Identifier: Apache-2.0
// word — how the rule set of PTX packs an access into the two halves of a cell: encoder and decoder. Freestanding: for the device and
// for tests on the host.
//
//   word   bits  0- 3  bytes of the four that it touched; 0: no access
//          bits  4- 6  GrStrength
//          bit      7  GR_WHAT_WIDE
//          bit      8  it writes
//          bit      9  a strong read of another thread has seen it
//          bits 10-15  launch, its low 6 bits
//          bits 16-32  block, its low 17 bits
//          bits 33-42  thread within the block
//          bits 43-53  barriers of the whole block that the thread had passed, low 11 bits
//          bits 54-63  other synchronization of the thread, low 10 bits
//   more   bits  0-15  site; 0: above 65535
//          bits 16-33  launch, the next 18 bits
//          bits 34-40  barriers, the next 7 bits
//          bits 41-47  other synchronization, the next 7 bits
//          bits 48-55  what a store stored, hashed; 0: not known. 1: GR_WHAT_DATA, of a load; GR_WHAT_BULK. 2: GR_WHAT_REDUCES
//          bits 56-63  a hash of `word` without bits 4 to 6 and 9, which may change: tells that both halves are of one access
//
// Bits 0 to 55 of `more` are told apart from zeros by what comes from `word` (gr_word_mask): read with another word they say another launch.
//
// The two halves are written one after the other, and each by itself is written at once (PTX ISA 8.2.1: scalar accesses of 64 bits). So
// another thread may see the word of one access and the rest of another: the hash tells, and the number of the launch, but for one case in 2^26.
// Then the report names the wrong instruction. Counters do not wrap unseen: a thread whose counters are
// full records nothing more (gr_word_room).
#ifndef GR_TRACKER_WORD_H
#define GR_TRACKER_WORD_H

#include "engines/tracker/device/record.h"

// Classes of exact (GrClass.number).
enum {
    CLASS_WRITE_WRITE = 20,
    CLASS_READ_WRITE = 21,
    CLASS_SCOPE = 22,
    CLASS_SIZE = 23,
    CLASS_SAME_VALUE = 25,
    CLASS_VOLATILE = 26,
    CLASS_FREED = 28,
};

typedef struct GrEntry {
    uint32_t bytes, strength, launch, block, tid, barriers, syncs, site, value;
    int wide, writes, seen;
} GrEntry;

enum {
    GR_WORD_WRITES = 1 << 8,
    GR_WORD_SEEN = 1 << 9,
    GR_WORD_STRENGTH = 0x70,
    GR_WORD_LAUNCH_BITS = 24,
    GR_WORD_BARRIER_BITS = 18,
    GR_WORD_SYNC_BITS = 17,
    GR_WORD_SITES = 1 << 16,
};

// The first half without its low 10 bits is what the accesses of a thread have in common until it synchronizes: `own`. It stands for the low bits
// of the counters alone.
#define GR_OWN_SLOW (UINT64_C(0x3ff) << 54 | 1 << 6) // it does not tell: bit 6
// Below that, a thread has done nothing but pass barriers of the whole block, and one more of these adds GR_OWN_BARRIER.
#define GR_OWN_BARRIER  (UINT64_C(1) << 43)
#define GR_OWN_BARRIERS (UINT64_C(0x7ff) << 43)

static inline int gr_own_is_slow(uint64_t own) { return (int)(own >> 6 & 1); }
static inline int gr_own_is_plain(uint64_t own) { return !gr_own_is_slow(own) && !(own >> 54); }

static inline uint64_t gr_word_of(const GrEntry *e) {
    return (uint64_t)e->bytes | (uint64_t)e->strength << 4 | (uint64_t)(e->wide != 0) << 7 |
           (uint64_t)(e->writes != 0) << 8 | (uint64_t)(e->launch & 0x3f) << 10 |
           (uint64_t)(e->block & 0x1ffff) << 16 | (uint64_t)(e->tid & 0x3ff) << 33 |
           (uint64_t)(e->barriers & 0x7ff) << 43 | (uint64_t)(e->syncs & 0x3ff) << 54;
}

static inline uint64_t gr_word_hash(uint64_t word) {
    return (word & ~(uint64_t)(GR_WORD_SEEN | GR_WORD_STRENGTH)) * UINT64_C(0x9E3779B97F4A7C15);
}

static inline uint32_t gr_word_check(uint64_t word) { return (uint32_t)(gr_word_hash(word) >> 56); }

static inline uint64_t gr_word_mask(uint64_t word) {
    uint64_t h = gr_word_hash(word);
    return (h ^ h >> 24) & ((UINT64_C(1) << 56) - 1);
}

static inline uint64_t gr_word_more(const GrEntry *e, uint64_t word) {
    uint32_t site = e->site < GR_WORD_SITES ? e->site : 0;
    uint64_t plain = (uint64_t)site | (uint64_t)(e->launch >> 6 & 0x3ffff) << 16 |
                     (uint64_t)(e->barriers >> 11 & 0x7f) << 34 | (uint64_t)(e->syncs >> 10 & 0x7f) << 41 |
                     (uint64_t)(e->value & 0xff) << 48;
    return (plain ^ gr_word_mask(word)) | (uint64_t)gr_word_check(word) << 56;
}

static inline uint32_t gr_word_bytes(uint64_t w) { return (uint32_t)w & 0xf; }
static inline uint32_t gr_word_strength(uint64_t w) { return (uint32_t)w >> 4 & 7; }
static inline uint32_t gr_word_launch(uint64_t w) { return (uint32_t)w >> 10 & 0x3f; }
static inline uint32_t gr_word_block(uint64_t w) { return (uint32_t)(w >> 16) & 0x1ffff; }
static inline uint32_t gr_word_tid(uint64_t w) { return (uint32_t)(w >> 33) & 0x3ff; }
static inline uint32_t gr_word_barriers(uint64_t w) { return (uint32_t)(w >> 43) & 0x7ff; }
static inline uint32_t gr_word_syncs(uint64_t w) { return (uint32_t)(w >> 54); }

// Whether the word is of an earlier launch than `launch`, though the low bits of both are equal. Not while the other half is still to come.
static inline int gr_word_is_old(uint64_t word, uint64_t more, uint32_t launch) {
    return word && gr_word_launch(word) == (launch & 0x3f) &&
           ((uint32_t)((more ^ gr_word_mask(word)) >> 16) & 0x3ffff) != (launch >> 6 & 0x3ffff) &&
           gr_word_check(word) == more >> 56;
}

// Both halves. 0: they are of two accesses.
static inline int gr_word_read(uint64_t w, uint64_t more, GrEntry *e) {
    if (gr_word_check(w) != more >> 56)
        return 0;
    more ^= gr_word_mask(w);
    e->bytes = gr_word_bytes(w);
    e->strength = gr_word_strength(w);
    e->wide = (int)(w >> 7 & 1);
    e->writes = (int)(w >> 8 & 1);
    e->seen = (int)(w >> 9 & 1);
    e->launch = gr_word_launch(w) | (uint32_t)(more >> 16 & 0x3ffff) << 6;
    e->block = gr_word_block(w);
    e->tid = gr_word_tid(w);
    e->barriers = gr_word_barriers(w) | (uint32_t)(more >> 34 & 0x7f) << 11;
    e->syncs = gr_word_syncs(w) | (uint32_t)(more >> 41 & 0x7f) << 10;
    e->site = (uint32_t)(more & 0xffff);
    e->value = (uint32_t)(more >> 48 & 0xff);
    return 1;
}

// Whether a thread with these counters can still record accesses.
static inline int gr_word_room(uint32_t barriers, uint32_t syncs) {
    return barriers >> GR_WORD_BARRIER_BITS == 0 && syncs >> GR_WORD_SYNC_BITS == 0;
}

#endif
