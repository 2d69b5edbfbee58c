// SPDX-License-Identifier: Apache-2.0
// brief — accesses of kernels in which each access is a call (pass/brief.h). For the one file with the runtime of
// inserted code.
#ifndef GR_ENGINES_PRIVATIZER_DEVICE_BRIEF_H
#define GR_ENGINES_PRIVATIZER_DEVICE_BRIEF_H

#include "engines/privatizer/device/here.h"

// As __gr_at(), if the line has no row and the access loads, or if the unit has what it accesses. 0: neither. In other
// kernels put_lookup() of pass/redirect.c inserts this.
GR_INLINE uint64_t brief_at(uint64_t a, uint32_t copy, uint32_t what, uint64_t unmade) {
    uint32_t shared = (what & GR_AT_SPACE) == GR_AT_SHARED, store = what & GR_AT_STORE;
    int warps = CONTROL.mode == GR_OF_WARPS;
    GR_GLOBAL const GrPrivSlot *slot = slot_head();
    uint64_t offset = shared ? a : a - CONTROL.arena, low = offset % GR_LINE;
    if ((what & GR_AT_SPACE) == GR_AT_GENERIC ||
        offset >= (shared ? CONTROL.shared_bytes : CONTROL.arena_bytes))
        return 0;
    uint64_t table = shared  ? (warps ? slot->table : CONTROL.tables)
                     : warps ? slot->arena_table
                             : CONTROL.arena_table;
    uint32_t number = word_at(table + 4 * (offset >> GR_LINE_SHIFT));
    if (!number && !store)
        return shared ? (uint64_t)__gr_unwritten + low : a;
    if (!is_row(number))
        return 0;
    uint64_t row = (warps ? slot->rows : CONTROL.rows_from) + number * CONTROL.row_bytes;
    GR_GLOBAL const GrPrivRow *head = (GR_GLOBAL const GrPrivRow *)(row + GR_ROW_HEAD);
    if (CONTROL.granule &&
        word_at(row + GR_ROW_OWNERS + 4 * (uint64_t)((uint32_t)low >> CONTROL.granule)) == copy + 1)
        return !store || head->flags & GR_ROW_LISTED ? row + GR_ROW_OWN + low : 0;
    uint32_t made = head->numbered == GR_NUMBERED ? word_at(row + GR_ROW_COPIES + 4 * (uint64_t)copy) : 0;
    if (made >= GR_COPY_FIRST)
        return (warps ? slot->copies : CONTROL.copies_from) + made * (uint64_t)GR_LINE + low;
    return store ? 0 : row + unmade + low;
}

#endif
