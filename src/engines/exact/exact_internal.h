// SPDX-License-Identifier: Apache-2.0
// exact_internal — what the parts of the causality engine share. exact.c hears of events. access.c brings accesses to
// the shadow; quick.c does so at once for common ones, and runs.c and meets.c for whole lines. phase.c defers accesses
// to shared memory (log.c) while board.c says that nothing races. judge.c finds races and reports them. history.c
// decides what to remember. host.c has the host's copies, memsets and waits, touch.c its own accesses, freed.c memory
// that is freed.
#ifndef GR_ENGINES_EXACT_EXACT_INTERNAL_H
#define GR_ENGINES_EXACT_EXACT_INTERNAL_H

#include "base/str.h"
#include "engines/core/work.h"
#include "engines/exact/chains.h"
#include "engines/exact/dekker.h"
#include "engines/exact/exact.h"
#include "engines/exact/hosts.h"

typedef struct Module {
    uint64_t serial; // of the last that was seen of it (PtxModule)
    uint64_t fingerprint;
    uint32_t first, n_sites; // its site s is site first + s of the execution
} Module;

typedef struct HostSite {
    uint32_t site;
    uint64_t pc;
} HostSite;

typedef struct Span {
    uint64_t at, size;
} Span;

// A call of free() by a thread of the device.
typedef struct FreeSite {
    uint32_t site;
    const PtxStmt *stmt; // its key, with the module; either may be gone
    const PtxModule *module;
    char *file, *function;
    uint32_t line, ptx_line;
} FreeSite;

// Freed memory and the thread that freed it; nothing else of it is remembered.
typedef struct FreedRange {
    uint64_t at, size;
    Stamp stamp;
    uint32_t lane;
} FreedRange;

// Memory that an item of a stream allocated, and that is not freed yet.
typedef struct Allocated {
    uint64_t at, size;
    Point by;
    bool node;    // of a graph
    bool planted; // the shadow has it
    bool raced;   // something that uses it races with it
} Allocated;

// An allocation that the shadow does not have yet, by its turn in the stream.
typedef struct TurnAllocation {
    uint64_t at, id; // Allocated.by.id
    uint32_t turn;
} TurnAllocation;
typedef struct TurnAllocations {
    uint64_t stream;
    VEC(TurnAllocation) list;
    size_t tidy_at;
} TurnAllocations;

enum { PAGE_WORDS = (1 << PAGE_SHIFT) / CELL_BYTES };

// What is known of one instruction's reads of a page in one launch (reads.c).
typedef struct ReadPage {
    uint64_t page;              // its number, and 1; 0: there is none
    uint64_t age;               // of the shadow's tables (Tables.age): of another one `table` means nothing
    uint64_t launch, version;   // of another launch, or Exact.reads_version, `told` means nothing
    uint32_t table[PAGE_LINES]; // tables of the lines, their numbers and 1; 0: not looked for yet
    // A bit per word: no further read of it need be remembered, and no reader of it can race.
    uint64_t told[PAGE_WORDS / 64];
} ReadPage;

typedef struct ReadPages {
    ReadPage *page; // by number modulo count, a power of two
    uint32_t count;
} ReadPages;

// What the accesses of one site have in common.
typedef struct Kind {
    Stamp stamp;           // all but thread and time
    bool known;            // it has been filled in
    bool relaxed;          // strong, but neither release nor acquire
    uint32_t wait, spoilt; // so many times it is not deferred; how often that was in vain
    uint32_t deferred;     // since it was last in vain
    ReadPages pages;       // if it reads
} Kind;

// The epochs in which a thread's instruction has read a word.
typedef struct ReadBy {
    uint64_t id;
    uint32_t site;
    uint16_t warp;
    uint8_t mark, bytes;
    uint32_t lanes; // 0: none
} ReadBy;

enum { PATIENCE = 16 };
typedef struct FoundRace {
    Race race;
    char order[256];          // of the race
    uint32_t patience;        // gr_exact_may_be_wider
    struct FoundRace *counts; // the first of the pair, at whatever width: it counts the accesses
} FoundRace;

// A pair that has been found, and its race.
typedef struct Again {
    uint64_t key;
    FoundRace *found; // NULL: none
} Again;

enum { AGAIN_PAIRS = 64 };

// How an access relates to a remembered one: not decided (perhaps a race); no race; a race of a pair found before, or
// (NARROW) one which older accesses may show between threads that are further apart.
typedef enum Raced {
    RACED_UNKNOWN,
    RACED_NOT,
    RACED_NARROW,
    RACED_READ_WRITE,
    RACED_WRITE_WRITE,
    RACED_SAME_VALUE
} Raced;

struct Exact {
    uint64_t serial; // of all there are
    ExactOptions options;
    Order order;
    Shadow shadow;
    Work work;
    Map copies; // item -> Launch that stands for it
    Hosts hosts;
    VEC(Module) modules;
    Map modules_seen; // PtxModule.serial -> index of modules, and 1
    bool leaves_out;  // a launch that was not wanted has begun
    uint32_t n_sites, last_module;
    VEC(FoundRace *) races;
    Map pairs;                // gr_exact_pair -> FoundRace
    Again again[AGAIN_PAIRS]; // the last that were looked for
    VEC(Entry) scratch;
    VEC(ReadBy) readers;                // history.c
    VEC(Kind) kinds;                    // by site
    uint64_t reads_version, read_bytes; // of ReadPages; what all of them take
    VEC(bool) passed;                   // by site: it is not wanted. Empty: all are
    uint8_t turns[32][LANES];           // gr_vm_commit_lane
    Launch *launch;                     // the last that was looked for
    uint64_t moment;
    uint64_t reports; // races that were found, each time
    // How often an access was compared with a remembered one, with others of its warp and epoch, or with a table of
    // earlier launches.
    uint64_t looks;
    uint64_t tidy_at;     // when launches, blocks and clocks take so many bytes
    int device;           // of the last launch, and 1
    bool several_devices; // have launched something
    bool narrow;          // some module has strong accesses whose scope is less than the device
    bool nomem;
    unsigned doubts;               // a bit for each of checks.def that has failed
    VEC(uint8_t) reach;            // by site: which memory it can access (checks.c)
    Map proxy_reads, proxy_places; // proxies.c: by two sites; by two lines
    StrBuf proxy_named;
    Map unsure_pairs; // unsure.c: by two sites
    StrBuf unsure_named;
    size_t heard; // judge.c: accesses that fence.sc alone orders, behind threads that were heard of
    Map feeds, volatile_pairs; // volatiles.c: by site; by two sites
    Map volatile_ordered;      // by two sites -> how often observation ordered them
    Dekker dekker;
    uint64_t last_pair; // one of those that have been counted; 0: none
    // freed.c
    VEC(FreeSite) free_sites;
    VEC(FreedRange) freed; // the last FREED_MAX, from next_freed on when it is full
    size_t next_freed;
    // allocated.c
    VEC(Allocated) allocated; // by address
    VEC(TurnAllocations) turn_allocations;
    VEC(uint64_t) allocating; // by items that have not ended, where nothing else runs
    // The host's own accesses (touch.c).
    Launch *host;   // that they are of; NULL: none since the host last knew everything
    Map host_sites; // instruction -> site
    VEC(HostSite) host_pcs;
    VEC(Span) open; // where accesses are not seen
    VEC(Span)
    unread; // of `open`: what the host has not looked at since it was opened, or the device wrote there
    bool all_unread;  // all of it
    uint64_t reader;  // the block that looked last
    bool host_told;   // what it did since is in Work.host
    Launch *function; // the same of the host function that runs
    bool function_told;
};

enum { ACCESS_WORDS = 4 };

// The accesses of some lanes of one warp instruction, or of one operation.
typedef struct Access {
    View view;
    Block *owner; // of shared memory; NULL: global
    uint32_t stamp;
    uint64_t address[LANES];    // of the access as a whole
    const VmAccessEvent *event; // NULL: of an asynchronous operation, of the host's, or told at a glance
    const VmGlance *glance;     // NULL: not told so
    // Without an event, for each word of the lanes' elements: the lanes that change nothing.
    uint32_t unchanged[ACCESS_WORDS];
    bool compared;   // the glance was asked for those
    bool late;       // it is told after the fact: its thread may know more by now. It races with nothing
    bool met_strong; // it overwrote what a strong operation had written
    bool raced;      // a race was found
    bool checked;    // one of its lanes has been, by gr_exact_is_sound
    bool asked;      // history.c, changed_by: of the word remembered last
    uint32_t changed;
    struct {
        uint32_t lane, bytes; // bytes 0: none
        uint64_t word;
        bool silent;
    } last; // answer of gr_exact_is_silent
    // What was found out about other stamps, for the next lanes. 0: nothing yet.
    uint32_t known;           // every lane of the view's warp knows all of it
    uint32_t plain;           // as known, and it is weak
    uint32_t gone;            // accesses under it are superseded by those under a->stamp
    uint32_t own;             // it is of the same warp
    uint32_t before;          // index of a launch that came before this one, and 1
    const Line *tables_known; // all that its tables hold is of launches that this one knows
    uint64_t line_at;         // address of the line that is read; 0: not known
} Access;

// exact.c
// Gives back what accesses and launches that are over take, when that is much. Not while anything is under way.
void gr_exact_tidy(Exact *x);
Block *gr_exact_block_of(Exact *x, const VmWhere *w); // NULL when there is none
// The options leave the access out.
bool gr_exact_is_passed(Exact *x, const Launch *l, const PtxModule *m, uint32_t site);
// The code of a site of the running launch's module. NULL: the site is of another module.
const PtxSite *gr_exact_code(Exact *x, const Launch *running, uint32_t site);
uint32_t gr_exact_site(Exact *x, const PtxModule *module, uint32_t site);
// Gives the numbers of unused stamps to new ones.
void gr_exact_collect(Exact *x);
// Called before an event that takes stamps. The caller must not hold the number of a stamp.
static inline void gr_exact_make_room(Exact *x) {
    if (__builtin_expect(gr_shadow_is_full(&x->shadow), 0))
        gr_exact_collect(x);
}
Launch *gr_exact_launch(Exact *x, uint64_t number); // active; NULL when there is none
Block *gr_exact_block_at(const Launch *l, uint64_t linear);

// quick.c: tells a common access at once. False: `access` must tell all of it again.
bool gr_exact_glance(Exact *x, Block *b, const VmGlance *g);
// True: a read without a glance is deferred.
bool gr_exact_defer_read(Exact *x, Block *b, const VmAccessEvent *e);

// Tells what `lanes` do to the lines they touch; shape and base say how each half of the warp lies. False: not that
// simple.
bool gr_exact_touch_shape(Exact *x, Access *a, uint32_t lanes, const VmShape shape[2], const uint64_t base[2],
                          uint32_t size, bool reads);

// phase.c
// Defers the access; false: that is impossible, or must not be.
bool gr_exact_defer(Exact *x, Block *b, const Warp *w, const VmGlance *g, Kind *k, uint32_t epoch);
// Tells the shadow all deferred accesses now.
void gr_exact_catch_up(Exact *x, Block *b);
// watches.c
typedef enum WatchedLines { WATCHES_NONE, WATCHES_SOME, WATCHES_ALL } WatchedLines;
// How many of the lines that the access touches are watched.
WatchedLines gr_exact_watched(const Tile *t, const VmGlance *g);
// The caller has put the access into the log.
void gr_exact_note_logged(Tile *t, const VmGlance *g);
// Keeps what was done to watched lines in a new generation, as long as not all threads know of the cp.async.
void gr_exact_keep_watched(const Block *b, Tile *t, uint64_t generation);
// Catches up before an access to these addresses, unless the log holds nothing of their lines.
void gr_exact_catch_up_with(Exact *x, Block *b, const uint64_t address[LANES], uint32_t lanes, uint32_t size);
// Watches the destination of a cp.async that is being issued.
void gr_exact_watch(Exact *x, Block *b, const VmAsyncEvent *e);
// After a barrier of all threads: earlier accesses to the block's shared memory no longer matter, except where cp.async
// is under way.
void gr_exact_fresh(Block *b);
// After a barrier of the cluster: makes the tiles of all blocks of b's cluster fresh.
void gr_exact_fresh_cluster(const Block *b);

// Tables may hold accesses under the stamp, if the launch is not the host's.
static inline bool gr_stamp_fits_table(const Stamp *s, uint32_t stamp) {
    return !s->strong && s->proxy == VM_PROXY_GENERIC && stamp < INLINE_STAMPS &&
           (!s->site || (s->size && s->size <= TABLE_MAX_ELEM && !(s->size & (s->size - 1))));
}
// reads.c: tables may hold the access, which is a read.
static inline bool gr_exact_takes_reads(const Exact *x, const Access *a) {
    const Stamp *s = &x->shadow.stamps.data[a->stamp];
    return !a->owner && s->access == PTX_ACCESS_READ && s->site && gr_stamp_fits_table(s, a->stamp) &&
           !a->view.launch->host;
}
// Puts the lanes' reads of the line into tables. Yields the lanes that no table could take.
uint32_t gr_exact_note_reads(Exact *x, Access *a, Line *line, uint32_t lanes, Shape shape);
// Puts reads at scattered addresses into tables. Yields the lanes that are left.
uint32_t gr_exact_gather(Exact *x, Access *a, const uint64_t at[LANES], uint32_t lanes);
// The lanes whose reads need a look: a read may race, or has to be remembered. Other lanes need none.
uint32_t gr_exact_untold(const Exact *x, const Launch *l, const Kind *k, const VmGlance *g);
// The launch of the access comes after all writes to the line; notes that in the line.
bool gr_exact_find_clean(Exact *x, Access *a, Line *line);
static inline bool gr_exact_is_clean(Exact *x, Access *a, Line *line) {
    if (x->hosts.several || a->owner)
        return false;
    return gr_line_seen_by(line, a->view.launch->number) ? line->seen & SEEN_CLEAN
                                                         : gr_exact_find_clean(x, a, line);
}
// The access writes to the line: makes void what readers found out about it.
static inline void gr_exact_is_written(Exact *x, const Access *a, Line *line) {
    if (line->seen & SEEN_TOLD && (gr_line_seen_by(line, a->view.launch->number) || x->order.active.len > 1))
        x->reads_version++; // it may be a running launch's
    line->seen = 0;
    if (gr_line_has_cells(line))
        gr_line_written(&x->shadow, line);
}
void gr_exact_reads_free(Exact *x);
// tables.c
// So many instructions read the line that a table for each would take longer than it saves.
bool gr_exact_has_many_tables(const Exact *x, const Line *line);
// The lanes of the run whose elements the same instruction has accessed again in a later launch that came after the
// run's, as tables know.
uint32_t gr_exact_done_again(const Exact *x, const Line *line, const Run *r);
// Moves what a launch that the current one knows wrote to the line under the stamp into a table. Yields the lanes that
// no table could take.
uint32_t gr_exact_retire(Exact *x, Line *line, uint32_t stamp, uint32_t lanes, Shape shape);
// The line's tables from number `first` on hold only what came before the access's launch. A launch that comes after
// one that found so skips these tables: a line may have thousands, for as many instructions.
bool gr_exact_knows_tables(Exact *x, Access *a, uint32_t first);
// The lanes come after all that the line's tables hold of the bytes that they read or write. False: look closer.
bool gr_exact_clear_of_tables(Exact *x, Access *a, const Line *line, uint32_t lanes, Shape shape,
                              uint32_t size, bool reads);
static inline bool gr_line_has_tables(const Line *l, bool reads) {
    return l->tables[0] || (!reads && l->tables[1]);
}
// Drops what the line's tables hold of its bytes [from, to).
void gr_exact_forget_tables(Exact *x, const Line *line, unsigned from, unsigned to);
// Reports the races of what lane `lane` does to `bytes` of the word with what the line's tables hold.
void gr_exact_check_tables(Exact *x, Access *a, const Cell *cell, const Line *line, uint32_t lane,
                           uint32_t bytes, uint64_t word, bool reads);

// runs.c: tells the lanes' access to the line, which has no cells. False: not that simple; nothing has happened.
bool gr_exact_touch_line(Exact *x, Access *a, Line *line, uint32_t lanes, Shape shape, bool reads);
// meets.c: the access races with nothing in the run and in older ones of its chain, or only as before, which is
// counted. False: not that simple.
bool gr_exact_is_clear(Exact *x, Access *a, const Run *r, uint32_t lanes, Shape shape);
// The stamp is of the warp that accesses, or of one of its cp.async, and each lane comes after what it did under it.
bool gr_exact_is_own(const Exact *x, const Access *a, uint32_t stamp);
// All of `lanes` know all accesses under the stamp.
bool gr_exact_all_know(const Exact *x, Access *a, uint32_t lanes, uint32_t stamp);

// Some weak accesses are not judged and so not in the shadow, which then does not know what they overwrite.
static inline bool gr_exact_passes_some(const Exact *x) { return x->leaves_out || x->options.wanted_site; }

// access.c
void gr_exact_access(Exact *x, Block *b, const VmAccessEvent *e);
// Notes what a weak access that the options leave out overwrites, and nothing else.
void gr_exact_pass_by(Exact *x, Block *b, const VmAccessEvent *e);
void gr_exact_async_access(Exact *x, Block *b, const VmAsyncEvent *e);
void gr_exact_fill_kind(Kind *k, uint32_t site, const PtxStmt *stmt, uint32_t size, PtxAccess access,
                        PtxSem sem, PtxScope scope, bool compared);
// The number of the warp's stamp that is as `want`.
uint32_t gr_exact_stamp(Exact *x, Warp *w, const Stamp *want);
// Tells weak accesses of whole words to a line with cells, where not much has to be kept; `shape` is one of steps, or
// one lane's. False: look closer.
bool gr_exact_touch_cells(Exact *x, Access *a, Line *line, uint32_t lanes, Shape shape, uint32_t size,
                          bool reads);
// Moves what an earlier launch wrote to the cell into a table. False: no table takes it, or there is nothing.
bool gr_exact_retire_cell(Exact *x, const Access *a, Line *line, Cell *cell);
// Tells the accesses of `lanes`, `size` bytes each, word by word.
void gr_exact_touch(Exact *x, Access *a, uint32_t lanes, uint32_t size);

// What lane `lane` stores to these bytes of the word lies there already.
bool gr_exact_is_silent(Access *a, uint32_t lane, uint64_t word, uint32_t bytes);

// freed.c
// `by` frees [at, at + size); the stamp says where and when, and gets its other fields here.
void gr_exact_freed(Exact *x, const View *by, const Stamp *s, uint64_t at, uint64_t size);
void gr_exact_device_freed(void *exact, const VmFreeEvent *e); // the observer's, like the next
void gr_exact_gone(void *exact, const VmAccessEvent *e);
// Judges one lane's access to memory that may have been freed before.
void gr_exact_accesses_freed(Exact *x, Access *a, uint32_t size);
void gr_exact_freed_forget(Exact *x); // all of it is known to all that come
void gr_exact_freed_free(Exact *x);
const FreeSite *gr_exact_free_site(const Exact *x, uint32_t site);         // NULL: it is none
bool gr_exact_freed_base(const Exact *x, uint64_t address, uint64_t *out); // of the memory that was freed

// Judges what is remembered of [from, to) against access `a` of all of it; `forget` drops it.
void gr_exact_meet_lines(Exact *x, Access *a, uint64_t from, uint64_t to, bool forget);

// allocated.c
// `by` allocates `to`.
void gr_exact_allocated(Exact *x, const View *by, const GrWork *w);
void gr_exact_allocation_ended(Exact *x, const Launch *l,
                               const GrWork *w); // l: its launch, which has had its turn
// Plants the allocations that do not come before work which knows `known`.
void gr_exact_meet_allocations(Exact *x, const Clock *known);
void gr_exact_allocation_freed(Exact *x, Access *a, uint64_t at); // by that access
bool gr_exact_allocation(const Exact *x, uint64_t address, uint64_t *at,
                         uint64_t *size);                   // that holds the address
void gr_exact_allocation_raced(Exact *x, uint64_t address); // the allocation that holds the address
void gr_exact_allocations_mark(Exact *x);                   // for the sweep under way
void gr_exact_allocations_forget(Exact *x);                 // all of it is known to all that come
void gr_exact_allocations_free(Exact *x);

// ended.c: the block, which another one has visited, ends. Reports visits that nothing orders before that.
void gr_exact_block_ends(Exact *x, Block *b);

// volatiles.c
// Access `a` (stamp `mine`) and an earlier one are unordered, and only volatile makes them strong. True: that is
// reported; else it is counted.
bool gr_exact_reports_volatile(Exact *x, const Access *a, const Stamp *mine, const Stamp *earlier);
// A pair of these two sites has been counted, and no pair of them will be reported.
bool gr_exact_has_counted(Exact *x, const Access *a, const Stamp *mine, const Stamp *earlier);
// Notes that one observed the other, which orders the two; else the pair would have been counted.
void gr_exact_volatile_ordered(Exact *x, const Stamp *a, const Stamp *b);
// A pair of sites that has been counted stays counted, whichever threads execute the sites later.
bool gr_exact_counts_sites(const Exact *x, const Access *a);

// proxies.c
// Access `a` of the async proxy (stamp `mine`) overwrites what `read` has read, without a proxy fence between. True:
// that is reported; else it is counted.
bool gr_exact_reports_proxy_read(Exact *x, const Access *a, const Stamp *mine, const Stamp *read);

// unsure.c
// Counts that access `a` (stamp `mine`) comes after t by real time only.
void gr_exact_count_unsure(Exact *x, const Access *a, const Stamp *mine, const Stamp *t);

// touch.c
// Work that comes after Work.host knows what the host has done up to now.
void gr_exact_host_releases(Exact *x);
// A strong read by the device may have seen what the host wrote unseen.
void gr_exact_host_unseen(Exact *x, Block *b, Warp *w, uint32_t lane, const StrongOp *s);
// The host knows that everything is over.
void gr_exact_host_ends(Exact *x);
void gr_exact_host_closed(Exact *x); // no memory is open to it any more
enum { OPEN_SPANS = 64 };
bool gr_exact_is_open(const Exact *x, uint64_t at);         // access.c
void gr_exact_unread(Exact *x, uint64_t at, uint64_t size); // of open memory: the host looks there next
// The host function has returned.
void gr_exact_function_ends(Exact *x);

// checks.c
void gr_exact_doubt(Exact *x, ExactCheck c);
// Notes which memory each of the module's sites reaches; the sites are numbered from `first` on. False: out of memory.
bool gr_exact_note_reach(Exact *x, const PtxModule *m, uint32_t first);
// Nothing that is known contradicts the race of the two at `at`. Else a check has failed.
bool gr_exact_is_sound(Exact *x, const Access *a, uint32_t lane, const Stamp *theirs, uint32_t their_lane,
                       uint64_t at);
// gr_exact_is_sound for an access that has been checked against others of its line.
bool gr_exact_is_sound_with(Exact *x, const Access *a, uint32_t lane, const Stamp *theirs,
                            uint32_t their_lane, uint64_t at);

// judge.c
// The options let the access be reported.
bool gr_exact_is_wanted(const Exact *x, const Stamp *s);
// Both strong accesses have one size. The host's (elem 0) has any: its instruction may be another than the one meant.
static inline bool gr_exact_same_size(const Stamp *a, const Stamp *b) {
    return a->elem == b->elem || !a->elem || !b->elem;
}
static inline bool gr_exact_morally_strong(const Exact *x, const Stamp *a, const Stamp *b) {
    if (!a->strong || !b->strong || !gr_exact_same_size(a, b) || a->proxy != b->proxy)
        return false;
    unsigned r = gr_order_relation(&x->order, a->at.id, b->at.id);
    return r <= a->scope && r <= b->scope;
}
// Another block of the same launch made the access, and nothing orders the two blocks.
static inline bool gr_exact_is_apart(const Exact *x, const Access *a, const Stamp *t) {
    return a->view.launch->apart && t->at.launch == a->view.launch->index && t->at.id != a->view.block->id &&
           gr_order_info(&x->order, t->at.id)->linear != a->view.block->linear;
}
// All accesses under the stamp happened before.
bool gr_exact_knows_stamp(const Exact *x, Access *a, uint32_t stamp, const Stamp *t);
// All that launch `viewer` does comes after all of `launch`. Both are indices.
static inline bool gr_exact_knows_launch(const Exact *x, uint32_t viewer, uint32_t launch) {
    View v = {.launch = x->order.launches.data[viewer]};
    return gr_order_knows_launch(&x->order, &v, launch);
}
// `launch` (an index) is another launch, and all of it came before the access.
static inline bool gr_exact_came_before(const Exact *x, Access *a, uint32_t launch) {
    uint32_t mine = a->view.launch->index;
    if (launch + 1 == a->before)
        return true;
    if (launch == mine || !gr_exact_knows_launch(x, mine, launch))
        return false;
    a->before = launch + 1;
    return true;
}
// Reports whether entry e of the cell races with what lane `lane` does to `bytes` of the word. changed: bytes that
// newer entries changed.
Raced gr_exact_check_entry(Exact *x, Access *a, const Cell *cell, const Entry *e, uint32_t changed,
                           uint32_t lane, uint32_t bytes, uint64_t word);
// The access and all of h are morally strong; a pair with volatile has been counted.
bool gr_exact_all_strong(Exact *x, const Access *a, History h);
// Reports the races of what lane `lane` does to `bytes` of the word with h.
void gr_exact_check(Exact *x, Access *a, const Cell *cell, History h, uint32_t lane, uint32_t bytes,
                    uint64_t word);
// Counts a weak access's races with h if all of them are of pairs found before. False: look closer; some may have been
// counted.
bool gr_exact_checks_again(Exact *x, Access *a, History h, uint32_t lane, uint32_t bytes, uint64_t word);
// Reports the race of what lane `lane` does to these bytes of the word with what `other_lane` of entry e did. False: it
// is not counted.
bool gr_exact_report(Exact *x, const Access *a, uint32_t lane, uint64_t word, uint32_t bytes, const Entry *e,
                     uint32_t other_lane, RaceClass class);

// history.c
// No access can race any more with any under that stamp. A barrier does not hide accesses of the generic proxy from the
// async one.
static inline bool gr_exact_is_over(const Exact *x, const Access *a, const Stamp *t) {
    if (t->at.launch != a->view.launch->index)
        return gr_order_settled(&x->order, t->at.launch);
    const Block *b = a->owner;
    return b && t->at.id == b->id && t->at.epoch <= b->safe && !b->ragged && b->alone && !b->launch->bulk;
}
// a and b have one site and kind: what races with one races with the other, if order is the same.
static inline bool gr_exact_same_kind(const Stamp *a, const Stamp *b) {
    return a->site == b->site && a->access == b->access && a->strong == b->strong && a->scope == b->scope &&
           a->elem == b->elem && a->mark == b->mark;
}
// For weak global reads of one site by unordered blocks it is enough to remember two, of different blocks: a write
// unordered with any of them is unordered with one of these two. *other: the linear index and 1 of the first found.
// True: `t` is the second.
static inline bool gr_exact_is_told(const Exact *x, const Stamp *mine, const Stamp *t, uint64_t *other) {
    if (!gr_exact_same_kind(t, mine) || t->at.launch != mine->at.launch || t->proxy != mine->proxy)
        return false;
    uint64_t block = gr_order_info(&x->order, t->at.id)->linear + 1;
    if (*other && *other != block)
        return true;
    *other = block;
    return false;
}
static inline bool gr_exact_reads_apart(const Access *a, const Stamp *mine) {
    return !a->owner && !a->view.op && mine->access == PTX_ACCESS_READ && !mine->strong &&
           a->view.launch->apart;
}
// No access can race any more with anything in h.
bool gr_exact_all_over(const Exact *x, const Access *a, History h);
// Yields the history that replaces h, with a reference to it.
History gr_exact_remember(Exact *x, Access *a, History h, uint32_t lanes, uint64_t word, uint32_t bytes);

#endif
