// SPDX-License-Identifier: Apache-2.0
// first — the first, in the order of the program, of all differences under one name (kind, region, round, part of
// memory). Which one comes first in time differs from run to run; the host looks only at this one, so that all runs
// report the same. For the device and the host.
#ifndef GR_ENGINES_PRIVATIZER_DEVICE_FIRST_H
#define GR_ENGINES_PRIVATIZER_DEVICE_FIRST_H

#include "engines/privatizer/device/control.h"

// Bits of a key, from the highest. For two copies that differ: the region's sequence in its block, the block, the
// offset.
enum { FIRST_SEQUENCE = 13, FIRST_BLOCK = 20, FIRST_OFFSET = 31 };
// For two lanes of one store: whether they stored the same, the block, the thread, the other lane of its warp, the
// offset.
enum { LANES_SAME = 1, LANES_BLOCK = 18, LANES_THREAD = 10, LANES_OTHER = 5, LANES_OFFSET = 30 };
_Static_assert(FIRST_SEQUENCE + FIRST_BLOCK + FIRST_OFFSET == 64, "a key has 64 bits");
_Static_assert(LANES_SAME + LANES_BLOCK + LANES_THREAD + LANES_OTHER + LANES_OFFSET == 64,
               "a key has 64 bits");

#define FIRST_MOST(bits) ((UINT64_C(1) << (bits)) - 1)

// The earlier f comes, the greater its key. 0: a part of f does not fit into a key.
static inline uint64_t gr_first_key(const GrPrivFound *f) {
    uint64_t offset = f->kind == GR_FOUND_READ && !f->bytes ? FIRST_MOST(FIRST_OFFSET) : f->offset;
    if (f->kind == GR_FOUND_LANES)
        return f->block > FIRST_MOST(LANES_BLOCK) || f->copy[0] > FIRST_MOST(LANES_THREAD) ||
                       f->offset > FIRST_MOST(LANES_OFFSET)
                   ? 0
                   : ~((uint64_t)(f->same != 0) << (64 - LANES_SAME) |
                       f->block << (LANES_THREAD + LANES_OTHER + LANES_OFFSET) |
                       (uint64_t)f->copy[0] << (LANES_OTHER + LANES_OFFSET) |
                       (uint64_t)(f->copy[1] % 32) << LANES_OFFSET | f->offset);
    return f->sequence > FIRST_MOST(FIRST_SEQUENCE) || f->block > FIRST_MOST(FIRST_BLOCK) ||
                   offset > FIRST_MOST(FIRST_OFFSET)
               ? 0
               : ~(f->sequence << (FIRST_BLOCK + FIRST_OFFSET) | f->block << FIRST_OFFSET | offset);
}

// Sets f, written first in time, to what comes first in the program.
static inline void gr_first_take(GrPrivFound *f) {
    uint64_t key = ~f->first, block = key >> (LANES_THREAD + LANES_OTHER + LANES_OFFSET);
    if (!f->first)
        return;
    if (f->kind == GR_FOUND_LANES) {
        f->same = key >> (64 - LANES_SAME) != 0;
        f->block = block & FIRST_MOST(LANES_BLOCK);
        f->copy[0] = (uint32_t)(key >> (LANES_OTHER + LANES_OFFSET) & FIRST_MOST(LANES_THREAD));
        f->copy[1] = f->copy[0] / 32 * 32 + (uint32_t)(key >> LANES_OFFSET & FIRST_MOST(LANES_OTHER));
        f->offset = key & FIRST_MOST(LANES_OFFSET);
        return;
    }
    f->sequence = key >> (FIRST_BLOCK + FIRST_OFFSET);
    f->block = key >> FIRST_OFFSET & FIRST_MOST(FIRST_BLOCK);
    f->offset = key & FIRST_MOST(FIRST_OFFSET);
    if (f->kind == GR_FOUND_READ && f->offset == FIRST_MOST(FIRST_OFFSET)) // what a thread has in registers
        f->offset = f->bytes = 0;
    else if (!f->bytes)
        f->bytes = 1; // those of another block were not counted
}

#endif
