// SPDX-License-Identifier: Apache-2.0
// quick — the common path of an access: it meets nothing that it could race with, and records the access, or finds it
// recorded. It does what visit() would do (tracker.c) with few instructions and registers, and leaves everything else
// to visit(). Device code only; part of tracker.c.
//
// A kernel keeps in a register what the words of its accesses have in common: thread, launch and counters (`own`, from
// __gr_begin, __gr_own and __gr_order). Two more registers say where metadata of shared and of global memory is looked
// for (`where`, from __gr_where). Most instructions say that they access shared or global memory: those have functions
// of their own.
#ifndef GR_ENGINES_TRACKER_DEVICE_QUICK_H
#define GR_ENGINES_TRACKER_DEVICE_QUICK_H

#include "engines/tracker/device/order.h"

#ifdef GR_SEQUENTIAL // there is one way to do these
#define gr_load32_here          gr_load32
#define gr_load64_here          gr_load64
#define gr_load64_of_block_here gr_load64_of_block
#define gr_exchange64_here      gr_exchange64
#define gr_compare_swap64_here  gr_compare_swap64
#endif

// What a function knows of its accesses when it is compiled, as shared memory and weak accesses take other
// instructions.
typedef struct Kind {
    int shared, writes, strong;
} Kind;

// What an access finds in one of the two words of its cell.
typedef struct Found {
    int none;     // nothing of this launch, or another block's in a place for shared memory that both use
    int thread;   // an access of the same thread
    int behind;   // an access of the same block that is behind a barrier
    int harmless; // the two are no race, and that is plain
} Found;

// Two strong accesses that may meet: of one size, each in the other's scope. Volatile ones may be reported all the
// same.
GR_INLINE int may_meet(uint32_t low, uint32_t own, int same_block) {
    uint32_t mine = own >> 4 & 7, theirs = low >> 4 & 7;
    return (theirs - 1 < GR_STRONG_SYS) & (((low ^ own) & (GR_WORD_WIDE | 0xf)) == 0) &
           (same_block | ((mine > GR_STRONG_CLUSTER) & (theirs > GR_STRONG_CLUSTER)));
}

GR_INLINE Found find(uint64_t word, uint64_t own, Kind kind) {
    uint32_t low = (uint32_t)word, high = (uint32_t)(word >> 32), mine = (uint32_t)own,
             owner = (uint32_t)(own >> 32);
    uint32_t differs = low ^ mine;
    // The difference of the barriers, at the top: above 0 the word is of an earlier interval.
    uint32_t barriers = ((owner & ~0x3ffu) - (high & ~0x3ffu)) << (64 - GR_WORD_SYNCS);
    int same = differs <= GR_WORD_OF_ACCESS; // of this launch and block
    Found f;
    int elsewhere = kind.shared ? !same : (differs & GR_WORD_LAUNCHES) != 0;
    f.none = ((low & 0xf) == 0) | elsewhere;
    f.thread = same & (((high ^ owner) & 0x3ff) == 0);
    f.behind = same & ((int32_t)barriers > 0);
    f.harmless = elsewhere | f.thread | f.behind | ((low & mine & 0xf) == 0); // no bytes: none in common
    if (!kind.writes)
        f.harmless |= (low & GR_WORD_WRITES) == 0;
    if (kind.strong)
        f.harmless |= may_meet(low, mine, same);
    return f;
}

// The word is of a copy that may be under way: neither barriers nor its thread say that it is over.
GR_INLINE int is_async(uint64_t word) { return ((uint32_t)word & GR_WORD_STRENGTH) == GR_ASYNC << 4; }

// This access replaces the word.
GR_INLINE int gives_way(const Found *f, uint64_t word, Kind kind) {
    return f->none | (f->behind & (kind.shared || kind.writes || !(word & GR_WORD_WRITES)));
}

// The word is the access itself, or the thread's own access of this interval that says all that this one does.
GR_INLINE int says_all(uint64_t word, uint64_t own, Kind kind) {
    uint32_t low = (uint32_t)word, mine = (uint32_t)own;
    uint32_t less = (low & GR_WORD_STRENGTH) | (mine & ~low & (GR_WORD_WRITES | 0xf));
    int same = ((low ^ mine) <= GR_WORD_OF_ACCESS) & ((uint32_t)(word >> 32) == (uint32_t)(own >> 32));
    return same & ((less == 0) | (kind.strong && ((low ^ mine) & ~(uint32_t)GR_WORD_SEEN) == 0));
}

// The place of a read; 2: none.
GR_INLINE unsigned quick_place(const Found *f, const Found *g, uint64_t first, uint64_t second, uint64_t own,
                               Kind kind) {
    if (gives_way(g, second, kind) || (g->thread && !(second & GR_WORD_WRITES)))
        return 1;
    if (gives_way(f, first, kind) || (f->thread && !(first & GR_WORD_WRITES)))
        return 0;
    if ((first | second) & GR_WORD_WRITES)
        return 2;
    if (!kind.shared && gr_word_block(first) != gr_word_block(second))
        return 2;
    if (!kind.shared && gr_word_block(first) != gr_word_block(own))
        return 1;
    uint32_t one = gr_word_tid(first) / 32;
    return one == gr_word_tid(second) / 32 && one != gr_word_tid(own) / 32 ? 1 : 2;
}

// Loads from a cell. A cell of shared memory is its block's own, so the multiprocessor's cache may serve.
GR_INLINE uint64_t load(GR_GLOBAL const uint64_t *at, int shared) {
    return shared ? gr_load64_of_block_here((GR_GLOBAL uint64_t *)at)
                  : gr_load64_here((GR_GLOBAL uint64_t *)at);
}

// Word k seems to be of an earlier launch, whose number has the same low bits.
GR_INLINE int seems_old(GR_GLOBAL const GrCell *cell, unsigned k, uint64_t word, Kind kind) {
    uint32_t launch = (uint32_t)gr_grid_id();
    uint32_t differs =
        gr_more_launch(word, load(&cell->more[k].is, kind.shared)) ^ launch >> GR_WORD_LAUNCH_LOW;
    return (differs & 0x7ffff) && gr_word_launch(word) == GR_WORD_SAME_LAUNCH(launch) && word & 0xf;
}

// Puts `own` in place k, where `before` was. *came: what came in between, 0: nothing; *other: what the other word is
// then. 0: another thread was faster, and this access need not be kept.
GR_INLINE int put(GR_GLOBAL GrCell *cell, uint64_t before, unsigned k, uint64_t own, Kind kind,
                  uint64_t *came, uint64_t *other) {
    uint64_t now = before;
    int kept = 1;
    if (!kind.writes && !k)
        kept = gr_compare_swap64_here(&cell->word[0].is, before, own) == before;
    else if (!kind.writes && kind.shared)
        gr_store64_of_block(&cell->word[1].is, own);
    else if (!kind.writes)
        gr_store64(&cell->word[1].is, own);
    else if (!kind.shared)
        now = gr_exchange64_here(&cell->word[0].is, own);
    else
        gr_store64_of_block(&cell->word[0].is, own);
    if (kind.writes && kind.shared)
        now = load(&cell->word[0].is, 1);
    *other = load(&cell->word[1 - k].is, kind.shared);
    *came = now != own && changed(now, before) ? now : 0;
    return kept;
}

GR_INLINE int matters(uint64_t word, uint64_t own, Kind kind) {
    Found f = find(word, own, kind);
    return is_async(word) || !f.harmless;
}

// What is left to do.
enum {
    REST_SLOW = 1 << 0, // the access as visit() looks at it
    // The access to the cell REST_DONE bytes on is in place, in the word that REST_SECOND tells, and something came in
    // between.
    REST_SETTLE = 1 << 1,
    REST_SECOND = 1 << 2,
    REST_LOCKSTEP = 1 << 3, // lanes may store to one place
    REST_DONE = 8,
};
// `came`: what the exchange showed.
static void finish_access(uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint64_t own,
                          uint32_t rest, uint64_t came);

// Does one cell; yields what is left to do. `own`: the whole word of this access; `kept`: the first 16 bits of the
// word's other half, and what is kept of its value << 16.
GR_INLINE uint32_t quick_cell(GR_GLOBAL GrCell *cell, uint64_t own, uint32_t kept, Kind kind,
                              uint64_t *came) {
    uint64_t first = load(&cell->word[0].is, kind.shared), second = load(&cell->word[1].is, kind.shared);
    // A word with this launch's low bits may be an old one. That does no harm if this access is recorded, or seems to
    // race. (A weak write is never in the second word, as it always goes to the first place.)
    int second_says = (!kind.writes || kind.strong) && says_all(second, own, kind);
    if (second_says | says_all(first, own, kind))
        return seems_old(cell, second_says != 0, second_says ? second : first, kind) ? REST_SLOW : 0;
    Found f = find(first, own, kind), g = find(second, own, kind);
    if (!(f.harmless & g.harmless & !is_async(first) & !is_async(second)))
        return REST_SLOW;
    unsigned k = 0;
    if (kind.strong && kind.writes) { // a weaker write stays, beside this one
        uint32_t theirs = (uint32_t)first & GR_WORD_STRENGTH, mine = (uint32_t)own & GR_WORD_STRENGTH;
        if (first & GR_WORD_WRITES && theirs < mine && !gives_way(&f, first, kind))
            return REST_SLOW;
    } else if (!kind.writes && (k = quick_place(&f, &g, first, second, own, kind)) == 2) {
        return seems_old(cell, 0, first, kind) || seems_old(cell, 1, second, kind) ? REST_SLOW : 0;
    }
    uint64_t other, before = k ? second : first, beside = k ? first : second;
    if (!put(cell, before, k, own, kind, came, &other))
        return 0;
    if (*came || changed(other, beside)) {
        if ((*came && matters(*came, own, kind)) || matters(other, own, kind))
            return REST_SETTLE | (k ? REST_SECOND : 0);
        if (*came && kind.shared) // it stands in this one's place
            return 0;
    }
    gr_store64(&cell->more[k].is, gr_word_more_of(kept & 0xffff, (uint32_t)gr_grid_id(), kept >> 16, own));
    return 0;
}

// Other launches run beside this one, as far as that is known.
GR_INLINE int launch_is_apart(void) {
    GR_GLOBAL GrLaunchState *l = gr_launch_state((uint32_t)gr_grid_id());
    return l && gr_load32_here(&l->apart);
}

// Other launches run beside this one, or another thread has this one's place.
GR_INLINE int is_special(uint64_t own) {
    if (!gr_launches())
        return 0;
    if (launch_is_apart())
        return 1;
    if (gr_own_is_plain(own))
        return 0;
    Me m = gr_me();
    return gr_load64_here(&m.state->word[OWNER].is) != with_launch(m.launch, m.block);
}

// ---- Where metadata is looked for ------------------------------------------------------------------------------

// The cells of the block's shared memory. 0: it has none, or the cluster's other blocks may access the memory.
GR_INLINE uint64_t where_shared(uint32_t block) {
    uint32_t room;
#ifdef GR_CLUSTERS
    if (gr_cluster_blocks() > 1)
        return 0;
#endif
    return gr_shared_cells(block & (GR_BLOCKS - 1), &room);
}

GR_INLINE uint64_t where_of(uint32_t block, int shared) {
    return shared ? where_shared(block) : GR_CONTROL.dir;
}

#ifndef GR_SEQUENTIAL
// The value of a kernel's register `where`; 0: nothing is tracked.
uint64_t __gr_where(uint32_t shared) {
    uint32_t block = gr_ctaid_x() + gr_nctaid_x() * (gr_ctaid_y() + gr_nctaid_y() * gr_ctaid_z());
    return GR_CONTROL.area ? where_of(block, (int)shared) : 0;
}
#endif

// The access's cell. `where` may be 0 if `shared`; then there is none.
GR_INLINE GR_GLOBAL GrCell *quick_cell_of(uint64_t at, uint64_t where, int shared) {
    if (shared)
        return gr_cell(where, (uint32_t)at & (GR_SHARED_MOST - 1));
    return where ? gr_global_cell_in(where, at) : 0;
}

GR_INLINE GR_GLOBAL GrCell *quick_cell_at(uint64_t at, uint64_t where, int shared) {
    return where ? quick_cell_of(at, where, shared) : 0;
}

// ---- Behind a strong read ---------------------------------------------------------------------------------------

// What look_back() would do (tracker.c) about a word: mark another thread's strong write that this read may have seen.
typedef enum Mark { MARK_NO, MARK_YES, MARK_SLOW } Mark;

GR_INLINE Mark mark_of(uint64_t word, uint64_t own, uint32_t strength, int shared) {
    uint32_t low = (uint32_t)word, differs = low ^ (uint32_t)own, theirs = low >> 4 & 7;
    int same_block = differs <= GR_WORD_OF_ACCESS;
    int thread = same_block & ((((uint32_t)(word >> 32) ^ (uint32_t)(own >> 32)) & 0x3ff) == 0);
    if ((low & (GR_WORD_WRITES | GR_WORD_SEEN)) != GR_WORD_WRITES || theirs == GR_WEAK ||
        theirs == GR_ASYNC || differs & GR_WORD_LAUNCHES || thread)
        return MARK_NO;
    if (same_block)
        return MARK_YES;
    if (shared || strength == GR_STRONG_CTA || theirs == GR_STRONG_CTA)
        return MARK_NO;
    return strength == GR_STRONG_CLUSTER || theirs == GR_STRONG_CLUSTER ? MARK_SLOW : MARK_YES;
}

// Does what look_back() would. 0: leaves it to look_back().
GR_INLINE int quick_saw(uint32_t what, uint64_t at, uint64_t own, uint64_t where, int shared) {
    const uint32_t strength = what >> GR_WHAT_STRENGTH & 7;
    if (GR_HISTORY != 2 || gr_own_is_slow(own) || is_special(own) || (shared && !where) ||
        (what & GR_WHAT_ACQUIRES && what & GR_WHAT_WRITES))
        return 0;
    GR_ROLLED
    for (uint32_t done = 0; done < (what & 0xff); done += 4) {
        GR_GLOBAL GrCell *cell = quick_cell_of(at + done, where, shared);
        if (!cell)
            continue;
        uint64_t word[2] = {load(&cell->word[0].is, shared), load(&cell->word[1].is, shared)};
        for (unsigned k = 0; k < 2; k++) {
            Mark mark = mark_of(word[k], own, strength, shared);
            if (mark == MARK_SLOW)
                return 0;
            if (mark == MARK_YES)
                (void)gr_compare_swap64_here(&cell->word[k].is, word[k], word[k] | GR_WORD_SEEN);
        }
    }
    return 1;
}

// ---- An access ---------------------------------------------------------------------------------------------------

GR_INLINE uint32_t quick_bits(uint32_t what, Kind kind) {
    return (kind.strong ? what >> (GR_WHAT_STRENGTH - 4) & GR_WORD_STRENGTH : 0) |
           (kind.writes ? GR_WORD_WRITES : 0) | (what & GR_WHAT_WIDE ? GR_WORD_WIDE : 0);
}

// What is left to do for a store by which lanes may meet at one place.
GR_INLINE uint32_t rest_of_lanes(uint32_t what, uint64_t at, Kind kind) {
#ifdef GR_SEQUENTIAL
    (void)what, (void)at, (void)kind; // one lane comes after the other
#else
    if (kind.writes && !kind.strong && !rises((uint32_t)at)) {
        // Each lane's load races with the others' stores, which may all store one value.
        uint32_t peers = what >> GR_WHAT_BACK ? gr_match_any(gr_active_mask_now(), at) : 0;
        return REST_LOCKSTEP | (peers & (peers - 1) ? REST_SLOW : 0);
    }
#endif
    return 0;
}

GR_INLINE uint32_t quick_kept(uint32_t site, uint32_t what, uint64_t value, Kind kind) {
    return (site < GR_WORD_SITES ? site : 0) |
           (kind.writes && what & GR_WHAT_VALUE ? hash_of(what, value) << 16 : 0);
}

#ifndef GR_SEQUENTIAL
// Packs what is left to do for an access of one cell into one number: `came`, with REST_ flags in place of its launch,
// which is this one. 0: nothing. So the function calls no other, and saves no registers.
GR_INLINE uint64_t put_rest(uint32_t rest, uint64_t came, uint64_t own) {
    if (((uint32_t)came ^ (uint32_t)own) & GR_WORD_LAUNCHES)
        came = 0;
    return (came & ~(uint64_t)GR_WORD_LAUNCHES) | rest << GR_WORD_LAUNCH;
}

// Takes the number of put_rest() apart.
GR_INLINE uint32_t take_rest(uint64_t left, uint64_t own, uint64_t *came) {
    *came = left & ~(uint64_t)GR_WORD_LAUNCHES;
    if (*came)
        *came |= own & GR_WORD_LAUNCHES;
    return ((uint32_t)left & GR_WORD_LAUNCHES) >> GR_WORD_LAUNCH;
}

// An access of at most four bytes. PTX aligns accesses to their size, so it lies in one cell.
GR_INLINE uint64_t quick_word(uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint64_t own,
                              uint64_t where, Kind kind) {
    const uint32_t size = what & 0xff, lanes = gr_active_mask();
    const uint32_t all = (1u << size) - 1, touched = kind.writes ? all : (uint32_t)value & all;
    uint64_t left = 0;
    GR_IN_LOOP {
        if (gr_own_is_slow(own) && !GR_CONTROL.area) // nothing is tracked
            break;
        uint32_t first = rest_of_lanes(what, at, kind), rest = first & REST_SLOW;
        uint64_t came = 0;
        GR_GLOBAL GrCell *cell = quick_cell_of(at, where, kind.shared);
        if (GR_HISTORY != 2 || gr_own_is_slow(own) || is_special(own) ||
            !(kind.shared ? where != 0 : cell != 0))
            rest = REST_SLOW;
        if (!rest)
            rest = quick_cell(cell, own | quick_bits(what, kind) | (touched << ((uint32_t)at & 3) & 0xf),
                              quick_kept(site, what, value, kind), kind, &came);
        left = rest | first ? put_rest(rest | first, came, own) : 0;
    }
    gr_rejoin(lanes);
    return left;
}
#endif

// What is left to do for an access of several cells. `rest`: REST_ flags, and << REST_DONE how many bytes in the last
// cell lies.
typedef struct Cells {
    uint64_t came;
    uint32_t rest;
} Cells;

// Does one cell after the other. PTX aligns accesses to their size, so only one of less than four bytes begins within a
// cell.
GR_INLINE Cells quick_cells(uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint64_t own,
                            uint64_t where, Kind kind) {
    const uint32_t size = what & 0xff;
    const uint32_t all = size < 4 ? (1u << size) - 1 : 0xf, within = (uint32_t)at & 3;
    const uint64_t word = own | quick_bits(what, kind);
    const uint32_t kept = quick_kept(site, what, value, kind);
    Cells c = {0, 0};
    uint32_t first = rest_of_lanes(what, at, kind), rest = first & REST_SLOW;
    if (GR_HISTORY != 2 || gr_own_is_slow(own) || is_special(own) || (within && within + size > 4))
        rest = REST_SLOW;
    uint32_t done = 0;
    GR_ROLLED
    for (uint32_t k = 0; k < size; k += 4) { // to the end, whatever is found: GR_IN_LOOP says why
        uint32_t touched = kind.writes ? all : (uint32_t)(value >> k) & all;
        if (rest || !touched)
            continue;
        done = k;
        GR_GLOBAL GrCell *cell = quick_cell_at(at + k, where, kind.shared);
        rest = cell ? quick_cell(cell, word | touched << within, kept, kind, &c.came) : REST_SLOW;
    }
    c.rest = rest | first ? rest | first | done << REST_DONE : 0;
    return c;
}

#endif
