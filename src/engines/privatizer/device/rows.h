// SPDX-License-Identifier: Apache-2.0
// rows — the steps of merge.h for all rows that a region wrote.
//
// Most rows have `own` as the only private copy, and no atomic operation updated them. A warp does some such plain rows
// at a time, so that it waits for memory once for all of them.
#ifndef GR_ENGINES_PRIVATIZER_DEVICE_ROWS_H
#define GR_ENGINES_PRIVATIZER_DEVICE_ROWS_H

#include "engines/privatizer/device/merge.h"

enum { ROWS_AT_A_TIME = 4 };
typedef struct Some {
    uint64_t row[ROWS_AT_A_TIME]; // 0: none
    uint32_t line[ROWS_AT_A_TIME], flags[ROWS_AT_A_TIME];
    uint64_t any;   // one of the rows; 0: there is none
    uint32_t plain; // bits
} Some;

// The head of a row that is not near.
GR_INLINE GR_GLOBAL volatile GrPrivRow *far_head(uint64_t row) {
    return (GR_GLOBAL volatile GrPrivRow *)(row + GR_ROW_HEAD);
}
GR_INLINE GR_GLOBAL uint16_t *far_changer(uint64_t row, uint32_t word) {
    return (GR_GLOBAL uint16_t *)(row + GR_ROW_TOUCHED) + word;
}

#define EACH_PLAIN(of, i)                                                                                    \
    _Pragma("unroll") for (uint32_t i = 0; i < ROWS_AT_A_TIME; i++) if ((of)->plain >> i & 1)

// plain.h has done this step for the row.
GR_INLINE int is_done(uint32_t flags, int merges) {
    return merges ? (flags & ROW_MERGED) != 0 : !(flags & ROW_LISTED);
}

// Finds the warp's rows from number k of the region's on. `shared`: so many lines of shared memory come first.
GR_INLINE void find_some(const Slot *s, uint32_t list, uint32_t shared, uint32_t k, uint32_t step, uint32_t n,
                         int merges, Some *out) {
    uint32_t number[ROWS_AT_A_TIME], numbered[ROWS_AT_A_TIME];
    *out = (Some){.any = 0};
#pragma unroll
    for (uint32_t i = 0; i < ROWS_AT_A_TIME; i++) {
        uint32_t at = k + i * step;
        number[i] = at >= n       ? 0
                    : at < shared ? word_at((uint64_t)entry_of(s, at))
                                  : word_at(list_at(s, list, at - shared));
    }
#pragma unroll
    for (uint32_t i = 0; i < ROWS_AT_A_TIME; i++) {
        out->row[i] = is_row(number[i]) ? s->rows + number[i] * s->row_bytes : 0;
        out->any = out->row[i] ? out->row[i] : out->any;
    }
#pragma unroll
    for (uint32_t i = 0; i < ROWS_AT_A_TIME && out->any; i++) {
        GR_GLOBAL volatile GrPrivRow *head = far_head(out->row[i] ? out->row[i] : out->any);
        out->line[i] = head->line;
        out->flags[i] = head->flags;
        numbered[i] = head->numbered;
        out->row[i] = !s->once && is_done(out->flags[i], merges) ? 0 : out->row[i];
    }
#pragma unroll
    for (uint32_t i = 0; i < ROWS_AT_A_TIME && s->granule && !s->once; i++)
        out->plain |= (out->row[i] && !numbered[i] && !(out->flags[i] & ROW_UPDATED)) << i;
}

// merge_word for plain rows: nobody else has the word, so what its owner stored is the union, and the owner goes back
// to what was there.
GR_INLINE void merge_plain(const Slot *s, const Some *of, uint32_t lane) {
    uint32_t was[ROWS_AT_A_TIME], own[ROWS_AT_A_TIME], owner[ROWS_AT_A_TIME];
#pragma unroll
    for (uint32_t i = 0; i < ROWS_AT_A_TIME; i++) {
        uint64_t row = of->row[i] ? of->row[i] : of->any;
        was[i] = word_at(row + ROW_BASE + 4 * lane);
        own[i] = word_at(row + ROW_OWN + 4 * lane);
        owner[i] = s->granule ? word_at(owner_at(s, row, 4 * lane)) : 0;
    }
    EACH_PLAIN(of, i) {
        uint64_t row = of->row[i];
        if (owner[i]) {
            put_word(row + ROW_UNION + 4 * lane, own[i]);
            put_word(row + ROW_OWN + 4 * lane, was[i]);
            *far_changer(row, lane) = (uint16_t)(own[i] != was[i] ? owner_of(owner[i] - 1) : 0);
        }
        if (lane == i)
            far_head(row)->flags = ROW_LISTED | ROW_MERGED;
    }
}

// check_word for plain rows.
GR_INLINE void check_plain(const Slot *s, const Some *of, uint32_t lane) {
    uint32_t was[ROWS_AT_A_TIME], own[ROWS_AT_A_TIME], all[ROWS_AT_A_TIME];
#pragma unroll
    for (uint32_t i = 0; i < ROWS_AT_A_TIME; i++) {
        uint64_t row = of->row[i] ? of->row[i] : of->any;
        was[i] = word_at(row + ROW_BASE + 4 * lane);
        own[i] = word_at(row + ROW_OWN + 4 * lane);
        all[i] = word_at(row + ROW_UNION + 4 * lane);
    }
    EACH_PLAIN(of, i) {
        uint64_t row = of->row[i];
        if (own[i] != all[i])
            gr_priv_tell_owner(s, row, lane, (uint64_t)of->line[i] * GR_LINE + 4 * lane);
        if (s->commits && own[i] != all[i])
            put_word(row + ROW_OWN + 4 * lane, all[i]);
        if (s->commits && was[i] != all[i]) {
            put_word(row + ROW_BASE + 4 * lane, all[i]);
            *far_changer(row, lane) = 0;
        }
    }
    // A report still asks for the owner of another lane's word.
    gr_meet(~0u);
    EACH_PLAIN(of, i) {
        uint64_t row = of->row[i];
        put_word(row + GR_ROW_OWNERS + 4 * lane, 0);
        if (lane != i)
            continue;
        far_head(row)->flags = flags_of(s, of->line[i]);
        if (!s->commits) // the slot is not used again
            put_word(s->table + 4 * (uint64_t)of->line[i], far_head(row)->was);
    }
}

// Makes the other list of the slot at `of` ready; its shared memory may be near.
GR_INLINE void next_list(GR_GLOBAL volatile GrPrivSlot *of, const GrPrivNear *near, uint32_t list) {
    if (near->size) {
        put_shared(near->says + GR_NEAR_COUNT + 4 * (1 - list), 0);
        put_shared(near->says + GR_NEAR_NOW, 1 - list);
    } else {
        of->count[1 - list] = 0;
        of->now = 1 - list;
    }
    of->made = 0;
    of->reader = of->writer = 0;
}

// Does all rows that the region wrote, but for near ones. The last step of a region makes the other list ready.
static GR_NOINLINE void gr_priv_all_rows(const Slot *s, const Team *t, int merges) {
    uint32_t warp = t->thread / 32, warps = (t->threads + 31) / 32, list = s->sequence & 1, lanes = t->lanes;
    GR_GLOBAL volatile GrPrivSlot *of = (GR_GLOBAL volatile GrPrivSlot *)s->head;
    uint32_t shared = s->near.size ? 0 : lines_of_shared(s), n = shared + list_count(s, list),
             most = shared + s->capacity;
    n = n < most ? n : most; // without room more have asked for a place
    while (lanes > t->threads - warp * 32)
        lanes /= 2;
    Lanes l = {t->thread % 32, lanes};
    GR_ROLLED for (uint32_t k = warp; k < n && l.lane < lanes && t->thread < t->threads;
                   k += ROWS_AT_A_TIME * warps) {
        Some some;
        find_some(s, list, shared, k, warps, n, merges, &some);
        gr_meet(members_of(&l)); // all of them have read the flags
        some.plain = lanes == 32 ? some.plain : 0;
        if (some.plain && merges)
            merge_plain(s, &some, l.lane);
        else if (some.plain)
            check_plain(s, &some, l.lane);
#pragma unroll
        for (uint32_t i = 0; i < ROWS_AT_A_TIME; i++)
            if (some.row[i] && !(some.plain >> i & 1))
                gr_priv_one_row(s, some.row[i], &l, merges);
    }
    if (t->thread == 0 && (s->once || !merges))
        next_list(of, &s->near, list);
}

#endif
