// SPDX-License-Identifier: Apache-2.0
// making — makes rows of lines, and private copies of them, when a unit first writes there.
#ifndef GR_ENGINES_PRIVATIZER_DEVICE_MAKING_H
#define GR_ENGINES_PRIVATIZER_DEVICE_MAKING_H

#include "engines/privatizer/device/here.h"

GR_INLINE void put_long(uint64_t at, uint64_t v) { *(uint64_t *)at = v; }

// 16 bytes.
typedef struct Chunk {
    uint32_t x, y, z, w;
} Chunk;
enum { CHUNKS = GR_LINE / 16 };
GR_INLINE Chunk chunk_at(uint64_t at) {
    Chunk c;
    __asm__ volatile("ld.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(c.x), "=r"(c.y), "=r"(c.z), "=r"(c.w)
                     : "l"(at)
                     : "memory");
    return c;
}
GR_INLINE void put_chunk(uint64_t at, Chunk c) {
    __asm__ volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(c.x), "r"(c.y), "r"(c.z),
                     "r"(c.w)
                     : "memory");
}
GR_INLINE void put_zeros(uint64_t at) { put_chunk(at, (Chunk){0, 0, 0, 0}); }

static GR_NOINLINE void gr_priv_copy_line(uint64_t to, uint64_t from) {
    Chunk c[CHUNKS];
#pragma unroll
    for (uint32_t i = 0; i < CHUNKS; i++)
        c[i] = chunk_at(from + 16 * i);
#pragma unroll
    for (uint32_t i = 0; i < CHUNKS; i++)
        put_chunk(to + 16 * i, c[i]);
}

// Copies a line with bytes that are not the program's: those become 0.
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

GR_INLINE void put_in_list(const Slot *s, uint32_t list, uint32_t place, uint32_t number) {
    if (place < s->capacity) // else there is no room, which is told
        put_word(list_at(s, list, place), number);
}

// The lanes that work on one row: this one is number `rank` of the n lanes of `team`; n is 1 for a lane alone.
typedef struct Fill {
    uint32_t team, rank, n;
} Fill;

// What a lane found about a row.
enum { ROW_RETRY = 0, ROW_THERE = 1, ROW_MINE = 2, ROW_NONE = 3 };
typedef struct Look {
    uint32_t state;
    uint32_t number; // THERE: of the row. MINE: what the table said before
    uint32_t list;   // of the region
} Look;

static GR_NOINLINE Look gr_priv_look_for_row(const Slot *s, uint64_t line) {
    GR_GLOBAL GrPrivSlot *of = (GR_GLOBAL GrPrivSlot *)s->head;
    GR_GLOBAL uint32_t *entry = entry_of(s, line);
    // Loads all at once, as memory is far.
    uint32_t v = gr_load32(entry), rows = gr_load32(&of->used);
    Look l = {ROW_RETRY, v, list_now(s)};
    if (is_row(v) && v <= s->capacity) // else the overlay has it
        l.state = ROW_THERE;
    else if (v != GR_ROW_BUSY && rows >= s->capacity)
        l.state = ROW_NONE;
    else if (v != GR_ROW_BUSY && gr_compare_swap(entry, v, GR_ROW_BUSY) == v)
        l.state = ROW_MINE;
    return l;
}

// Makes a line's row, as units will write it, with the lanes `f` that found that they are to make it. Yields its
// number; 0: no room.
static GR_NOINLINE uint32_t gr_priv_fill_row(const Slot *s, uint64_t line, const Look *l, const Fill *f) {
    GR_GLOBAL GrPrivSlot *of = (GR_GLOBAL GrPrivSlot *)s->head;
    uint64_t offset = line << GR_LINE_SHIFT, from;
    uint32_t was = l->number, number = 0, place = 0,
             lists = !flags_of(s, (uint32_t)line) && !s->is_overlay; // lines of shared memory are in no list
    // Asks for everything that comes from memory at once: numbers, and what the program has.
    if (f->rank == 0) {
        number = gr_add32(&of->used, 1) + 1;
        place = lists ? list_place(s, l->list) : 0;
    }
    if (is_row(was)) { // of the overlay
        from = row_at(s, was);
        was = head_of(s, from)->was;
    } else {
        from = was == GR_ROW_EDGE ? 0 : gr_priv_line_of(offset);
    }
    uint32_t parts = f->n < CHUNKS ? 1 : CHUNKS;
    Chunk c[CHUNKS];
#pragma unroll
    for (uint32_t i = 0; i < CHUNKS; i++)
        if (from && f->rank < parts && i % parts == f->rank)
            c[i] = chunk_at(from + 16 * i);
    if (f->n > 1)
        number = gr_shuffle32(f->team, number, (uint32_t)__builtin_ctz(f->team));
    int fits = number <= s->capacity;
    if (f->rank == 0 && lists)
        put_in_list(s, l->list, place, fits ? number : 0);
    if (f->rank == 0 && !fits)
        gr_store32(entry_of(s, line), l->number);
    if (!fits)
        return 0;
    uint64_t row = row_at(s, number);
    if (!from) {
        if (f->rank == 0)
            gr_priv_copy_edge(row, offset);
        if (f->n > 1)
            gr_meet(f->team);
    }
#pragma unroll
    for (uint32_t i = 0; i < CHUNKS; i++)
        if (f->rank < parts && i % parts == f->rank) {
            if (!from)
                c[i] = chunk_at(row + 16 * i);
            put_chunk(row + ROW_BASE + 16 * i, c[i]);
            put_chunk(row + ROW_UNION + 16 * i, c[i]);
            put_chunk(row + ROW_OWN + 16 * i, c[i]);
            put_zeros(row + GR_ROW_OWNERS + 16 * i);
            if (i < CHUNKS / 2)
                put_zeros(row_touched_at(row, 0, 0) + 16 * i);
        }
    uint32_t flags = s->is_overlay ? 0 : ROW_LISTED; // nobody takes granules of the overlay
    if (f->rank == 0)
        put_chunk(row + GR_ROW_HEAD, (Chunk){(uint32_t)line, flags, was, 0});
    return number;
}

// Yields the number of the line's row; a lane that finds none makes it alone.
static GR_NOINLINE uint32_t gr_priv_row_alone(const Slot *s, uint64_t line) {
    uint32_t pause = 16;
    Fill f = {0, 0, 1};
    GR_ROLLED for (;;) {
        Look l = gr_priv_look_for_row(s, line);
        if (l.state == ROW_THERE)
            return l.number;
        if (l.state == ROW_NONE)
            return 0;
        if (l.state == ROW_MINE) {
            uint32_t number = gr_priv_fill_row(s, line, &l, &f);
            publish(); // granules are taken behind the caches
            if (number)
                gr_store32(entry_of(s, line), number);
            return number;
        }
        pause = pause < 8192 ? pause * 2 : pause; // the one that makes the row has to come to run
        gr_sleep(pause);
    }
}

// Yields the number of the line's row; all lanes make it together if there is none.
static GR_NOINLINE uint32_t gr_priv_row_together(const Slot *s, uint64_t line, uint32_t lanes) {
    uint32_t first = (uint32_t)__builtin_ctz(lanes), pause = 16;
    Fill f = {lanes, (uint32_t)__builtin_popcount(lanes & gr_lanes_before()),
              (uint32_t)__builtin_popcount(lanes)};
    GR_ROLLED for (;;) {
        Look l = {ROW_RETRY, 0, 0};
        if (f.rank == 0)
            l = gr_priv_look_for_row(s, line);
        l.state = gr_shuffle32(lanes, l.state, first);
        l.number = gr_shuffle32(lanes, l.number, first);
        if (l.state == ROW_THERE)
            return l.number;
        if (l.state == ROW_NONE)
            return 0;
        if (l.state == ROW_MINE) {
            uint32_t number = gr_priv_fill_row(s, line, &l, &f);
            publish();
            gr_meet(lanes);
            if (f.rank == 0 && number)
                gr_store32(entry_of(s, line), number);
            gr_meet(lanes); // each of them finds it
            return number;
        }
        pause = pause < 8192 ? pause * 2 : pause;
        gr_sleep(pause);
    }
}

// Yields the number of the line's row, and makes the row if there is none. If all active lanes want one row, they make
// it together; else the first lane that wants a row makes it. 0: no room.
static GR_NOINLINE uint32_t gr_priv_row(const Slot *s, uint64_t line) {
    if (is_near_line(s, line))
        return GR_ROW_NEAR + (uint32_t)line;
    uint32_t lanes = gr_active_mask(), team = gr_match_any(lanes, line), number = 0,
             first = (uint32_t)__builtin_ctz(team);
    if (gr_all(lanes, team == lanes)) {
        number = gr_priv_row_together(s, line, lanes);
    } else {
        if (!(team & gr_lanes_before()))
            number = gr_priv_row_alone(s, line);
        gr_meet(lanes); // each of them finds it
        number = gr_shuffle32(lanes, number, first);
    }
    if (!number)
        gr_store32(&((GR_GLOBAL GrPrivLog *)s->log)->head.full, GR_FULL_ROWS);
    return number;
}

// Puts the row into the region's list. `says`: its flags have said that it is not in there.
GR_INLINE void list_row(const Slot *s, uint64_t row, uint32_t number, int says) {
    if (is_near(s, row))
        return;
    GR_GLOBAL uint32_t *flags = (GR_GLOBAL uint32_t *)&head_of(s, row)->flags;
    if (!says && gr_load32(flags) & ROW_LISTED)
        return;
    uint32_t list = list_now(s); // both at once: memory is far
    if (!(gr_or32(flags, ROW_LISTED) & ROW_LISTED))
        put_in_list(s, list, list_place(s, list), number);
}

// Makes a private copy of the row, as the units find it; 0: no room.
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
    if (!is_near(s, row)) {
        uint32_t was = gr_or32((GR_GLOBAL uint32_t *)&head_of(s, row)->flags,
                               ROW_LISTED | 1u << (GR_ROW_MADE + (k >> made_shift(s))));
        if (!(was & ROW_LISTED)) {
            uint32_t list = list_now(s);
            put_in_list(s, list, list_place(s, list), row_number);
        }
    }
    gr_priv_copy_line(copy_at(s, number), part_at(s, row, unmade));
    GR_ROLLED for (uint32_t b = 0; b < GR_LINE / 4; b += 8) put_long(touched_at(s, number, b), 0);
    mark->row = row_number;
    mark->copy = k;
    publish();
    return number;
}

// Gives the row numbers of private copies, none of which is made.
static GR_NOINLINE void gr_priv_number(const Slot *s, uint64_t row) {
    uint32_t *numbered = &head_of(s, row)->numbered;
    if (is_near(s, row)) { // where they are 0
        any_store32(numbered, GR_NUMBERED);
        put_shared(s->near.says + GR_NEAR_NUMBERED + 4 * list_now(s),
                   1); // the block finds it at the region's end
        return;
    }
    GR_ROLLED for (uint32_t pause = 64;;) {
        uint32_t was = any_load32(numbered);
        if (was == 0 && any_compare_swap(numbered, 0, GR_NUMBERED_BUSY) == 0) {
            uint64_t from = row + GR_ROW_COPIES;
            GR_ROLLED for (uint64_t to = from; to < from + 4 * (uint64_t)s->n; to += 16) put_zeros(to);
            publish();
            was = GR_NUMBERED;
        }
        if (was == GR_NUMBERED) { // each time: the unit's own multiprocessor has to find it
            any_store32(numbered, GR_NUMBERED);
            return;
        }
        pause = pause < 8192 ? pause * 2 : pause;
        gr_sleep(pause);
    }
}

// Where the unit's copy of the line is; 0: no room.
static GR_NOINLINE uint64_t gr_priv_make(const Slot *s, uint32_t row, uint32_t k, uint64_t unmade) {
    GR_GLOBAL uint32_t *number = (GR_GLOBAL uint32_t *)number_at(s, row_at(s, row), k);
    if (row)
        gr_priv_number(s, row_at(s, row));
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

// How many of the owners of some bytes are the unit, and how many are none.
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

// The unit takes the granules that nobody owns.
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

// An access is to bytes only some of which are the unit's.
static GR_NOINLINE void gr_priv_mixed(const Slot *s) {
    gr_store32(&((GR_GLOBAL GrPrivLog *)s->log)->head.full, GR_FULL_NEAR);
}

// The unit has the bytes: they are its own, or nobody's so far. *mixed: some of them are.
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
    uint32_t was = gr_compare_swap((GR_GLOBAL uint32_t *)owner_at(s, row, low), 0, k + 1);
    list_row(s, row, number, 0);
    return was == 0 || was == k + 1;
}

// Where the unit finds what it has stored, or what it would find in an unmade copy; 0: in several places.
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
