// SPDX-License-Identifier: Apache-2.0
// shadow — which accesses touched which bytes: for every line of 128 bytes the accesses that a later one may still race
// with.
//
// Runs describe a line for as long as that is possible. A run is what one warp instruction did to the line, one lane
// after the other or all at the same place. Runs are in order, newest first; the line itself has one each for reads and
// writes. When that is not enough, the line gets cells, one for every 4-byte word, with two histories, of writes and of
// reads. A history is empty, one access of a whole word (a stamp and a lane, inline), or a chain of nodes {stamp,
// lanes, bytes}. Nodes of global memory are interned, so that words accessed alike share them. A stamp is what one warp
// instruction's accesses have in common. The shadow allocates memory when the program first touches a line.
//
// The shadow of a block's shared memory is a tile. When nothing in the tile matters any more, its generation changes,
// and older lines are as good as empty.
#ifndef GR_ENGINES_EXACT_SHADOW_H
#define GR_ENGINES_EXACT_SHADOW_H

#include "engines/exact/board.h"
#include "engines/exact/order/order.h"
#include "engines/exact/sites.h"
#include "engines/exact/tables.h"

// Each warp instruction has a stamp, so stamps are small: moments and addresses have 48 bits.
typedef struct Stamp {
    Point at;
    uint32_t site, size;                                  // bytes per lane
    uint8_t access : 2, strong : 1, scope : 3, proxy : 2; // PtxAccess, bool, Relation, VmProxy
    uint8_t elem;                                         // bytes of an element
    uint8_t mark;                                         // STAMP_…
    uint8_t reach;                                        // see low
    uint64_t first : 48;                                  // event in which it was used first
    uint64_t used_high : 16; // gr_stamp_last: so many events later the last time, with used_low
    uint64_t low : 48;       // it was used for addresses in [low, low + 2^reach); NO_ADDRESS: for none yet
    uint64_t used_low : 16;
} Stamp;

_Static_assert(sizeof(Stamp) == 48, "small");
#define NO_ADDRESS ((UINT64_C(1) << 48) - 1)

static inline void gr_stamp_begin(Stamp *s, uint64_t moment) {
    s->first = moment & NO_ADDRESS;
    s->used_high = s->used_low = 0;
    s->low = NO_ADDRESS;
    s->reach = 0;
}
// The stamp is used again.
static inline void gr_stamp_use(Stamp *s, uint64_t moment) {
    uint64_t later = moment - s->first;
    later = later < UINT32_MAX ? later : UINT32_MAX;
    s->used_high = later >> 16 & UINT16_MAX;
    s->used_low = later & UINT16_MAX;
}
// The event of the stamp's last use. After more events than 32 bits count the stamp counts as in use.
static inline uint64_t gr_stamp_last(const Stamp *s) {
    uint64_t later = (uint64_t)s->used_high << 16 | s->used_low;
    return later == UINT32_MAX ? UINT64_MAX : s->first + later;
}

enum {
    STAMP_VOLATILE = 1,
    STAMP_DISCARDED = 2,  // a load whose value these lanes did not use
    STAMP_COMPARED = 4,   // a store of which it is known what it changed
    STAMP_FREED = 8,      // it freed the memory
    STAMP_ALLOCATED = 16, // it allocated the memory
    STAMP_NODE = 32,      // of those two: a node of a graph
};

// The stamp is used for [from, to).
static inline void gr_stamp_reaches(Stamp *s, uint64_t from, uint64_t to) {
    uint64_t was = s->low;
    if (__builtin_expect(from >= was && (to - was - 1) >> s->reach == 0, 1))
        return;
    if (from >= to)
        return;
    uint64_t low = from, last = to - 1;
    if (was != NO_ADDRESS) {
        uint64_t end = was + ((UINT64_C(1) << s->reach) - 1);
        low = low < was ? low : was;
        last = last > end ? last : end;
    }
    s->reach = (uint8_t)(63 - __builtin_clzll((last - low) << 1 | 1)); // addresses end far below 2^63
    s->low = low & NO_ADDRESS;
}

static inline bool gr_stamp_has_reached(const Stamp *s, uint64_t at) {
    uint64_t low = s->low;
    return at >= low && (at - low) >> s->reach == 0;
}

typedef uint32_t History; // 0 empty; top bit clear: stamp << 5 | lane; set: number of a node

typedef struct Cell {
    History writes, reads;
} Cell;

enum {
    CELL_BYTES = 4,
    ALL_BYTES = 15,
    LINE_BYTES = 128,
    LINE_CELLS = LINE_BYTES / CELL_BYTES,
    PAGE_LINES = 32,
    PAGE_SHIFT = 12, // of PAGE_LINES lines
    REGION_PAGES = 1 << 14,
    CACHED_REGIONS = 16,
    CACHED_STAMPS = 4096,
    SLAB_LINES = 256,
    HISTORY_LEFT = (1 << 18) - 1,
    INLINE_STAMPS = 1 << 26, // so many fit into a history with a lane
};

// How the lanes of a run lie.
typedef enum Form {
    FORM_STEP0, // lane l has one byte, at base + stride * l
    FORM_STEP1, // two bytes
    FORM_STEP2,
    FORM_STEP3,
    FORM_STEP4,
    FORM_SAME,  // all have the stamp's `size` bytes at base
    FORM_WHOLE, // lane 0 has the whole line
    FORM_CELLS, // not a run: the line has cells
    // Of reads of shared memory by both halves of a warp; all lanes have the stamp's `size` bytes. The line has the
    // bases.
    FORM_PAIR,  // each half at one place: lanes 0 to 15 at base, the others at base + stride
    FORM_TWICE, // lanes l and l + 16 at base + stride * l
} Form;

// Form, base and stride in one number. The base is relative to the line and may be below it.
typedef uint32_t Shape;

// SHAPE_SILENT: the run's stores found there what they stored, as far as older runs of the line had stored it.
// SHAPE_AGAIN: they changed something after newer runs. SHAPE_ALONE: all older runs of the chain are of the same warp
// and launch, and of no later epochs. SHAPE_ALIKE: in addition their lanes lie as the run's own.
enum {
    SHAPE_ZERO = 1 << 12,
    SHAPE_BASE_BITS = 13,
    STRIDE_MAX = LINE_BYTES,
    SHAPE_SILENT = 1 << 21,
    SHAPE_AGAIN = 1 << 22,
    SHAPE_ALONE = 1 << 23,
    SHAPE_ALIKE = 1 << 24,
    SHAPE_SAID = SHAPE_SILENT | SHAPE_AGAIN | SHAPE_ALONE | SHAPE_ALIKE, // not how they lie
};

static inline Shape gr_shape_strided(Form form, unsigned stride, int base) {
    return (Shape)form << 28 | (Shape)stride << SHAPE_BASE_BITS | (Shape)(base + SHAPE_ZERO);
}
// Lanes side by side, where the form is one of steps.
static inline Shape gr_shape(Form form, int base) {
    return gr_shape_strided(form, form < FORM_SAME ? 1u << form : 0, base);
}
static inline Form gr_shape_form(Shape shape) { return (Form)(shape >> 28); }
static inline int gr_shape_base(Shape shape) {
    return (int)(shape & ((1 << SHAPE_BASE_BITS) - 1)) - SHAPE_ZERO;
}
static inline int gr_shape_stride(Shape shape) { return (int)(shape >> SHAPE_BASE_BITS & 255); }
static inline bool gr_shape_is_halved(Shape shape) { return gr_shape_form(shape) >= FORM_PAIR; }
// How many strides from the base the lane lies.
static inline uint32_t gr_shape_place(Shape shape, uint32_t lane) {
    Form form = gr_shape_form(shape);
    return form == FORM_PAIR ? lane / 16 : form == FORM_TWICE ? lane % 16 : lane;
}
// The lanes that lie where the first one does.
static inline uint32_t gr_shape_together(Shape shape, uint32_t lanes) {
    uint32_t first = lanes & -lanes, low = lanes & 0xffff;
    switch (gr_shape_form(shape)) {
    case FORM_SAME: return lanes;
    case FORM_PAIR: return low ? low : lanes;
    case FORM_TWICE: return lanes & (first | first << 16);
    default: return first;
    }
}

typedef struct Run {
    uint32_t stamp, lanes; // stamp 0: there is none. Lanes outside the line are not in `lanes`
    Shape shape;
    uint32_t next; // the next older one, its number and 1
} Run;

// The run's lanes lie as those of the shape, whatever it says of their changes.
static inline bool gr_run_lies(const Run *r, Shape shape) {
    return !((r->shape ^ shape) & ~(Shape)SHAPE_SAID);
}

// The run says `what` of its older runs; if there are none, anything holds.
static inline bool gr_run_says(const Run *r, Shape what) { return !r->next || r->shape & what; }

typedef struct Line {
    union {
        Run side[2]; // writes, reads
        struct {
            Run mark; // FORM_CELLS
            Cell *cells;
            uint64_t version; // another one whenever something is written to it (gr_line_written)
        } wide;
    };
    uint32_t tables[2]; // the first one of writes, of reads (tables.h), its number and 1
    // What launches that read the line found out about it (reads.c): the low bits of the number of the launch that
    // looked last, and SEEN_…; 0: a thread has written to it since.
    uint32_t seen;
    uint16_t length[2]; // of the runs of each side, as far as 16 bits go
} Line;

_Static_assert(sizeof(Line) == 48, "small");
// SEEN_CLEAN: all writes to the line are of launches that came before. SEEN_TOLD: this launch, or another one that may
// run still, found elements that need no further reader.
enum { SEEN_CLEAN = 1, SEEN_TOLD = 2, SEEN_SHIFT = 2 };
static inline bool gr_line_seen_by(const Line *l, uint64_t launch) {
    return !((l->seen ^ (uint32_t)(launch << SEEN_SHIFT)) >> SEEN_SHIFT);
}

static inline bool gr_line_has_cells(const Line *l) {
    return gr_shape_form(l->wide.mark.shape) == FORM_CELLS;
}

enum { NODE_SITE_BITS = 28 };

typedef struct Node {
    History rest; // counts as a reference to it
    uint32_t stamp, lanes;
    uint32_t bytes : 4, interned : 1, strong : 3, some_volatile : 1, one_site : 1, narrow : 1, sizeless : 1,
        steady : 1, observes : 1, left : 18; // strong: Alike; left: so many more before it is tidied up
    uint32_t refs;                           // cells and nodes that refer to it; 0: free
    uint32_t next;                           // in its bucket or in the list of free ones, its number and 1
    // From here to `uncounted` (0: to the end) all pairs with the accesses of this site are counted (volatiles.c). 0:
    // no site.
    uint32_t counted : NODE_SITE_BITS, changed : 4; // changed: of Entry
    union {
        History uncounted; // of strong accesses
        History oldest;    // of weak ones, as `steady`: gr_history_oldest_alike. 0: this one
    };
    uint32_t sites : SITES_NUMBER_BITS, still : 4, alone : 1; // of all entries from here on: chains.h
} Node;

// What has been done to shared memory since the generation began (phase.c): nothing; only reads; only atomic
// operations, which do not race with each other; accesses that race with nothing, as the board says; or anything.
typedef enum TilePhase { PHASE_FRESH, PHASE_READS, PHASE_ATOMS, PHASE_BOARD, PHASE_MIXED } TilePhase;

// Lines [from, to) are the destination of a cp.async.
typedef struct Watch {
    uint32_t warp, mask, number; // of the operation: its lanes, and the epoch
    uint32_t from, to;
} Watch;

typedef struct Tile {
    Line *lines;
    uint64_t *made; // the generation that a line is of
    uint32_t n_lines;
    uint64_t generation;
    TilePhase phase;
    uint8_t elem;   // of the atomic operations; 0: there were none
    uint32_t epoch; // before the generation
    Board board;
    // Log2 of bytes: what an entry of the board should stand for (4 bytes until smaller elements need less), and the
    // smallest element since the generation began. `launch`: the one whose blocks need that.
    uint8_t grain, narrowest;
    uint64_t launch;
    bool async; // touched by operations of which a barrier of all may leave some threads in ignorance
    uint8_t *log;
    size_t log_len, log_cap;
    // Destinations of cp.async that not all threads of the block know of: the log holds nothing of these lines, and a
    // fresh tile keeps them.
    VEC(Watch) watches;
    uint64_t *watched,
        *logged;   // a bit for each line, the second for what is in the log; NULL: there were no cp.async
    bool watching; // of this block there were
    struct Tile *next_free;
} Tile;

typedef struct Page {
    uint64_t generation;
    Line lines[PAGE_LINES];
} Page;

typedef struct Region {
    uint32_t first, end; // the pages that there are lie in [first, end)
    Page *pages[REGION_PAGES];
} Region;

// Bytes [at, end) count as written under the stamp before anything else that is remembered of them.
typedef struct Planted {
    uint64_t at, end;
    uint32_t stamp;
} Planted;

typedef struct Shadow {
    Map regions;         // number -> Region
    uint64_t generation; // pages of another one are as good as empty
    uint64_t versions;   // all there have been
    struct {
        uint64_t number; // and 1
        Region *region;
    } cached[CACHED_REGIONS];
    VEC(Run) runs;
    uint32_t free_run;    // the first of a chain, its number and 1
    uint32_t free_chains; // the first of another chain; its `stamp` names the next one
    VEC(Cell *) slabs;    // cells of SLAB_LINES lines each
    size_t used_slabs;
    uint32_t slab_left;
    Cell *free_cells; // linked through their first bytes
    Tile *free_tiles;
    uint64_t log_bytes;
    VEC(Stamp) stamps; // [0] unused
    uint64_t age;      // numbers of stamps that were known when it was less may mean others now
    uint64_t *used; // a bit per stamp below `used_to`: something referred to it when they were last collected
    size_t used_to, next_unused;
    size_t step;          // stamps are collected whenever that many are new; 0: as many as pay for it
    size_t left;          // until they are collected, so many will be
    size_t gone_through;  // histories and runs, by the collection under way
    uint64_t collections; // all there have been
    uint32_t recent[CACHED_STAMPS];
    VEC(Node) nodes;
    uint32_t *index; // of nodes, by content: buckets
    size_t index_cap;
    uint32_t free_node, live_nodes;
    SiteSets sites;
    VEC(Planted) planted; // by address, apart from each other
    Tables tables;
    uint64_t bytes; // of what stands for global memory
    bool nomem;
} Shadow;

// step: Shadow.step.
void gr_shadow_init(Shadow *s, size_t step);
void gr_shadow_free(Shadow *s);
// Forgets all accesses to global memory, and all stamps. Blocks must not have tiles then.
void gr_shadow_clear(Shadow *s);

// The line at a global address. NULL: out of memory.
Line *gr_shadow_new_line(Shadow *s, uint64_t address);

static inline Line *gr_shadow_global(Shadow *s, uint64_t address) {
    uint64_t page = address >> PAGE_SHIFT, number = page / REGION_PAGES;
    unsigned slot = (unsigned)(number % CACHED_REGIONS);
    if (__builtin_expect(s->cached[slot].number == number + 1, 1)) {
        Page *p = s->cached[slot].region->pages[page % REGION_PAGES];
        if (__builtin_expect(p && p->generation == s->generation, 1))
            return &p->lines[address / LINE_BYTES % PAGE_LINES];
    }
    return gr_shadow_new_line(s, address);
}

// The first line in [*address, end) of which anything may be remembered; *address becomes its own. NULL: there is none.
Line *gr_shadow_next_line(Shadow *s, uint64_t *address, uint64_t end);

// [at, end), which begins with a line, counts as written under that stamp before anything that is remembered of it.
void gr_shadow_plant(Shadow *s, uint64_t at, uint64_t end, uint32_t stamp);
void gr_shadow_unplant(Shadow *s, uint64_t at);
// Puts what was planted at that address into the new page.
void gr_shadow_plant_page(Shadow *s, Page *p, uint64_t at);
// The page, if anything may be remembered of it; *next: the first address behind it and behind empty ones that follow.
Page *gr_shadow_page(Shadow *s, uint64_t at, uint64_t *next);

// The block's tile. NULL: out of memory.
Tile *gr_shadow_new_tile(Shadow *s, Block *owner);
static inline Tile *gr_shadow_tile(Shadow *s, Block *owner) {
    return owner->tile ? owner->tile : gr_shadow_new_tile(s, owner);
}
// Makes the line empty.
void gr_line_reset(Shadow *s, Line *l, bool shared);

static inline Line *gr_shadow_shared(Shadow *s, Block *owner, uint64_t offset) {
    Tile *t = gr_shadow_tile(s, owner);
    uint64_t k = offset / LINE_BYTES;
    if (!t || k >= t->n_lines) {
        s->nomem = true;
        return NULL;
    }
    if (t->made[k] != t->generation) {
        gr_line_reset(s, &t->lines[k], true);
        t->made[k] = t->generation;
    }
    return &t->lines[k];
}

static inline Line *gr_shadow_line(Shadow *s, Block *owner, uint64_t at) {
    return owner ? gr_shadow_shared(s, owner, at) : gr_shadow_global(s, at);
}

// Takes a new run like r, in no chain yet. Yields its number and 1; 0: out of memory. Runs may have moved then.
uint32_t gr_run_take(Shadow *s, Run r);
// Puts a run in front of those of that side.
void gr_run_push(Shadow *s, Line *line, unsigned side, uint32_t stamp, uint32_t lanes, Shape shape);
// Sets what the first run of that side, which is new or changed, says of older ones.
void gr_run_placed(Shadow *s, Line *line, unsigned side);
// Sets that for all runs of that side, as some have gone.
void gr_run_all_placed(Shadow *s, Line *line, unsigned side);
// A run of that stamp and shape would be alike in front of run r.
bool gr_run_is_alike(const Shadow *s, const Run *r, uint32_t stamp, Shape shape);
// Takes the run that *link names out of its chain; *link then names the next one.
void gr_run_drop(Shadow *s, uint32_t *link);

// Gives the line cells. NULL: out of memory.
Cell *gr_line_widen(Shadow *s, Line *l, bool shared);
static inline Cell *gr_line_cell(Shadow *s, Line *l, uint64_t at, bool shared) {
    Cell *cells = __builtin_expect(gr_line_has_cells(l), 1) ? l->wide.cells : gr_line_widen(s, l, shared);
    return cells ? &cells[at / CELL_BYTES % LINE_CELLS] : NULL;
}

// A thread writes to a line with cells, or is about to.
static inline void gr_line_written(Shadow *s, Line *l) { l->wide.version = ++s->versions; }

// Finds the stamps that nothing refers to any more, whose numbers new ones get: the caller begins, tells of all tiles,
// and ends.
static inline bool gr_shadow_is_full(const Shadow *s) { return !s->left; }
void gr_shadow_collect_begin(Shadow *s);
void gr_shadow_collect_tile(Shadow *s, const Tile *t);
void gr_shadow_collect_end(Shadow *s);

// The bytes of all memory that the shadow takes.
uint64_t gr_shadow_bytes(const Shadow *s);

// The number of a stamp that equals `want` but for the times, which are updated. 0: out of memory.
uint32_t gr_shadow_stamp(Shadow *s, const Stamp *want, uint64_t moment);
uint32_t gr_shadow_new_stamp(Shadow *s, const Stamp *want,
                             uint64_t moment); // the same, without looking for one

// Drops the shadow of a block that ends.
void gr_shadow_forget(Shadow *s, Block *b);

#endif
