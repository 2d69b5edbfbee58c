// SPDX-License-Identifier: Apache-2.0
// paper_rules — table 2 of the iGUARD paper (Kamath and Basu, SOSP 2021), a row for a rule. Freestanding: for the
// device and for tests on the host.
//
// What the table leaves open is decided as in docs/tracker-differences.md: a stored count of fences is compared with
// what the same thread, the earlier accessor, has counted by now (as in ScoRD), and DevShared and BlkShared include the
// current access (section 6.2).
#ifndef GR_ENGINES_TRACKER_DEVICE_PAPER_RULES_H
#define GR_ENGINES_TRACKER_DEVICE_PAPER_RULES_H

#include "engines/tracker/device/paper_word.h"

// What table 2 speaks of. Counts are modulo their widths, as stored.
typedef struct GrPaperCase {
    GrPaperSide cur;     // the current access, with the synchronization metadata of its thread: curr and sm
    GrPaperSide md;      // mm.LastWriter for a load, else mm.LastAccessor
    int load, atomic;    // type of the current access
    int valid, modified; // mm: someone accessed it, someone wrote it,
    int was_atomic, was_narrow; // how it wrote: Atomic, Scope
    uint32_t writer_block;      // and its block
    int dev_shared, blk_shared; // mm, with the current access
    uint32_t dev_now, blk_now;  // counts of md's thread by now
    int counts_known;           // 0: another thread has the place of these counts
    uint32_t active;            // lanes that execute the current access together
} GrPaperCase;

typedef struct GrPaperRule {
    const char *name;
    int (*holds)(const GrPaperCase *c);
} GrPaperRule;

#define GR_RULE static inline __attribute__((always_inline)) int

GR_RULE gr_paper_alone(const GrPaperCase *c) { return !c->dev_shared && !c->blk_shared; }
GR_RULE gr_paper_same_block(const GrPaperCase *c) { return c->md.block == c->cur.block; }
GR_RULE gr_paper_same_warp(const GrPaperCase *c) {
    return gr_paper_same_block(c) && c->md.tid / 32 == c->cur.tid / 32;
}
GR_RULE gr_paper_no_dev_fence(const GrPaperCase *c) { return c->counts_known && c->md.dev == c->dev_now; }
GR_RULE gr_paper_no_fence(const GrPaperCase *c) {
    return gr_paper_no_dev_fence(c) && c->md.blk == c->blk_now;
}

// ---- Preliminary checks: any of them acquits the access ------------------------------------------------------------

GR_RULE gr_paper_p1(const GrPaperCase *c) { return !c->valid; }
GR_RULE gr_paper_p2(const GrPaperCase *c) { return !c->modified && c->load; }
GR_RULE gr_paper_p3(const GrPaperCase *c) {
    return gr_paper_alone(c) && gr_paper_same_block(c) && c->cur.tid == c->md.tid;
}
GR_RULE gr_paper_p4(const GrPaperCase *c) {
    return gr_paper_alone(c) && gr_paper_same_warp(c) &&
           (c->md.warp_bar != c->cur.warp_bar || c->active >> c->md.tid % 32 & 1);
}
GR_RULE gr_paper_p5(const GrPaperCase *c) {
    return !c->dev_shared && gr_paper_same_block(c) && c->md.bar != c->cur.bar;
}
GR_RULE gr_paper_p6(const GrPaperCase *c) {
    return c->was_atomic && c->atomic && (gr_paper_same_block(c) || !c->was_narrow);
}

// ---- Conditions of a race: the first that holds names it -----------------------------------------------------------

GR_RULE gr_paper_r1(const GrPaperCase *c) {
    return c->was_atomic && c->was_narrow && c->writer_block != c->cur.block;
}
GR_RULE gr_paper_r2(const GrPaperCase *c) {
    return gr_paper_same_warp(c) && gr_paper_no_fence(c) && gr_paper_alone(c);
}
GR_RULE gr_paper_r3(const GrPaperCase *c) { return gr_paper_no_fence(c) && !c->dev_shared; }
GR_RULE gr_paper_r4(const GrPaperCase *c) { return !gr_paper_same_block(c) && gr_paper_no_dev_fence(c); }
GR_RULE gr_paper_r5(const GrPaperCase *c) {
    return (c->md.locks || c->cur.locks) && !gr_lock_common(c->md.locks, c->cur.locks);
}
#undef GR_RULE

enum { GR_PAPER_SAFE = 6, GR_PAPER_RACES = 5 };

static const GrPaperRule gr_paper_safe[GR_PAPER_SAFE] = {
    {"P1: first access", gr_paper_p1},         {"P2: no write access", gr_paper_p2},
    {"P3: program order access", gr_paper_p3}, {"P4: warp-synced access", gr_paper_p4},
    {"P5: barrier access", gr_paper_p5},       {"P6: safe atomic access", gr_paper_p6},
};

static const GrPaperRule gr_paper_races[GR_PAPER_RACES] = {
    {"R1: scoped-atomic race", gr_paper_r1}, {"R2: intra-warp race", gr_paper_r2},
    {"R3: intra-block race", gr_paper_r3},   {"R4: inter-block race", gr_paper_r4},
    {"R5: missing lock race", gr_paper_r5},
};

// Rules that do not count, for tests: bit 0 is P1, bit 6 is R1.
#ifndef GR_PAPER_WITHOUT
#define GR_PAPER_WITHOUT 0u
#endif

// The number of the rule that calls it a race, R1 to R5; 0: no race.
static inline __attribute__((always_inline)) uint32_t gr_paper_judge(const GrPaperCase *c) {
#pragma GCC unroll 6
    for (uint32_t k = 0; k < GR_PAPER_SAFE; k++)
        if (!(GR_PAPER_WITHOUT >> k & 1) && gr_paper_safe[k].holds(c))
            return 0;
#pragma GCC unroll 5
    for (uint32_t k = 0; k < GR_PAPER_RACES; k++)
        if (!(GR_PAPER_WITHOUT >> (GR_PAPER_SAFE + k) & 1) && gr_paper_races[k].holds(c))
            return k + 1;
    return 0;
}

#endif
