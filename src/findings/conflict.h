// SPDX-License-Identifier: Apache-2.0
// conflict — two accesses that touched the same bytes in some run, and what is known of them: one line of --coverage.
#ifndef GR_FINDINGS_CONFLICT_H
#define GR_FINDINGS_CONFLICT_H

#include <stdbool.h>
#include <stdint.h>

enum { GR_CONFLICTS = 2048 }; // that a run notes at most, and a file keeps

typedef struct ConflictSide {
    uint64_t function; // the access, as gr_sample_function and gr_sample_name name it
    uint32_t nth;
    bool waits;      // the collider waits behind it: weak, and the thread's own
    bool first;      // was seen to come before the other
    uint32_t aimed;  // runs that had threads wait there for the other side
    uint64_t launch; // where it was last seen: the launch's number, the block's linear index, the warp in it
    uint64_t block;
    uint32_t warp;
} ConflictSide;

// The sides are in order: by function, then by number.
typedef struct Conflict {
    ConflictSide side[2];
    bool likely; // seen when not both sides had since done something that may order them
    bool met;    // they were seen to overlap
} Conflict;

// What two conflicts of the same sides say together; where each side was seen, the second one knows better.
static inline void gr_conflict_add(Conflict *to, const Conflict *from) {
    for (unsigned k = 0; k < 2; k++) {
        ConflictSide s = from->side[k];
        s.waits |= to->side[k].waits;
        s.first |= to->side[k].first;
        s.aimed = to->side[k].aimed; // counted where conflicts are kept
        if (!s.launch) {             // another run or thread noted that they met
            s.launch = to->side[k].launch;
            s.block = to->side[k].block;
            s.warp = to->side[k].warp;
        }
        to->side[k] = s;
    }
    to->likely |= from->likely;
    to->met |= from->met;
}

#endif
