// SPDX-License-Identifier: Apache-2.0
// tracker's device runtime — the rules of PTX.
//
// Every access writes its thread, and how often that thread had synchronized, into the cell of its bytes (word.h). An
// access that finds another thread's there is a race if nothing can have ordered the two. Each order leads out of the
// first thread by something that it did after its access, and into the second thread by something that it did. Each
// thread counts what it does (GrThreadState), and each block remembers the last time that one of its threads released
// beyond the block.
//
// What is not certain is no race. A thread counts before it synchronizes, so each thread that is ordered behind it sees
// the count: these functions add no fence and no atomic that orders, and need none.
#define GR_STRONG_BY_CALL // the functions here call others (device_api/device.h)
#include "engines/tracker/device/extent.h"
#include "engines/tracker/device/order.h"

// ---- Judging -----------------------------------------------------------------------------------------------

GR_INLINE int is_strong(uint32_t strength) { return strength != GR_WEAK && strength != GR_ASYNC; }

// The scope includes a thread of the other block.
GR_INLINE int reaches(uint32_t strength, uint32_t block, uint32_t other) {
    return strength > GR_STRONG_CLUSTER || (block & (GR_BLOCKS - 1)) == (other & (GR_BLOCKS - 1)) ||
           (strength == GR_STRONG_CLUSTER && gr_same_cluster(block, other));
}

// PTX does not call the two strong accesses a race: report them all the same, as one is volatile.
GR_INLINE int volatile_told(const Look *l, const GrEntry *e, uint32_t mine, uint32_t theirs) {
    int both = mine == GR_VOLATILE && theirs == GR_VOLATILE;
    if (GR_CONTROL.volatiles != GR_VOLATILES_LANES)
        return GR_CONTROL.volatiles && (mine == GR_VOLATILE || theirs == GR_VOLATILE);
    // These are loads of old code for warps in lockstep. All else works, if by chance.
    return both && l->shared && e->block == (l->me.block & (GR_BLOCKS - 1)) &&
           e->tid / 32 == l->mine.tid / 32 && l->mine.writes != e->writes &&
           (l->mine.writes ? e->value != 0 : (l->what & GR_WHAT_DATA) != 0);
}

GR_INLINE uint32_t with_values(const Look *l, const GrEntry *e, uint32_t class) {
    if (class == CLASS_WRITE_WRITE && l->mine.value && l->mine.value == e->value)
        class = CLASS_SAME_VALUE;
    return class == CLASS_SAME_VALUE && !GR_CONTROL.same_value ? 0 : class;
}

// The class of two unordered strong accesses; 0: no race.
static uint32_t class_of_strong(const Look *l, const GrEntry *e, int scope) {
    uint32_t mine = l->what >> GR_WHAT_STRENGTH & 7, theirs = e->strength;
    int size = e->bytes == l->mine.bytes && e->wide == l->mine.wide;
    if (scope && size && !volatile_told(l, e, mine, theirs))
        return 0;
    return !scope ? CLASS_SCOPE : !size ? CLASS_SIZE : CLASS_VOLATILE;
}

// The class of the two, 0: no race.
static uint32_t judge(const Look *l, const GrEntry *e) {
    int same_block = e->block == (l->me.block & (GR_BLOCKS - 1));
    uint32_t mine = l->what >> GR_WHAT_STRENGTH & 7, theirs = e->strength;
    uint32_t class = l->mine.writes && e->writes ? CLASS_WRITE_WRITE : CLASS_READ_WRITE;
    if (l->what & GR_WHAT_ACQUIRES) // it may be ordered by what it is about to see
        return 0;
    // A thread that comes after the one that saw the write is ordered, and the metadata does not name that thread. A
    // thread that saw a write of its block's scope is in that block.
    if (e->seen && (same_block || theirs != GR_STRONG_CTA || block_word(l, l->me.block, WIDE_ACQUIRE, 1)))
        return 0;
    if (theirs == GR_PENDING) // what that thread sees may order it
        return 0;
    // Additions do not race with each other. Nothing is said of those and strong accesses.
    int adds = mine == GR_ASYNC && l->mine.value == 2, they_add = theirs == GR_ASYNC && e->value == 2;
    if ((adds && (they_add || is_strong(theirs))) || (they_add && is_strong(mine)))
        return 0;
    if (theirs == GR_ASYNC && pending(l, e))
        return class;
    if (theirs == GR_ASYNC &&
        e->wide) // who waits at the mbarrier is ordered behind it, and all who are behind that thread
        return 0;
    if (same_block && e->tid == l->mine.tid)
        return 0;
#ifndef GR_SEQUENTIAL
    // Only the device knows which lane accesses which bytes of a matrix: this one may be the lane itself.
    if (same_block && e->tid / 32 == l->mine.tid / 32 &&
        ((theirs == GR_WEAK && e->wide) || (mine == GR_WEAK && l->mine.wide)))
        return 0;
#endif
    if (is_strong(mine) && is_strong(theirs)) {
        int scope = reaches(mine, l->me.block, e->block) && reaches(theirs, l->me.block, e->block);
        if (!(class = class_of_strong(l, e, scope)))
            return 0;
    }
    int missed = 0; // it is no release that this thread may have acquired that passed the access on
    if (same_block && !unordered_within(l, e) && !(missed = unheard(l, e, 1)))
        return 0;
    if ((!same_block || gr_blocks_alias()) && !unordered_between(l, e) && !(missed = unheard(l, e, 0)))
        return 0;
    if (missed && by_chance(l, e))
        return CLASS_CHANCE;
    return mine == GR_ASYNC || theirs == GR_ASYNC ? class : with_values(l, e, class);
}

GR_INLINE int same_launch(const Look *l, uint64_t word) {
    return gr_word_launch(word) == GR_WORD_SAME_LAUNCH(l->mine.launch);
}

GR_INLINE int same_thread(const Look *l, uint64_t word) {
    return same_launch(l, word) && gr_word_block(word) == (l->me.block & (GR_BLOCKS - 1)) &&
           gr_word_tid(word) == l->mine.tid;
}

// `of`: e's launch; 0: this one.
static void report(const Look *l, const GrEntry *e, uint32_t class, uint64_t at,
                   GR_GLOBAL GrLaunchState *of) {
    Side mine = {l->site, l->what, l->me.block, l->me.tid, 0};
    Side other = {e->site, (e->writes ? GR_WHAT_WRITES : 0) | e->strength << GR_WHAT_STRENGTH, e->block,
                  e->tid, of};
    uint32_t both = e->bytes & l->mine.bytes, first = (uint32_t)__builtin_ctz(both);
    if (class != CLASS_CHANCE && !(l->mine.writes && e->writes))
        hear_all(&l->me); // what was read says what came first, if not by right
    gr_put_pair(class, 0, l->shared, (at & ~UINT64_C(3)) + first, (uint32_t)__builtin_popcount(both), &mine,
                &other);
}

#include "engines/tracker/device/apart.h"

// Reads an access that came while this one was on its way: its second half may come later.
static int read_fresh(GR_GLOBAL GrCell *cell, unsigned k, uint64_t word, GrEntry *e) {
    enum { LOOKS = 32 };
    GR_ROLLED
    for (unsigned n = 0; n < LOOKS; n++)
        if (gr_word_read(word, gr_load64(&cell->more[k].is), e))
            return 1;
    return 0;
}

static void compare(const Look *l, GR_GLOBAL GrCell *cell, unsigned k, uint64_t word, uint64_t at,
                    int fresh) {
    GrEntry e;
    if (!gr_word_read(word, gr_load64(&cell->more[k].is), &e) && (!fresh || !read_fresh(cell, k, word, &e)))
        return;
    if (e.launch != l->mine.launch) {
        if (is_apart(l) && !l->shared)
            compare_apart(l, &e, at);
        return;
    }
    uint32_t class = judge(l, &e);
    if (class)
        report(l, &e, class, at, 0);
}

// ---- What is kept ------------------------------------------------------------------------------------------

// The access was to the same block's memory: blocks share the cells of shared memory.
GR_INLINE int concerns(const Look *l, uint64_t word) {
    return !l->shared || gr_word_block(word) == (l->owner & (GR_BLOCKS - 1)) ||
           gr_same_cluster(gr_word_block(word), l->owner);
}

// The word is of a launch that comes before this one, or that may not concern it.
GR_INLINE int is_over(const Look *l, GR_GLOBAL GrCell *cell, unsigned k, uint64_t word) {
    GrEntry e;
    GR_GLOBAL GrLaunchState *of;
    return !same_launch(l, word) && gr_word_read(word, gr_load64(&cell->more[k].is), &e) &&
           gr_stands(l->me.launch, full_number(l, &e), &of) == STANDS_BEFORE;
}

// The access in `word` need not be kept: a thread that races with it races with this one, or is behind a barrier.
GR_INLINE int outdated(const Look *l, uint64_t word, uint64_t own) {
    if (!word)
        return 1;
    if (!same_launch(l, word)) // visit() has left out those that are over
        return !is_apart(l) || l->shared;
    int same_block = gr_word_block(word) == gr_word_block(own);
    int behind = same_block && gr_word_barriers(word) != gr_word_barriers(own);
    if (gr_word_strength(word) == GR_ASYNC && same_block)
        return 0;
    if (!concerns(l, word))
        return 1;
    // A write that other blocks may race with stays, unless this is a write.
    return behind && (l->shared || l->mine.writes || !(word & GR_WORD_WRITES));
}

// The thread's access in `word` says more than this one: it races with whatever races with this one.
GR_INLINE int says_more(uint64_t word, uint64_t own) {
    return gr_word_strength(word) == GR_WEAK && (word & GR_WORD_WRITES) >= (own & GR_WORD_WRITES) &&
           gr_word_syncs(word) == gr_word_syncs(own) && gr_word_barriers(word) == gr_word_barriers(own) &&
           (gr_word_bytes(own) & ~gr_word_bytes(word)) == 0;
}

GR_INLINE uint32_t strength_order(uint32_t strength) { return strength == GR_ASYNC ? 0 : strength; }

GR_INLINE int is_write(const Look *l, uint64_t word, uint64_t own) {
    return word & GR_WORD_WRITES && !outdated(l, word, own);
}

// The place of a write: the first, unless a weaker write is there, which races with more, and the second is free.
static unsigned place_write(const Look *l, const uint64_t word[2], uint64_t own) {
    int weaker = is_write(l, word[0], own) &&
                 strength_order(gr_word_strength(word[0])) < strength_order(gr_word_strength(own));
    return GR_HISTORY > 1 && weaker && (is_write(l, word[1], own) || outdated(l, word[1], own));
}

// The place of a read: the second, or the first if no write is there. The two readers kept are as far apart as there
// are: of two blocks, else two warps, else two threads.
static unsigned place_read(const Look *l, const uint64_t word[2], uint64_t own) {
    for (unsigned k = GR_HISTORY < 2 ? 1 : 2; k-- > 0;)
        if (outdated(l, word[k], own) || (same_thread(l, word[k]) && !(word[k] & GR_WORD_WRITES)))
            return k;
    if (GR_HISTORY < 2 ||
        (word[0] | word[1]) & GR_WORD_WRITES) // the write stays, and the first reader behind it
        return 2;
    if (gr_word_block(word[0]) != gr_word_block(word[1]))
        return 2;
    if (gr_word_block(word[0]) != gr_word_block(own))
        return 1;
    uint32_t first = gr_word_tid(word[0]) / 32, second = gr_word_tid(word[1]) / 32;
    return first == second && first != l->me.tid / 32 ? 1 : 2;
}

// The place for this access; 2: what is there says more.
static unsigned place(const Look *l, const uint64_t word[2], uint64_t own) {
    for (unsigned k = 0; k < 2; k++)
        if (same_thread(l, word[k]) && gr_word_launch(word[k]) == gr_word_launch(own) &&
            says_more(word[k], own))
            return 2;
    return l->mine.writes ? place_write(l, word, own) : place_read(l, word, own);
}

static void meet(const Look *l, GR_GLOBAL GrCell *cell, unsigned k, uint64_t word, uint64_t at, int fresh) {
    if (!word || (!same_launch(l, word) && (!is_apart(l) || l->shared)) || !concerns(l, word) ||
        (same_thread(l, word) && gr_word_strength(word) != GR_ASYNC) ||
        !(l->mine.writes || word & GR_WORD_WRITES) || !(gr_word_bytes(word) & l->mine.bytes))
        return;
    compare(l, cell, k, word, at, fresh);
}

GR_INLINE int changed(uint64_t now, uint64_t before) {
    return ((now ^ before) & ~(uint64_t)GR_WORD_SEEN) != 0;
}

#include "engines/tracker/device/history.h"

// Word k is in place: writes its other half, and judges what came to the other word since that was `other`.
static void finish(const Look *l, GR_GLOBAL GrCell *cell, unsigned k, uint64_t own, uint64_t at,
                   uint64_t other) {
    if (!changed(gr_load64(&cell->word[k].is), own)) // else another thread writes its own
        gr_store64(&cell->more[k].is, gr_word_more(&l->mine, own));
    uint64_t now = gr_load64(&cell->word[1 - k].is);
    if (changed(now, other))
        meet(l, cell, 1 - k, now, at, 1);
}

// Two threads that come at once may each look before the other has written. But an exchange puts a write in place and
// shows what came in between, and a reader looks for a write again. So only this is lost: a read and a write both of
// whose second looks come before the other's store is seen (there is no fence); and one of two reads at once.
static void visit(const Look *l, GR_GLOBAL GrCell *cell, uint64_t at) {
    uint64_t own = gr_word_of(&l->mine);
    uint64_t word[2] = {gr_load64(&cell->word[0].is), gr_load64(&cell->word[1].is)}, kept[2];
    for (unsigned k = 0; k < 2; k++)
        kept[k] = gr_word_is_old(word[k], gr_load64(&cell->more[k].is), l->me.launch) ? 0 : word[k];
    if (!changed(kept[0], own) || kept[1] == own)
        return;
    for (unsigned k = 0; k < 2; k++)
        meet(l, cell, k, word[k], at, 0);
    for (unsigned k = 2; k < GR_HISTORY; k++)
        meet(l, cell, k, gr_load64(&cell->word[k].is), at, 0);
    for (unsigned k = 0; is_apart(l) && !l->shared && k < 2; k++)
        kept[k] = is_over(l, cell, k, word[k]) ? 0 : kept[k];
    unsigned k = place(l, kept, own);
    if (k == 2) {
        keep_older(l, cell, own, gr_word_more(&l->mine, own), own);
        return;
    }
    if (GR_HISTORY > 2 && changed(word[k], own))
        keep_older(l, cell, word[k], gr_load64(&cell->more[k].is), own);
    if (l->mine.writes) {
        uint64_t before = gr_exchange64(&cell->word[k].is, own);
        if (changed(before, word[k]))
            meet(l, cell, k, before, at, 1);
    } else if (k == 1) {
        gr_store64(&cell->word[1].is, own);
    } else if (gr_compare_swap64(&cell->word[0].is, word[0], own) != word[0]) {
        return;
    }
    finish(l, cell, k, own, at, word[1 - k]);
}

#ifndef GR_SEQUENTIAL
// One of the lanes that store to one address by one instruction tells it for all. `peers`: these lanes; `same`: those
// that store this value.
static void lockstep_of(uint32_t peers, uint32_t same, uint32_t site, uint32_t what, uint64_t at) {
    uint32_t first = (uint32_t)__builtin_ctz(peers);
    uint32_t others = peers & ~same; // that store another value
    uint32_t second = (uint32_t)__builtin_ctz(others ? others : peers & (peers - 1));
    int alike = !others && what & GR_WHAT_VALUE;
    if (gr_lane() != first || (alike && !GR_CONTROL.same_value))
        return;
    Me me = gr_me();
    uint32_t owner, shared = (uint32_t)gr_shared_owner(what >> GR_WHAT_SPACE & 3, me.block, &at, &owner);
    Side mine = {site, what, me.block, me.tid, 0}, other = {site, what, me.block, me.tid - first + second, 0};
    gr_put_pair(alike ? CLASS_SAME_VALUE : CLASS_WRITE_WRITE, 0, shared, at, what & 0xff, &mine, &other);
}

// Each of the lanes that are here has a higher address than the one before it, as in most stores of a warp.
GR_INLINE int rises(uint32_t at) {
    uint32_t lanes = gr_active_mask_now(), before = lanes & gr_lanes_before();
    uint32_t other = gr_shuffle32(lanes, at, before ? 31 - (uint32_t)__builtin_clz(before) : 0);
    return gr_all(lanes, !before || other < at);
}

static void lockstep(uint32_t site, uint32_t what, uint64_t at, uint64_t value) {
    // The assembler may make one call of two, in two branches: so lanes of one instruction are matched.
    uint32_t lanes = gr_active_mask_now(), peers = gr_match_any(lanes, at ^ (uint64_t)site << 48);
    uint32_t same = gr_match_any(lanes, value);
    if (peers & (peers - 1) && GR_CONTROL.area)
        lockstep_of(peers, peers & same, site, what, at);
}
#endif

// ---- What inserted code calls ------------------------------------------------------------------------------

// A hash from 1 to 255. Values that differ in their low byte only, as neighbouring threads often have, get different
// ones, but for one pair. A value of equal bytes gets the hash of one of them: zero, all ones and the like hash alike
// in any size.
static uint32_t hash_of(uint32_t what, uint64_t value) {
    // The changes from byte to byte.
    uint64_t steps = (value ^ value >> 8) & ((UINT64_C(1) << ((what & 0xff) * 8 - 8)) - 1);
    uint32_t rest = (uint32_t)(steps >> 8) ^ (uint32_t)(steps >> 40) * 0x85EBCA77u;
    uint32_t h = ((uint32_t)value + ((uint32_t)steps << 1) + (rest * 0x9E3779B1u >> 24)) & 0xff;
    return h ? h : 0x9b;
}

// What is kept of the value of an access.
GR_INLINE uint32_t kept_of_async(uint32_t what) {
    return what & GR_WHAT_REDUCES ? 2 : (what & (GR_WHAT_DATA | GR_WHAT_BULK)) != 0;
}

GR_INLINE uint32_t kept_of(uint32_t what, uint64_t value) {
    return what & GR_WHAT_VALUE ? hash_of(what, value) : kept_of_async(what);
}

#include "engines/tracker/device/quick.h"

// Sets the thread and the place of the access. 0: there is nothing to record.
static int look(Look *l, uint32_t site, uint32_t what, uint64_t *at, uint64_t own) {
    *l = (Look){.me = gr_me(), .site = site, .what = what};
    l->shared = (uint32_t)gr_shared_owner(what >> GR_WHAT_SPACE & 3, l->me.block, at, &l->owner);
    int kept = is_kept(&l->me), plain = gr_own_is_plain(own) || GR_CONTROL.word_mode == GR_WORDS_LOOKED_UP;
    uint64_t count = kept ? gr_load64(&l->me.state->word[COUNTS].is) : with_launch(gr_word_barriers(own), 0);
    l->left = (count & SOME_LEFT) != 0;
    l->mine = (GrEntry){.strength = what >> GR_WHAT_STRENGTH & 7,
                        .launch = l->me.launch & ((1 << GR_WORD_LAUNCH_BITS) - 1),
                        .block = l->me.block,
                        .tid = l->me.tid,
                        .barriers = (uint32_t)(count >> 32),
                        .syncs = syncs_of(count),
                        .site = site,
                        .wide = (what & GR_WHAT_WIDE) != 0,
                        .writes = (what & GR_WHAT_WRITES) != 0};
    l->of = gr_launch_state(l->me.launch);
    l->apart = l->of ? gr_load32(&l->of->apart) : 0;
    if (!kept)
        l->me.state = 0;
    if (!kept && !plain) { // another thread has its place
        gr_put_crowded();
        return 0;
    }
    if (gr_word_room(l->mine.barriers, l->mine.syncs))
        return 1;
    gr_put_unchecked(1);
    return 0;
}

GR_INLINE GR_GLOBAL GrCell *cell_at(const Look *l, uint64_t at) {
    if (!l->shared)
        return gr_global_cell(at);
    uint32_t bytes;
    uint64_t cells = gr_shared_cells(l->owner, &bytes);
    return at < bytes ? gr_cell(cells, (uint32_t)at) : 0;
}

// The load that the call for a store tells, too.
GR_INLINE uint32_t loaded_site(uint32_t site, uint32_t what) { return site - (what >> GR_WHAT_BACK); }
GR_INLINE uint32_t loaded_what(uint32_t what) {
    return (what & (0xffu << GR_WHAT_SIZE | 3u << GR_WHAT_SPACE)) | GR_WHAT_READS;
}

// `used`: which of the first 64 bytes count.
static void access(uint32_t site, uint32_t what, uint64_t at, uint32_t size, uint64_t used, uint32_t value,
                   uint64_t own) {
    Look l;
    if (!look(&l, site, what, &at, own))
        return;
    l.mine.value = value;
    if (what & GR_WHAT_ACQUIRES && l.mine.writes)
        l.mine.strength = GR_PENDING; // until __gr_saw
    GR_ROLLED
    for (uint32_t done = 0; done < size;) {
        uint32_t within = (uint32_t)(at + done) & 3, n = 4 - within < size - done ? 4 - within : size - done;
        uint32_t touched = (done < 64 ? (uint32_t)(used >> done) : 15) & ((1u << n) - 1);
        uint64_t where = at + done;
        done += n;
        if (!touched)
            continue;
        GR_GLOBAL GrCell *cell = cell_at(&l, where);
        l.mine.bytes = GR_CONTROL.word_mode ? 15 : touched << within;
        if (is_apart(&l) && !l.shared && GR_CONTROL.word_mode != GR_WORDS_LOOKED_UP)
            meet_copies(&l, where & ~UINT64_C(3));
        if (cell && GR_CONTROL.word_mode == GR_WORDS_LOOKED_UP)
            (void)(gr_load64(&cell->word[0].is) | gr_load64(&cell->word[1].is));
        else if (cell)
            visit(&l, cell, where);
        else if (!is_strong(what >> GR_WHAT_STRENGTH & 7))
            gr_put_unchecked(where);
    }
}

// The thread's pending access has happened.
static void happened(const Look *l, GR_GLOBAL GrCell *cell) {
    for (unsigned k = 0; k < GR_HISTORY; k++) {
        uint64_t word = gr_load64(&cell->word[k].is);
        if (gr_word_strength(word) == GR_PENDING && same_thread(l, word))
            (void)gr_compare_swap64(&cell->word[k].is, word,
                                    (word & ~(uint64_t)GR_WORD_STRENGTH) | (uint64_t)l->mine.strength << 4);
    }
}

// Behind a strong read: marks a strong write that it has seen, which comes before the read and what follows it (PTX ISA
// 8.9.5, observation order). The write was recorded before it happened.
static GR_NOINLINE void look_back(uint32_t what, uint64_t at, uint64_t own) {
    Look l;
    if (!look(&l, 0, what, &at, own))
        return;
    GR_ROLLED
    for (uint32_t done = 0; done < (what & 0xff); done += 4) {
        GR_GLOBAL GrCell *cell = cell_at(&l, at + done);
        if (cell && what & GR_WHAT_ACQUIRES)
            happened(&l, cell);
        for (unsigned k = 0; cell && k < GR_HISTORY; k++) {
            uint64_t word = gr_load64(&cell->word[k].is);
            uint32_t block = gr_word_block(word), theirs = gr_word_strength(word);
            if (!same_launch(&l, word)) {
                if (is_apart(&l) && !l.shared)
                    saw_apart(&l, &cell->word[k].is, word);
            } else if (word & GR_WORD_WRITES && !(word & GR_WORD_SEEN) && concerns(&l, word) &&
                       is_strong(theirs) && !same_thread(&l, word) &&
                       reaches(l.mine.strength, l.me.block, block) &&
                       (theirs == GR_PENDING || reaches(theirs, l.me.block, block)))
                (void)gr_compare_swap64(&cell->word[k].is, word, word | GR_WORD_SEEN);
        }
    }
}

// For measurements: does the part of the quick path that finds the cell. 0: the quick path does not take the access.
static int look_up(uint32_t what, uint64_t at) {
    uint32_t block = gr_ctaid_x() + gr_nctaid_x() * (gr_ctaid_y() + gr_nctaid_y() * gr_ctaid_z());
    uint32_t space = what >> GR_WHAT_SPACE & 3;
    int shared = space == GR_SPACE_SHARED;
    if (space != GR_SPACE_GLOBAL && !shared)
        return 0;
    GR_GLOBAL GrCell *cell = quick_cell_at(at, where_of(block, shared), shared);
    if (cell)
        (void)(gr_load64(&cell->word[0].is) | gr_load64(&cell->word[1].is));
    return cell != 0;
}

static void slow(uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint64_t own) {
    if (!GR_CONTROL.area)
        return;
    if (GR_CONTROL.word_mode == GR_WORDS_LOOKED_UP && look_up(what, at))
        return;
    int writes = (what & GR_WHAT_WRITES) != 0;
    if (what >> GR_WHAT_BACK)
        access(loaded_site(site, what), loaded_what(what), at, what & 0xff, ~UINT64_C(0), 0, own);
    access(site, GR_WHAT_ALONE(what), at, what & 0xff, writes ? ~UINT64_C(0) : value, kept_of(what, value),
           own);
}

// Does what is left of an access of which word k is in place, if anything came in between: `before`, what the exchange
// showed, or 0.
static void settle(uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint32_t done, uint64_t own,
                   uint32_t k, uint64_t before) {
    Look l;
    const uint32_t size = what & 0xff, within = (uint32_t)at & 3;
    if (!look(&l, site, GR_WHAT_ALONE(what), &at, own))
        return;
    l.mine.value = kept_of(what, value);
    l.mine.bytes = (own & 0xf) | (what & GR_WHAT_WRITES ? 0xf : (uint32_t)(value >> done) & 0xf);
    if (size < 4)
        l.mine.bytes = (own & 0xf) | (l.mine.bytes & ((1u << size) - 1)) << within;
    GR_GLOBAL GrCell *cell = cell_at(&l, at + done);
    if (before)
        meet(&l, cell, k, before, at + done, 1);
    if (before && what >> GR_WHAT_BACK) {
        Look load = l;
        load.site = load.mine.site = loaded_site(site, what);
        load.what = loaded_what(what);
        load.mine.writes = 0;
        load.mine.value = 0;
        meet(&load, cell, k, before, at + done, 1);
    }
    finish(&l, cell, k, gr_word_of(&l.mine), at + done, 0);
}

static GR_NOINLINE void finish_access(uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint64_t own,
                                      uint32_t rest, uint64_t came) {
    const uint32_t done = rest >> REST_DONE;
#ifndef GR_SEQUENTIAL
    if (rest & REST_LOCKSTEP)
        lockstep(site, GR_WHAT_ALONE(what), at, value);
#endif
    if (rest & REST_SETTLE)
        settle(site, what, at, value, done, own, (rest & REST_SECOND) != 0, came);
    // What is done already may be done again.
    if (rest & REST_SLOW || (rest & REST_SETTLE && done + 4 < (what & 0xff)))
        slow(site, what, at, value, own);
}

#define QUICK(name, shared, writes, strong)                                                                  \
    static GR_NOINLINE Cells name##_cells(uint32_t site, uint32_t what, uint64_t at, uint64_t value,         \
                                          uint64_t own, uint64_t where) {                                    \
        return quick_cells(site, what, at, value, own, where, (Kind){shared, writes, strong});               \
    }                                                                                                        \
    GR_ENTRY void __gr_##name(uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint64_t own,       \
                              uint64_t where) {                                                              \
        const uint32_t lanes = gr_active_mask();                                                             \
        if (strong)                                                                                          \
            talk(what, at);                                                                                  \
        Cells c = name##_cells(site, what, at, value, own, where);                                           \
        if (c.rest)                                                                                          \
            finish_access(site, what, at, value, own, c.rest, c.came);                                       \
        gr_rejoin(lanes);                                                                                    \
    }
GR_QUICK(QUICK)
#undef QUICK

#ifndef GR_SEQUENTIAL
#define QUICK(name, shared, writes, strong)                                                                  \
    uint64_t __gr_##name##_word(uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint64_t own,     \
                                uint64_t where) {                                                            \
        return quick_word(site, what, at, value, own, where, (Kind){shared, writes, strong});                \
    }
GR_QUICK(QUICK)
#undef QUICK

void __gr_rest(uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint64_t own, uint64_t rest) {
    uint64_t came;
    uint32_t flags = take_rest(rest, own, &came);
    GR_TOGETHER(finish_access(site, what, at, value, own, flags, came));
}
#endif

// The address is of shared memory; *in becomes what it is there. -1: it may be another block's.
GR_INLINE int is_of_shared(uint32_t space, uint64_t at, uint64_t *in) {
    *in = at;
    if (space != GR_SPACE_GENERIC)
        return space == GR_SPACE_CLUSTER ? -1 : space == GR_SPACE_SHARED;
#ifdef GR_CLUSTERS
    return !gr_is_cluster_shared(at, in) ? 0 : gr_cluster_blocks() > 1 ? -1 : 1;
#else
    return gr_is_shared(at, in);
#endif
}

// An access whose instruction does not say the space, or that synchronizes itself.
GR_INLINE void access_any(uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint64_t own) {
    uint64_t in;
    uint32_t strength = what >> GR_WHAT_STRENGTH & 7, block = (uint32_t)own >> GR_WORD_BLOCK;
    int shared = is_of_shared(what >> GR_WHAT_SPACE & 3, at, &in);
    const int writes = (what & GR_WHAT_WRITES) != 0;
    if (shared < 0 || strength > GR_STRONG_SYS || what & GR_WHAT_ACQUIRES) {
        talk(what, at);
        finish_access(site, what, at, value, own,
                      REST_SLOW | (writes && strength == GR_WEAK ? REST_LOCKSTEP : 0), 0);
        return;
    }
    uint64_t where = where_of(block, shared);
    if (shared)
        what = (what & ~(3u << GR_WHAT_SPACE)) | GR_SPACE_SHARED << GR_WHAT_SPACE;
#define QUICK(name, of_shared, of_write, of_strong)                                                          \
    if (shared == of_shared && writes == of_write && (strength != GR_WEAK) == of_strong)                     \
        __gr_##name(site, what, in, value, own, where);
    GR_QUICK(QUICK)
#undef QUICK
}

GR_ENTRY void __gr_access(uint32_t site, uint32_t what, uint64_t at, uint64_t value, uint64_t own) {
    GR_TOGETHER(if (!gr_own_is_slow(own) || GR_CONTROL.area) access_any(site, what, at, value, own));
}

static GR_NOINLINE void access_range(uint32_t site, uint32_t what, uint64_t at, uint32_t bytes,
                                     uint64_t own) {
    access(site, what, at, bytes, ~UINT64_C(0), kept_of_async(what), own);
}

static GR_NOINLINE int saw_quickly(uint32_t what, uint64_t at, uint64_t own, uint64_t where, int shared) {
    return quick_saw(what, at, own, where, shared);
}

GR_INLINE void saw_any(uint32_t what, uint64_t at, uint64_t own) {
    uint64_t in;
    uint32_t block = (uint32_t)own >> GR_WORD_BLOCK;
    int shared = is_of_shared(what >> GR_WHAT_SPACE & 3, at, &in);
    talk(what, at);
    if (shared < 0 || gr_own_is_slow(own) || !saw_quickly(what, in, own, where_of(block, shared), shared))
        look_back(what, at, own);
}

GR_ENTRY void __gr_saw(uint32_t what, uint64_t at, uint64_t own) {
    GR_TOGETHER(if (!gr_own_is_slow(own) || GR_CONTROL.area) saw_any(what, at, own));
}

#ifndef GR_SEQUENTIAL
uint32_t __gr_saw_at(uint32_t what, uint64_t at, uint64_t own, uint64_t where) {
    const uint32_t lanes = gr_active_mask();
    int shared = (what >> GR_WHAT_SPACE & 3) == GR_SPACE_SHARED;
    uint32_t left = gr_own_is_slow(own) ? GR_CONTROL.area != 0 : !quick_saw(what, at, own, where, shared);
    gr_rejoin(lanes);
    return left;
}
#endif

GR_ENTRY void __gr_range(uint32_t site, uint32_t what, uint64_t at, uint32_t bytes, uint64_t own) {
    GR_TOGETHER(if (GR_CONTROL.area) access_range(site, what, at, bytes, own));
}

#ifndef GR_SEQUENTIAL
// The assembler gives a kernel and all that it calls one allocation of registers. For the longest way through the
// runtime it would spill the kernel's own registers, on every way. Functions whose address is taken keep to the calling
// convention instead: they save what they use, and only their callers pay. Nobody reads this.
const void *GR_GLOBAL __gr_ways[] = {
    (const void *)finish_access,
    (const void *)look_back,
    (const void *)access_range,
    (const void *)count_order,
};
#endif
