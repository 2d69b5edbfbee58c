// SPDX-License-Identifier: Apache-2.0
// dekker — notices where a program may rely on more order than a GPU keeps. Two threads each store to one place and
// then load another, crosswise, and not both have a fence.sc between (Dekker's and Peterson's mutual exclusion; "store
// buffering" in the literature).
//
// On a GPU both loads may then see the old values. An execution here is sequentially consistent: one of the loads sees
// the new value, and what follows is ordered or does not happen. That is no race, but it hides races: hence a remark.
//
// The remark needs three things. One thread loads before the other stores. The other has not looked since the first one
// stored, and knows nothing of that store. The first does not look again before its next store, as a thread that polls
// does. Only strong accesses of one launch count, in functions that have loads and stores of the kind, up to two
// million.
#ifndef GR_ENGINES_EXACT_DEKKER_H
#define GR_ENGINES_EXACT_DEKKER_H

#include "base/map.h"
#include "base/str.h"
#include "engines/exact/order/order.h"

enum { DEKKER_EDGES = 4096, DEKKER_BUDGET = 2000000, DEKKER_READS = 4, DEKKER_OPEN = 2, DEKKER_NAMED = 4 };

// One thread stored to `from` and then loaded `to`.
typedef struct DekkerEdge {
    uint64_t from, to;                // places; 0: none
    Point stored;                     // when it did
    uint32_t lane, store, load;       // its sites
    uint64_t stored_at, loaded_at;    // moments
    bool fenced, open;                // open: it may load again before it goes on
    uint32_t other_store, other_load; // of the thread that it was crossed by; 0: none
} DekkerEdge;

typedef struct DekkerLane {
    uint64_t stored, stored_at; // the last store's place and moment
    uint32_t store, epoch;
    bool fenced; // since then
    struct {
        uint64_t place, last, before; // moments: before the last store
    } read[DEKKER_READS];
    unsigned next;
    uint16_t open[DEKKER_OPEN]; // edges, and 1
} DekkerLane;

typedef struct Dekker {
    uint64_t module; // serial of the module whose functions `has` is of
    VEC(uint8_t) has;
    DekkerEdge *edges; // by places; NULL until needed
    uint64_t moment, spent;
    Map pairs; // of sites
    StrBuf named;
    bool nomem;
} Dekker;

// An access, as it happens and before anything is learnt from it. `lane_at` yields the address of a lane.
typedef struct DekkerAccess {
    const PtxModule *module;
    uint32_t site, mask;
    uint64_t owner; // of shared memory, and 1
    const void *from;
    uint64_t (*lane_at)(const void *from, unsigned lane);
} DekkerAccess;

void gr_dekker_access(Dekker *d, const Order *o, Block *b, Warp *w, const DekkerAccess *a);
void gr_dekker_fence(Warp *w, uint32_t mask); // fence.sc
// The block's warps do not load again what they have loaded.
void gr_dekker_block_ends(Dekker *d, Block *b);
void gr_dekker_free(Dekker *d);
// The remark's text, which the caller frees; NULL: there is none.
char *gr_dekker_text(const Dekker *d);

// Appends where the user finds an instruction of the module: a line of a file, else of the PTX.
void gr_exact_name_site(StrBuf *b, const PtxModule *m, uint32_t site);

#endif
