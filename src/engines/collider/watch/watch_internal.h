// SPDX-License-Identifier: Apache-2.0
// watch_internal — shared by the parts of the watchpoints: table.c keeps windows by place; watch.c hears of events,
// copies.c of API copies and the host; judge.c says whether two accesses that met race, and reports it.
#ifndef GR_ENGINES_COLLIDER_WATCH_WATCH_INTERNAL_H
#define GR_ENGINES_COLLIDER_WATCH_WATCH_INTERNAL_H

#include "base/map.h"
#include "base/vec.h"
#include "engines/collider/watch/watch.h"

enum {
    WATCH_LANES = 32,
    WATCH_LINE = 7,     // bytes, as a power of two, by which windows are found
    WATCH_HEADS = 4096, // of chains
    WATCH_IDS = 1024,
    WATCH_LARGE = 4096, // bytes from which on an access is held against all windows
    WATCH_PENDING = 1 << 16,
};
#define WATCH_NONE UINT32_MAX
#define WATCH_ALL  UINT64_MAX

// An access of some lanes of a warp, of an operation that they started, of a copy or of the host.
typedef struct Actor {
    RaceBy by;
    PtxAccess access;
    bool strong, is_volatile, async, speculated;
    PtxScope scope;
    PtxSpace space; // GLOBAL or SHARED
    VmWhere where;
    uint64_t owner, launch; // SHARED: whose memory it is
    uint64_t op;            // async: its number within the block
    uint64_t size;          // bytes of each lane
    uint64_t used;          // which of them, of at most 64; WATCH_ALL: all
    uint64_t address[WATCH_LANES];
    uint64_t pc;
    uint32_t call;              // of a copy: GrWork.call
    const VmAccessEvent *event; // of stores that may be compared
} Actor;

typedef struct Window {
    Actor actor;
    uint64_t id;
    uint32_t next, previous; // of the same chain of ids; next: of the free ones
    uint32_t entries;        // first of them
    uint32_t changed;        // lanes whose bytes were changed since
    uint64_t asked;          // the last question that met it
    bool open;
} Window;

// What of a window lies in one line.
typedef struct Entry {
    uint64_t key, lo, hi; // the line; the bytes from the first to the last
    uint32_t window, next, previous, sibling;
    bool writes;
} Entry;

typedef struct Copy {
    uint64_t item;
    uint32_t call; // GrWork.call
    bool fill;
    GrBox from, to;
} Copy;

typedef struct Launched {
    uint64_t number;
    uint32_t block[3];
    bool wanted;
} Launched;

// What met a window that may turn out to be none.
typedef struct Pending {
    const PtxStmt *stmt;
    uint64_t launch, block;
    uint32_t warp, lane; // of the window
    uint32_t by;         // the lane that met it
    uint64_t key;        // of the race
    uint64_t moment;     // Watch.moment
    Race race;
} Pending;

typedef struct Known {
    const PtxModule *ptx;
    uint64_t fingerprint;
} Known;

// What the pair before was about: many threads that touch one place make many pairs alike, and those cost a comparison.
typedef struct Before {
    struct {
        RaceBy by;
        const PtxModule *module;
        uint32_t site;
        uint64_t pc;
        uint32_t place; // 0: nothing is known
    } side[2];
    uint64_t key; // of `race`, if there is one
    Race *race;
    uint64_t moment, at, n; // of a question whether a store of `lane` is the same
    unsigned lane;
    bool same;
} Before;

struct Watch {
    WatchOptions options;
    uint32_t interest[2];           // VmObserver
    uint32_t heads[2][WATCH_HEADS]; // of what reads, of what writes
    uint32_t ids[WATCH_IDS];
    VEC(Window) windows;
    VEC(Entry) entries;
    uint32_t free_windows, free_entries, n_open, n_writing;
    uint64_t questions, submitted;
    uint64_t moment; // of the accesses that are asked about
    VEC(Copy) copies;
    VEC(Launched) launches;
    uint32_t n_unwanted;
    VEC(Pending) pending;
    VEC(Known) modules;
    Map places; // -> number, of what can be a side
    uint32_t n_places;
    Map pairs; // places and class -> Race
    VEC(Race *) races;
    Before before;
    bool nomem;
};

// table.c
void gr_wp_table_init(Watch *w);
// A window to be filled in (its actor) and opened: from then on its accesses can be met, by that id. NULL: no memory.
Window *gr_wp_new(Watch *w);
void gr_wp_open(Watch *w, uint64_t id, Window *x);
void gr_wp_close(Watch *w, uint64_t id);
// The lanes of `lanes` are no longer part of those windows of that id whose access is of this kind.
void gr_wp_leave(Watch *w, uint64_t id, PtxAccess access, uint32_t lanes);
void gr_wp_close_launch(Watch *w, uint64_t launch);
// Whether some window is where [lo, hi) is.
bool gr_wp_meets(const Watch *w, PtxSpace space, uint64_t launch, uint64_t owner, uint64_t lo, uint64_t hi,
                 bool writes);
// Holds the actor's lanes against all windows.
void gr_wp_check(Watch *w, const Actor *a);
void gr_wp_check_box(Watch *w, const Actor *a, const GrBox *b);

// copies.c
bool gr_wp_meets_copy(const Watch *w, uint64_t lo, uint64_t hi, bool writes);
void gr_wp_check_copies(Watch *w, const Actor *a);

// judge.c
// Bytes [at, at + n) of memory are accessed by lane `l` of a, and were by lane `k` of the window's actor, or are under
// way. `win` NULL: the other side is b alone.
void gr_wp_met(Watch *w, const Actor *a, unsigned l, const Actor *b, unsigned k, Window *win, uint64_t at,
               uint64_t n);
// The fate of speculated loads.
void gr_wp_settle(Watch *w, const VmAccessEvent *e);
void gr_wp_forget_pending(Watch *w, uint64_t launch);
uint64_t gr_wp_used_bytes(PtxAccess access, const PtxStmt *stmt, uint32_t size);
PtxScope gr_wp_scope(PtxSem sem, PtxScope scope);

static inline void gr_wp_interest(Watch *w) {
    w->interest[0] = w->n_writing + (uint32_t)w->copies.len;
    w->interest[1] = w->n_open + (uint32_t)w->copies.len;
}

static inline bool gr_wp_may_race(const Actor *a, const Actor *b) {
    return (a->access != PTX_ACCESS_READ || b->access != PTX_ACCESS_READ) && !(a->strong && b->strong);
}

#endif
