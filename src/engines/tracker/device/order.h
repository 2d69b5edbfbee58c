// SPDX-License-Identifier: Apache-2.0
// order — what threads and blocks have done to synchronize, under the rules of PTX, and whether that can have ordered
// two accesses. Device code only; part of tracker.c.
#ifndef GR_ENGINES_TRACKER_DEVICE_ORDER_H
#define GR_ENGINES_TRACKER_DEVICE_ORDER_H

#include "engines/tracker/device/state.h"
#include "engines/tracker/device/word.h"

#ifndef GR_SEQUENTIAL
GR_GLOBAL GrTrackerControl __gr_control;
#endif

// GrThreadState.word. A thread counts what it does to synchronize in syncs, and barriers of the whole block apart. It
// writes nothing as it begins: until its first sync its register `own` counts the barriers, and the state may be
// another launch's or an earlier block's. So a thread whose place has an earlier launch's state has only passed
// barriers.
enum {
    COUNTS,   // syncs, SOME_LEFT, barriers << 32
    OWNER,    // block, launch << 32
    RELEASED, // sync of the last release, of whatever scope
    ACQUIRED, // sync of the last acquire, that of the last barrier << 32; what came since is larger
    MET,      // lanes of the warp that it met at bar.warp.sync since the last barrier, before that one << 32
    WIDE,     // number of the last release beyond the block, its sync << 32
    WIDE_BEFORE, // the same of the release before that
    // The thread's own asynchronous operations up to these syncs are over, 21 bits each: of cp.async, of the bulk
    // groups, and reading in these. FURTHER: the words behind this one are of this launch.
    WAITED,
    COMMITS,      // syncs of the last three commits of cp.async, 21 bits each, the last one lowest
    COMMITS_BULK, // the same for the bulk groups
    WARPS,        // how many bar.warp.sync it has come to, MIXED, the sync of the last one << 32
    LANES,        // of all of these, unless MIXED
    // On the CPU device: the last sync by which others may learn of what the thread did, releases beyond the block
    // apart; the last fence.sc beyond the block that released, << 32.
    BESIDE,
    TALKED,           // there, too: slot of the last place of a strong access (GrTalk), launch << 32
    THREAD_WORDS = 8, // that begin at 0; and BESIDE, where it is
    SYNC_BITS = 21,
    COMMITS_KEPT = 3,
};
#define SOME_LEFT (UINT64_C(1) << 31) // before its last barrier a thread of the block had ended
#define MIXED     (UINT64_C(1) << 31) // not all were of the same lanes
#define FURTHER   (UINT64_C(1) << 63)
#define SYNC_MASK ((UINT64_C(1) << SYNC_BITS) - 1)

// GrBlockState.word. Phases count from 1; 0: none. A block writes nothing as it begins, either: words of an earlier
// launch stand for 0.
enum {
    LAST_WIDE,    // phase of the last release beyond the block, launch << 32
    LAST_RELEASE, // of the last release, launch << 32
    WIDE_ACQUIRE, // number of the last acquire from beyond the block, launch << 32; 0 none
    // This and the next three: the first release beyond the block of every fourth phase: ~number, phase << 32, launch
    // << 50.
    FIRST_IN_PHASE,
    PHASES = 4,
    TAG = 50, // of the launch there, its low 14 bits
    // 1, launch << 32: an mbarrier of the block may have told one of its threads that something is over.
    TOLD = 8,
    // The highest release that may have come to a thread of the block by strong accesses: its number, launch << 32.
    HEARD = 9,
    LAST_NUMBER = 10, // of the last release beyond the block, launch << 32
    ENDED = 7, // a thread has ended and may not have come to a barrier that others came to: 1, launch << 32
};

GR_INLINE uint32_t syncs_of(uint64_t counts) { return (uint32_t)(counts & (SOME_LEFT - 1)); }

GR_INLINE uint64_t with_launch(uint32_t launch, uint32_t v) { return (uint64_t)launch << 32 | v; }

// ---- Counting ------------------------------------------------------------------------------------------------

// Counts for launches that find what this one has left.
static void tell_launch(const Me *m) {
    GR_GLOBAL GrLaunchState *l = gr_launch_state(m->launch);
    if (!l || gr_load32(&l->module))
        return;
    gr_store64(&l->area, GR_CONTROL.area);
    gr_store32(&l->pairs, GR_CONTROL.pairs);
    gr_store32(&l->block[0], gr_ntid_x());
    gr_store32(&l->block[1], gr_ntid_y());
    gr_store32(&l->block[2], gr_ntid_z());
    gr_store32(&l->grid[0], gr_nctaid_x());
    gr_store32(&l->grid[1], gr_nctaid_y());
    gr_store32(&l->grid[2], gr_nctaid_z());
    gr_store32(&l->module, GR_CONTROL.module);
}

// `own`: what the words of the thread's accesses have in common until it synchronizes again. Counters that a word
// cannot hold take the slow path.
GR_INLINE uint64_t own_of(const Me *m, uint64_t count) {
    uint32_t barriers = (uint32_t)(count >> 32), syncs = syncs_of(count);
    GrEntry e = {.launch = m->launch,
                 .block = m->block,
                 .tid = m->tid,
                 .barriers = barriers,
                 .syncs = syncs,
                 .bytes = GR_CONTROL.word_mode ? 15 : 0};
    return barriers >> GR_WORD_COUNT_LOW || syncs >> GR_WORD_COUNT_LOW || count & SOME_LEFT ||
                   GR_CONTROL.word_mode == GR_WORDS_LOOKED_UP
               ? GR_OWN_SLOW
               : gr_word_of(&e);
}

// The state at the thread's place is its own.
GR_INLINE int is_kept(const Me *m) {
    return gr_load64(&m->state->word[OWNER].is) == with_launch(m->launch, m->block);
}

// Called where a function begins, which cannot know it.
GR_ENTRY uint64_t __gr_own(void) {
    uint64_t own = GR_OWN_SLOW;
    if (!GR_CONTROL.area)
        return own;
    Me m = gr_me();
    GR_TOGETHER(if (is_kept(&m)) own = own_of(&m, gr_load64(&m.state->word[COUNTS].is)));
    return own;
}

// Puts the thread's state into memory, where it is from now on.
static void keep(const Me *m, uint32_t barriers) {
    for (unsigned k = 0; k < THREAD_WORDS; k++)
        gr_store64(&m->state->word[k].is, k == OWNER    ? with_launch(m->launch, m->block)
                                          : k == COUNTS ? with_launch(barriers, 0)
                                                        : 0);
#ifdef GR_SEQUENTIAL
    gr_store64(&m->state->word[BESIDE].is, 0);
#endif
}

GR_ENTRY uint64_t __gr_begin(uint32_t kept) {
    if (!GR_CONTROL.area)
        return GR_OWN_SLOW;
    Me m = gr_me();
    tell_launch(&m);
    if (kept)
        keep(&m, 0);
    return own_of(&m, 0);
}

// The next number of the device, for releases and acquires beyond a block. What comes later in causality order has the
// higher number: a thread takes a release's number before it releases, an acquire's after it has seen what it acquires.
GR_INLINE uint32_t number(void) { return gr_add32((GR_GLOBAL uint32_t *)GR_CONTROL.numbers, 1) + 1; }

GR_INLINE void acquire(const Me *m, uint32_t syncs, int wide) {
    GR_GLOBAL uint64_t *acquired = &m->state->word[ACQUIRED].is;
    gr_store64(acquired, (gr_load64(acquired) & UINT64_C(0xffffffff00000000)) | syncs);
    if (wide)
        gr_max64(&gr_block_state(m->block)->word[WIDE_ACQUIRE], with_launch(m->launch, number()));
}

GR_INLINE uint64_t first_of(uint32_t launch, uint32_t phase, uint32_t number) {
    return (uint64_t)launch << TAG | (uint64_t)phase << 32 | (uint32_t)~number;
}

// Keeps the largest of this launch.
static void put_first(GR_GLOBAL uint64_t *at, uint64_t first) {
    uint64_t there = gr_load64(at), before;
    GR_ROLLED
    while ((there ^ first) >> TAG || there < first) {
        before = gr_compare_swap64(at, there, first);
        if (before == there)
            return;
        there = before;
    }
}

GR_INLINE void release(const Me *m, uint32_t syncs, uint32_t phase, int wide) {
    GR_GLOBAL GrBlockState *b = gr_block_state(m->block);
    gr_store64(&m->state->word[RELEASED].is, syncs);
    gr_max64(&b->word[LAST_RELEASE], with_launch(m->launch, phase));
    if (!wide)
        return;
    uint32_t n = number();
    gr_store64(&m->state->word[WIDE_BEFORE].is, gr_load64(&m->state->word[WIDE].is));
    gr_store64(&m->state->word[WIDE].is, (uint64_t)syncs << 32 | n);
    put_first(&b->word[FIRST_IN_PHASE + phase % PHASES], first_of(m->launch, phase, n));
#ifdef GR_SEQUENTIAL
    gr_max64(&b->word[LAST_NUMBER], with_launch(m->launch, n));
#endif
    gr_max64(&b->word[LAST_WIDE], with_launch(m->launch, phase));
}

#include "engines/tracker/device/talk.h"

// ---- Groups of asynchronous operations ---------------------------------------------------------------------

static void begin_further(GR_GLOBAL GrThreadState *s) {
    uint64_t waited = gr_load64(&s->word[WAITED].is);
    if (waited & FURTHER)
        return;
    gr_store64(&s->word[COMMITS].is, 0);
    gr_store64(&s->word[COMMITS_BULK].is, 0);
    gr_store64(&s->word[WARPS].is, 0);
    gr_store64(&s->word[WAITED].is, waited | FURTHER);
}

static void commit(GR_GLOBAL GrThreadState *s, uint32_t what, uint32_t syncs) {
    begin_further(s);
    GR_GLOBAL uint64_t *commits = &s->word[what & GR_ORDER_BULK ? COMMITS_BULK : COMMITS].is;
    gr_store64(commits, (gr_load64(commits) << SYNC_BITS | syncs) & ~FURTHER);
}

GR_INLINE uint64_t later(uint64_t words, unsigned k, uint64_t sync) {
    uint64_t now = words >> k * SYNC_BITS & SYNC_MASK;
    return now >= sync ? words : words + ((sync - now) << k * SYNC_BITS);
}

// All asynchronous operations but those of the last `groups` are over. If that goes too far back, all are.
static void wait(GR_GLOBAL GrThreadState *s, uint32_t what, uint32_t groups, uint64_t sync) {
    uint64_t waited = gr_load64(&s->word[WAITED].is);
    if (groups < COMMITS_KEPT) {
        uint64_t commits =
            waited & FURTHER ? gr_load64(&s->word[what & GR_ORDER_BULK ? COMMITS_BULK : COMMITS].is) : 0;
        sync = commits >> groups * SYNC_BITS & SYNC_MASK;
    }
    if (!(what & GR_ORDER_BULK))
        waited = later(waited, 0, sync);
    else if (!(what & GR_ORDER_READ))
        waited = later(waited, 1, sync);
    if (what & GR_ORDER_BULK)
        waited = later(waited, 2, sync);
    gr_store64(&s->word[WAITED].is, waited);
}

static void meet_lanes(GR_GLOBAL GrThreadState *s, uint32_t lanes, uint32_t syncs) {
    gr_store64(&s->word[MET].is, gr_load64(&s->word[MET].is) | lanes);
    begin_further(s);
    uint64_t warps = gr_load64(&s->word[WARPS].is);
    if (!(uint32_t)warps)
        gr_store64(&s->word[LANES].is, lanes);
    else if (gr_load64(&s->word[LANES].is) != lanes)
        warps |= MIXED;
    gr_store64(&s->word[WARPS].is, (uint64_t)syncs << 32 | ((uint32_t)warps + 1));
}

// `lanes`: the lanes of the warp that meet; for GR_ORDER_WAIT, how many groups may go on.
static GR_NOINLINE uint64_t count_order(uint32_t what, uint32_t lanes, uint64_t own) {
    Me m = gr_me();
    GR_GLOBAL GrThreadState *s = m.state;
    if (!is_kept(&m)) {
        // Another thread has this one's place. A later launch's thread keeps it: maker_of() relies on that.
        int later = (int32_t)((uint32_t)(gr_load64(&s->word[OWNER].is) >> 32) - m.launch) > 0;
        if (!gr_own_is_plain(own) || later)
            return GR_OWN_SLOW;
        keep(&m, gr_word_barriers(own));
    }
    uint64_t count = gr_load64(&s->word[COUNTS].is);
    uint32_t syncs = syncs_of(count), phase = (uint32_t)(count >> 32) + 1;
    uint64_t left = count & SOME_LEFT;
    if (what & GR_ORDER_TOLD)
        gr_store64(&gr_block_state(m.block)->word[TOLD], with_launch(m.launch, 1));
    uint32_t kind = what & 0xf, scope = what >> GR_ORDER_SCOPE & 7;
    if (kind == GR_ORDER_BARRIER) {
        uint64_t acquired = gr_load64(&s->word[ACQUIRED].is);
        gr_store64(&s->word[ACQUIRED].is, (acquired & 0xffffffff) | (uint64_t)syncs << 32);
        gr_store64(&s->word[MET].is, gr_load64(&s->word[MET].is) << 32);
        if (what & GR_ORDER_LEFT &&
            gr_load64(&gr_block_state(m.block)->word[ENDED]) == with_launch(m.launch, 1))
            left = SOME_LEFT;
        count = (uint64_t)phase << 32 | left | syncs;
        gr_store64(&s->word[COUNTS].is, count);
        return own_of(&m, count);
    }
    if (kind == GR_ORDER_END) {
        gr_store64(&gr_block_state(m.block)->word[ENDED], with_launch(m.launch, 1));
        return GR_OWN_SLOW;
    }
    syncs++;
    int wide = scope > GR_STRONG_CTA;
    if (kind == GR_ORDER_WARP)
        meet_lanes(s, lanes, syncs);
    if (kind == GR_ORDER_WAIT)
        wait(s, what, lanes, syncs);
    if (kind == GR_ORDER_COMMIT)
        commit(s, what, syncs);
    if (what & GR_ORDER_ACQUIRES)
        acquire(&m, syncs, wide);
    if (what & GR_ORDER_RELEASES && kind != GR_ORDER_WARP)
        release(&m, syncs, phase, wide);
#ifdef GR_SEQUENTIAL
    note_beside(&m, what, syncs, wide);
#endif
    count = (uint64_t)(phase - 1) << 32 | left | syncs;
    gr_store64(&s->word[COUNTS].is, count);
    return own_of(&m, count);
}

GR_ENTRY uint64_t __gr_order(uint32_t what, uint32_t lanes, uint64_t own) {
    uint64_t now = GR_OWN_SLOW;
    GR_TOGETHER(if (GR_CONTROL.area) now = count_order(what, lanes, own));
    return now;
}

// ---- Comparing -------------------------------------------------------------------------------------------------

// One access on its way through its cells.
typedef struct Look {
    Me me;                              // `state` 0: the thread has done nothing but pass barriers
    uint32_t site, what, shared, owner; // owner: the block whose shared memory it is
    int left;                           // SOME_LEFT
    GrEntry mine;
    GR_GLOBAL GrLaunchState *of; // of its launch; 0: not known
    uint32_t apart;              // GrLaunchState.apart
} Look;

// Other launches run beside the launch of the access.
GR_INLINE int is_apart(const Look *l) { return gr_launches() && l->apart; }

// A word of what is kept of a launch's block; `none`: a later launch has the place.
GR_INLINE uint32_t word_of_block(uint32_t launch, uint32_t block, unsigned k, uint32_t none) {
    uint64_t w = gr_load64(&gr_block_place(gr_places_of(launch), block)->word[k]);
    int32_t later = (int32_t)((uint32_t)(w >> 32) - launch);
    return !later ? (uint32_t)w : !w || later < 0 ? 0 : none;
}

GR_INLINE uint32_t block_word(const Look *l, uint32_t block, unsigned k, uint32_t none) {
    return word_of_block(l->me.launch, block, k, none);
}

// The state of the thread that made an access. Known, and `state` 0: it has only passed barriers.
typedef struct Maker {
    int known;
    GR_GLOBAL GrThreadState *state;
} Maker;

// `threads`: the threads of a block of the launch.
GR_INLINE Maker maker_of(uint32_t launch, uint32_t threads, uint32_t block, uint32_t tid) {
    GR_GLOBAL GrThreadState *s = gr_thread_place(gr_places_of(launch), block * threads + tid);
    uint64_t owner = gr_load64(&s->word[OWNER].is);
    if (owner == with_launch(launch, block))
        return (Maker){1, s};
    // Another block of the launch may have written its state over this one's.
    return (Maker){!owner || (int32_t)((uint32_t)(owner >> 32) - launch) < 0, 0};
}

GR_INLINE uint64_t kept_word(GR_GLOBAL GrThreadState *s, unsigned k) {
    return s ? gr_load64(&s->word[k].is) : 0;
}

GR_INLINE Maker maker(const Look *l, uint32_t block, uint32_t tid) {
    return maker_of(l->me.launch, gr_ntid_x() * gr_ntid_y() * gr_ntid_z(), block, tid);
}

GR_INLINE uint64_t warps_of(GR_GLOBAL GrThreadState *s) {
    return kept_word(s, WAITED) & FURTHER ? gr_load64(&s->word[WARPS].is) : 0;
}

// If two lanes have met with the same lanes only, one's n-th bar.warp.sync is the other's. True: this lane came to none
// that its maker came to behind `e`.
static int met_apart(const Look *l, const GrEntry *e) {
    uint64_t mine = warps_of(l->me.state);
    if (!(uint32_t)mine)
        return 1;
    Maker m = maker(l, e->block, e->tid);
    uint64_t theirs = warps_of(m.state);
    if (!(uint32_t)theirs || (mine | theirs) & MIXED ||
        kept_word(m.state, LANES) != kept_word(l->me.state, LANES))
        return 0;
    uint32_t last = (uint32_t)(theirs >> 32), since = last > e->syncs ? last - e->syncs : 0; // at most
    return (uint32_t)mine + since <= (uint32_t)theirs;
}

// Lanes of one warp may know of each other through bar.warp.sync since the last barrier, directly or through other
// lanes.
static int lanes_met(const Look *l, const GrEntry *e) {
    if (met_apart(l, e))
        return 0;
    uint32_t reached = 1u << e->tid % 32, looked = 0;
    GR_ROLLED
    while (reached & ~looked) {
        uint32_t lane = (uint32_t)__builtin_ctz(reached & ~looked);
        looked |= 1u << lane;
        Maker m = maker(l, e->block, e->tid / 32 * 32 + lane);
        if (!m.known)
            return 1;
        // The maker may have arrived at the next barrier already.
        uint64_t met = kept_word(m.state, MET);
        reached |= (uint32_t)met | (uint32_t)(met >> 32);
    }
    return (int)(reached >> l->me.tid % 32 & 1);
}

// The maker of `e` has passed no barrier since and done nothing else, though this thread has passed one: the maker has
// ended. In kernels where threads may end so, all states are kept from the beginning.
static int left_before(const Look *l, const GrEntry *e) {
    GR_GLOBAL GrThreadState *s = maker(l, e->block, e->tid).state;
    uint64_t count = s ? gr_load64(&s->word[COUNTS].is) : 0;
    return s && (uint32_t)(count >> 32) == e->barriers && syncs_of(count) == e->syncs;
}

// For threads of one block: nothing can have ordered the access `e` before this one.
static int unordered_within(const Look *l, const GrEntry *e) {
    if (l->mine.barriers > e->barriers)
        return l->left && left_before(l, e);
    uint64_t acquired = kept_word(l->me.state, ACQUIRED);
    // The maker has acquired nothing but barriers before both accesses.
    if ((uint32_t)acquired <= (uint32_t)(acquired >> 32))
        return 1;
    Maker m = maker(l, e->block, e->tid);
    if (!m.known)
        return 0;
    if (syncs_of(kept_word(m.state, COUNTS)) == e->syncs)
        return 1;
    if ((uint32_t)kept_word(m.state, RELEASED) > e->syncs)
        return 0;
    // The maker met lanes of its warp, no more. To reach threads of other warps, and where no warp barriers lead here,
    // one of these lanes must have released since.
    if (e->tid / 32 == l->me.tid / 32 && lanes_met(l, e))
        return 0;
    return block_word(l, e->block, LAST_RELEASE, ~0u) <= e->barriers;
}

// The number of the first release beyond the block that may pass the access on; 0: not known, ~0: there was none.
// `maker`: the state of its thread; NULL: not known. (A pointer, as clang takes the address of a structure that is a
// parameter, which the CPU device does not have.)
static uint32_t passed_on(const GrEntry *e, uint32_t launch, GR_GLOBAL GrThreadState *maker) {
    uint32_t own = ~0u, phase = e->barriers + 1;
    if (maker) {
        uint64_t last = kept_word(maker, WIDE);
        if (last >> 32 > e->syncs)
            own = kept_word(maker, WIDE_BEFORE) >> 32 > e->syncs ? 0 : (uint32_t)last;
        // A thread that has neither released nor met lanes since passed its access on at the next barrier.
        phase += (uint32_t)kept_word(maker, RELEASED) <= e->syncs && warps_of(maker) >> 32 <= e->syncs;
    }
    uint32_t last = word_of_block(launch, e->block, LAST_WIDE, ~0u);
    if (!own || last < phase)
        return own;
    if (last - phase >= PHASES)
        return 0;
    GR_GLOBAL GrBlockState *b = gr_block_place(gr_places_of(launch), e->block);
    GR_ROLLED
    for (; phase <= last; phase++) {
        uint64_t first = gr_load64(&b->word[FIRST_IN_PHASE + phase % PHASES]),
                 wanted = first_of(launch, phase, 0);
        if ((first ^ wanted) >> TAG)
            continue;
        if (first >> 32 > wanted >> 32)
            return 0;
        if (first >> 32 == wanted >> 32)
            return ~(uint32_t)first < own ? ~(uint32_t)first : own;
    }
    return 0;
}

// For threads of two blocks: this block has acquired nothing from beyond it since the access.
GR_INLINE int unordered_between(const Look *l, const GrEntry *e) {
    uint32_t acquired = block_word(l, l->me.block, WIDE_ACQUIRE, ~0u);
    if (!acquired)
        return 1;
    Maker m = maker(l, e->block, e->tid);
    return acquired < passed_on(e, l->me.launch, m.known ? m.state : 0);
}

#include "engines/tracker/device/chance.h"

// The asynchronous operation is still under way: until its thread has waited for it; or, if it completes on an
// mbarrier, until the thread that asks has acquired anything since.
static int pending(const Look *l, const GrEntry *e) {
    if (!e->wide) {
        Maker m = maker(l, e->block, e->tid);
        unsigned which = !e->value ? 0 : e->writes ? 1 : 2;
        return m.known && (kept_word(m.state, WAITED) >> which * SYNC_BITS & SYNC_MASK) <= e->syncs;
    }
    // In shared memory the mbarrier lies beside the bytes, and only threads of that block can ask it.
    if (l->shared && e->writes && !block_word(l, l->owner, TOLD, 1) && !block_word(l, l->me.block, TOLD, 1) &&
        !block_word(l, e->block, TOLD, 1))
        return 1;
    if (l->mine.barriers > e->barriers || e->block != (l->me.block & (GR_BLOCKS - 1)))
        return 0;
    uint64_t acquired = kept_word(l->me.state, ACQUIRED);
    return (uint32_t)acquired <= (l->mine.tid == e->tid ? e->syncs : (uint32_t)(acquired >> 32));
}

#endif
