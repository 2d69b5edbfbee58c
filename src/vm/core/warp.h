// SPDX-License-Identifier: Apache-2.0
// warp — the state of a warp: splits, joins, activations. Internal to the VM.
//
// A warp is a set of splits: lanes that share a pc and a function activation. The scheduler runs one split at a time;
// handlers see it through VmWarp, loaded from the split. While a split runs, the split itself holds the truth about its
// mask (a guard narrows only VmWarp.mask). Its pc is stale until the handler that stops, or the end of the quantum,
// writes it.
//
// Divergence pushes a VmJoin, the place where the lanes are expected to meet again (the immediate
// post-dominator). Waiting there is a courtesy, not a rule: see split.c.
#ifndef GR_VM_CORE_WARP_H
#define GR_VM_CORE_WARP_H

#include "ptx/speculate.h"
#include "vm/core/insn.h"
#include "vm/core/program.h"

#include <stddef.h>

enum { VM_BARRIERS = 16 }; // of a block

typedef struct VmBlock VmBlock;
typedef struct VmActivation VmActivation;
typedef struct VmAsyncOp VmAsyncOp;
typedef struct VmWarpAsync VmWarpAsync;

// Why a handler left the inner loop. The split's pc has been set by then.
typedef enum VmStop {
    VM_STOP_NONE,
    VM_STOP_SWITCH, // the split is ready; choose among the warp's splits again
    VM_STOP_YIELD,  // the split is ready; another split's turn
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
    bool again; // it stopped there without having executed it: the next visit is the same one
} VmSeenState;

// What a turn of a split that waits for no mbarrier reads and writes comes first, in one line of the cache.
typedef struct VmSplit {
    const VmInsn *pc;
    VmActivation *act;
    VmJoin *top;
    // SLEEP: time in ps; JOIN, GATHER: the warp's instruction count after which it goes on alone.
    uint64_t until;
    uint32_t mask;
    uint32_t kin; // lanes that would be with it, had the device not parted them
    uint32_t member;
    uint8_t state;
    uint8_t barrier;
    uint8_t mbar_tries;      // how often in a row its try_wait was in vain
    bool mbar_sleeps;        // suspended in mbar_insn, or about to look again after that
    const VmInsn *gathered;  // it has waited for them before this instruction, which is next
    uint64_t window;         // the window that is open while it waits; 0: none
    uint32_t mbar;           // offset of the mbarrier that it last asked in vain
    uint32_t pauses;         // hold.c: in how many it has been held
    uint64_t held;           // hold.c: which of those that are held; 0: none
    const VmInsn *mbar_insn; // by this instruction; NULL: the last answer was that the phase is over
} VmSplit;

// A speculated load of some lanes, until it is known whether they use the value.
typedef struct VmHeldLoad {
    const VmInsn *insn;
    uint32_t lanes, passed[SPEC_MAX]; // passed: those that have been at that decision since
    uint64_t generation;              // gr_vm_mem_generation when the first of the lanes loaded
    uint64_t address[VM_LANES];       // of the active lanes
} VmHeldLoad;

// What becomes of an access to where it may not go, under VmConfig.pass_strays (gr_vm_stray).
typedef enum VmStrays {
    VM_STRAYS_TOLD,  // it goes nowhere, and observers are told
    VM_STRAYS_QUIET, // no observer is told: the question is no access
    VM_STRAYS_FAULT, // a fault all the same: nothing can stand for what should be there
} VmStrays;

// What a turn touches lies in the first three lines of the cache and in that of the first split.
typedef struct VmWarpRest {
    VmWarp hot; // first: handlers get a pointer to it
    VmBlock *block;
    VmLaunch *launch;
    uint32_t n_splits, n_ready;
    uint32_t cur;        // the running split
    uint32_t ready_slot; // in launch->ready, UINT32_MAX: not there
    // Here begins the third line.
    uint64_t executed; // warp instructions, for the patience of rejoin points
    uint32_t n_sleeping, n_joining;
    uint32_t index;                         // within the block
    uint32_t id;                            // within the launch (VmLaunch.warp)
    uint32_t exists;                        // lanes the block has
    uint32_t live;                          // lanes that have not exited
    uint32_t rotate;                        // seeded: lane order of conflicting stores
    uint32_t holding;                       // no other lanes have loads in `held`
    uint32_t cluster_arrived, cluster_done; // lanes: in this phase, and of the last one not yet waited for
    const VmInsn *resumed;                  // where the running split began this time
    bool moving;                            // has splits that are ready or sleep
    bool clock_fresh;                       // %clock and the like may be read
    bool meets;                             // stuck.c: its lanes wait for each other
    uint32_t at_barrier[VM_BARRIERS];       // lanes that have arrived in this phase, exited ones too
    uint32_t patience, gather_patience;
    uint32_t look, ran,
        repeating;       // stuck.c: in look number `look`, lanes that ran, and that repeat what they do
    uint8_t strays;      // VmStrays
    bool looked, leaves; // arrive.c: it has polled, and saw that; and will stay behind its next fence
    uint64_t saw;        // arrive.c
    int64_t priority;    // policy_pct.c
    VmWarpAsync *async;  // async.h; NULL: never had any
    VmHeldLoad *held;    // by VmSpeculated.number; NULL: none yet
    struct VmStrayStores *stray_stores; // exec_mem.c; NULL: none
    struct VmWeakWarp *weak;            // weak.h; NULL: none yet
    VmActivation *root;
    VmJoin *free_joins;
    _Alignas(64) VmSplit splits[VM_LANES];
    VmJoin joins[2 * VM_LANES];
    VmSeenState seen[VM_LANES]; // of the splits, by their numbers
} VmWarpRest;

_Static_assert(offsetof(VmWarpRest, executed) == 128 && offsetof(VmWarpRest, at_barrier) == 188,
               "the third line");

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

// ---- split.c ---------------------------------------------------------------------------------------------------

// The running split becomes two: `mask` (within the split's lanes) goes to `pc`, the rest to `rest_pc`. They
// are expected to meet at `rejoin` (NULL: where the function returns to). Leaves the inner loop.
const VmInsn *gr_vm_diverge(VmWarp *w, uint32_t mask, const VmInsn *pc, const VmInsn *rest_pc,
                            const VmInsn *rejoin);
void gr_vm_split_set_state(VmWarpRest *r, uint32_t s, VmSplitState state);
// Merges ready splits that stand at the same place.
void gr_vm_merge_ready(VmWarpRest *r);
// Lanes left the joins of this chain for good.
void gr_vm_leave_joins(VmWarpRest *r, VmJoin *from, const VmJoin *until, uint32_t lanes);
// No split of this warp can run, or patience is at an end: waiting splits go on alone. True if one did.
bool gr_vm_joins_expire(VmWarpRest *r, bool all);
void gr_vm_lanes_exit(VmWarp *w, uint32_t lanes);
void gr_vm_join_unref(VmWarpRest *r, VmJoin *j);
// Two splits become one, whose kin these are.
static inline uint32_t gr_vm_common_kin(const VmSplit *a, const VmSplit *b) {
    return (a->kin | b->kin) & ~(a->mask | b->mask);
}

// ---- calls.c ---------------------------------------------------------------------------------------------------

// Whether the two splits stand at the same instruction, in the same call or in calls that can become one.
bool gr_vm_same_place(const VmSplit *p, const VmSplit *q);
// Unifies two splits at one place: q's call becomes p's, with all lanes in it.
void gr_vm_unify_calls(VmWarpRest *r, const VmSplit *p, const VmSplit *q);

// ---- gather.c --------------------------------------------------------------------------------------------------

// Before instruction `i`, which shows the program which lanes are together: whether the running split has to wait for
// its kin first. Then it comes to `i` again.
bool gr_vm_gathers(VmWarp *w, const VmInsn *i);
// Splits that wait for kin which can no longer come, or for too long, go on. True if one did.
bool gr_vm_gather_settle(VmWarpRest *r);

// ---- block.c, fill.c -------------------------------------------------------------------------------------------

VmActivation *gr_vm_activation(VmWarpRest *r, VmFunc *f, VmActivation *caller); // NULL: out of memory
void gr_vm_activation_free(VmLaunch *l, VmActivation *a);
uint8_t *gr_vm_local(VmWarpRest *r); // the warp's stacks; NULL: out of memory
void gr_vm_fill(uint8_t *frame, const VmFill *f, uint32_t n, VmWarpRest *r, const VmActivation *a);

// ---- sched.c, collective.c, cluster.c, mbarrier.c --------------------------------------------------------------

bool gr_vm_sleep_until(VmWarpRest *r, uint64_t until); // picoseconds
bool gr_vm_stays(VmWarpRest *r);              // arrive.c: behind a fence; true: the running split sleeps
void gr_vm_load_split(VmWarpRest *r);         // VmWarp from the split that r->cur names
void gr_vm_collective_recheck(VmWarpRest *r); // lanes exited
void gr_vm_cluster_exit(VmWarpRest *r, uint32_t lanes);
// A split that waits at an mbarrier, in words.
void gr_vm_mbar_describe(const VmWarpRest *r, const VmSplit *p, char *out, size_t cap);

#endif
