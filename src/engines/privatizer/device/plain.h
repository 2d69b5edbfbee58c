// SPDX-License-Identifier: Apache-2.0
// plain — rows at the end of a block's region, if its shared memory is near: rows whose only private copy is `own`, and
// that no atomic operation updated. Does what merge_plain() and check_plain() of rows.h do. It stands apart as each
// region's end calls it: it takes few registers, and calls nothing. rows.h does the rest.
#ifndef GR_ENGINES_PRIVATIZER_DEVICE_PLAIN_H
#define GR_ENGINES_PRIVATIZER_DEVICE_PLAIN_H

#include "engines/privatizer/device/near.h"

// The rows of a warp, from number k on.
typedef struct Plain {
    uint64_t list, rows;
    uint32_t row_bytes, granule, k, n, step;
} Plain;

// Finds the warp's rows. False: the warp is not whole, or units share no copy.
GR_INLINE int plain_rows(uint64_t slot, uint32_t sequence, Plain *out) {
    GR_GLOBAL const GrPrivSlot *of = (GR_GLOBAL const GrPrivSlot *)slot;
    Near near = near_of_block();
    uint32_t n = near_lists(&near, sequence), most = CONTROL.capacity;
    *out = (Plain){.list = of->lists + 4 * (uint64_t)(sequence & 1 ? most : 0),
                   .rows = of->rows,
                   .row_bytes = (uint32_t)CONTROL.row_bytes,
                   .granule = CONTROL.granule,
                   .k = near.thread / 32,
                   .n = n < most ? n : most,
                   .step = (near.threads + 31) / 32};
    return out->granule && near.thread / 32 * 32 + 32 <= near.threads;
}

// The next row; 0: there is none.
GR_INLINE uint64_t next_plain(Plain *p) {
    GR_ROLLED while (p->k < p->n) {
        uint32_t number = word_at(p->list + 4 * (uint64_t)p->k);
        p->k += p->step;
        if (is_row(number)) // else there was no room, which is told
            return p->rows + (uint64_t)number * p->row_bytes;
    }
    return 0;
}

GR_INLINE int is_plain(uint64_t row) {
    GR_GLOBAL volatile GrPrivRow *head = far_head(row);
    uint32_t flags = head->flags, numbered = head->numbered;
    return !numbered && !(flags & ROW_UPDATED);
}

uint32_t __gr_plain_merge(uint64_t slot, uint32_t sequence) {
    Plain p;
    uint32_t lane = thread_of_block() % 32, left = 0;
    if (!plain_rows(slot, sequence, &p))
        return GR_REST_ROWS;
    GR_ROLLED for (uint64_t row; (row = next_plain(&p));) {
        uint32_t was = word_at(row + ROW_BASE + 4 * lane), own = word_at(row + ROW_OWN + 4 * lane),
                 owner = word_at(row + GR_ROW_OWNERS + 4 * (4 * lane >> p.granule));
        if (!is_plain(row)) {
            left = GR_REST_ROWS;
            continue;
        }
        if (owner) {
            put_word(row + ROW_UNION + 4 * lane, own);
            put_word(row + ROW_OWN + 4 * lane, was);
            *far_changer(row, lane) = (uint16_t)(own != was ? owner_of(owner - 1) : 0);
        }
        if (lane == 0)
            far_head(row)->flags = ROW_LISTED | ROW_MERGED;
    }
    gr_meet(~0u); // what is left is found by the flags
    return left;
}

uint32_t __gr_plain_check(uint64_t slot, uint32_t sequence) {
    Plain p;
    uint32_t lane = thread_of_block() % 32, left = 0;
    if (!plain_rows(slot, sequence, &p))
        return GR_REST_ROWS;
    GR_ROLLED for (uint64_t row; (row = next_plain(&p));) {
        uint32_t was = word_at(row + ROW_BASE + 4 * lane), own = word_at(row + ROW_OWN + 4 * lane),
                 all = word_at(row + ROW_UNION + 4 * lane);
        // A report needs the owners.
        if (!gr_all(~0u, is_plain(row) && own == all)) {
            left = GR_REST_ROWS;
            continue;
        }
        if (was != all) {
            put_word(row + ROW_BASE + 4 * lane, all);
            *far_changer(row, lane) = 0;
        }
        put_word(row + GR_ROW_OWNERS + 4 * lane, 0);
        if (lane == 0)
            far_head(row)->flags = 0; // of lines that are not shared memory
    }
    gr_meet(~0u);
    if (thread_of_block() == 0) {
        GrPrivNear near = CONTROL.near;
        next_list((GR_GLOBAL volatile GrPrivSlot *)slot, &near, sequence & 1);
    }
    return left;
}

#endif
