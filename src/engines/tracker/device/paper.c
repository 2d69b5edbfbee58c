// SPDX-License-Identifier: Apache-2.0
// tracker's device runtime — the rules of the iGUARD paper (Kamath and Basu, SOSP 2021): paper_rules.h has its table 2,
// paper_word.h its metadata (figures 4 and 7).
//
// How the paper is carried over:
//
// - Accesses. A volatile access is an ordinary load or store, and so is one with .relaxed, .acquire or .release. atom
//   and red are atomics. What an access acquires or releases is a fence of its scope beside it, as in machine code. A
//   copy (cp.async) is a load and a store of its thread at the moment it is issued.
// - Memory. The paper has global memory only. Here shared memory is checked, too: a cell belongs to one block's
//   shared memory. The paper's unit is a word of 4 bytes (--granule 4); by default bytes that do not overlap do not
//   meet.
// - Block barriers. The paper counts in one counter of the block, which one thread of the first warp increments on
//   arrival; a second barrier that it inserts keeps the other warps from going on. What is inserted here must not order
//   the program, so each thread counts its own barriers: between two barriers, these counts are the same for all
//   threads of a block. A barrier includes the effect of a block fence (section 3.1); rule P5 is this effect. The fence
//   is not counted (figure 5), and it makes no lock active.
// - Other barriers. The paper knows syncthreads, syncwarp and threadfence. A barrier of some threads, an mbarrier and a
//   cluster barrier are counted by a second counter, of the block, which every group of lanes increments on arrival
//   (and after an mbarrier's wait). BlkBarID is the sum of both. So such a barrier counts as one of the whole block:
//   races between threads that it does not order are missed. What releases beyond the block (an mbarrier, a cluster
//   barrier) is a device fence, too.
// - Warp barriers. One counter per warp, which each group of lanes increments on arrival, as the paper has it.
// - Locks. The paper's table of a warp is in the state of the warp's lane 0; a thread's own is in its state.
//
// The paper locks each entry. Nothing here takes a lock or orders anything. So two updates of one cell at the same time
// lose this:
// - Two loads: one of them is not remembered as the last accessor, and a Shared flag that only it would set is not set.
// - A load and a store: the load may not see the store. The store puts itself in place by an exchange, and judges the
//   load if that came between and has written both halves. A load that is entered later hides the store as the last
//   accessor, not as the last writer.
// - Two stores: the second exchange judges the first store. The sides of last writer and last accessor may then be of
//   two threads; a last accessor that writes counts as the last writer.
// If the halves of a side stay of two accesses, nothing is judged: what is not certain is no race.
#define GR_STRONG_BY_CALL // the functions here call others (device_api/device.h)
#include "engines/tracker/device/paper_rules.h"
#include "engines/tracker/device/state.h"

#ifndef GR_SEQUENTIAL
GR_GLOBAL GrTrackerControl __gr_control;
#endif

enum { CLASS_R1 = 40 };

// GrThreadState.word. The last two are the warp's, in the state of its lane 0.
enum {
    COUNTS,     // device fences (16 bits), block fences (16 bits), barriers of the whole block (32 bits)
    OWNER,      // block, launch << 32
    LOCKS,      // the thread's lock table
    WARP_COUNT, // barriers of the warp, whose they are << 32
    WARP_LOCKS, // the warp's lock table, unless WARP_COUNT is another warp's
};

// GrBlockState.word
enum { OTHER_BARRIERS }; // barriers not of the whole block, launch << 32

// ---- Counters ------------------------------------------------------------------------------------------------

GR_INLINE uint64_t tagged(uint32_t tag, uint32_t v) { return (uint64_t)tag << 32 | v; }
GR_INLINE uint32_t valid_count(uint64_t word, uint32_t tag) {
    return (uint32_t)(word >> 32) == tag ? (uint32_t)word : 0;
}

// Each of several that count at once is counted, unless it fails so often, which is unlikely.
static void count_up(GR_GLOBAL uint64_t *at, uint32_t tag) {
    enum { TRIES = 16 };
    uint64_t old = gr_load64(at);
    GR_ROLLED
    for (unsigned k = 0; k < TRIES; k++) {
        uint64_t seen = gr_compare_swap64(at, old, tagged(tag, valid_count(old, tag) + 1));
        if (seen == old)
            return;
        old = seen;
    }
}

GR_INLINE GR_GLOBAL GrThreadState *warp_state(const Me *m) {
    return gr_thread_state(m->block, m->tid & ~31u);
}

// Tells apart the warps that share a place.
GR_INLINE uint32_t warp_tag(const Me *m) { return m->launch ^ (m->block + 1) * UINT32_C(0x9E3779B1); }

GR_INLINE int leads(uint32_t active) { return gr_lane() == (uint32_t)__builtin_ctz(active); }

GR_ENTRY void __gr_begin(void) {
    if (!GR_CONTROL.area)
        return;
    Me m = gr_me();
    gr_store64(&m.state->word[COUNTS].is, 0);
    gr_store64(&m.state->word[LOCKS].is, 0);
    gr_store64(&m.state->word[OWNER].is, tagged(m.launch, m.block));
}

// ---- Locks ---------------------------------------------------------------------------------------------------

GR_INLINE uint64_t warp_locks(const Me *m, GR_GLOBAL GrThreadState *w) {
    return (uint32_t)(gr_load64(&w->word[WARP_COUNT].is) >> 32) == warp_tag(m)
               ? gr_load64(&w->word[WARP_LOCKS].is)
               : 0;
}

GR_INLINE int by_thread(uint64_t table) { return (int)(table >> GR_LOCK_THREAD_BIT); }

// The lock table that counts for this thread.
GR_INLINE uint64_t locks_of(const Me *m) {
    uint64_t table = warp_locks(m, warp_state(m));
    return by_thread(table) ? gr_load64(&m->state->word[LOCKS].is) : table;
}

// Lanes that change their warp's table at once by different instructions may undo each other's change.
static void put_locks(const Me *m, int own, uint64_t table) {
    if (own) {
        gr_store64(&m->state->word[LOCKS].is, table);
        return;
    }
    GR_GLOBAL GrThreadState *w = warp_state(m);
    gr_store64(&w->word[WARP_LOCKS].is, table);
    uint64_t count = gr_load64(&w->word[WARP_COUNT].is);
    if ((uint32_t)(count >> 32) != warp_tag(m))
        (void)gr_compare_swap64(&w->word[WARP_COUNT].is, count, tagged(warp_tag(m), 0));
}

// Section 6.3. Lanes that execute an atomicCAS together have locks of their own from then on.
static void follow_locks(const Me *m, uint32_t what, uint64_t at, uint32_t active) {
    int narrow = (what >> GR_WHAT_STRENGTH & 7) == GR_STRONG_CTA;
    uint64_t warp = warp_locks(m, warp_state(m));
    if (what & GR_WHAT_CAS && active & (active - 1) && !by_thread(warp)) {
        warp |= UINT64_C(1) << GR_LOCK_THREAD_BIT;
        put_locks(m, 0, warp);
    }
    uint64_t table = by_thread(warp) ? gr_load64(&m->state->word[LOCKS].is) : warp;
    uint64_t now = what & GR_WHAT_CAS ? gr_lock_take(table, at, narrow) : gr_lock_give(table, at, narrow);
    if (now != table)
        put_locks(m, by_thread(warp), now);
}

// ---- What orders -----------------------------------------------------------------------------------------------

static void fence(const Me *m, int narrow) {
    uint64_t count = gr_load64(&m->state->word[COUNTS].is);
    uint32_t dev = (uint32_t)count & 0xffff, blk = (uint32_t)count >> 16;
    dev = (dev + !narrow) & 0xffff;
    blk = (blk + (narrow != 0)) & 0xffff;
    gr_store64(&m->state->word[COUNTS].is, (count & ~UINT64_C(0xffffffff)) | blk << 16 | dev);
    uint64_t table = warp_locks(m, warp_state(m)), now;
    int own = by_thread(table);
    if (own)
        table = gr_load64(&m->state->word[LOCKS].is);
    now = gr_lock_fence(table, narrow);
    if (now != table)
        put_locks(m, own, now);
}

static void count_order(uint32_t what, uint32_t lanes) {
    (void)lanes;
    if (!GR_CONTROL.area)
        return;
    uint32_t active = gr_active_mask(), kind = what & 0xf, scope = what >> GR_ORDER_SCOPE & 7;
    int releases = (what & GR_ORDER_RELEASES) != 0;
    Me m = gr_me();
    switch (kind) {
    case GR_ORDER_FENCE: fence(&m, scope == GR_STRONG_CTA); return;
    case GR_ORDER_BARRIER:
        gr_store64(&m.state->word[COUNTS].is, gr_load64(&m.state->word[COUNTS].is) + (UINT64_C(1) << 32));
        return;
    case GR_ORDER_WARP:
        if (leads(active))
            count_up(&warp_state(&m)->word[WARP_COUNT].is, warp_tag(&m));
        return;
    case GR_ORDER_COMMIT:
    case GR_ORDER_END: return;
    case GR_ORDER_WAIT:
        if (!releases) // of the thread's own copies: it orders no other thread
            return;
        break;
    default: break;
    }
    if (leads(active))
        count_up(&gr_block_state(m.block)->word[OTHER_BARRIERS], m.launch);
    if (releases && scope != GR_STRONG_CTA)
        fence(&m, 0);
}

GR_ENTRY void __gr_order(uint32_t what, uint32_t lanes) { GR_TOGETHER(count_order(what, lanes)); }

// ---- One cell ------------------------------------------------------------------------------------------------

// One access on its way through its cells.
typedef struct Look {
    Me me;
    uint32_t what, shared, owner; // owner: the block whose shared memory it is
    uint32_t active;
    GrPaperSide mine;
} Look;

enum { WRITER, ACCESSOR };

GR_INLINE uint32_t low_block(uint32_t block) { return block & ((1u << GR_PAPER_BLOCK_BITS) - 1); }

// The entry is of the same block's memory: blocks share the cells of shared memory.
GR_INLINE int concerns(const Look *l, const GrPaperSide *s) {
    return !l->shared || s->block == low_block(l->owner) || gr_same_cluster(s->block, l->owner);
}

// Reads one side of a cell, as it was when `word` was loaded. 0: its halves are and stay of two accesses, so nothing is
// known of it.
static int read_side(const Look *l, GR_GLOBAL GrCell *cell, int k, uint64_t *word, GrPaperSide *s) {
    enum { LOOKS = 32 };
    uint64_t more = 0;
    int whole = 0;
    GR_ROLLED
    for (unsigned n = 0; n < LOOKS && !whole; n++) {
        *word = gr_load64(&cell->word[k].is);
        more = gr_load64(&cell->more[k].is);
        whole = gr_paper_whole(*word, more);
    }
    if (!gr_paper_read(*word, more, k, l->me.launch, s) || !concerns(l, s))
        *s = (GrPaperSide){.bytes = 0};
    return whole;
}

// Writes the second half after the first, unless another access has come in between, which writes its own.
GR_INLINE void put_more(const Look *l, GR_GLOBAL GrCell *cell, int k, uint64_t own) {
    if (gr_load64(&cell->word[k].is) == own)
        gr_store64(&cell->more[k].is, gr_paper_more(&l->mine, own));
}

GR_INLINE uint32_t fences_of(const Look *l, const GrPaperSide *s, int *known) {
    GR_GLOBAL GrThreadState *state = gr_thread_state(s->block, s->tid);
    *known = gr_load64(&state->word[OWNER].is) == tagged(l->me.launch, s->block) &&
             l->me.block == low_block(l->me.block);
    return (uint32_t)gr_load64(&state->word[COUNTS].is);
}

static void report(const Look *l, const GrPaperSide *md, uint32_t rule, uint64_t at) {
    Side mine = {l->mine.site, l->what, l->me.block, l->me.tid, 0};
    Side other = {md->site, (md->writes ? GR_WHAT_WRITES : 0) | md->strength << GR_WHAT_STRENGTH, md->block,
                  md->tid, 0};
    uint32_t both = md->bytes & l->mine.bytes ? md->bytes & l->mine.bytes : l->mine.bytes;
    uint32_t first = (uint32_t)__builtin_ctz(both);
    gr_put_pair(CLASS_R1 + rule - 1, rule, l->shared, (at & ~UINT64_C(3)) + first,
                (uint32_t)__builtin_popcount(both), &mine, &other);
}

// Judges the access against an entry, and sets the flags of the access's own entry.
static void judge(Look *l, const GrPaperSide *writer, const GrPaperSide *last, uint64_t at) {
    GrPaperSide *me = &l->mine;
    int load = !(l->what & GR_WHAT_WRITES), met = (last->bytes & me->bytes) != 0;
    if (met && last->writes) // it may not yet be entered as the last writer
        writer = last;
    int modified = (writer->bytes & me->bytes) != 0;
    me->dev_shared = met && (last->dev_shared || last->block != me->block);
    me->blk_shared =
        met && (last->blk_shared || (last->block == me->block && last->tid / 32 != me->tid / 32));
    const GrPaperSide *md = load || !met ? writer : last;
    GrPaperCase c = {.cur = *me,
                     .md = *md,
                     .load = load,
                     .atomic = (l->what & GR_WHAT_ATOMIC) != 0,
                     .valid = met || modified,
                     .modified = modified,
                     .was_atomic = modified && writer->atomic,
                     .was_narrow = writer->narrow,
                     .writer_block = writer->block,
                     .dev_shared = me->dev_shared,
                     .blk_shared = me->blk_shared,
                     .active = l->active};
    uint32_t counts = fences_of(l, md, &c.counts_known);
    c.dev_now = counts & ((1u << GR_PAPER_FENCE_BITS) - 1);
    c.blk_now = counts >> 16 & ((1u << GR_PAPER_FENCE_BITS) - 1);
    uint32_t rule = gr_paper_judge(&c);
    if (rule)
        report(l, md, rule, at);
}

static void visit(Look *l, GR_GLOBAL GrCell *cell, uint64_t at) {
    GrPaperSide writer, last;
    uint64_t writer_word, last_word;
    int known = read_side(l, cell, WRITER, &writer_word, &writer);
    if (!read_side(l, cell, ACCESSOR, &last_word, &last))
        known = 0;
    if (known)
        judge(l, &writer, &last, at);
    uint64_t own = gr_paper_word_of(&l->mine, ACCESSOR);
    if (!(l->what & GR_WHAT_WRITES)) {
        if (own != last_word || l->mine.site != last.site || l->mine.locks != last.locks || !last.bytes) {
            gr_store64(&cell->word[ACCESSOR].is, own);
            put_more(l, cell, ACCESSOR, own);
        }
        return;
    }
    uint64_t before = gr_exchange64(&cell->word[ACCESSOR].is, own),
             more = gr_load64(&cell->more[ACCESSOR].is);
    put_more(l, cell, ACCESSOR, own);
    uint64_t own_writer = gr_paper_word_of(&l->mine, WRITER);
    gr_store64(&cell->word[WRITER].is, own_writer);
    put_more(l, cell, WRITER, own_writer);
    if (!known || before == last_word || !gr_paper_whole(before, more))
        return;
    if (gr_paper_read(before, more, ACCESSOR, l->me.launch, &last) &&
        concerns(l, &last)) // it came in between
        judge(l, &writer, &last, at);
}

// ---- What inserted code calls ----------------------------------------------------------------------------------

GR_INLINE GR_GLOBAL GrCell *cell_at(const Look *l, uint64_t at) {
    if (!l->shared)
        return gr_global_cell(at);
    uint32_t bytes;
    uint64_t cells = gr_shared_cells(l->owner, &bytes);
    return at < bytes ? gr_cell(cells, (uint32_t)at) : 0;
}

static void look(Look *l, uint32_t site, uint32_t what, uint64_t *at, uint32_t active) {
    *l = (Look){.me = gr_me(), .what = what, .active = active};
    l->shared = (uint32_t)gr_shared_owner(what >> GR_WHAT_SPACE & 3, l->me.block, at, &l->owner);
    GR_GLOBAL GrThreadState *w = warp_state(&l->me);
    uint64_t counts = gr_load64(&l->me.state->word[COUNTS].is);
    uint32_t others =
        valid_count(gr_load64(&gr_block_state(l->me.block)->word[OTHER_BARRIERS]), l->me.launch);
    if (what & (GR_WHAT_CAS | GR_WHAT_EXCH))
        follow_locks(&l->me, what, *at, active);
    uint32_t strength = what >> GR_WHAT_STRENGTH & 7;
    l->mine = (GrPaperSide){
        .block = low_block(l->me.block),
        .tid = l->me.tid,
        .dev = (uint32_t)counts & 0x3f,
        .blk = (uint32_t)counts >> 16 & 0x3f,
        .bar = ((uint32_t)(counts >> 32) + others) & 0xff,
        .warp_bar = valid_count(gr_load64(&w->word[WARP_COUNT].is), warp_tag(&l->me)) & 0x3f,
        .locks = gr_lock_bloom(locks_of(&l->me)),
        .site = site,
        .strength = strength,
        .launch = l->me.launch,
        .atomic = (what & GR_WHAT_ATOMIC) != 0,
        .narrow = what & GR_WHAT_ATOMIC && strength == GR_STRONG_CTA,
        .writes = (what & GR_WHAT_WRITES) != 0,
    };
}

// `used`: which of the first 64 bytes count.
static void access(uint32_t site, uint32_t what, uint64_t at, uint32_t size, uint64_t used, uint32_t active) {
    Look l;
    uint32_t strength = what >> GR_WHAT_STRENGTH & 7;
    look(&l, site, what, &at, active);
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
        if (cell && GR_CONTROL.word_mode == GR_WORDS_LOOKED_UP)
            (void)(gr_load64(&cell->word[ACCESSOR].is) | gr_load64(&cell->word[WRITER].is));
        else if (cell)
            visit(&l, cell, where);
        else if (strength == GR_WEAK || strength == GR_ASYNC)
            gr_put_unchecked(where);
    }
}

// Section 6.5: one of the lanes that load from one address, or update it atomically, tells the access for all. What
// such lanes do to each other is no race, as P4's active mask says.
GR_INLINE int told_by_another(uint32_t what, uint64_t at, uint32_t active) {
#ifdef GR_SEQUENTIAL
    return 0 * (int)(what + at + active);
#else
    int alike = !(what & GR_WHAT_WRITES) || (what & GR_WHAT_ATOMIC && !(what & (GR_WHAT_CAS | GR_WHAT_EXCH)));
    if (!alike || !(active & (active - 1)))
        return 0;
    return gr_lane() != (uint32_t)__builtin_ctz(gr_match_any(active, at));
#endif
}

static void access_one(uint32_t site, uint32_t what, uint64_t at, uint64_t value) {
    if (!GR_CONTROL.area)
        return;
    uint32_t active = gr_active_mask();
    if (told_by_another(what, at, active))
        return;
    access(site, what, at, what & 0xff, what & GR_WHAT_WRITES ? ~UINT64_C(0) : value, active);
}

GR_ENTRY void __gr_access(uint32_t site, uint32_t what, uint64_t at, uint64_t value) {
    GR_TOGETHER(access_one(site, what, at, value));
}

GR_ENTRY void __gr_range(uint32_t site, uint32_t what, uint64_t at, uint32_t bytes) {
    GR_TOGETHER(if (GR_CONTROL.area) access(site, what, at, bytes, ~UINT64_C(0), gr_active_mask()));
}

// The rules of the paper know nothing of values that were seen. But an unchecked atomic may be of a lock.
static void look_back(uint32_t what, uint64_t at) {
    if (!GR_CONTROL.area || !(what & GR_WHAT_LEFT) || !(what & (GR_WHAT_CAS | GR_WHAT_EXCH)))
        return;
    Me me = gr_me();
    uint32_t owner;
    (void)gr_shared_owner(what >> GR_WHAT_SPACE & 3, me.block, &at, &owner);
    follow_locks(&me, what, at, gr_active_mask());
}

GR_ENTRY void __gr_saw(uint32_t what, uint64_t at) { GR_TOGETHER(look_back(what, at)); }
