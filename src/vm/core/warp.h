// SPDX-License-Identifier: Apache-2.0
// warp — the state of an execution: launches, blocks, warps, splits, activations. Internal to the VM.
//
// A warp is a set of splits: lanes that share a pc and a function activation. The scheduler runs one split at
// a time; handlers see it through VmWarp, loaded from the split. While a split runs, the split itself holds
// the truth about its mask (a guard narrows only VmWarp.mask); its pc is stale until the handler that stops,
// or the end of the quantum, writes it.
//
// Divergence pushes a VmJoin, the place where the lanes are expected to meet again (the immediate
// post-dominator). Waiting there is a courtesy, not a rule: see split.c.
#ifndef GR_VM_WARP_H
#define GR_VM_WARP_H

#include "base/map.h"
#include "base/rng.h"
#include "base/vec.h"
#include "ptx/speculate.h"
#include "vm/core/insn.h"
#include "vm/core/program.h"
#include "vm/extension.h"
#include "vm/vm.h"

enum {
    VM_BARRIERS = 16,
    VM_OBSERVERS = 32,
    VM_QUANTUM = 256,         // mean, in warp instructions
    VM_LOCAL_MAX = 512 << 10, // per thread, as devices have
    VM_CALL_BYTES = 16,       // of stack that a call takes besides local variables
};

// %globaltimer when the device starts: any fixed date will do.
#define VM_EPOCH_NS UINT64_C(1700000000000000000)

typedef struct VmBlock VmBlock;
typedef struct VmCluster VmCluster;
typedef struct VmActivation VmActivation;
typedef struct VmAsyncOp VmAsyncOp;
typedef struct VmWarpAsync VmWarpAsync;

// What memory instruction `i` touched last: [lo, hi) moved by delta. lo > hi: nothing.
typedef struct VmCache {
    uint64_t lo, hi;
    ptrdiff_t delta;
    bool host; // threads of the host can reach it: atomic operations are the machine's
} VmCache;

// A warp's place in the order of waiting: ids, VM_NO_WARP at the ends.
typedef struct VmReadyLink {
    uint32_t older, newer;
} VmReadyLink;

// Why a handler left the inner loop. The split's pc has been set by then.
typedef enum VmStop {
    VM_STOP_NONE,
    VM_STOP_SWITCH, // the split is ready; choose among the warp's splits again
    VM_STOP_YIELD,  // the split is ready; somebody else's turn
    VM_STOP_CLOCK,  // same split, after the clock was brought up to date
    VM_STOP_WAIT,   // the split waits (its state says for what) or is gone
    VM_STOP_FAULT,  // the launch is over
} VmStop;

// A call of a function by the lanes that entered it together.
struct VmActivation {
    uint8_t *frame;
    VmFunc *func;
    VmActivation *caller;
    const VmInsn *ret;  // in the caller, after the call
    const VmInsn *call; // the call itself
    uint32_t lanes;     // inside, functions called from here included, and not exited
    uint32_t sp;        // offset of its local variables on each lane's stack
    uint32_t dynamic;   // bytes of alloca above them
    VmActivation *next_free;
};

typedef struct VmJoin {
    const VmInsn *pc;
    VmActivation *act;
    struct VmJoin *parent;
    uint32_t expected, arrived;
    uint32_t refs; // splits whose top it is, and joins whose parent it is
} VmJoin;

typedef enum VmSplitState {
    VM_SPLIT_READY,
    VM_SPLIT_JOIN,       // waits at a rejoin point
    VM_SPLIT_SLEEP,      // until virtual time `until`, in picoseconds
    VM_SPLIT_BARRIER,    // in barrier number `barrier`
    VM_SPLIT_COLLECTIVE, // for the other lanes of `member`
    VM_SPLIT_CLUSTER,
    VM_SPLIT_GATHER, // for lanes that the device alone parted from it (gather.c)
} VmSplitState;

// stuck.c: what a split was like when it was about to execute `pc`, during look number `look`.
typedef struct VmSeenState {
    const VmInsn *pc;
    uint64_t state;
    uint32_t look, mask, visits;
} VmSeenState;

// stuck.c: looks at what kernels do, in warp instructions that the device has executed.
typedef struct VmStuck {
    uint64_t executed, next, ends; // `next`: something is to be done
    uint64_t gap, most;            // between looks, and how long one is
    uint32_t look;
    bool looking, found;
} VmStuck;

typedef struct VmSplit {
    const VmInsn *pc;
    VmActivation *act;
    VmJoin *top;
    uint64_t
        until; // SLEEP: time in ps; JOIN, GATHER: the warp's instruction count after which it goes on alone
    uint32_t mask;
    uint32_t member;
    uint32_t kin;           // lanes that would be with it, had the device not parted them
    const VmInsn *gathered; // it has waited for them before this instruction, which is next
    uint8_t state;
    uint8_t barrier;
    uint8_t mbar_tries;      // how often in a row its try_wait was in vain
    bool mbar_sleeps;        // suspended in mbar_insn, or about to look again after that
    uint64_t window;         // that is open while it waits; 0: none
    uint32_t mbar;           // offset of the mbarrier that it last asked in vain
    uint32_t pauses;         // hold.c: in how many it has been held
    uint64_t held;           // hold.c: which of those that are held; 0: none
    const VmInsn *mbar_insn; // by this instruction; NULL: the last answer was that the phase is over
    VmSeenState seen;
} VmSplit;

// A speculated load of some lanes, until it is known whether they use the value.
typedef struct VmHeldLoad {
    const VmInsn *insn;
    uint32_t lanes, passed[SPEC_MAX]; // passed: those that have been at that decision since
    uint64_t address[VM_LANES];       // as gr_vm_resolve gives them
} VmHeldLoad;

typedef struct VmWarpRest {
    VmWarp hot; // first: handlers get a pointer to it
    VmBlock *block;
    VmLaunch *launch;
    uint32_t index;  // within the block
    uint32_t id;     // within the launch (VmLaunch.warp)
    uint32_t exists; // lanes the block has
    uint32_t live;   // of those, not exited
    uint32_t n_splits, n_ready, n_sleeping, n_joining;
    uint32_t cur;        // the running split
    uint32_t ready_slot; // in launch->ready, UINT32_MAX: not there
    uint64_t executed;   // warp instructions, for the patience of rejoin points
    uint32_t patience, gather_patience;
    uint32_t cluster_arrived, cluster_done; // lanes: in this phase, and of the last one not yet waited for
    uint32_t at_barrier[VM_BARRIERS];       // lanes that have arrived in this phase, exited ones too
    int64_t priority;                       // policy_pct.c
    bool meets;                             // stuck.c: its lanes wait for each other
    uint32_t look, ran,
        repeating;           // stuck.c: in look number `look`, lanes that ran, and that repeat what they do
    uint32_t rotate;         // seeded: lane order of conflicting stores
    bool moving;             // has splits that are ready or sleep
    const VmInsn *resumed;   // where the running split began this time
    bool clock_fresh;        // %clock and the like may be read
    VmWarpAsync *async;      // async.h; NULL: never had any
    VmHeldLoad *held;        // by VmSpeculated.number; NULL: none yet
    uint32_t holding;        // no other lanes have any
    struct VmWeakWarp *weak; // weak.h; NULL: likewise
    VmActivation *root;
    VmJoin *free_joins;
    VmSplit splits[VM_LANES];
    VmJoin joins[2 * VM_LANES];
} VmWarpRest;

typedef struct VmBarrier {
    uint32_t arrived, expected; // threads; expected 0: all that have not exited
    uint32_t popc;              // of the predicates of .red
    bool not_all;               // one of them was false
    bool used;
} VmBarrier;

enum { VM_MBARS_KEPT = 32, TOLD_SHUFFLES = 8 };

struct VmBlock {
    VmLaunch *launch;
    uint64_t linear;
    uint32_t ctaid[3];
    uint32_t sm;
    VmCluster *cluster;
    uint32_t rank; // in the cluster
    bool ended;    // and kept only because others of the cluster run
    uint32_t n_warps, live_warps;
    uint32_t live_threads;
    uint32_t moving; // warps that are ready or sleep
    uint8_t *shared;
    uint64_t shared_bytes;
    VmBarrier barrier[VM_BARRIERS];
    uint64_t weak_since; // moment of its start: weak.h
    bool mbar_waiters;   // some split may be suspended at an mbarrier
    uint32_t n_mbars,
        mbars[VM_MBARS_KEPT]; // offsets of those that were initialized, and not invalidated since
    uint64_t async_ids;       // asynchronous operations so far
    VmAsyncOp *async_free;    // records
    VmWarpRest *warps;
    VmBlock *prev, *next; // resident list
};

// Blocks that start together and see each other's shared memory. Every block is in one, usually alone.
struct VmCluster {
    uint32_t n, running; // blocks; of those, not ended
    uint32_t live;       // threads that have not exited
    uint32_t arrived;    // of those, at the cluster barrier
    uint32_t phase;      // of that barrier: how often it was complete
    VmCluster *next_free;
    VmBlock *block[]; // by rank
};

typedef struct VmSleeper {
    uint64_t until, seq;
    VmWarpRest *warp;
    VmAsyncOp *op; // instead of a warp: this operation is due
} VmSleeper;

// A launch, or a share of one that is spread over several threads (spread.h).
struct VmLaunch {
    VmDevice *device;
    VmModule *module;
    VmFunc *kernel;
    uint64_t number;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t cluster_blocks; // 1 unless there are clusters
    uint32_t threads, warps_per_block, shared_dynamic, shared_bytes;
    uint64_t *clock_ps;      // the virtual clock that it moves
    struct VmSpread *in;     // of a share: what it is one of
    struct VmSpread *spread; // of a launch: its shares, if it has some
    uint64_t own_clock_ps;   // of a share
    uint64_t taken;          // of a share: the end of the blocks it has taken from the grid
    uint32_t share_state;
    uint32_t sms; // multiprocessors that it has to itself, for the clock
    uint64_t n_blocks, next_block, ended_blocks;
    uint64_t shuffle_by, shuffle_from; // the n-th cluster to start is number n * by + from; by 0: n
    uint32_t max_resident, resident;
    uint32_t stack_bytes; // per lane
    uint32_t peers;       // VmLaunchParams
    uint8_t *params;
    VmRange *param_range;
    VmRange *grid_workspace; // of a cooperative launch
    VmCache *caches;
    uint64_t caches_generation;
    uint8_t *extension_state; // extend.h: of this launch
    Rng rng, sleep_rng, async_rng, hold_rng;
    struct VmHeld *held; // hold.c; NULL: nobody ever was
    uint32_t n_held, held_in_vain;
    uint8_t way, stay,
        late; // hold.c: who is released; of four pauses so many stay; of eight warps so many begin late
    bool late_stay;
    uint32_t rank; // among the device's launches
    uint64_t held_ids;
    VmWarp *turn;             // whose it is; NULL: nobody's
    VmWarp *running;          // by a policy that is strict: whose quantum may be cut short
    uint32_t cut;             // by so many instructions
    int32_t access_countdown; // memory accesses until one is preceded by a seeded switch or split
    uint32_t n_hooks;         // how many of those came sooner than configured
    VmWarpRest **warp;        // all there are, by id
    uint32_t *ready;          // ids of those that could run (ready.h)
    VmReadyLink *link;        // by id
    uint32_t n_warps_made;
    uint32_t n_ready;
    uint32_t oldest, newest; // ids
    uint32_t start_in;       // turns until a block starts though others could run
    uint32_t chosen;         // whose turn is next if it can run then; or none
    uint32_t pick;
    VmSleeper *sleepers; // a heap
    uint32_t n_sleepers, cap_sleepers;
    uint64_t sleeper_seq;
    VmCluster *free_clusters;
    VmBlock *blocks; // resident, not ended
    VmActivation *free_acts;
    void **frame_pools; // by function index: free frames
    VEC(void *) owned;  // frames, stacks, blocks: freed with the launch
    bool started, done, faulted, explicit_cluster, cooperative;
    VmFault fault;
    uint64_t start_ns, end_ns;
    uint64_t instructions, undefined_collectives;
    const VmInsn *told_shuffle[TOLD_SHUFFLES]; // by place: the last that observers were told of
    VmLaunch *next;
};

struct VmDevice {
    VmConfig config;
    VmProps props;
    VmMem *mem;
    Rng rng;
    uint64_t now_ps;
    VEC(VmObserver) observers;
    bool listens_access, listens_sync, listens_async, listens_window;
    bool listens_always; // somebody wants all accesses
    bool glances;        // some observer has a glance
    uint64_t n_windows;  // that were opened
    VmLaunch *active;    // in order of submission
    VmModule *modules;
    uint32_t code_next;
    uint64_t heap_used;
    void (*print)(void *user, const char *text, size_t len, uint64_t cost);
    void *print_user;
    uint32_t stack_limit;
    struct VmWeak *weak; // weak.h; NULL: accesses are sequentially consistent
    unsigned n_extensions;
    void *extension_state[VM_EXTENSIONS]; // of those in config.extensions
    const struct VmPolicy *policy;        // policy.h; NULL: the default schedule
    struct VmPct *pct;                    // of policy_pct.c
    uint64_t executed,
        held_until; // hold.c: warp instructions, and at which number of them somebody has been held long enough
    uint64_t quiet_until; // likewise, if nobody was held or released meanwhile
    uint32_t n_held;
    VmStuck stuck;
    struct VmTeam *team; // threads that run shares; NULL: none were needed yet
};

// Without an instruction for it, counting bits is a call.
static inline uint32_t count_lanes(uint32_t mask) {
    return mask == UINT32_MAX ? VM_LANES : (uint32_t)__builtin_popcount(mask);
}

static inline VmWarpRest *rest_of(VmWarp *w) { return (VmWarpRest *)(void *)w; }
static inline VmSplit *split_of(VmWarp *w) {
    VmWarpRest *r = rest_of(w);
    return &r->splits[r->cur];
}

// The k-th lane to commit when lanes of one instruction conflict: chunks of eight from a seeded start, and within
// each the lanes from another. The same on every path that an instruction may take through the device.
static inline unsigned commit_lane(unsigned k, unsigned rotate) { return gr_vm_commit_lane(k, rotate); }

// Leaves the inner loop; the running split continues at `pc`.
static inline const VmInsn *stop_at(VmWarp *w, const VmInsn *pc, VmStop why) {
    split_of(w)->pc = pc;
    w->stop = (uint8_t)why;
    return NULL;
}

// ---- split.c ---------------------------------------------------------------------------------------------

// The running split becomes two: `mask` (within the split's lanes) goes to `pc`, the rest to `rest_pc`. They
// are expected to meet at `rejoin` (NULL: where the function returns to). Leaves the inner loop.
const VmInsn *gr_vm_diverge(VmWarp *w, uint32_t mask, const VmInsn *pc, const VmInsn *rest_pc,
                            const VmInsn *rejoin);
// Takes the lanes `mask` out of split `s` into a new one that is otherwise the same. Returns its number.
uint32_t gr_vm_split_off(VmWarpRest *r, uint32_t s, uint32_t mask);
void gr_vm_push_join(VmWarpRest *r, uint32_t s, const VmInsn *rejoin);
// Removes split number s; the last split takes its number.
void gr_vm_split_remove(VmWarpRest *r, uint32_t s);
void gr_vm_split_set_state(VmWarpRest *r, uint32_t s, VmSplitState state);
// Merges ready splits that stand at the same place.
void gr_vm_merge_ready(VmWarpRest *r);
// Lanes left the joins of this chain for good.
void gr_vm_leave_joins(VmWarpRest *r, VmJoin *from, const VmJoin *until, uint32_t lanes);
// Nobody can run in this warp or patience is at an end: waiting splits go on alone. True if one did.
bool gr_vm_joins_expire(VmWarpRest *r, bool all);
void gr_vm_lanes_exit(VmWarp *w, uint32_t lanes);
void gr_vm_join_unref(VmWarpRest *r, VmJoin *j);
// Two splits become one, whose kin these are.
static inline uint32_t gr_vm_common_kin(const VmSplit *a, const VmSplit *b) {
    return (a->kin | b->kin) & ~(a->mask | b->mask);
}

// ---- gather.c --------------------------------------------------------------------------------------------

// Before instruction `i`, which shows the program which lanes are together: whether the running split has to wait for its kin
// first. Then it comes to `i` again.
bool gr_vm_gathers(VmWarp *w, const VmInsn *i);
// Splits that wait for kin which can no longer come, or for too long, go on. True if one did.
bool gr_vm_gather_settle(VmWarpRest *r);

// ---- sched.c ---------------------------------------------------------------------------------------------

bool gr_vm_sleep_until(VmWarpRest *r, uint64_t until); // picoseconds
// gr_vm_async_due(op, alarm) at that time. The alarm's number; 0: out of memory.
uint64_t gr_vm_alarm(VmLaunch *l, uint64_t until, VmAsyncOp *op);
gr_status gr_vm_start_cluster(VmLaunch *l, gr_error *err); // block.c: its next blocks
void gr_vm_block_end(VmBlock *b);
void gr_vm_launch_finish(VmLaunch *l);
gr_status gr_vm_launch_reserve(VmLaunch *l,
                               gr_error *err); // what every launch and every share needs for itself
void gr_vm_launch_release(VmLaunch *l);        // that, and what its blocks took
void gr_vm_draw_countdown(VmLaunch *l);        // hooks.c
void gr_vm_load_split(VmWarpRest *r);          // VmWarp from the split that r->cur names
VmLaunchEvent gr_vm_launch_event(const VmLaunch *l);
uint64_t gr_vm_turn(VmLaunch *l); // the number of warp instructions executed
void gr_vm_wake(VmLaunch *l, uint64_t now_ps);
void gr_vm_hold_end(VmLaunch *l); // hold.c: nobody is held any more

// ---- block.c ---------------------------------------------------------------------------------------------

void *gr_vm_own(VmLaunch *l, size_t bytes); // zeroed, aligned to 64, freed with the launch
VmActivation *gr_vm_activation(VmWarpRest *r, VmFunc *f, VmActivation *caller); // NULL: out of memory
void gr_vm_activation_free(VmLaunch *l, VmActivation *a);
uint8_t *gr_vm_local(VmWarpRest *r); // the warp's stacks; NULL: out of memory

// ---- shared.c --------------------------------------------------------------------------------------------

typedef enum VmSharedMiss {
    VM_SHARED_FOUND,
    VM_SHARED_OUTSIDE, // runs over the end of that block's shared memory
    VM_SHARED_NO_BLOCK,
    VM_SHARED_ENDED, // the block's threads have all exited
} VmSharedMiss;

// Where the `size` bytes at `offset` of the shared window are, for the blocks of cluster c. NULL: *miss says why.
// *owner is the block whose memory it is, NULL when there is none.
uint8_t *gr_vm_shared_find(const VmCluster *c, uint64_t offset, uint64_t size, VmBlock **owner,
                           VmSharedMiss *miss);
// Faults for lane `lane`, which `did` ("read", "wrote", …) `size` bytes at `offset` of the window and found none.
// Returns NULL.
const VmInsn *gr_vm_shared_fault(VmWarp *w, const VmInsn *i, int lane, const char *did, uint64_t offset,
                                 uint64_t size);

// ---- fill.c ----------------------------------------------------------------------------------------------

void gr_vm_fill(uint8_t *frame, const VmFill *f, uint32_t n, VmWarpRest *r, const VmActivation *a);

// ---- fault.c ---------------------------------------------------------------------------------------------

// Ends the launch. `lane` is the thread to blame, -1 for the first active one. Returns NULL with w->stop set.
const VmInsn *gr_vm_fault(VmWarp *w, const VmInsn *i, VmFaultKind kind, int lane, uint64_t address,
                          const char *fmt, ...) __attribute__((format(printf, 6, 7)));
// misuse.c: tells observers that `threads` threads did it at once, of which `lane` is one; the launch goes on.
void gr_vm_misuse(VmWarp *w, const VmInsn *i, VmMisuse kind, unsigned lane, uint32_t threads, const char *fmt,
                  ...) __attribute__((format(printf, 6, 7)));
void gr_vm_misuse_fault(const VmLaunch *l, VmMisuse kind);
// A fault that is one. Yields NULL.
#define gr_vm_fault_misuse(w, i, misuse, ...)                                                                \
    (rest_of(w)->launch->faulted ? gr_vm_fault((w), (i), __VA_ARGS__)                                        \
                                 : (gr_vm_fault((w), (i), __VA_ARGS__),                                      \
                                    gr_vm_misuse_fault(rest_of(w)->launch, (misuse)), (const VmInsn *)NULL))
void gr_vm_deadlock(VmBlock *b);
void gr_vm_endless(VmBlock *b);    // its threads wait or poll, and nothing can change
void gr_vm_timeout(VmWarpRest *r); // the watchdog's; r ran last
void gr_vm_fault_launch(VmLaunch *l, VmFaultKind kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void gr_vm_thread_of(const VmWarpRest *r, unsigned lane, uint32_t thread[3]);
bool gr_vm_is_inserted(const VmFunc *f); // extend.c: part of a device runtime, not of the program

// ---- barrier.c, collective.c -----------------------------------------------------------------------------

void gr_vm_barrier_recheck(VmBlock *b); // threads exited
bool gr_vm_barrier_complete(const VmBlock *b, uint32_t n);
void gr_vm_cluster_exit(VmWarpRest *r, uint32_t lanes);
void gr_vm_cluster_recheck(VmCluster *c);
bool gr_vm_waits_for_cluster(const VmBlock *b); // at the barrier of its cluster
bool gr_vm_cluster_stuck(const VmBlock *b);     // nobody in the block can move, nor can the cluster make it
void gr_vm_collective_recheck(VmWarpRest *r);   // lanes exited

// ---- observe.c -------------------------------------------------------------------------------------------

void gr_vm_where(const VmWarpRest *r, const VmInsn *i, uint32_t mask, VmWhere *out);
// `barrier`: of VM_SYNC_FENCE_PROXY the proxy.
// Something is about to happen that orders what these lanes did before: loads whose fate is not known count, unless the lane
// is among `discards`.
void gr_vm_settle_loads(VmWarpRest *r, uint32_t mask, uint32_t discards);
// Whether accesses have to be told now.
bool gr_vm_wanted(const VmDevice *d, bool reads); // reads: such as do nothing else
void gr_vm_tell_closed(VmWarpRest *r, VmSplit *p);
// The split's lanes go on, or are no more.
static inline void gr_vm_close_window(VmWarpRest *r, VmSplit *p) {
    if (__builtin_expect(p->window != 0, 0))
        gr_vm_tell_closed(r, p);
}
void gr_vm_tell_sync(VmWarpRest *r, const VmInsn *i, uint32_t mask, VmSyncKind kind, uint32_t barrier,
                     PtxSem sem, PtxScope scope);
static inline void gr_vm_report_sync(VmWarpRest *r, const VmInsn *i, uint32_t mask, VmSyncKind kind,
                                     uint32_t barrier, PtxSem sem, PtxScope scope) {
    if (r->launch->device->listens_sync || r->holding) // whose loads are settled first
        gr_vm_tell_sync(r, i, mask, kind, barrier, sem, scope);
}

// ---- async.c, mbarrier.c ---------------------------------------------------------------------------------

void gr_vm_async_due(VmAsyncOp *op, uint64_t alarm);
void gr_vm_async_flush(VmBlock *b); // everything that the block has in flight happens
// A split that waits at an mbarrier, in words.
void gr_vm_mbar_describe(const VmWarpRest *r, const VmSplit *p, char *out, size_t cap);

#endif
