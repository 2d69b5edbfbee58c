// SPDX-License-Identifier: Apache-2.0
// making — rows of lines, and private copies of them, are made when a unit first writes there.
#ifndef GR_PRIVATIZER_MAKING_H
#define GR_PRIVATIZER_MAKING_H

#include "engines/privatizer/device/here.h"

GR_INLINE uint64_t long_at(uint64_t at) { return *(uint64_t *)at; }
GR_INLINE void put_long(uint64_t at, uint64_t v) { *(uint64_t *)at = v; }

// 16 bytes. Behind the numbers of a row's copies there is room up to a whole line.
GR_INLINE void put_zeros(uint64_t at) {
    __asm__ volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(at), "r"(0) : "memory");
}

static GR_NOINLINE void gr_priv_copy_line(uint64_t to, uint64_t other, uint64_t from) {
    GR_ROLLED for (uint32_t k = 0; k < GR_LINE; k += 32) {
        uint64_t a = long_at(from + k), b = long_at(from + k + 8), c = long_at(from + k + 16),
                 d = long_at(from + k + 24);
        put_long(to + k, a), put_long(to + k + 8, b), put_long(to + k + 16, c), put_long(to + k + 24, d);
        put_long(other + k, a), put_long(other + k + 8, b), put_long(other + k + 16, c),
            put_long(other + k + 24, d);
    }
}

// A line with bytes that are none of the program's: those are 0.
static GR_NOINLINE void gr_priv_copy_edge(uint64_t row, uint64_t offset) {
    uint32_t k = 0, high = CONTROL.n_extents;
    GR_ROLLED for (uint32_t at = 0; at < 2 * GR_LINE; at += 8) put_long(row + at, 0);
    while (k < high) { // the first one that ends behind its begin
        uint32_t middle = (k + high) / 2;
        if (extent(&CONTROL, middle)->offset + extent(&CONTROL, middle)->size <= offset)
            k = middle + 1;
        else
            high = middle;
    }
    GR_ROLLED for (; k < CONTROL.n_extents && extent(&CONTROL, k)->offset < offset + GR_LINE; k++) {
        GR_GLOBAL GrPrivExtent *e = extent(&CONTROL, k);
        uint64_t from = e->offset > offset ? e->offset : offset, end = e->offset + e->size;
        GR_ROLLED for (; from < end && from < offset + GR_LINE; from++) {
            uint8_t v = byte_at(e->at + (from - e->offset));
            put_byte(row + (from - offset), v);
            put_byte(row + GR_LINE + (from - offset), v);
        }
    }
}

// Where the program has the line.
static GR_NOINLINE uint64_t gr_priv_line_of(uint64_t offset) {
    if (offset < CONTROL.shared_bytes)
        return (uint64_t)__gr_unwritten;
    if (offset - CONTROL.shared_bytes < CONTROL.arena_bytes)
        return CONTROL.arena + (offset - CONTROL.shared_bytes);
    GR_GLOBAL GrPrivExtent *e = extent(&CONTROL, gr_priv_extents_until(&CONTROL, offset) - 1);
    return e->at + (offset - e->offset);
}

GR_INLINE void put_in_list(const Slot *s, uint32_t number) {
    GR_GLOBAL GrPrivSlot *of = (GR_GLOBAL GrPrivSlot *)s->head;
    uint32_t list = gr_load32(&of->now), k = gr_add32(&of->count[list], 1);
    put_word(list_at(s, list, k), number);
}

// In the region's list already, as it will be written. By the lanes `team`, of which this is number `rank` of n.
static GR_NOINLINE void gr_priv_fill_row(const Slot *s, uint32_t number, uint64_t line, uint32_t was,
                                         uint32_t team, uint32_t rank, uint32_t n) {
    uint64_t row = row_at(s, number);
    volatile GrPrivRow *head = head_of(s, row);
    uint64_t offset = line << GR_LINE_SHIFT, from = row;
    if (was == GR_ROW_EDGE) {
        if (rank == 0)
            gr_priv_copy_edge(row, offset);
        gr_meet(team);
    } else {
        from = gr_priv_line_of(offset);
    }
    GR_ROLLED for (uint32_t k = rank; k < GR_LINE / 4; k += n) {
        uint32_t v = word_at(from + 4 * k);
        put_word(row + ROW_BASE + 4 * k, v);
        put_word(row + ROW_UNION + 4 * k, v);
        put_word(row + ROW_OWN + 4 * k, v);
        put_word(row + GR_ROW_OWNERS + 4 * k, 0);
        if (k < GR_LINE / 8)
            put_word(row_touched_at(row, 0, 0) + 4 * k, 0);
    }
    GR_ROLLED for (uint32_t k = 4 * rank; k < s->n; k += 4 * n) put_zeros(number_at(s, row, k));
    if (rank)
        return;
    head->line = (uint32_t)line;
    head->flags = ROW_LISTED;
    head->was = was;
    head->numbered = 0;
    if (!flags_of(s, (uint32_t)line)) // lines of shared memory are in no list
        put_in_list(s, number);
}

// What a lane of a team found: the others get it from the first.
enum { ROW_RETRY = 0, ROW_THERE = 1, ROW_MINE = 2, ROW_NONE = 3 };

static GR_NOINLINE uint32_t gr_priv_look_for_row(const Slot *s, uint64_t line, uint32_t *number,
                                                 uint32_t *was) {
    GR_GLOBAL uint32_t *entry = entry_of(s, line), *used = &((GR_GLOBAL GrPrivSlot *)s->head)->used;
    uint32_t v = gr_load32(entry), rows = gr_load32(used); // both at once: memory is far
    *number = v;
    *was = v;
    if (is_row(v))
        return ROW_THERE;
    if (v == GR_ROW_BUSY)
        return ROW_RETRY;
    if (rows >= s->capacity)
        return ROW_NONE;
    if (gr_compare_swap(entry, v, GR_ROW_BUSY) != v)
        return ROW_RETRY;
    uint32_t k = gr_add32(used, 1);
    *number = k + 1;
    if (k < s->capacity)
        return ROW_MINE;
    gr_store32(entry, v);
    return ROW_NONE;
}

// The number of the line's row, which is made if there is none, by all lanes of the warp that want it now. 0: there is no room.
static GR_NOINLINE uint32_t gr_priv_row(const Slot *s, uint64_t line) {
    if (is_near_line(s, line))
        return GR_ROW_NEAR + (uint32_t)line;
    uint32_t lanes = gr_active_mask(), team = gr_match_any(lanes, line),
             n = (uint32_t)__builtin_popcount(team), first = (uint32_t)__builtin_ctz(team),
             rank = (uint32_t)__builtin_popcount(team & gr_lanes_before()), pause = 16;
    GR_ROLLED for (;;) {
        uint32_t state = ROW_RETRY, number = 0, was = 0;
        if (rank == 0)
            state = gr_priv_look_for_row(s, line, &number, &was);
        state = gr_shuffle32(team, state, first);
        number = gr_shuffle32(team, number, first);
        was = gr_shuffle32(team, was, first);
        if (state == ROW_THERE)
            return number;
        if (state == ROW_NONE)
            break;
        if (state == ROW_MINE) {
            gr_priv_fill_row(s, number, line, was, team, rank, n);
            publish(); // granules are taken behind the caches
            gr_meet(team);
            if (rank == 0)
                gr_store32(entry_of(s, line), number);
            gr_meet(team); // each of them finds it
            return number;
        }
        pause = pause < 8192 ? pause * 2 : pause; // the one that makes the row has to come to run
        gr_sleep(pause);
    }
    gr_store32(&((GR_GLOBAL GrPrivLog *)s->log)->head.full, GR_FULL_ROWS);
    return 0;
}

// The region's list has the row.
GR_INLINE void list_row(const Slot *s, uint64_t row, uint32_t number) {
    if (is_near(s, row))
        return;
    GR_GLOBAL uint32_t *flags = (GR_GLOBAL uint32_t *)&head_of(s, row)->flags;
    GR_ROLLED for (uint32_t was = gr_load32(flags); !(was & ROW_LISTED);) {
        uint32_t seen = gr_compare_swap(flags, was, was | ROW_LISTED);
        if (seen == was) {
            put_in_list(s, number);
            return;
        }
        was = seen;
    }
}

// A new private copy of the row, as the units find it; 0: there is no room.
static GR_NOINLINE uint32_t gr_priv_new_copy(const Slot *s, uint32_t row_number, uint32_t k,
                                             uint64_t unmade) {
    GR_GLOBAL GrPrivSlot *of = (GR_GLOBAL GrPrivSlot *)s->head;
    uint32_t number = gr_add32(&of->made, 1) + GR_COPY_FIRST;
    if (number - GR_COPY_FIRST >= s->most_copies) {
        gr_store32(&((GR_GLOBAL GrPrivLog *)s->log)->head.full, GR_FULL_COPIES);
        return 0;
    }
    uint64_t row = row_at(s, row_number);
    GR_GLOBAL volatile GrPrivMark *mark = (GR_GLOBAL volatile GrPrivMark *)mark_at(s, number);
    list_row(s, row, row_number);
    gr_priv_copy_line(copy_at(s, number), copy_at(s, number), part_at(s, row, unmade));
    GR_ROLLED for (uint32_t b = 0; b < GR_LINE / 4; b += 8) put_long(touched_at(s, number, b), 0);
    mark->row = row_number;
    mark->copy = k;
    publish();
    return number;
}

// Where the unit's copy of the line is; 0: there is no room.
static GR_NOINLINE uint64_t gr_priv_make(const Slot *s, uint32_t row, uint32_t k, uint64_t unmade) {
    GR_GLOBAL uint32_t *number = (GR_GLOBAL uint32_t *)number_at(s, row_at(s, row), k);
    if (row) // each time: the unit's own multiprocessor has to find it
        any_store32(&head_of(s, row_at(s, row))->numbered, 1);
    GR_ROLLED for (uint32_t pause = 64; row;) {
        uint32_t v = gr_load32(number);
        if (v >= GR_COPY_FIRST)
            return copy_at(s, v);
        if (v == 0 && gr_compare_swap(number, 0, GR_COPY_BUSY) == 0) {
            v = gr_priv_new_copy(s, row, k, unmade);
            gr_store32(number, v);
            return v ? copy_at(s, v) : 0;
        }
        pause = pause < 8192 ? pause * 2 : pause;
        gr_sleep(pause);
    }
    return 0;
}

// How many of the owners of these bytes are the unit, and how many are none.
typedef struct Owned {
    uint32_t all, mine, free;
} Owned;

static GR_NOINLINE Owned gr_priv_near_owned(const Slot *s, uint64_t row, uint32_t low, uint32_t size,
                                            uint32_t k) {
    Owned o = {0, 0, 0};
    GR_ROLLED for (uint32_t at = low >> s->near.shift << s->near.shift; at < low + size;
                   at += 1u << s->near.shift) {
        uint32_t owner = near_owner(s, row, at);
        o.all++;
        o.mine += owner == k + 1;
        o.free += owner == 0;
    }
    return o;
}

// The unit takes what is nobody's.
static GR_NOINLINE void gr_priv_near_take(const Slot *s, uint64_t row, uint32_t low, uint32_t size,
                                          uint32_t k) {
    GR_ROLLED for (uint32_t at = low >> s->near.shift << s->near.shift; at < low + size;
                   at += 1u << s->near.shift) {
        uint64_t entry = near_owner_at(s, row, at);
        uint32_t bits = s->near.entry == 2 ? (uint32_t)(entry & 2) * 8 : 0,
                 mask = s->near.entry == 2 ? 0xffffu << bits : ~0u;
        uint32_t *word = (uint32_t *)(entry & ~UINT64_C(3));
        GR_ROLLED for (uint32_t was = any_load32(word); !(was & mask);) {
            uint32_t seen = any_compare_swap(word, was, was | (k + 1) << bits);
            if (seen == was)
                break;
            was = seen;
        }
    }
}

// An access to bytes some of which only are the unit's.
static GR_NOINLINE void gr_priv_mixed(const Slot *s) {
    gr_store32(&((GR_GLOBAL GrPrivLog *)s->log)->head.full, GR_FULL_NEAR);
}

// Whether the unit has the bytes: they are its own, or nobody's so far. *mixed: some of them are.
static GR_NOINLINE int gr_priv_own(const Slot *s, uint32_t number, uint32_t low, uint32_t size, uint32_t k,
                                   int *mixed) {
    uint64_t row = row_at(s, number);
    *mixed = 0;
    if (is_near(s, row)) {
        Owned o = gr_priv_near_owned(s, row, low, size, k);
        if (o.mine + o.free == o.all) // else another one's
            gr_priv_near_take(s, row, low, size, k);
        o = gr_priv_near_owned(s, row, low, size, k);
        *mixed = o.mine && o.mine < o.all;
        return o.mine == o.all;
    }
    list_row(s, row, number);
    uint32_t was = gr_compare_swap((GR_GLOBAL uint32_t *)owner_at(s, row, low), 0, k + 1);
    return was == 0 || was == k + 1;
}

// Where the unit finds what it has stored, or what it would find in a copy that is not made; 0: that is in several places.
static GR_NOINLINE uint64_t gr_priv_find(const Slot *s, uint32_t number, uint32_t low, uint32_t size,
                                         uint32_t k, uint64_t unmade) {
    uint64_t row = row_at(s, number);
    if (is_near(s, row)) {
        Owned o = gr_priv_near_owned(s, row, low, size, k);
        if (o.mine && o.mine < o.all)
            return 0;
        if (o.mine)
            return row + low;
    } else if (s->granule && gr_load32((GR_GLOBAL uint32_t *)owner_at(s, row, low)) == k + 1)
        return row + ROW_OWN + low;
    if (is_numbered(s, row)) {
        uint32_t copy = gr_load32((GR_GLOBAL uint32_t *)number_at(s, row, k));
        if (copy >= GR_COPY_FIRST)
            return copy_at(s, copy) + low;
    }
    return part_at(s, row, unmade) + low;
}

#endif
