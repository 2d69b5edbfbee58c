// SPDX-License-Identifier: Apache-2.0
// tracker's device runtime — the rules of PTX.
//
// Every access leaves who made it, and how often that thread had synchronized, in the cell of its bytes (word.h). An access that finds
// another thread's there is a race if nothing can have ordered the two: each order leads out of the first thread by something
// that this thread did after its access, and into the second thread by something that that thread did. Each thread counts what
// it does (GrThreadState), and each block remembers the last time that one of its threads released beyond the block.
//
// What is not certain is no race. A thread counts before it synchronizes, so whoever is ordered behind it sees the count: these
// functions add no fence and no atomic that orders, and need none.
#include "engines/tracker/device/state.h"
#include "engines/tracker/device/word.h"

GR_GLOBAL GrTrackerControl __gr_control;

// GrThreadState.word: [0] syncs, barriers << 32; [1] owner: block, launch << 32; [2] syncs at the last release of the block's scope or wider,
// << 32 of the device's; [3] at the last acquire, << 32 at the last barrier of the block; what came since is larger.
enum { RELEASED = 2, ACQUIRED = 3, WARP = 0 };

// GrBlockState.word: [0] the phase of the last release beyond the block, [1] of the last release within it, both counted from 1, 0 none,
// launch << 32; [2] 1 when a thread acquired from beyond the block, launch << 32.

enum {
    CLASS_WRITE_WRITE = 20,
    CLASS_READ_WRITE,
    CLASS_SCOPE,
    CLASS_SIZE,
    CLASS_SAME_VALUE = 25,
    CLASS_VOLATILE
};

static uint64_t with_launch(uint32_t launch, uint32_t v) { return (uint64_t)launch << 32 | v; }

void __gr_begin(void) {
    if (!__gr_control.area)
        return;
    Me m = gr_me();
    gr_store64(&m.state->word[0], 0);
    gr_store64(&m.state->word[2], 0);
    gr_store64(&m.state->word[3], 0);
    gr_store64(&m.state->word[1], with_launch(m.launch, m.block));
    if (m.tid == 0) {
        GR_GLOBAL GrBlockState *b = gr_block_state(m.block);
        for (unsigned k = 0; k < 3; k++)
            gr_store64(&b->word[k], with_launch(m.launch, 0));
    }
}

void __gr_order(uint32_t what) {
    if (!__gr_control.area)
        return;
    Me m = gr_me();
    GR_GLOBAL GrThreadState *s = m.state;
    uint64_t count = gr_load64(&s->word[0]);
    uint32_t syncs = (uint32_t)count, phase = (uint32_t)(count >> 32);
    uint32_t kind = what & 0xf, scope = what >> GR_ORDER_SCOPE & 7;
    if (kind == GR_ORDER_BARRIER) {
        uint64_t acquired = gr_load64(&s->word[ACQUIRED]);
        gr_store64(&s->word[ACQUIRED], (acquired & 0xffffffff) | (uint64_t)syncs << 32);
        gr_store64(&s->word[0], (uint64_t)(phase + 1) << 32 | syncs);
        return;
    }
    syncs++;
    int wide = kind == GR_ORDER_CLUSTER || (kind != GR_ORDER_WARP && scope > GR_STRONG_CTA);
    GR_GLOBAL GrBlockState *b = gr_block_state(m.block);
    if (what & GR_ORDER_ACQUIRES) {
        uint64_t acquired = gr_load64(&s->word[ACQUIRED]);
        gr_store64(&s->word[ACQUIRED], (acquired & UINT64_C(0xffffffff00000000)) | syncs);
        if (wide)
            gr_store64(&b->word[2], with_launch(m.launch, 1));
    }
    if (what & GR_ORDER_RELEASES && kind != GR_ORDER_WARP) {
        uint64_t released = gr_load64(&s->word[RELEASED]);
        gr_store64(&s->word[RELEASED],
                   syncs | (wide ? (uint64_t)syncs << 32 : released & UINT64_C(0xffffffff00000000)));
        gr_max64(&b->word[1], with_launch(m.launch, phase + 1));
        if (wide)
            gr_max64(&b->word[0], with_launch(m.launch, phase + 1));
    }
    gr_store64(&s->word[0], (uint64_t)phase << 32 | syncs);
}

// One access on its way through its words.
typedef struct Look {
    Me me;
    uint32_t site, what;
    uint64_t value;
    uint32_t shared;
    uint32_t barriers, syncs; // mine
    GrEntry mine;
} Look;

// What is kept of a block, of this launch; `none`: another launch has the place.
GR_INLINE uint32_t block_word(const Look *l, uint32_t block, unsigned k, uint32_t none) {
    uint64_t w = gr_load64(&gr_block_state(block)->word[k]);
    return (uint32_t)(w >> 32) == l->me.launch ? (uint32_t)w : none;
}

// Of threads of one block: whether nothing can have ordered the access `e` before mine.
static int unordered_within(const Look *l, const GrEntry *e) {
    if (l->barriers > e->barriers)
        return 0;
    uint64_t acquired = gr_load64(&l->me.state->word[ACQUIRED]);
    if ((uint32_t)acquired <= (uint32_t)(acquired >> 32)) // nothing but barriers, and they came before both
        return 1;
    GR_GLOBAL GrThreadState *s = gr_thread_state(e->block, e->tid);
    if (gr_load64(&s->word[1]) != with_launch(l->me.launch, e->block))
        return 0;
    if ((uint32_t)gr_load64(&s->word[0]) == e->syncs)
        return 1;
    if ((uint32_t)gr_load64(&s->word[RELEASED]) > e->syncs)
        return 0;
    // It met lanes of its warp, no more. One of them would have to release for others.
    if (e->tid / 32 == l->me.tid / 32)
        return 0;
    return block_word(l, e->block, 1, ~0u) <= e->barriers;
}

// Of threads of two blocks.
static int unordered_between(const Look *l, const GrEntry *e) {
    if (!block_word(l, l->me.block, 2, 1)) // no thread of this block has acquired anything from beyond it
        return 1;
    uint32_t last = block_word(l, e->block, 0, ~0u); // phase + 1
    GR_GLOBAL GrThreadState *s = gr_thread_state(e->block, e->tid);
    if (gr_load64(&s->word[1]) != with_launch(l->me.launch, e->block))
        return last <= e->barriers;
    uint32_t syncs = (uint32_t)gr_load64(&s->word[0]);
    if ((uint32_t)(gr_load64(&s->word[RELEASED]) >> 32) > e->syncs)
        return 0;
    // A thread that did nothing but wait at barriers passed its access on at the next one.
    return last <= (syncs == e->syncs ? e->barriers + 1 : e->barriers);
}

GR_INLINE int reaches(uint32_t strength, int same_block) { return strength > GR_STRONG_CTA || same_block; }

// The class of the two, 0: no race.
static uint32_t judge(const Look *l, const GrEntry *e) {
    int same_block = e->block == (l->me.block & (GR_BLOCKS - 1));
    uint32_t mine = l->what >> GR_WHAT_STRENGTH & 7;
    uint32_t class = l->mine.writes && e->writes ? CLASS_WRITE_WRITE : CLASS_READ_WRITE;
    if (mine != GR_WEAK && e->strength != GR_WEAK) {
        int scope = reaches(mine, same_block) && reaches(e->strength, same_block);
        int size = e->bytes == l->mine.bytes && e->wide == l->mine.wide;
        if (scope && size && (!__gr_control.volatiles || (mine != GR_VOLATILE && e->strength != GR_VOLATILE)))
            return 0;
        class = !scope ? CLASS_SCOPE : !size ? CLASS_SIZE : CLASS_VOLATILE;
    }
    if (same_block && !unordered_within(l, e))
        return 0;
    if ((!same_block || gr_blocks_alias()) && !unordered_between(l, e))
        return 0;
    if (class == CLASS_WRITE_WRITE && l->mine.value && l->mine.value == e->value)
        class = CLASS_SAME_VALUE;
    return class == CLASS_SAME_VALUE && !__gr_control.same_value ? 0 : class;
}

GR_INLINE int same_thread(const Look *l, uint64_t word) {
    return gr_word_block(word) == gr_word_block(gr_word_of(&l->mine)) && gr_word_tid(word) == l->mine.tid;
}

static void compare(const Look *l, GR_GLOBAL GrCell *cell, unsigned k, uint64_t word, uint64_t at) {
    GrEntry e;
    if (!gr_word_read(word, gr_load64(&cell->more[k]), &e) || e.launch != l->mine.launch)
        return;
    uint32_t class = judge(l, &e);
    if (!class)
        return;
    Side mine = {l->site, l->what, l->me.block, l->me.tid};
    Side other = {e.site, (uint32_t)e.writes << 11 | e.strength << GR_WHAT_STRENGTH, e.block, e.tid};
    uint32_t both = e.bytes & l->mine.bytes, first = (uint32_t)__builtin_ctz(both);
    gr_put_pair(class, 0, l->shared, (at & ~UINT64_C(3)) + first, (uint32_t)__builtin_popcount(both), &mine,
                &other);
}

// Whether the access in `word` need not be kept, because whoever races with it races with this one, or is behind a barrier.
GR_INLINE int outdated(const Look *l, uint64_t word, uint64_t own) {
    if (!word || gr_word_launch(word) != gr_word_launch(own))
        return 1;
    int same_block = gr_word_block(word) == gr_word_block(own);
    int behind = same_block && gr_word_barriers(word) != gr_word_barriers(own);
    if (l->shared && !same_block)
        return 1;
    // A write that other blocks may race with stays, unless this is a write.
    return behind && (l->shared || l->mine.writes || !(word & GR_WORD_WRITES));
}

// The place for this access; 2: none is better than what is there.
static unsigned place(const Look *l, const uint64_t word[2], uint64_t own) {
    for (unsigned k = 0; k < 2; k++)
        if (outdated(l, word[k], own))
            return k;
    // Of one thread the write, then the weak one, then the last.
    for (unsigned k = 0; k < 2; k++)
        if (same_thread(l, word[k]) && !((word[k] & GR_WORD_WRITES) && !l->mine.writes)) {
            if (gr_word_strength(word[k]) == GR_WEAK && gr_word_strength(own) != GR_WEAK &&
                (word[k] & GR_WORD_WRITES) == (own & GR_WORD_WRITES) &&
                gr_word_syncs(word[k]) == gr_word_syncs(own) && gr_word_bytes(word[k]) == gr_word_bytes(own))
                return 2;
            return k;
        }
    if (l->mine.writes)
        return word[0] & GR_WORD_WRITES ? 0 : word[1] & GR_WORD_WRITES ? 1 : 0;
    for (unsigned k = 0; k < 2; k++) // the write stays, and the first reader behind it
        if (word[k] & GR_WORD_WRITES)
            return 2;
    // Two readers as far apart as there are: of two blocks, of two warps, two threads.
    if (gr_word_block(word[0]) != gr_word_block(word[1]))
        return 2;
    if (gr_word_block(word[0]) != gr_word_block(own))
        return 1;
    if (gr_word_tid(word[0]) / 32 == gr_word_tid(word[1]) / 32 && gr_word_tid(word[0]) / 32 != l->me.tid / 32)
        return 1;
    return 2;
}

static void visit(Look *l, GR_GLOBAL GrCell *cell, uint64_t at) {
    uint64_t own = gr_word_of(&l->mine);
    uint64_t word[2] = {gr_load64(&cell->word[0]), gr_load64(&cell->word[1])};
    if (word[0] == own || word[1] == own)
        return;
    for (unsigned k = 0; k < 2; k++)
        if (word[k] && gr_word_launch(word[k]) == gr_word_launch(own) && !same_thread(l, word[k]) &&
            (l->mine.writes || word[k] & GR_WORD_WRITES) && gr_word_bytes(word[k]) & l->mine.bytes)
            compare(l, cell, k, word[k], at);
    unsigned k = place(l, word, own);
    if (k == 2)
        return;
    gr_store64(&cell->word[k], own);
    gr_store64(&cell->more[k], gr_word_more(&l->mine, own));
    if (!l->mine.writes)
        return;
    // Lanes that store together have all looked before one of them has written: all but the last see it now.
    uint64_t now = gr_load64(&cell->word[k]);
    if (now != own && gr_word_launch(now) == gr_word_launch(own) && !same_thread(l, now) &&
        gr_word_bytes(now) & l->mine.bytes)
        compare(l, cell, k, now, at);
}

static uint32_t hash_of(uint64_t value) {
    return 1 + (uint32_t)((value * UINT64_C(0x9E3779B97F4A7C15) >> 32) % 255);
}

void __gr_access(uint32_t site, uint32_t what, uint64_t at, uint64_t value) {
    if (!__gr_control.area)
        return;
    Look l = {.me = gr_me(), .site = site, .what = what, .value = value};
    uint32_t space = what >> GR_WHAT_SPACE & 3;
    l.shared = space == GR_SPACE_SHARED || (space == GR_SPACE_GENERIC && gr_is_shared(at, &at));
    uint64_t count = gr_load64(&l.me.state->word[0]);
    l.barriers = (uint32_t)(count >> 32);
    l.syncs = (uint32_t)count;
    if (!gr_word_room(l.barriers, l.syncs)) {
        gr_put_unchecked();
        return;
    }
    l.mine = (GrEntry){.strength = what >> GR_WHAT_STRENGTH & 7,
                       .launch = l.me.launch & ((1 << GR_WORD_LAUNCH_BITS) - 1),
                       .block = l.me.block,
                       .tid = l.me.tid,
                       .barriers = l.barriers,
                       .syncs = l.syncs,
                       .site = site,
                       .wide = (what & GR_WHAT_WIDE) != 0,
                       .writes = (what & GR_WHAT_WRITES) != 0,
                       .value = what & GR_WHAT_VALUE ? hash_of(value) : 0};
    uint32_t bytes = 0, size = what & 0xff;
    GR_GLOBAL GrCell *shared = l.shared ? gr_shared_cells(l.me.block, &bytes) : 0;
    uint64_t used = what & GR_WHAT_WRITES ? ~UINT64_C(0) : value;
#pragma nounroll
    for (uint32_t done = 0; done < size;) {
        uint32_t within = (uint32_t)(at + done) & 3, n = 4 - within < size - done ? 4 - within : size - done;
        uint32_t touched = (uint32_t)(used >> done) & ((1u << n) - 1);
        uint64_t where = at + done;
        done += n;
        if (!touched)
            continue;
        GR_GLOBAL GrCell *cell = !l.shared ? gr_global_cell(where) : where < bytes ? &shared[where >> 2] : 0;
        l.mine.bytes = __gr_control.word_mode ? 15 : touched << within;
        if (cell)
            visit(&l, cell, where);
        else
            gr_put_unchecked();
    }
}
