// SPDX-License-Identifier: Apache-2.0
// warp — a call of the common path by the lanes of a warp. Part of rules_ptx.c.
//
// The lanes come one after the other, and each has the result that the runtime gives it (device/quick.h,
// device/tracker.c). They share most of the work if their threads have only passed barriers and each accesses one word
// of shared memory. The call looks up once what all lanes need. A lane that loads what another lane has just loaded
// does what that lane did. A race by a pair of instructions that was reported is only counted. Every other access goes
// the whole way.
#ifndef GR_ENGINES_TRACKER_VM_WARP_H
#define GR_ENGINES_TRACKER_VM_WARP_H

// What later loads of a cell by lanes of the warp come to: they leave nothing there.
typedef struct Same {
    uint32_t but; // lanes of which the cell tells something else
    GrPair *race; // that such a load is counted for; NULL: it races with nothing
} Same;

// A call on its way through its lanes.
typedef struct Sweep {
    const RuleCall *c;
    uint64_t cells;        // where the host sees the cells of the block's shared memory
    uint64_t common;       // `own` of the lanes that are done here, but for OF_LANE
    uint64_t fixed;        // what the accesses' words have besides `own`
    uint32_t launch, kept; // `kept`: the site; 0: a word cannot name it
    int counts;            // races may be counted here
    int heard;             // and one of a read and a write was
    GrPair *pairs;         // of the module
    uint32_t n_pairs;      // a power of two
    // The other site, the class << 16 and gr_pair_width << 24 of the pair `found`; 0: none.
    uint32_t found_for;
    GrPair *found;
    GrPair *counted; // of the last race
    uint64_t races;  // of that pair, which its `count` has not yet
    // By the number of a cell modulo VM_LANES: the number + 1 of the cell that `same` tells of.
    uint32_t same_cell[VM_LANES];
    Same same[VM_LANES];
    uint32_t alike; // lanes that are done here; for fours.h
} Sweep;

// Bits of a word.
#define OF_THREAD ((uint64_t)0x3ff << 32)
#define OF_WARP   ((uint64_t)0x3e0 << 32)
#define OF_LANE   ((uint64_t)0x1f << 32)

// ---- Races -----------------------------------------------------------------------------------------------------

GR_INLINE void add_races(Sweep *s) {
    if (s->races)
        (void)__atomic_fetch_add(&s->counted->count, s->races, __ATOMIC_RELAXED);
    s->races = 0;
}

GR_INLINE void count_races(Sweep *s, GrPair *pair, uint32_t lanes) {
    if (pair != s->counted)
        add_races(s);
    s->counted = pair;
    s->races += lanes;
}

// The recorded pair with that key; NULL: there is none yet.
static GrPair *find_pair(const Sweep *s, uint64_t key) {
    uint32_t at = gr_pair_slot(key);
    for (uint32_t k = 0; k < GR_PAIR_TRIES; k++) {
        GrPair *p = &s->pairs[(at + k) & (s->n_pairs - 1)];
        uint64_t there = __atomic_load_n(&p->key, __ATOMIC_RELAXED);
        if (!there || there == key)
            return there ? p : NULL;
    }
    return NULL;
}

// The pair of a race of that class with the access in `word`, of the same block, whose second half is `more`; NULL: the
// race may not be counted here.
GR_INLINE GrPair *pair_with(Sweep *s, uint32_t class, uint64_t word, uint64_t own, uint64_t more) {
    uint32_t width = (word ^ own) & OF_WARP ? GR_OF_WARPS : GR_OF_LANES;
    uint32_t other = (uint32_t)more & 0xffff, wanted = other | class << 16 | width << 24;
    if (wanted == s->found_for)
        return s->found;
    GrPair *pair = other && s->counts ? find_pair(s, gr_pair_key(width, class, s->kept, other)) : NULL;
    if (pair)
        s->found = pair, s->found_for = wanted;
    return pair;
}

// Does what report() does for a race of a read and a write. No number changes within a call, so once is enough.
static GR_NOINLINE void hear_race(Sweep *s, uint64_t own) {
    Me m = {.launch = s->launch, .block = gr_word_block(own)};
    hear_all(&m);
    s->heard = 1;
}

// ---- What a word tells -------------------------------------------------------------------------------------------

#define OF_COUNTS (~(OF_THREAD | UINT32_MAX))
#define ALIKE     (~(OF_THREAD | 0xf)) // alike in all weak loads of a block between two barriers

// What a word of a cell tells a weak access to that cell.
typedef enum Tells {
    TELLS_GONE,  // of nothing, of another block, or of something weak that is behind a barrier: it gives way
    TELLS_LOAD,  // of a weak load by another thread of the block between the same barriers
    TELLS_STORE, // of such a store
    TELLS_OWN,   // of a weak access by the thread itself between the same barriers
    TELLS_MORE   // of something else
} Tells;

GR_INLINE int is_behind(uint64_t word, uint64_t own) {
    return (int64_t)(((own & OF_COUNTS) - (word & OF_COUNTS)) << (64 - GR_WORD_SYNCS)) > 0;
}

GR_INLINE Tells tells(uint64_t word, uint64_t own) {
    uint64_t differs = word ^ own;
    uint32_t low = (uint32_t)word;
    if (!(differs & ALIKE & ~(uint64_t)GR_WORD_WRITES))
        return !(differs & OF_THREAD) ? TELLS_OWN : low & GR_WORD_WRITES ? TELLS_STORE : TELLS_LOAD;
    if (low & GR_WORD_STRENGTH)
        return TELLS_MORE;
    int elsewhere = !(low & 0xf) || (uint32_t)differs > GR_WORD_OF_ACCESS;
    return elsewhere || is_behind(word, own) ? TELLS_GONE : TELLS_MORE;
}

// `more` belongs to `word`, and both are of this launch.
GR_INLINE int is_whole(uint64_t word, uint64_t more, uint32_t launch) {
    uint32_t hash = gr_word_hash(word),
             differs = (uint32_t)(more >> 16) ^ hash ^ launch >> GR_WORD_LAUNCH_LOW;
    return !(differs & 0x7ffff) && gr_mix_again(hash) >> 24 == more >> 56;
}

// The thread's own access in `word` says all that this one does.
GR_INLINE int says_this(uint64_t word, uint64_t more, uint64_t own, uint32_t launch) {
    return !(own & ~word & (GR_WORD_WRITES | 0xf)) && is_whole(word, more, launch);
}

GR_INLINE uint64_t half(const GrWord *w) { return __atomic_load_n(&w->is, __ATOMIC_RELAXED); }

// Records the access in place k. Blocks that run together do not share cells, so nothing comes in between.
GR_INLINE void leave(const Sweep *s, GrCell *cell, unsigned k, uint64_t own, uint32_t value) {
    __atomic_store_n(&cell->word[k].is, own, __ATOMIC_RELAXED);
    __atomic_store_n(&cell->more[k].is, gr_word_more_of(s->kept, s->launch, value, own), __ATOMIC_RELAXED);
}

// ---- A load ---------------------------------------------------------------------------------------------------------

// quick_place(): the place of a load that finds these two; 2: none.
GR_INLINE unsigned load_place(Tells a, Tells b, uint64_t first, uint64_t second, uint64_t own) {
    if (b == TELLS_GONE)
        return 1;
    if (a != TELLS_LOAD)
        return a == TELLS_GONE ? 0 : 2;
    return !((first ^ second) & OF_WARP) && (first ^ own) & OF_WARP ? 1 : 2;
}

// The lane of the warp of `own` that the word tells of, as a mask.
GR_INLINE uint32_t lane_told(uint64_t word, uint64_t own) {
    return (word ^ own) & OF_WARP ? 0 : 1u << gr_word_tid(word) % 32;
}

// What became of a lane's access.
typedef enum Done {
    DONE_NOT, // it has to go the whole way; nothing was changed
    DONE,
    DONE_SAME // and `same` says what other lanes that load the cell do: they leave nothing
} Done;

GR_INLINE Done load_cell(Sweep *s, GrCell *cell, uint64_t own, Same *same) {
    uint64_t first = half(&cell->word[0]), second = half(&cell->word[1]), more = half(&cell->more[0]);
    Tells a = tells(first, own), b = tells(second, own);
    if (b == TELLS_OWN)
        return says_this(second, half(&cell->more[1]), own, s->launch) ? DONE : DONE_NOT;
    if (a == TELLS_OWN)
        return says_this(first, more, own, s->launch) ? DONE : DONE_NOT;
    if (a == TELLS_MORE || b > TELLS_LOAD)
        return DONE_NOT;
    unsigned k = load_place(a, b, first, second, own);
    GrPair *race = NULL;
    if (((k == 2 || a == TELLS_STORE) && !is_whole(first, more, s->launch)) ||
        (k == 2 && !is_whole(second, half(&cell->more[1]), s->launch)) ||
        (a == TELLS_STORE &&
         (!(first & own & 0xf) || !(race = pair_with(s, CLASS_READ_WRITE, first, own, more)))))
        return DONE_NOT;
    if (race && !s->heard)
        hear_race(s, own);
    if (race)
        count_races(s, race, 1);
    *same = (Same){lane_told(first, own) | lane_told(second, own), race};
    if (k == 2)
        return DONE_SAME;
    leave(s, cell, k, own, 0);
    uint64_t stays = k ? first : second;
    if ((k && a == TELLS_GONE) || // which the next lane takes the place of
        (a != TELLS_STORE && !is_whole(stays, half(&cell->more[1 - k]), s->launch)))
        return DONE;
    same->but = lane_told(stays, own) | lane_told(own, own);
    return DONE_SAME;
}

GR_INLINE Done load_lane(Sweep *s, GrCell *cell, uint32_t number, uint32_t lane, uint64_t own) {
    Same *same = &s->same[number % VM_LANES];
    uint32_t *of = &s->same_cell[number % VM_LANES];
    if (*of == number + 1 && !(same->but >> lane & 1)) {
        if (same->race)
            count_races(s, same->race, 1);
        return DONE;
    }
    Done done = load_cell(s, cell, own, same);
    *of = done == DONE_SAME ? number + 1 : 0;
    return done;
}

#include "engines/tracker/vm/fours.h"

// ---- A store --------------------------------------------------------------------------------------------------------

// *race: the pair by which a store races with the access in `word`; NULL: it does not. 0: the whole way finds out.
GR_INLINE int store_meets(Sweep *s, Tells t, uint64_t word, const GrWord *rest, uint64_t own, uint32_t value,
                          GrPair **race) {
    *race = NULL;
    if (t == TELLS_GONE || t == TELLS_OWN)
        return 1;
    uint64_t more = half(rest);
    if (t == TELLS_MORE || !(word & own & 0xf) || !is_whole(word, more, s->launch))
        return 0;
    int alike = t == TELLS_STORE && value && value == (more >> 48 & 0xff);
    if (alike && !GR_CONTROL.same_value)
        return 0;
    uint32_t class = t == TELLS_LOAD ? CLASS_READ_WRITE : alike ? CLASS_SAME_VALUE : CLASS_WRITE_WRITE;
    return (*race = pair_with(s, class, word, own, more)) != NULL;
}

GR_INLINE Done store_lane(Sweep *s, GrCell *cell, uint64_t own, uint32_t value) {
    uint64_t first = half(&cell->word[0]), second = half(&cell->word[1]);
    Tells a = tells(first, own), b = tells(second, own);
    GrPair *one, *other;
    if (a == TELLS_OWN && first & GR_WORD_WRITES)
        return says_this(first, half(&cell->more[0]), own, s->launch) ? DONE : DONE_NOT;
    if (!store_meets(s, a, first, &cell->more[0], own, value, &one) ||
        !store_meets(s, b, second, &cell->more[1], own, value, &other))
        return DONE_NOT;
    if ((a == TELLS_LOAD || b == TELLS_LOAD) && !s->heard)
        hear_race(s, own);
    if (one)
        count_races(s, one, 1);
    if (other)
        count_races(s, other, 1);
    leave(s, cell, 0, own, value);
    return DONE;
}

// ---- All lanes ------------------------------------------------------------------------------------------------------

#ifndef GR_WHOLE // a test counts these
#define GR_WHOLE __gr_access
#endif

// Does one lane as the runtime does. 1: the launch is to end.
static GR_NOINLINE int whole_way(const RuleCall *c, uint32_t lane) {
    gr_now.lane = lane;
    GR_WHOLE(c->site, c->what, c->at[lane], c->value[lane], c->own[lane]);
    return gr_now.trap;
}

static void whole_ways(const RuleCall *c) {
    for (uint32_t m = c->lanes; m; m &= m - 1)
        if (whole_way(c, (uint32_t)__builtin_ctz(m)))
            return;
}

GR_INLINE Done sweep_lane(Sweep *s, uint32_t lane, int writes) {
    const RuleCall *c = s->c;
    uint64_t at = c->at[lane], own = c->own[lane];
    uint32_t number = ((uint32_t)at & (GR_SHARED_MOST - 1)) >> 2;
    GrCell *cell = (GrCell *)(uintptr_t)gr_cell(s->cells, number << 2);
    if (((own ^ s->common) & ~OF_LANE) | (at & 3))
        return DONE_NOT;
    own |= s->fixed;
    return writes ? store_lane(s, cell, own, c->what & GR_WHAT_VALUE ? hash_of(c->what, c->value[lane]) : 0)
                  : load_lane(s, cell, number, lane, own);
}

// Begins the call. 0: all lanes are to go the whole way.
GR_INLINE int sweep_begins(Sweep *s, const RuleCall *c, int writes) {
    unsigned lane = (unsigned)__builtin_ctz(c->lanes);
    if (GR_HISTORY != 2 || !GR_CONTROL.area || (c->what & 0xff) != 4 || !gr_own_is_plain(c->own[lane]) ||
        launch_is_apart())
        return 0;
    uint64_t cells = where_shared((uint32_t)c->own[lane] >> GR_WORD_BLOCK);
    s->c = c;
    s->cells = (uint64_t)(uintptr_t)gr_host((void *)(uintptr_t)cells);
    s->common = c->own[lane];
    s->fixed = (writes ? GR_WORD_WRITES | 0xf : c->value[lane] & 0xf) | // which a load's instruction says
               (c->what & GR_WHAT_WIDE ? GR_WORD_WIDE : 0);
    s->launch = (uint32_t)gr_grid_id();
    s->kept = c->site < GR_WORD_SITES ? c->site : 0;
    s->counts = s->kept && !(c->what >> GR_WHAT_BACK) && !GR_CONTROL.stop && !gr_blocks_alias();
    s->pairs = gr_host((void *)(uintptr_t)(GR_CONTROL.area + sizeof(GrTrackedHeader)));
    s->n_pairs = GR_CONTROL.pairs;
    s->heard = 0, s->found_for = 0, s->counted = NULL, s->races = 0;
    if (!writes)
        memset(s->same_cell, 0, sizeof s->same_cell);
    return cells != 0;
}

// Does one lane the whole way. 1: the launch is to end.
GR_INLINE int sweep_the_whole_way(Sweep *s, uint32_t lane, int writes) {
    if (!writes) // `same` tells of a cell as it was
        memset(s->same_cell, 0, sizeof s->same_cell);
    return whole_way(s->c, lane);
}

GR_INLINE void sweep(const RuleCall *c, int writes) {
    Sweep s;
    if (!sweep_begins(&s, c, writes)) {
        whole_ways(c);
        return;
    }
    const int fours = !writes && HAS_FOURS && !GR_CONTROL.stop; // else no lane comes before another
    if (fours)
        find_alike(&s);
    for (uint32_t m = fours ? load_fours(&s, c->lanes) : c->lanes; m;) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        if (sweep_lane(&s, lane, writes) == DONE_NOT && sweep_the_whole_way(&s, lane, writes))
            break;
        m &= m - 1;
        m = fours && m ? load_fours(&s, m) : m;
    }
    add_races(&s);
}

static void sweep_loads(const RuleCall *c) { sweep(c, 0); }
static void sweep_stores(const RuleCall *c) { sweep(c, 1); }

static void quick_call(const RuleCall *c) {
    int shared = (c->what >> GR_WHAT_SPACE & 3) == GR_SPACE_SHARED;
    if (!shared || (c->what >> GR_WHAT_STRENGTH & 7) != GR_WEAK)
        whole_ways(c);
    else if (c->what & GR_WHAT_WRITES)
        sweep_stores(c);
    else
        sweep_loads(c);
}

#endif
