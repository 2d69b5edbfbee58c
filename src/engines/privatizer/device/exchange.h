// SPDX-License-Identifier: Apache-2.0
// exchange — GR_OF_WARPS with barriers of the grid: there a block learns what other blocks wrote. For the one file that
// has the runtime of inserted code.
//
// Each block has a slot. One slot more is the overlay: it has, for each line that some block wrote, what the program's
// memory would hold by now. All blocks meet before and between four steps:
//
//     A   each block finds a row of the overlay for each of its own rows
//     B   the block puts into the row's union what it changed since the last meeting
//     C   a warp for each row makes that what the overlay holds
//     D   each block goes on with that: in its own rows, and in its table for lines of which it has no row
//
// The base of an overlay's row is what the overlay holds; so is the union, except in step B. `own` has what atomic
// operations of all blocks made of it in the region. `owners` has the block that updated a word: its slot and one;
// GR_MANY: several did.
#ifndef GR_ENGINES_PRIVATIZER_DEVICE_EXCHANGE_H
#define GR_ENGINES_PRIVATIZER_DEVICE_EXCHANGE_H

#include "engines/privatizer/device/grid.h"

// Warps of the team take rows, and their lanes words.
GR_INLINE uint32_t lanes_of_warp(void) {
    uint32_t left = threads_of_block() - gr_priv_thread_number() / 32 * 32;
    return left < 32 ? left : 32;
}

GR_INLINE uint32_t warps_of_block(void) { return (threads_of_block() + 31) / 32; }

#define EACH_WORD(word)                                                                                      \
    GR_ROLLED for (uint32_t word = gr_priv_thread_number() % 32; word < GR_LINE / 4; word += lanes_of_warp())

GR_INLINE uint32_t rows_of(const Slot *s) {
    uint32_t used = gr_load32(&((GR_GLOBAL GrPrivSlot *)s->head)->used);
    return used < s->capacity ? used : s->capacity;
}

// The line of the warp's own row, if the row is of global memory; ~0: it is not.
GR_INLINE uint32_t line_to_exchange(const Slot *s, uint32_t number) {
    uint32_t line = line_of(s, row_at(s, number));
    return line < lines_of_shared(s) ? ~0u : line;
}

#define EACH_OWN_ROW(s, number, line)                                                                        \
    GR_ROLLED for (uint32_t number = 1 + gr_priv_thread_number() / 32, line; number <= rows_of(s);           \
                   number += warps_of_block()) if ((line = line_to_exchange(s, number)) != ~0u)

// Step A.
void __gr_finds_rows(void) {
    Slot s, all = overlay();
    gr_priv_slot(&s);
    EACH_OWN_ROW(&s, number, line)(void) gr_priv_row(&all, line);
}

// Puts the bytes of a word that the block changed into the union: other blocks have the others.
static GR_NOINLINE void gr_priv_give_word(const Slot *s, uint64_t own, uint64_t to, uint32_t word) {
    uint32_t now = word_at(own + ROW_BASE + 4 * word), changed = now ^ word_at(to + ROW_BASE + 4 * word),
             updater = s->granule ? 0 : word_at(to + GR_ROW_OWNERS + 4 * word);
    if (updater && updater != (uint32_t)slot_number() + 1)
        return;
    GR_ROLLED for (uint32_t b = 0; b < 4; b++) if (changed >> 8 * b & 0xff)
        put_byte(to + ROW_UNION + 4 * word + b, (uint8_t)(now >> 8 * b));
}

// Step B.
void __gr_gives(void) {
    Slot s, all = overlay();
    gr_priv_slot(&s);
    EACH_OWN_ROW(&s, number, line) {
        uint32_t v = gr_load32(entry_of(&all, line));
        EACH_WORD(word) if (is_row(v)) gr_priv_give_word(&s, row_at(&s, number), row_at(&all, v), word);
    }
}

// Step C.
void __gr_unites(void) {
    Slot all = overlay();
    uint32_t n = rows_of(&all);
    GR_ROLLED for (uint32_t number =
                       1 + (uint32_t)gr_priv_block_number() * warps_of_block() + gr_priv_thread_number() / 32;
                   number <= n; number += blocks_of_grid() * warps_of_block()) {
        uint64_t row = row_at(&all, number);
        EACH_WORD(word) {
            uint64_t owner = row + GR_ROW_OWNERS + 4 * word;
            uint32_t v = word_at(row + (word_at(owner) == GR_MANY ? ROW_OWN : ROW_UNION) + 4 * word);
            put_word(row + ROW_BASE + 4 * word, v);
            put_word(row + ROW_UNION + 4 * word, v);
            put_word(row + ROW_OWN + 4 * word, v);
            put_word(owner, 0);
        }
    }
    if (gr_priv_block_number() == 0 && gr_priv_thread_number() == 0)
        gr_store32(&((GR_GLOBAL GrPrivSlot *)all.head)->ready, n);
}

// Step D.
void __gr_takes(void) {
    Slot s, all = overlay();
    gr_priv_slot(&s);
    EACH_OWN_ROW(&s, number, line) {
        uint32_t v = gr_load32(entry_of(&all, line));
        EACH_WORD(word) {
            uint64_t own = row_at(&s, number) + 4 * word;
            uint32_t now = word_at((is_row(v) ? row_at(&all, v) + 4 * word : own) + ROW_BASE);
            put_word(own + ROW_BASE, now);
            put_word(own + ROW_UNION, now);
            put_word(own + ROW_OWN, now);
        }
    }
    uint32_t ready = gr_load32(&((GR_GLOBAL GrPrivSlot *)all.head)->ready);
    GR_ROLLED for (uint32_t k = 1 + gr_priv_thread_number(); k <= ready; k += threads_of_block()) {
        GR_GLOBAL uint32_t *entry = entry_of(&s, line_of(&all, row_at(&all, k)));
        if (!is_row(gr_load32(entry)))
            gr_store32(entry, in_overlay(&s, k));
    }
}

// Where an atomic operation at `offset` by the block in pass 1 is done for all blocks.
static GR_NOINLINE uint64_t gr_priv_update_for_all(uint64_t offset) {
    Slot all = overlay();
    uint32_t v = gr_priv_row(&all, offset / GR_LINE), me = (uint32_t)slot_number() + 1;
    uint64_t row = row_at(&all, v);
    if (!v)
        return 0;
    GR_GLOBAL uint32_t *owner = (GR_GLOBAL uint32_t *)(row + GR_ROW_OWNERS + offset % GR_LINE / 4 * 4);
    uint32_t was = gr_compare_swap(owner, 0, me);
    if (was && was != me)
        gr_store32(owner, GR_MANY);
    return row + ROW_OWN + offset % GR_LINE;
}

// The block leaves, and does not come to the next meeting: the others leave, too.
void __gr_quits(void) {
    Slot all = overlay();
    if (CONTROL.exchanges && !gr_priv_thread_number()) {
        fence();
        gr_store32(&((GR_GLOBAL GrPrivSlot *)all.head)->ends, 1);
    }
}

// Sets tables back to what they were. `s`: the block's own slot.
static GR_NOINLINE void gr_priv_clear_overlay(const Slot *s) {
    Slot all = overlay();
    uint32_t n = rows_of(&all);
    GR_ROLLED for (uint32_t k = gr_priv_thread_number(); k < n; k += threads_of_block()) {
        GR_GLOBAL volatile GrPrivRow *head = far_head(row_at(&all, k + 1));
        put_word(s->table + 4 * (uint64_t)head->line, head->was);
        if (gr_priv_block_number() == 0)
            put_word(all.table + 4 * (uint64_t)head->line, head->was);
    }
}

#endif
