// SPDX-License-Identifier: Apache-2.0
// log — what the threads of a block did to its shared memory in one phase (phase.c), as notes in their order.
//
// In a log that has become long, sets replace the weak reads. A set says for each place which lanes of a warp read
// there, by one instruction in one epoch. Of several reads of a place by one lane and instruction only the last is
// kept: an access that races with an earlier read races with that one too. Sets stand behind everything else in the
// log, even behind writes that came after the reads. That does no harm: these reads race with nothing in the log, and
// an access that comes after such a write comes after the read as well.
#ifndef GR_ENGINES_EXACT_LOG_H
#define GR_ENGINES_EXACT_LOG_H

#include "engines/exact/exact_internal.h"

// How the lanes of a note lie: as VmShape says, or in equal distances.
enum { IN_STRIDES = 3 };

typedef struct Note {
    uint64_t moment;
    uint32_t site, epoch, lanes;
    // The bases of the warp's halves; for IN_STRIDES: where lane 0 would be, and the distance; for a set, [0]: its
    // places.
    int32_t base[2];
    uint32_t warp : 5, turn : 5, shape : 2, other_shape : 2; // of the halves
    // Behind the note, one for each word of the lanes' elements: the lanes that changed nothing. Then 32 addresses if
    // one half is scattered.
    uint32_t compared : 3;
    uint32_t set : 1; // the places follow
} Note;

// The lanes that read one place.
typedef struct Place {
    uint32_t at, lanes;
} Place;

static inline bool gr_note_is_listed(const Note *n) {
    return n->shape == VM_SCATTERED || n->other_shape == VM_SCATTERED;
}

static inline size_t gr_note_size(const Note *n) { // with an even number of words
    return sizeof *n + (n->set ? (size_t)n->base[0] * sizeof(Place)
                               : ((n->compared + 1u) & ~1u) * sizeof(uint32_t) +
                                     (gr_note_is_listed(n) ? LANES * sizeof(uint32_t) : 0));
}

static inline const Place *gr_note_places(const Note *n) { return (const Place *)(n + 1); }

// Sets the lanes' addresses of a note that is no set.
void gr_note_addresses(const Note *n, uint32_t size, uint32_t at[LANES]);

// Makes room for so many bytes behind the log. False: out of memory.
bool gr_log_make_room(Exact *x, Tile *t, size_t bytes);
static inline bool gr_log_has_room(Exact *x, Tile *t, size_t bytes) {
    return __builtin_expect(!x->options.shorten_at && t->log_len + bytes <= t->log_cap, 1) ||
           gr_log_make_room(x, t, bytes);
}

#endif
