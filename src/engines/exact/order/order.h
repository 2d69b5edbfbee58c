// SPDX-License-Identifier: Apache-2.0
// order — what every thread of an execution knows of every other: causality order as PTX defines it (PTX ISA 9.0,
// "Memory Consistency Model"), followed along one execution.
//
// A thread is (block instance, warp, lane); block instances are numbered over the process. Each thread counts epochs:
// its number goes up with everything that releases (a barrier, a fence, a release operation), and an access carries the
// epoch in which it was made. What a thread knows of others is, cheapest first:
//
//     its own accesses                                    program order
//     its block up to `floor`                             bar.sync of all threads: one number per block
//     lanes of its warp up to a group's floor             bar.warp.sync: one number per warp and mask
//     what is in a clock                                  everything else: imports of the lane, else of the warp, else
//                                                         of the block
//
// A clock also has what is known by chance only, by keys of levels of their own, and names fences that lead to what is
// done (chance.c).
//
// so a block that only uses __syncthreads() costs a few words. Clocks name others by thread, by warp (all its lanes),
// by block (all its threads) or by stream (all of its work up to a turn). A thread that has exited before a barrier is
// not covered by its floor (`exits`).
//
// Launches that are over, and what is known of their blocks, are kept only as long as some access of theirs is
// remembered (sweep.c).
#ifndef GR_ENGINES_EXACT_ORDER_ORDER_H
#define GR_ENGINES_EXACT_ORDER_ORDER_H

#include "base/map.h"
#include "base/vec.h"
#include "engines/core/work.h"
#include "vm/observer.h"

enum { LANES = 32, BARRIERS = 16, WARP_GROUPS = 8, SCOPES = 4, ASKED = 16 };

typedef enum Level { BY_THREAD, BY_WARP, BY_BLOCK, BY_STREAM = GR_STREAM_LEVEL } Level;
enum { BY_CHANCE = 4 }; // or-ed: known by the order of fence.sc in this execution only

// How far apart two threads are: the narrowest scope that includes both (PTX_SCOPE_CTA and up, less 1).
typedef enum Relation { SAME_BLOCK, SAME_CLUSTER, SAME_DEVICE, SAME_SYSTEM } Relation;

// A snapshot that is completed only when it is needed: `base` and the thread's own epoch.
typedef struct Snap {
    Clock *base, *full;
    uint32_t epoch; // 0: there is none
} Snap;

// What a lane did at one place, which a later operation of its at the same place makes a pattern of (PTX ISA 9.x, 8.8).
typedef struct LanePlace {
    Snap released[SCOPES];  // at its last release operation of at least that scope
    Clock *pending[SCOPES]; // read there, to be acquired by an acquire operation
} LanePlace;

typedef struct LaneSync {
    Snap fence[SCOPES];     // at the last fence of at least that scope that releases
    Clock *pending[SCOPES]; // read by strong reads, to be acquired by a fence; by relation to the source
    Clock *proxied;         // what it knew at its last proxy fence
    Map places;             // -> LanePlace
    bool reads;             // some of those are pending
} LaneSync;

// What threads can learn at a place from those that released there: threads of the same block, cluster, device, or any,
// as far as the releases' scopes reach.
typedef struct Source {
    uint64_t group; // relation, and the block's, the cluster's or the device's number
    Clock *clock;
} Source;
// Lanes of one warp that released one after the other, and knew the same of others.
typedef struct Releases {
    uint64_t id; // of their block
    uint32_t warp, exists, mask, epoch;
    uint64_t copies; // Block.copies
    uint32_t waited_to;
    Clock *base;
    uint64_t group[SCOPES]; // Source.group of the threads that can learn it
    unsigned n;
} Releases;
typedef struct Sources {
    VEC(Source) list;
    Map index;     // of the list, when that is long
    Releases last; // mask 0: there is none. It is not in the list yet
} Sources;

typedef struct WarpGroup {
    uint32_t mask, floor;
} WarpGroup;

// An asynchronous operation: each of its lanes is a thread of its own, which reads in epoch 1 and writes in epoch 2.
// But all cp.async of one thread are one thread, as they complete in order; its epochs are their numbers
// (Block.copies).
typedef struct Op {
    uint64_t id, number; // of its block instance; the VM's
    VmProxy proxy;
    VmCompletion completes;
    uint32_t warp, mask, waited;
    uint32_t written; // lanes of a cp.async that are done
    uint32_t floor;   // of its block when it was issued
    uint32_t copied;  // Block.copied when it was issued
    bool even;        // all its lanes know the same of others: base[0]
    // What each lane's issuer had done, and had waited for itself; the least of each.
    uint32_t epoch[LANES], waited_to[LANES], least_epoch, least_waited;
    uint32_t group[LANES];
    Clock *base[LANES];
    Clock *proxied[LANES]; // of the async proxy: what of the generic one's its issuer had fenced
    struct Op *next_free;
} Op;

static inline Clock *gr_op_base(const Op *op, uint32_t lane) { return op->base[op->even ? 0 : lane]; }

enum { WARP_STAMPS = 16, LEARNT = 2, LOOKS = 8 };

// Lanes that have waited for their own lane of an operation: each knows that one only, up to that epoch.
typedef struct Waited {
    uint64_t id;
    uint32_t mask, epoch;
} Waited;

// cp.async of some lanes, of one group: the number of the first, and of the last.
typedef struct CopyGroup {
    uint32_t mask, group, first, last;
} CopyGroup;

// Lanes have read a place with one strong load, in one epoch, and the read needed no report. Until a thread writes to
// that line the next such load neither learns anything nor has to be remembered.
typedef struct Look {
    uint64_t at, version, age; // of the line; of the shadow's stamps
    uint32_t stamp, lanes;     // 0: none
} Look;

typedef struct Warp {
    uint32_t index, exists, exited;
    uint32_t even;   // the epoch of all its lanes; 0: they may differ
    uint32_t bumped; // the epoch that lanes got last (gr_order_bump); 0: none did
    uint64_t bumped_at;
    uint32_t synced; // lanes that have a LaneSync
    uint32_t own;    // lanes with a clock of their own
    bool has_imp;
    Clock *imp, *lane_imp[LANES];
    uint32_t epoch[LANES];
    uint32_t learnt_in[LANES]; // the epoch in which what the lane imports changed last
    WarpGroup group[WARP_GROUPS];
    uint32_t n_groups;
    LaneSync *sync[LANES];
    uint32_t (*groups)[LANES]; // asynchronous groups committed: of cp.async, of bulk operations
    VEC(Waited) waited;        // bulk operations; not in the lanes' clocks yet
    VEC(CopyGroup) copies;     // that no thread has waited for, oldest first
    // Each lane knows its own cp.async up to that number, which is in no clock of the lane's; the least of these.
    uint32_t waited_to[LANES], least_waited;
    bool has_waited;           // some of these are not 0
    struct DekkerLane *dekker; // [LANES], of dekker.h; NULL: none
    Clock *learnt[LEARNT];     // the last ones, by which lanes
    uint32_t learnt_by[LEARNT], last_learnt;
    // The base of a lane that has no clock of its own, while nothing changed.
    Clock *cached, *cached_imp;
    uint32_t cached_floor, cached_groups, cached_copied;
    uint32_t recent[WARP_STAMPS]; // the last stamps of the shadow's, by site
    uint64_t recent_of;           // the shadow's age; of another one they mean nothing
    Look look[LOOKS];             // by address and lane
    bool looked;                  // there are some
    // Fences that led to the last fence.sc of these lanes, whose scope was that.
    Clock *led;
    uint32_t led_lanes;
    PtxScope led_scope;
} Warp;

typedef struct Phase {
    uint32_t arrived[LANES]; // by warp: whose snapshots are not in `clock`
    Clock *clock;            // of threads that arrived before
    bool open, partial;      // partial: `clock` is what its waiters learn
    bool complete;           // with no thread waiting
} Phase;

typedef struct Mbar {
    uint64_t at;
    Sources now, over;         // of the phase under way; of the last that is over
    Clock *now_ops, *over_ops; // asynchronous operations that completed on it
    Clock *now_met, *over_met; // Block.met of threads that wait for it, if other blocks have arrived
    struct { // and cp.async of lanes of one warp, up to a number, that are not in now_ops yet
        uint64_t id;
        uint32_t warp, exists, mask, number;
    } last;
} Mbar;

typedef struct Launch {
    uint64_t number;
    uint32_t index; // in Order.launches; given to others when this launch is not needed any more
    uint32_t turn;  // in its stream, whose work is numbered as it ends; 0: it has not ended, or has no stream
    uint64_t stream;
    uint64_t first_cluster; // number of its first cluster
    struct Order *order;
    uint32_t grid[3], block[3], cluster[3], shared_bytes, threads;
    uint32_t call; // GrWork.call; 0: not known
    int device;
    const char *kernel;    // may be gone when the module is
    const PtxModule *ptx;  // its code, loaded for as long as the launch runs
    uint64_t begun, ended; // moments; ended 0: runs
    bool host;             // none of the device's: what the host itself accesses
    bool apart;            // nothing orders its blocks among themselves
    bool bulk;             // its code may use the async proxy
    bool cut;              // it faulted
    bool unwanted;         // its accesses are no side of a race (ExactOptions.wanted)
    bool told;   // what stands for it in its stream is known to have ended (work.h), or will not be told
    bool needed; // by the sweep under way
    uint64_t asked[ASKED];    // twice when another launch began, and 1 if it was known then; by index
    Clock *known;             // when it began
    Clock *prior;             // what griddepcontrol.wait tells it besides; NULL: nothing
    Clock *sure;              // as much of it as does not rest on real time (hosts.h)
    bool has_sure;            // else all of it
    Clock *end;               // what its threads knew
    struct BlockPage **pages; // of running blocks, by linear index
    uint64_t n_blocks;
} Launch;

enum { PAGE_BLOCKS = 4096 };

typedef struct BlockPage {
    uint32_t live, n;
    struct Block *block[];
} BlockPage;

// An access as far as order goes.
typedef struct __attribute__((packed, aligned(4))) Point {
    uint64_t id;
    uint32_t epoch, launch; // index
    uint32_t warp;
} Point;

typedef struct Arrival {
    Point at;
    uint32_t lane;
    const PtxStmt *stmt; // of the running launch's code
} Arrival;

// What fence.sc of some threads knew; that and what they knew by chance.
typedef struct ScOrder {
    Clock *known, *by_chance;
} ScOrder;

typedef struct Block {
    uint64_t id, linear, cluster;
    Launch *launch;
    uint32_t n_warps, epoch, floor; // epoch: the last that was given out
    uint32_t safe;                  // like floor, and known to all asynchronous operations under way
    bool ragged;                    // some threads have exited before a barrier
    bool alone;                     // no other block reaches its shared memory
    uint64_t copies;                // the block instance that stands for its cp.async; 0: there were none
    uint32_t issued, copied;        // of these the last number; up to which all its threads know them
    Clock *base, *left;             // left: what threads that exited knew
    // What threads of the cluster had done when they arrived where threads of this block have waited for them, whatever
    // the scopes, released or relaxed. It says what came before the block's end (ended.c), and makes no memory visible.
    Clock *met;
    bool visited; // another block has accessed its shared memory
    VEC(Arrival)
    arrivals; // of other blocks' threads at mbarriers there, the last of each thread and instruction
    ScOrder sc;
    Warp *warps;
    Phase barrier[BARRIERS];
    VEC(Mbar) mbars;
    VEC(Op *) ops;
    Map sync;          // offset -> SyncVar
    Map talks;         // place -> Talk
    struct Tile *tile; // the shadow of its shared memory; NULL: there is none yet
    struct Block *next_free;
} Block;

static inline Block *gr_order_block(const Launch *l, uint64_t linear) {
    const BlockPage *p = l->pages && linear < l->n_blocks ? l->pages[linear / PAGE_BLOCKS] : NULL;
    return p ? p->block[linear % PAGE_BLOCKS] : NULL;
}

// A block instance, for as long as anything remembers it. Launch 0 stands for all launches that are forgotten.
typedef struct BlockInfo {
    uint64_t linear, cluster;
    uint32_t launch; // index
    bool ragged;
    bool copies; // stands for the cp.async of a block, whose epochs are their numbers
} BlockInfo;

enum { INFO_SHIFT = 9, INFO_BLOCKS = 1 << INFO_SHIFT };

typedef struct InfoPage {
    bool needed; // by the sweep under way
    BlockInfo of[INFO_BLOCKS];
} InfoPage;

enum { SYNC_PAGE = 4096 };

// A location that was last written by a strong operation and from which a thread can acquire.
typedef struct SyncVar {
    uint64_t at;
    uint32_t size;
    uint64_t id, cluster; // the last writer's
    PtxScope scope;
    int device;
    Sources sources;
} SyncVar;

// Which fence.sc lead to strong accesses of a place: to all of them; and to those that a reader there comes after.
typedef struct Talk {
    Clock *all, *writes;
} Talk;

typedef struct ClusterPhase {
    uint64_t cluster;
    uint32_t phase;
    Clock *met;       // Block.met of those that wait, as far as it is not in `sources`
    uint64_t arrived; // threads that release, and do nothing more before they acquire
    bool over;        // some thread has been told
    Sources sources;
} ClusterPhase;

// A join that was made, with references to all three.
typedef struct Joined {
    Clock *a, *b, *is;
} Joined;
enum { JOINED = 64 };

typedef struct Order {
    VEC(Launch *) launches;      // by index; [0] stands for all that are not needed any more
    VEC(uint32_t) free_launches; // indices
    VEC(Launch *) active;
    Map by_number;         // launches of kernels that are not `told` yet
    VEC(InfoPage *) infos; // by block instance; NULL: none of these is remembered
    uint64_t first_info;   // the first of infos is page number first_info
    uint64_t next_id;      // of block instances; 0 is of none
    uint64_t next_cluster;
    uint64_t table_bytes; // of launches and infos
    Map sync;             // address -> SyncVar, global memory
    Map sync_pages;       // where those are or have been, by address / SYNC_PAGE
    uint32_t var_sizes;   // of all SyncVars, or-ed: powers of two
    Map exits;            // thread -> floor that still covers it, and 1
    Map fenced;           // thread -> ProxyFences
    VEC(ClusterPhase) phases;
    Map cluster_sc; // cluster -> ScOrder
    ScOrder device_sc[64], system_sc;
    Map sc_fences;      // warp or thread -> ScFences
    Map talks;          // place -> Talk, global memory
    uint32_t sc_number; // of the last fence.sc; 0: there was none
    bool talking;       // a launch that runs has executed a fence.sc, or one that ran beside it
    Map expected;       // launch number -> Clock: what it knows when it begins
    Map priors;         // launch number -> Clock: Launch.prior
    struct {
        uint64_t number;
        uint32_t call;   // GrWork.call
    } begins;            // the launch that begins next, as far as its stream says
    bool told;           // the driver says what launches come after; else those that have ended
    uint64_t moment;     // events of launches
    uint64_t moment_now; // of the event under way
    uint64_t version;    // changes with everything that any thread learns
    Block *free_blocks;  // for others of as many warps
    Op *free_ops;
    Joined joined[JOINED];
    bool nomem;
} Order;

// Lanes of a warp, warps of a block, and blocks and streams with numbers side by side differ in the same five bits,
// which clocks are good at (clock.h).
static inline uint64_t key_of(Level level, uint64_t id, uint32_t warp, uint32_t lane) {
    uint64_t number = level == BY_THREAD ? id << 10 | warp << 5 | lane
                      : level == BY_WARP ? id << 5 | warp
                                         : id;
    return number << 3 | level;
}

static inline Level level_of(uint64_t key) { return (Level)(key & 3); }
// The number of the block instance, or of the stream.
static inline uint64_t id_of(uint64_t key) {
    key &= ~GR_CLOCK_APART;
    return key >> (level_of(key) == BY_THREAD ? 13 : level_of(key) == BY_WARP ? 8 : 3);
}

static inline Clock *imports_of(const Block *b, const Warp *w, uint32_t lane) {
    return w->own >> lane & 1 ? w->lane_imp[lane] : w->has_imp ? w->imp : b->base;
}

extern const BlockInfo gr_order_nobody;

static inline const BlockInfo *gr_order_info(const Order *o, uint64_t id) {
    uint64_t page = (id >> INFO_SHIFT) - o->first_info;
    return __builtin_expect(page < o->infos.len && o->infos.data[page] != NULL, 1)
               ? &o->infos.data[page]->of[id % INFO_BLOCKS]
               : &gr_order_nobody;
}

void gr_order_free(Order *o);

// The launch of that number will know `known`. Takes the reference.
void gr_order_expect(Order *o, uint64_t number, Clock *known);
// The launch will learn `prior` by griddepcontrol.wait. Takes the reference.
void gr_order_expect_prior(Order *o, uint64_t number, Clock *prior);
// All launches up to now are over, and later ones know of them: drops all. Not while any is active.
void gr_order_settle(Order *o);
Launch *gr_order_launch_begin(Order *o, const VmLaunchEvent *e);
void gr_order_launch_end(Order *o, Launch *l, bool faulted);
Launch *gr_order_launch(const Order *o, uint64_t number); // active; NULL when there is none
// The launch of that number has ended, as far as the program's work goes. NULL: it never began.
Launch *gr_order_told(Order *o, uint64_t number);
// The launch's work has had that turn in its stream.
void gr_order_had_turn(Launch *l, WorkTurn turn);
Block *gr_order_block_begin(Order *o, Launch *l, uint64_t linear);
void gr_order_block_end(Order *o, Block *b);

void gr_order_sync(Order *o, Block *b, const VmSyncEvent *e);
// After that event nobody tells the block any more what threads that have exited knew.
bool gr_order_loses_exited(const Block *b, const VmSyncEvent *e);
// The event is the first of the end of a phase of a cluster's barrier at which all threads know all that was done in
// the cluster, before they do anything else.
bool gr_order_cluster_meets(Order *o, const Block *b, const VmSyncEvent *e);
// Block number k of the cluster that b is of, from 0; NULL: it is not there.
Block *gr_order_peer(const Block *b, uint32_t k);
static inline uint32_t gr_cluster_size(const Launch *l) {
    return l->cluster[0] * l->cluster[1] * l->cluster[2];
}
// What an asynchronous event says of order. For READ and WRITE the access is the caller's.
void gr_order_async(Order *o, Block *b, const VmAsyncEvent *e);
Op *gr_order_op(const Block *b, uint64_t number);

// A strong operation of one lane at `at`: the part that reads, and later the part that writes.
typedef struct StrongOp {
    uint64_t at;
    Map *vars;      // where `at` is: Order.sync or a block's
    Map *talks;     // Map *talks;     // of the same memory: Order.talks or a block's
    uint64_t owner; // number of that block; 0: global memory
    uint32_t size;
    PtxSem sem;
    PtxScope scope;
    bool rmw, red; // red: its read begins no acquire pattern
} StrongOp;
// Strong accesses of the lanes, to what has these talks, may say in which order fences came.
static inline bool gr_order_talks(const Order *o, const Map *talks, const Block *b, const Warp *w,
                                  uint32_t mask) {
    bool leads =
        o->talking && (talks->live || gr_clock_has_apart(imports_of(b, w, (uint32_t)__builtin_ctz(mask))));
    for (uint32_t m = o->talking && w->own ? mask : 0; m && !leads; m &= m - 1)
        leads = gr_clock_has_apart(imports_of(b, w, (uint32_t)__builtin_ctz(m)));
    return leads;
}
void gr_order_strong_read(Order *o, Block *b, Warp *w, uint32_t lane, const StrongOp *s);
void gr_order_strong_write(Order *o, Block *b, Warp *w, uint32_t lane, const StrongOp *s);
// The lane read, from the outside, what a thread that far away wrote; that thread knew c and released.
void gr_order_observe(Order *o, Block *b, Warp *w, uint32_t lane, PtxSem sem, Relation far, Clock *c);
// [at, at + size) was written by other means.
void gr_order_overwritten(Order *o, Map *vars, uint64_t at, uint64_t size);

// The viewer: a lane of a warp, or one of an operation.
typedef struct View {
    const Launch *launch;
    const Block *block;
    const Warp *warp;
    const Op *op; // NULL: the lane itself
    uint32_t lane;
} View;

// Whether what lane `lane` did at `p` happened before the viewer's present.
bool gr_order_knows(const Order *o, const View *v, const Point *p, uint32_t lane);
// No lane of the viewer's warp knows anything that was done at that point. False: some may.
bool gr_order_knows_none(const View *v, const Point *p);
// Each lane of the viewer's warp, whose access it was, knows what it did itself at that point, and nothing of the
// others. False: some may.
bool gr_order_knows_only_itself(const View *v, const Point *p);
// gr_order_knows, or the order of fence.sc in this execution says so.
bool gr_order_knows_by_chance(const Order *o, const View *v, const Point *p, uint32_t lane);
// The epoch up to which all lanes of the viewer know what they did themselves under that id (theirs, or their
// cp.async').
uint32_t gr_order_own(const View *v, uint64_t id);
// gr_order_knows for all lanes of that warp at once; false: some may be unknown.
bool gr_order_knows_warp(const Order *o, const View *v, const Point *p);
// gr_order_knows for an operation of the async proxy that looks at what the generic proxy did: a proxy fence must cover
// it. `chance`: gr_order_knows_by_chance instead.
bool gr_order_proxied(const Order *o, const View *v, const Point *p, uint32_t lane, bool chance);
// What lane `lane` of another block did at `p` came before the end of one of the block's threads. Where nothing
// synchronizes memory, a thread's wait for it is enough (Block.met).
bool gr_order_ends_after(const Order *o, const Block *b, const Point *p, uint32_t lane);
// The viewer's launch came after that one as a whole.
bool gr_order_knows_launch(const Order *o, const View *v, uint32_t launch);
// All threads that may still access anything know all of that launch.
bool gr_order_settled(const Order *o, uint32_t launch);

Relation gr_order_relation(const Order *o, uint64_t a, uint64_t b); // of two block instances

// Points of one lane number of one warp are of one thread.
static inline bool gr_order_same_thread(const Order *o, const Point *a, const Point *b) {
    return a->id == b->id && a->warp == b->warp &&
           (a->epoch == b->epoch || !gr_order_info(o, a->id)->copies); // two cp.async are two
}

// sweep.c: first marks all that is remembered, then drops everything else. All clocks that outlive a launch must be
// filtered.
void gr_order_mark_begin(Order *o);
void gr_order_mark(Order *o, uint32_t launch, uint64_t id);
typedef struct Sweep {
    Order *order;
    ClockFilter filter;
} Sweep;
void gr_order_sweep(Order *o, Sweep *s);
void gr_order_sweep_clock(Sweep *s, Clock **c);
void gr_order_sweep_end(Sweep *s);
// The bytes that launches, blocks and clocks take now.
static inline uint64_t gr_order_bytes(const Order *o) { return o->table_bytes + gr_clock_bytes(); }

#endif
