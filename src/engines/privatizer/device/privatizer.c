// SPDX-License-Identifier: Apache-2.0
// privatizer — the device runtime that inserted code calls (control.h).
#include "engines/privatizer/device/brief.h"
#include "engines/privatizer/device/dense.h"
#include "engines/privatizer/device/exchange.h"
#include "engines/privatizer/device/mbarriers.h"
#include "engines/privatizer/device/plain.h"

GR_INLINE uint64_t clock_now(void) {
    uint64_t v;
    __asm__ volatile("mov.u64 %0, %%clock64;" : "=l"(v)::"memory");
    return v;
}

// Adds the time of a step that the block's first thread has ended. The other threads may still be in it.
static GR_NOINLINE void gr_priv_spent(uint32_t what) {
    if (!CONTROL.spent || CONTROL.mode == GR_OF_BLOCKS || gr_priv_thread_number())
        return;
    GR_GLOBAL GrPrivSlot *of = (GR_GLOBAL GrPrivSlot *)CONTROL.slot + slot_number();
    uint64_t now = clock_now();
    gr_count((GR_GLOBAL uint64_t *)CONTROL.spent + what, now - of->since);
    of->since = now;
}

static GR_NOINLINE void gr_priv_take(uint64_t k) {
    Slot s = slot_of_control(&CONTROL, k);
    gr_store32(slot_of_block(), (uint32_t)k + 1);
    *(GR_GLOBAL volatile GrPrivSlot *)s.head =
        (GrPrivSlot){.asks = CONTROL.ask.kind && CONTROL.ask.block == gr_priv_block_number(),
                     .used = CONTROL.ready,
                     .table = s.table,
                     .rows = s.rows,
                     .copies = s.copies,
                     .arena_table = s.table + CONTROL.shared_bytes / GR_LINE * 4,
                     .lists = s.lists,
                     .since = CONTROL.spent ? clock_now() : 0};
}

// Each block of the launch has a slot of its own, with its number.
GR_INLINE int is_slot_of_each(void) {
    return CONTROL.once || CONTROL.exchanges || CONTROL.slots >= blocks_of_grid();
}

// Blocks that have a slot are resident and give it back.
void __gr_enter(void) {
    GR_GLOBAL uint32_t *taken = (GR_GLOBAL uint32_t *)CONTROL.taken;
    if (gr_priv_thread_number())
        return;
    uint64_t slots = CONTROL.slots, block = gr_priv_block_number(),
             first = (uint64_t)smid() * (slots / (nsmid() ? nsmid() : 1)) % slots,
             k = first; // a multiprocessor has its own, if it can be
    if (CONTROL.ask.kind && CONTROL.ask.block != block && !CONTROL.exchanges)
        return;
    if (is_slot_of_each()) {
        gr_priv_take(block);
        return;
    }
    while (gr_compare_swap(&taken[k], 0, 1)) {
        k = k + 1 == slots ? 0 : k + 1;
        if (k != first)
            continue;
        if (gr_load32(&((GR_GLOBAL GrPrivLog *)CONTROL.log)
                           ->head.apart)) // a block that gave up does not give it back
            return;
        gr_sleep(2000);
    }
    fence();
    gr_priv_take(k);
}

void __gr_begin(void) {
    if (CONTROL.near.size)
        gr_priv_near_begin();
}

void __gr_clear(void) {
    Slot s;
    gr_priv_slot(&s);
    uint32_t used = ((GR_GLOBAL volatile GrPrivSlot *)s.head)->used;
    Team t = team();
    GR_ROLLED for (uint32_t k = s.ready + t.thread; k < used && k < s.capacity && !s.once; k += t.threads) {
        GR_GLOBAL volatile GrPrivRow *head = far_head(row_at(&s, k + 1));
        put_word(s.table + 4 * (uint64_t)head->line, head->was);
    }
    // The block may have left within a region.
    GR_ROLLED for (uint32_t k = gr_priv_thread_number(); !s.near.units && k < s.near.size / GR_LINE;
                   k += threads_of_block()) {
        uint64_t row = near_row(&s, s.near.first / GR_LINE + k);
        GR_ROLLED for (uint32_t i = 0; i < s.n && is_numbered(&s, row); i++)
            put_word(number_at(&s, row, i), 0);
    }
    if (CONTROL.exchanges)
        gr_priv_clear_overlay(&s);
}

void __gr_leave(void) {
    if (gr_priv_thread_number())
        return;
    if (CONTROL.spent)
        gr_priv_spent(GR_SPENT_CLEAR);
    if (is_slot_of_each())
        return;
    fence();
    gr_store32((GR_GLOBAL uint32_t *)CONTROL.taken + slot_number(), 0);
}

uint64_t __gr_slot(void) {
    uint32_t k = gr_load32(slot_of_block());
    return k ? CONTROL.slot + (k - 1) * sizeof(GrPrivSlot) : 0;
}

uint32_t __gr_copy(void) {
    uint64_t unit = CONTROL.mode == GR_OF_WARPS ? gr_priv_thread_number() / CONTROL.threads
                    : CONTROL.whole ? gr_priv_block_number() * warps_of_block() + gr_priv_thread_number() / 32
                                    : gr_priv_cluster_number();
    if (unit <= UINT32_MAX && CONTROL.divide <= UINT32_MAX) // faster
        return (uint32_t)unit / (uint32_t)CONTROL.divide % CONTROL.privates;
    return (uint32_t)(unit / CONTROL.divide % CONTROL.privates);
}

// The place where blocks of the grid meet is the driver's memory.
static GR_NOINLINE void gr_priv_outside(uint64_t a, uint32_t what) {
    int stops = what & GR_AT_STOPS && CONTROL.all;
    if (stops && CONTROL.mode == GR_OF_WARPS)
        gr_store32(&slot_head()->ends, 1);
    if (!stops)
        gr_store64(&((GR_GLOBAL GrPrivLog *)CONTROL.log)->head.outside, a | 1);
}

void __gr_wild(void) { gr_store32(&((GR_GLOBAL GrPrivLog *)CONTROL.log)->head.full, GR_FULL_WILD); }

void __gr_over(void) { gr_store32(&((GR_GLOBAL GrPrivLog *)CONTROL.log)->head.over, 1); }

#define IS_IN(name, space)                                                                                   \
    GR_INLINE int name(uint64_t a) {                                                                         \
        uint32_t yes;                                                                                        \
        __asm__("{ .reg .pred p; isspacep." space " p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(yes) : "l"(a));   \
        return (int)yes;                                                                                     \
    }
IS_IN(is_local, "local")
IS_IN(is_const, "const")

// The offset of global memory; ~0: it is not the program's.
static GR_NOINLINE uint64_t gr_priv_offset_of(uint64_t a, uint32_t size) {
    int inside = a - CONTROL.arena < CONTROL.arena_bytes;
    uint32_t first = inside ? 0 : CONTROL.n_inside, low = first,
             high = inside ? CONTROL.n_inside : CONTROL.n_extents;
    while (low < high) { // the last one that begins at or before it
        uint32_t middle = (low + high) / 2;
        if (extent(&CONTROL, middle)->at <= a)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == first)
        return ~UINT64_C(0);
    GR_GLOBAL GrPrivExtent *e = extent(&CONTROL, low - 1);
    return a - e->at < e->size && size <= e->size - (a - e->at) ? e->offset + (a - e->at) : ~UINT64_C(0);
}

// ---- Accesses -------------------------------------------------------------------------------------------------------

// All of the line is the program's. The table says so from the begin, also to a cache without its newest rows.
static GR_NOINLINE int gr_priv_is_whole(const Slot *s, uint64_t line) {
    uint32_t v = *entry_of(s, line);
    return is_row(v) ? far_head(row_at(s, v))->was != GR_ROW_EDGE : v == 0;
}

// The offset of what the access is to; ~0: of nothing private. *outside: it should be.
static GR_NOINLINE uint64_t gr_priv_offset(const Slot *s, uint64_t a, uint32_t what, int *outside) {
    uint32_t space = what & GR_AT_SPACE;
    uint64_t offset = ~UINT64_C(0), in;
    *outside = 0;
    if (space == GR_AT_GENERIC && (is_local(a) || is_const(a)))
        return offset;
    if (space == GR_AT_GENERIC && gr_is_shared(a, &in)) {
        *outside = CONTROL.mode == GR_OF_BLOCKS && in + (what >> GR_AT_SIZE) > CONTROL.held_shared;
        if (CONTROL.mode == GR_OF_BLOCKS)
            return offset;
        space = GR_AT_SHARED;
        a = in;
    }
    if (space != GR_AT_SHARED && a - CONTROL.arena < CONTROL.arena_bytes &&
        gr_priv_is_whole(s, (a - CONTROL.arena + CONTROL.shared_bytes) >> GR_LINE_SHIFT))
        offset = a - CONTROL.arena + CONTROL.shared_bytes;
    else if (space != GR_AT_SHARED)
        offset = gr_priv_offset_of(a, what >> GR_AT_SIZE);
    else if (a < CONTROL.shared_bytes)
        offset = a;
    *outside = offset == ~UINT64_C(0);
    return offset;
}

uint64_t __gr_at(uint64_t a, uint32_t copy, uint32_t what, uint64_t unmade) {
    int outside;
    Slot s;
    gr_priv_slot(&s);
    uint64_t offset = gr_priv_offset(&s, a, what, &outside), line = offset >> GR_LINE_SHIFT,
             low = offset % GR_LINE;
    if (outside)
        gr_priv_outside(a, what);
    if (offset == ~UINT64_C(0))
        return outside ? 0 : a;
    if (what & GR_AT_STORE) {
        uint32_t row = gr_priv_row(&s, line);
        int mixed = 0;
        uint64_t to =
            row && s.granule && gr_priv_own(&s, row, (uint32_t)low, what >> GR_AT_SIZE, copy, &mixed)
                ? part_at(&s, row_at(&s, row), ROW_OWN)
            : row && !mixed ? gr_priv_make(&s, row, copy, unmade)
                            : 0;
        if (mixed)
            gr_priv_mixed(&s);
        // Another multiprocessor may have made these. Loads that inserted code does by itself must find them, not what
        // this one's cache had before.
        if (CONTROL.mode == GR_OF_BLOCKS)
            fence();
        return to ? to + low : 0;
    }
    uint32_t v = number_of_line(&s, line);
    if (is_row(v)) {
        uint64_t at = gr_priv_find(&s, v, (uint32_t)low, what >> GR_AT_SIZE, copy, unmade);
        if (!at)
            gr_priv_mixed(&s);
        return at;
    }
    return offset < CONTROL.shared_bytes ? (uint64_t)__gr_unwritten + low : a;
}

// Puts the row into the region's list. `number`: its number less one. 0: the row is of the overlay.
uint32_t __gr_list(uint64_t row, uint32_t number) {
    if (number >= CONTROL.capacity)
        return 0;
    Slot s = {.head = CONTROL.slot + slot_number() * sizeof(GrPrivSlot),
              .lists = CONTROL.lists + slot_number() * 8 * CONTROL.capacity,
              .capacity = CONTROL.capacity,
              .near = CONTROL.near};
    list_row(&s, row, number + 1, 1);
    return 1;
}

// The row whose `own` part has the address; 0: none.
GR_INLINE uint32_t row_of(const Slot *s, uint64_t at) {
    if (is_near(s, at))
        return GR_ROW_NEAR + (uint32_t)((at - s->window) / GR_LINE);
    uint64_t number = (at - s->rows) / s->row_bytes;
    return number - 1 < s->capacity ? (uint32_t)number : 0;
}

// The number of the private copy that has the address; 0: none.
GR_INLINE uint32_t number_of(const Slot *s, uint64_t at) {
    uint64_t number = (at - s->copies) / GR_LINE;
    return number - GR_COPY_FIRST < s->most_copies ? (uint32_t)number : 0;
}
// The row of a private copy, past the cache: blocks on several multiprocessors may share the copy, and one's cache may
// have an old mark, as a neighbour's was read.
GR_INLINE uint32_t row_of_copy(const Slot *s, uint32_t number) { return gr_load32(&mark_at(s, number)->row); }

GR_INLINE uint64_t offset_of(const Slot *s, uint32_t number, uint64_t at) {
    return (uint64_t)line_of(s, row_at(s, row_of_copy(s, number))) * GR_LINE + at % GR_LINE;
}

// Notes how the words are touched. Yields how the first one was touched before.
static GR_NOINLINE uint8_t gr_priv_touch(const Slot *s, uint32_t number, uint64_t at, uint32_t size,
                                         uint8_t how) {
    uint64_t row = row_at(s, row_of_copy(s, number)), copy = copy_at(s, number);
    uint32_t low = at % GR_LINE;
    uint8_t before = byte_at(touched_at(s, number, low / 4));
    GR_ROLLED for (uint32_t word = low / 4; word <= (low + size - 1) / 4; word++) {
        uint64_t to = touched_at(s, number, word);
        uint8_t was = byte_at(to);
        if (how & GR_UPDATED && was == GR_STORED) // what is done for all goes on from what the unit stored
            put_word(row + ROW_UNION + 4 * word, word_at(copy + 4 * word));
        if (!(how == GR_STORED && was & GR_OBSERVED))
            put_byte(to, was | how);
    }
    // Such kernels have no near memory.
    GR_GLOBAL uint32_t *flags = (GR_GLOBAL uint32_t *)&far_head(row)->flags;
    GR_ROLLED for (uint32_t was = gr_load32(flags); how & GR_UPDATED && !(was & ROW_UPDATED);) was =
        gr_compare_swap(flags, was, was | ROW_UPDATED);
    return before;
}

uint64_t __gr_stored(uint64_t at, uint32_t pass, uint32_t size) {
    Slot s;
    gr_priv_slot(&s);
    uint32_t number = number_of(&s, at);
    if (!number)
        return 0;
    uint8_t before = gr_priv_touch(&s, number, at, size, GR_STORED);
    // A store behind an atomic operation of the unit, which was done for all, is done for all, too.
    return before & GR_UPDATED && pass == 1 && !CONTROL.once
               ? row_at(&s, row_of_copy(&s, number)) + ROW_UNION + at % GR_LINE
               : 0;
}

uint64_t __gr_strong(uint64_t a, uint32_t copy, uint32_t what) {
    int outside;
    Slot s;
    gr_priv_slot(&s);
    uint64_t offset = gr_priv_offset(&s, a, what, &outside), low = offset % GR_LINE;
    if (outside)
        gr_priv_outside(a, what);
    if (offset == ~UINT64_C(0))
        return outside ? 0 : a;
    uint32_t v = gr_load32(entry_of(&s, offset >> GR_LINE_SHIFT));
    if (!is_row(v))
        return offset < CONTROL.shared_bytes ? (uint64_t)__gr_unwritten + low : a;
    uint32_t number = is_numbered(&s, row_at(&s, v))
                          ? gr_load32((GR_GLOBAL uint32_t *)number_at(&s, row_at(&s, v), copy))
                          : 0;
    // The unit finds what it stored by a weak store.
    if (number >= GR_COPY_FIRST && byte_at(touched_at(&s, number, (uint32_t)low / 4)) == GR_STORED)
        return copy_at(&s, number) + low;
    return row_at(&s, v) + ROW_UNION + low;
}

// The block's place among those of the slots, or of the grid.
GR_INLINE uint64_t place_of_block(void) {
    return CONTROL.mode == GR_OF_WARPS ? slot_number() : gr_priv_block_number();
}

uint64_t __gr_notes(void) {
    uint64_t threads = ntid_x() * ntid_y() * ntid_z();
    return CONTROL.notes + (place_of_block() * threads + gr_priv_thread_number()) * CONTROL.note_bytes;
}

uint64_t __gr_stage(void) {
    uint32_t warps = (ntid_x() * ntid_y() * ntid_z() + 31) / 32;
    return CONTROL.stage + (place_of_block() * warps + gr_priv_thread_number() / 32) * GR_STAGE;
}

void __gr_no_notes(uint32_t pass) {
    if (CONTROL.mode == GR_OF_WARPS && pass == 1 && CONTROL.note_bytes >= CONTROL.most_notes)
        gr_store32(&slot_head()->ends, 1);
    else
        gr_store32(&((GR_GLOBAL GrPrivLog *)CONTROL.log)->head.full, GR_FULL_NOTES);
}

static GR_NOINLINE void gr_priv_took_part(GR_GLOBAL uint32_t *who, uint32_t copy) {
    uint32_t was = gr_compare_swap(who, 0, copy + 1);
    if (was && was != copy + 1)
        gr_store32(who, GR_MANY);
}

void __gr_orders(uint32_t copy, uint32_t roles, uint32_t pass) {
    GR_GLOBAL GrPrivSlot *of = slot_head();
    if (pass == 1 && roles & GR_ORDERS_READ)
        gr_priv_took_part(&of->reader, copy);
    if (pass == 1 && roles & GR_ORDERS_WRITE)
        gr_priv_took_part(&of->writer, copy);
}

// One unit may have ordered what it did before what another one does then.
GR_INLINE uint32_t is_ordered(GR_GLOBAL GrPrivSlot *of) {
    uint32_t reader = gr_load32(&of->reader), writer = gr_load32(&of->writer);
    return reader && writer && (reader != writer || reader == GR_MANY);
}

uint32_t __gr_ends(void) {
    GR_GLOBAL GrPrivSlot *of = slot_head();
    GR_GLOBAL GrPrivLog *log = (GR_GLOBAL GrPrivLog *)CONTROL.log;
    uint32_t ordered = is_ordered(of), waited = gr_load32(&of->ends);
    if (gr_priv_thread_number() == 0 && (ordered || waited))
        gr_add32(ordered ? &log->head.ordered : &log->head.waited, 1);
    return ordered || waited;
}

void __gr_stops(void) { gr_store32(&((GR_GLOBAL GrPrivLog *)CONTROL.log)->head.stopped, 1); }

uint32_t __gr_print(uint64_t format, uint64_t values) {
    (void)format;
    (void)values;
    return 0;
}

void __gr_fail(uint64_t message, uint64_t file, uint32_t line, uint64_t function, uint64_t size) {
    (void)message;
    (void)file;
    (void)line;
    (void)function;
    (void)size;
}

// Lanes that end together are added up first, as all threads of all blocks of a copy count in few places.
void __gr_done(uint64_t stores, uint32_t copy) {
    uint32_t lanes = gr_active_mask(), first = (uint32_t)__builtin_ctz(lanes);
    uint64_t sum = 0;
    if (lanes == ~0u) {
        sum = stores;
        GR_ROLLED for (uint32_t step = 16; step; step /= 2) sum += gr_shuffle64(lanes, sum, gr_lane() ^ step);
    } else {
        GR_ROLLED for (uint32_t left = lanes; left; left &= left - 1) sum +=
            gr_shuffle64(lanes, stores, (uint32_t)__builtin_ctz(left));
    }
    if (gr_lane() != first || !sum)
        return;
    uint32_t part = (uint32_t)(gr_priv_block_number() * 8 + gr_priv_thread_number() / 32) % GR_SUMS;
    gr_count((GR_GLOBAL uint64_t *)CONTROL.sums +
                 ((uint64_t)(CONTROL.pass - 1) * CONTROL.privates + copy) * GR_SUMS + part,
             sum);
}

uint64_t __gr_updated(uint64_t at, uint32_t pass, uint32_t size, uint32_t observed) {
    Slot s;
    gr_priv_slot(&s);
    uint32_t number = number_of(&s, at);
    if (!number)
        return 0;
    uint64_t row = row_at(&s, row_of_copy(&s, number));
    (void)gr_priv_touch(&s, number, at, size, GR_UPDATED | (observed ? GR_OBSERVED : 0));
    return CONTROL.once ? row + ROW_BASE + at % GR_LINE : pass == 1 ? row + ROW_UNION + at % GR_LINE : 0;
}

// The offset of what is at `at` in a private copy; ~0: it is in none.
static GR_NOINLINE uint64_t gr_priv_offset_of_copy(const Slot *s, uint64_t at) {
    uint32_t number = number_of(s, at), row = number ? row_of_copy(s, number) : row_of(s, at);
    return row ? (uint64_t)line_of(s, row_at(s, row)) * GR_LINE + at % GR_LINE : ~UINT64_C(0);
}

// Reports a race of lanes. `same`: the storing lanes that store where this one does.
static GR_NOINLINE void gr_priv_lanes_race(uint32_t site, uint64_t at, uint32_t what, uint64_t value,
                                           uint32_t sequence, uint32_t lanes, uint32_t same) {
    uint32_t lane = gr_lane(), first = (uint32_t)__builtin_ctz(same),
             equal = gr_match_any(lanes, value) & same,
             others = equal != same ? same & ~equal : same & ~(1u << lane);
    if (lane != first || same == 1u << lane)
        return;
    Slot s;
    gr_priv_slot(&s);
    uint64_t offset = CONTROL.mode == GR_OF_BLOCKS || at - CONTROL.window.at < CONTROL.window.size
                          ? CONTROL.shared_bytes + (at - CONTROL.arena)
                          : gr_priv_offset_of_copy(&s, at);
    uint32_t other = (uint32_t)__builtin_ctz(others), thread = gr_priv_thread_number();
    if (!~offset) // it is none that others see
        return;
    gr_priv_found(CONTROL.log, &(GrPrivFound){.kind = GR_FOUND_LANES,
                                              .region = site,
                                              .copy = {thread, thread - lane + other},
                                              .size = what >> GR_AT_SIZE,
                                              .same = equal == same,
                                              .round = CONTROL.round,
                                              .offset = offset,
                                              .block = gr_priv_block_number(),
                                              .sequence = sequence,
                                              .bytes = what >> GR_AT_SIZE});
}

// Lanes that store to one place at once (the GRace papers' check of a warp, LDetector's section 4.7): the last one's
// value stays, and they race.
uint32_t __gr_lanes(uint32_t site, uint64_t at, uint32_t what, uint64_t value, uint32_t pass,
                    uint32_t sequence) {
    uint32_t lanes = gr_active_mask(), lane = gr_lane(), before = lanes & gr_lanes_before(),
             neighbour = before ? 31 - (uint32_t)__builtin_clz(before) : lane;
    uint64_t beside = gr_shuffle64(lanes, at, neighbour);
    if (gr_all(lanes, !before || beside < at)) // no two at one place, as mostly
        return 1;
    uint32_t same;
    if (gr_all(lanes, !before || beside <= at)) { // then those that are at one lie side by side
        uint32_t firsts = gr_ballot(lanes, !before || beside != at), own = firsts & (before | 1u << lane),
                 later = firsts & ~(before | 1u << lane);
        same =
            lanes & (later ? (later & -later) - 1 : ~0u) & ~((1u << (31 - (uint32_t)__builtin_clz(own))) - 1);
    } else {
        same = gr_match_any(lanes, at);
        if (gr_all(lanes, same == 1u << lane))
            return 1;
    }
    if (pass == 1)
        gr_priv_lanes_race(site, at, what, value, sequence, lanes, same);
    return !(same >> lane >> 1) || is_local(at); // by a generic address: each lane has its own
}

uint64_t __gr_updates_all(uint64_t at, uint32_t pass) {
    Slot own, s = slot_of_control(&CONTROL, CONTROL.slots);
    if (!CONTROL.once && !(CONTROL.exchanges && pass == 1))
        return 0;
    gr_priv_slot(&own);
    uint32_t number = number_of(&own, at);
    uint64_t offset = number ? offset_of(&own, number, at) : 0;
    if (!number || offset < CONTROL.shared_bytes)
        return 0;
    if (CONTROL.exchanges)
        return gr_priv_update_for_all(offset);
    uint32_t row = gr_priv_row(&s, offset / GR_LINE);
    return row ? row_at(&s, row) + at % GR_LINE : 0;
}

// A lane may wait for one that has ended: the program's warp operations go without ended lanes. Here that lane has not
// ended, so it must not wait for ever at the end of the region. `ends`: how many regions the thread has ended.
uint32_t __gr_gather(uint32_t ends) {
    uint32_t all = ntid_x() * ntid_y() * ntid_z() * ends;
    if (CONTROL.near.size)
        return gr_priv_near_gather(all);
    GR_GLOBAL uint32_t *arrived = CONTROL.mode == GR_OF_BLOCKS ? slot_of_block() : &slot_head()->arrived,
                       *apart = &((GR_GLOBAL GrPrivLog *)CONTROL.log)->head.apart;
    gr_add32(arrived, 1);
    uint32_t pause = 32; // most come at once
    // 80 ms; from barrier to barrier of the grid 1.3 s, once for all.
    uint32_t most = CONTROL.mode == GR_OF_BLOCKS ? 16 * MOST_PAUSES : MOST_PAUSES;
    GR_ROLLED for (uint32_t k = 0; k < most && !gr_load32(apart); k++) {
        if (gr_load32(arrived) >= all)
            return 1;
        gr_sleep(pause);
        pause = pause < 16384 ? pause * 2 : 20000;
    }
    gr_store32(apart, 1);
    return 0;
}

// In pass 2: others wrote the byte that the copy has there.
static GR_NOINLINE int gr_priv_is_of_others(const Slot *s, uint64_t offset, uint32_t copy) {
    uint32_t v = number_of_line(s, offset >> GR_LINE_SHIFT);
    uint64_t row = row_at(s, v), low = offset % GR_LINE;
    int near = is_row(v) && is_near(s, row);
    if (!is_row(v) || (!near && !(gr_load32((GR_GLOBAL uint32_t *)&far_head(row)->flags) & ROW_MERGED)))
        return 0; // nobody wrote in this line, and the union is not made
    // In a copy that is not made it finds the union.
    uint64_t own = gr_priv_find(s, v, (uint32_t)low, 1, copy, ROW_UNION);
    uint32_t its = near && !is_numbered(s, row) ? near_owner(s, row, (uint32_t)low) : 0,
             owner = its                            ? owner_of(its - 1)
                     : near && !is_numbered(s, row) ? 0
                                                    : *changer_at(s, row, (uint32_t)low / 4);
    uint8_t all = byte_at(part_at(s, row, ROW_UNION) + low);
    if (owner == OWNER_UPDATED)
        return 1;
    return owner && owner != owner_of(copy) && byte_at(part_at(s, row, ROW_BASE) + low) != all &&
           byte_at(own) == all;
}

// How many units' accesses by one instruction are told if they are alike, and in all. Loads are all alike, and so are
// stores of one value: which of them are told does not change the report.
enum { SOME_ALIKE = 3, SOME = 24 };

void __gr_look(uint32_t site, uint64_t a, uint32_t what, uint64_t value, uint32_t copy, uint32_t pass,
               uint32_t sequence) {
    GR_GLOBAL GrPrivAsk *ask = &CONTROL.ask;
    uint32_t size = what >> GR_AT_SIZE, store = what & GR_AT_STORE, for_copy = ask->kind == GR_ASK_COPY;
    if (sequence != ask->sequence || pass != (for_copy ? 1 : 2) ||
        (!for_copy && (store || !(ask->copies >> copy % 64 & 1))))
        return; // most, at once
    uint32_t space = what & GR_AT_SPACE;
    if (for_copy && space != GR_AT_GENERIC &&
        (ask->shared != (space == GR_AT_SHARED) || ask->address - a >= size))
        return;
    GR_GLOBAL GrPrivLog *log = (GR_GLOBAL GrPrivLog *)CONTROL.log;
    // One access of the instruction is enough. What the cache had before is looked at again below.
    GR_ROLLED for (uint32_t n = 0; !for_copy && n < GR_MOST_SEEN && log->seen[n].state;
                   n++) if (log->seen[n].state == 2 && log->seen[n].site == site) return;
    int outside;
    Slot s;
    gr_priv_slot(&s);
    uint64_t offset = gr_priv_offset(&s, a, what, &outside), found = offset, end = offset + size;
    if (offset == ~UINT64_C(0) || (for_copy && ask->offset - offset >= size))
        return;
    while (!for_copy && found < end && !gr_priv_is_of_others(&s, found, copy))
        found++;
    if (found == end)
        return;
    uint32_t of_site = 0, alike = 0, last = ~0u; // alike: of different units
    int has_value = store && !(what & GR_AT_ATOMIC);
    GR_ROLLED for (uint32_t n = 0; n < GR_MOST_SEEN; n++) {
        GR_GLOBAL GrPrivSeen *seen = &log->seen[n];
        // Lanes share a load of one place, but take turns at atomic operations.
        uint32_t state = gr_load32(&seen->state);
        state = state ? state : gr_compare_swap(&seen->state, 0, 1);
        if (state == 0) {
            seen->site = site;
            seen->copy = copy;
            seen->what = what;
            seen->offset = found;
            seen->value = value;
            seen->thread[0] = gr_tid_x();
            seen->thread[1] = gr_tid_y();
            seen->thread[2] = gr_tid_z();
            seen->block[0] = gr_ctaid_x();
            seen->block[1] = gr_ctaid_y();
            seen->block[2] = gr_ctaid_z();
            gr_store32(&seen->state, 2);
            gr_store32(&log->head.any, 1);
            return;
        }
        if (gr_load32(&seen->state) != 2 || seen->site != site)
            continue;
        int is_alike = !has_value || (seen->value == value && seen->offset == found);
        of_site++;
        alike += is_alike && seen->copy != last ? 1 : 0; // lanes of one may all have come here at once
        last = is_alike ? seen->copy : last;
        if ((is_alike && seen->copy == copy) || ask->kind == GR_ASK_READS || alike == SOME_ALIKE ||
            of_site == SOME)
            return;
    }
}

// __gr_stored(), and stores to the place that it yields.
static GR_NOINLINE void gr_priv_note(uint64_t at, uint32_t what, uint64_t value, uint32_t pass) {
    uint32_t size = what >> GR_AT_SIZE;
    uint64_t common = __gr_stored(at, pass, size);
    GR_ROLLED for (uint32_t k = 0; common && k < size; k++) put_byte(common + k, (uint8_t)(value >> 8 * k));
}

static GR_NOINLINE uint64_t gr_priv_goes(uint32_t site, uint64_t a, uint32_t what, uint64_t value,
                                         uint32_t copy, uint32_t pass, uint32_t sequence) {
    uint64_t unmade = (pass - 1) * GR_LINE, to = brief_at(a, copy, what, unmade);
    to = to ? to : __gr_at(a, copy, what, unmade);
    if (to && CONTROL.ask.kind && (CONTROL.mode == GR_OF_BLOCKS || slot_head()->asks))
        __gr_look(site, a, what, value, copy, pass, sequence);
    return to;
}

uint64_t __gr_goes(uint32_t site, uint64_t a, uint32_t what, uint64_t value, uint32_t copy, uint32_t pass,
                   uint32_t sequence) {
    uint64_t to = gr_priv_goes(site, a, what, value, copy, pass, sequence);
    if (to && what & GR_AT_NOTED)
        gr_priv_note(to, what, value, pass);
    return to;
}

uint64_t __gr_puts(uint32_t site, uint64_t a, uint32_t what, uint64_t value, uint32_t copy, uint32_t pass,
                   uint32_t sequence) {
    uint32_t lanes = gr_active_mask();
    uint64_t to = gr_priv_goes(site, a, what, value, copy, pass, sequence);
    int stays = 0;
    if (!CONTROL.alone) {
        gr_meet(lanes);
        stays = to && !__gr_lanes(site, to, what, value, pass, sequence);
    }
    if (to && !stays && what & GR_AT_NOTED)
        gr_priv_note(to, what, value, pass);
    return stays ? 1 : to;
}

// Lanes that come together are reported together.
void __gr_differs(uint32_t region, uint32_t copy, uint32_t sequence) {
    uint32_t team = gr_match_any(gr_active_mask(), region);
    Told t = {0};
    GR_ROLLED for (uint32_t left = team; left; left &= left - 1) {
        uint32_t one = gr_shuffle32(team, copy, (uint32_t)__builtin_ctz(left));
        tell(&t, one, one, 0);
    }
    if (team & gr_lanes_before())
        return;
    gr_priv_found(CONTROL.log,
                  &(GrPrivFound){.kind = GR_FOUND_READ,
                                 .region = region,
                                 .round = CONTROL.round,
                                 .copy = {t.one, t.one},
                                 .block = gr_priv_block_number(),
                                 .sequence = sequence,
                                 .copies = {t.copies[0], t.copies[1], t.copies[2], t.copies[3]}});
}

void __gr_region(uint32_t region) { gr_store32(&slot_head()->region, region + 1); }

// Does the rows of the block, but for near ones.
static GR_NOINLINE void gr_priv_rows_of_block(uint32_t region, uint32_t sequence, int merges) {
    Slot s;
    gr_priv_slot(&s);
    s.region = region_that_began(region);
    s.block = CONTROL.mode == GR_OF_BLOCKS ? 0 : gr_priv_block_number(); // else of all blocks
    s.sequence = sequence;
    s.commits = 1;
    Team t = team();
    gr_priv_all_rows(&s, &t, merges);
}

// Does what __gr_merges() and __gr_checks() have left of near memory.
static GR_NOINLINE void gr_priv_rest_of_near(uint32_t region, uint32_t sequence, uint32_t rest, int merges) {
    Near n = near_of_block();
    if (n.units) {
        if (rest & (GR_REST_ALL | GR_REST_TELL))
            gr_priv_dense_rest(&n, region, sequence, rest, merges);
        return;
    }
    uint32_t numbered = near_numbered(&n, sequence);
    if (merges && rest & GR_REST_ALL)
        near_merge(&n, numbered);
    if (merges && numbered)
        gr_priv_near_lines(region, sequence, 1);
    if (merges || !(rest & GR_REST_ALL))
        return;
    if (n.thread == 0) // the next region's: all have read them in the last one
        put_shared(n.says + GR_NEAR_NUMBERED + 4 * (1 - (sequence & 1)), 0);
    if (numbered)
        gr_priv_near_check(region, sequence);
    else if (near_check(&n))
        gr_priv_near_tells(region, sequence);
}

void __gr_tells(uint32_t region, uint32_t sequence) {
    if (CONTROL.near.units)
        gr_priv_dense_tells(region, sequence, 0);
    else
        gr_priv_near_tells(region, sequence);
}

void __gr_merge(uint32_t region, uint32_t sequence, uint32_t rest) {
    if (CONTROL.spent)
        gr_priv_spent(GR_SPENT_PASS_1);
    if (CONTROL.near.size)
        gr_priv_rest_of_near(region, sequence, rest, 1);
    gr_priv_rows_of_block(region, sequence, 1);
    if (CONTROL.spent)
        gr_priv_spent(GR_SPENT_MERGE);
}

void __gr_check(uint32_t region, uint32_t sequence, uint32_t rest) {
    if (CONTROL.spent)
        gr_priv_spent(GR_SPENT_PASS_2);
    if (CONTROL.near.size)
        gr_priv_rest_of_near(region, sequence, rest, 0);
    gr_priv_rows_of_block(region, sequence, 0);
    if (CONTROL.spent)
        gr_priv_spent(GR_SPENT_CHECK);
}
