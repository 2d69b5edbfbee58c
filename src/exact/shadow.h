// SPDX-License-Identifier: Apache-2.0
// shadow — who has accessed which bytes: for every 4-byte word the accesses that a later one may still race with.
//
// A cell holds two histories, of writes and of reads. A history is empty, one access of a whole word (a stamp and a lane, inline), or
// a chain of nodes {stamp, lanes, bytes}; those of global memory are interned, so that words accessed alike share them. A stamp is
// what one warp instruction's accesses have in common. Memory is taken when it is touched first.
#ifndef GR_EXACT_SHADOW_H
#define GR_EXACT_SHADOW_H

#include "exact/order.h"

typedef struct Stamp {
    Point at;
    uint32_t site, size;                        // bytes per lane
    uint8_t access, strong, scope, proxy, elem; // PtxAccess, bool, Relation, VmProxy, bytes of an element
    uint8_t mark;                               // STAMP_…
    uint64_t first, last;                       // events between which it was used
} Stamp;

enum {
    STAMP_VOLATILE = 1,
    STAMP_DISCARDED = 2, // a load whose value these lanes did not use
    STAMP_COMPARED = 4,  // a store of which it is known what it changed
};

typedef uint32_t History; // 0 empty; top bit clear: stamp << 5 | lane; set: number of a node

typedef struct Cell {
    History writes, reads;
} Cell;

enum { CELL_BYTES = 4, ALL_BYTES = 15, PAGE_WORDS = 1024, CACHED_PAGES = 64, CACHED_STAMPS = 4096 };

typedef struct Node {
    History rest; // counts as a reference to it
    uint32_t stamp, lanes;
    uint32_t bytes : 4, interned : 1, silent : 1, length : 26;
    uint32_t refs; // cells and nodes that refer to it; 0: free
    uint32_t next; // in its bucket or in the list of free ones, its number and 1
} Node;

typedef struct Shadow {
    Map pages; // page number -> Cell[PAGE_WORDS]
    struct {
        uint64_t number; // and 1
        Cell *cells;
    } cached[CACHED_PAGES];
    VEC(Stamp) stamps; // [0] unused
    uint32_t recent[CACHED_STAMPS];
    VEC(Node) nodes;
    uint32_t *index; // of nodes, by content: buckets
    size_t index_cap;
    uint32_t free_node, live_nodes;
    uint64_t bytes; // of pages
    bool nomem;
} Shadow;

void gr_shadow_free(Shadow *s);
// Forgets all accesses to global memory, and all stamps. Blocks must not have shadows of their own then.
void gr_shadow_clear(Shadow *s);

// The cell of the word at a global address. NULL: out of memory.
Cell *gr_shadow_global(Shadow *s, uint64_t address);
Cell *gr_shadow_shared(Shadow *s, Block *owner, uint64_t offset);

// Likewise; NULL: not at hand.
static inline Cell *gr_shadow_near(Shadow *s, Block *owner, uint64_t at) {
    uint64_t word = at / CELL_BYTES, page = word / PAGE_WORDS;
    if (owner)
        return owner->shadow && word < owner->shadow_words ? (Cell *)owner->shadow + word : NULL;
    return s->cached[page % CACHED_PAGES].number == page + 1
               ? &s->cached[page % CACHED_PAGES].cells[word % PAGE_WORDS]
               : NULL;
}

// The number of a stamp that is equal, up to the times, which are updated. 0: out of memory.
uint32_t gr_shadow_stamp(Shadow *s, const Stamp *want, uint64_t moment);

typedef struct Entry {
    uint32_t stamp, lanes, bytes;
    bool
        silent; // changed nothing of its bytes since the next older one (which need not be true of the oldest)
} Entry;

// Takes the newest entry off *h. False when there is none.
static inline bool gr_history_next(const Shadow *s, History *h, Entry *e) {
    if (!*h)
        return false;
    if (!(*h >> 31)) {
        *e = (Entry){*h >> 5, UINT32_C(1) << (*h & 31), ALL_BYTES, false};
        *h = 0;
        return true;
    }
    const Node *n = &s->nodes.data[*h & INT32_MAX];
    *e = (Entry){n->stamp, n->lanes, n->bytes, n->silent};
    *h = n->rest;
    return true;
}

static inline uint32_t gr_history_length(const Shadow *s, History h) {
    return !h ? 0 : h >> 31 ? s->nodes.data[h & INT32_MAX].length : 1;
}

// h and one entry more. A reference of the caller's own.
History gr_history_push(Shadow *s, History h, Entry e, bool intern);
void gr_history_free(Shadow *s, History h); // a chain whose last reference goes

static inline void gr_history_release(Shadow *s, History h) {
    if (h >> 31 && --s->nodes.data[h & INT32_MAX].refs == 0)
        gr_history_free(s, h);
}

static inline History gr_history_retain(Shadow *s, History h) {
    if (h >> 31)
        s->nodes.data[h & INT32_MAX].refs++;
    return h;
}

// The cell's histories of a block that ends.
void gr_shadow_forget(Shadow *s, Block *b);

#endif
