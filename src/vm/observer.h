// SPDX-License-Identifier: Apache-2.0
// observer — what an engine hears of an execution on the CPU device.
//
// Events come in the order in which the device performs them (executions are sequentially consistent), on the thread
// that drives the device, one per warp instruction, not per lane. Instructions that a pass inserted are not told: they
// are neither accesses nor order. A callback may be NULL. Nothing handed over outlives the call.
#ifndef GR_VM_OBSERVER_H
#define GR_VM_OBSERVER_H

#include "ptx/ptx.h"

typedef struct VmWhere {
    uint64_t launch;   // launch number, from 1, in submission order over the process
    uint32_t block[3]; // ctaid
    uint64_t block_linear;
    uint32_t warp;           // within the block
    uint32_t mask;           // lanes that take part
    uint32_t site;           // number of the site within `module`; 0 for barriers and fences
    const PtxModule *module; // as handed to gr_vm_module_load
    const PtxStmt *stmt;
} VmWhere;

typedef struct VmAccessEvent {
    VmWhere where;
    PtxAccess access;
    PtxSpace space; // resolved: GLOBAL, SHARED, LOCAL, CONST, PARAM; a generic access over several spaces
                    // comes as several events
    bool generic;   // the instruction used a generic address
    PtxSem sem;     // PTX_WEAK for plain ld and st
    PtxScope scope;
    uint32_t size;           // bytes per lane, all vector elements together
    const uint64_t *address; // [32]; for shared memory the offset within the owner's
    uint64_t owner;          // SHARED: linear index of the block whose memory it is: another one of the
        // cluster, or where.block_linear. An access to several blocks comes as several events
    uint32_t turn; // in which order the lanes perform it: gr_vm_commit_lane
    // Stores that a warp's lanes make from registers: whether memory holds bytes [from, from + n) of the value of lane
    // `lane` already, after the lanes that come before it in that order. NULL: not known.
    bool (*same)(const struct VmAccessEvent *e, unsigned lane, uint32_t from, uint32_t n);
    const void *warp, *insn; // for it
    // A load that the compiler hoisted out of its guard (ptx/speculate.h) is told when it is known whether the lane
    // uses the value. That may be later, but comes before the lane does anything that orders. These lanes do not use
    // it.
    uint32_t discards;
    bool held; // such a load: others may have made accesses since
} VmAccessEvent;

// The lane that comes as number k (0 to 31) in the order `turn`.
static inline unsigned gr_vm_commit_lane(unsigned k, uint32_t turn) {
    return ((k / 8 + turn) % 4) * 8 + (k + (turn >> 2)) % 8;
}
// The numbers at which the lanes of `mask` come in that order, a bit for each.
static inline uint32_t gr_vm_commit_numbers(uint32_t mask, uint32_t turn) {
    uint32_t by = turn >> 2 & 7, octets = turn % 4 * 8, low = 0xff >> by;
    uint32_t m = mask >> octets | mask << (32 - octets) % 32;
    return (m >> by & low * 0x01010101) | (m << (8 - by) & (0xff ^ low) * 0x01010101);
}

// How the active lanes of one half of a warp lie: `base` is where lane 0 of the warp would be.
typedef enum VmShape {
    VM_SCATTERED, // not looked at, or in no order
    VM_STEPS,     // lane l is at base + l * size
    VM_SAME,      // all at base
} VmShape;

// A window: some lanes have made a weak access of the program's, and an extension (extension.h) has them wait behind
// it. It is open from then until the device executes anything else of those threads. So an access to the bytes
// meanwhile comes neither before their access nor after it in any order that synchronization makes. (If the threads'
// turn ends right after the access, others may run before the window opens. The statement holds then, too.) A generic
// access to several spaces, or to several blocks' shared memory, is several events with one id; so is a store of a
// matrix, which has several parts per lane. Local memory has no windows, nor has a wait that takes no time.
typedef struct VmWindowEvent {
    uint64_t id; // of all windows of the process's devices
    bool opens;  // else it closes: nothing else is set. The end of a launch closes its windows without a word
    VmWhere where;    // the program's access; the lanes that made it
    PtxAccess access; // READ or WRITE
    PtxSpace space;   // GLOBAL or SHARED
    uint64_t owner;   // SHARED: as in VmAccessEvent
    uint32_t size;
    const uint64_t *address; // [32]
    // A load that the compiler hoisted out of its guard: whether it is one at all is told later, by an access event of
    // these lanes at this place (VmAccessEvent.discards).
    bool speculated;
} VmWindowEvent;

// What all accesses of one instruction have in common.
typedef struct VmSiteInfo {
    const PtxModule *module;
    const PtxStmt *stmt;
    uint32_t site, size; // as in VmAccessEvent; so are the next ones
    PtxAccess access;
    PtxSem sem;
    PtxScope scope;
    uint64_t memo[2]; // the observer's; 0 at first
} VmSiteInfo;

// An access before it becomes an event, for an observer that can often tell from less. Only of common instructions: all
// lanes lie in one space, in the block's own shared memory if that is shared. Constant memory counts as global.
typedef struct VmGlance {
    uint64_t launch, block_linear;
    VmSiteInfo *site;
    uint32_t warp, mask, turn;
    PtxSpace space; // GLOBAL or SHARED
    bool narrow;    // lanes are uint32_t[32], and so is the sum
    uint8_t shape[2];
    uint64_t base[2];
    const void *lanes; // uint64_t[32]; the addresses are these plus `offset`
    uint64_t offset;
    // Stores of at most 16 bytes by lanes that do not overlap: lanes[k] has those that find word k (of 4 bytes; of a
    // shorter store all) in memory already. NULL: not known.
    void (*same)(const struct VmGlance *g, uint32_t lanes[4]);
    const void *who, *insn; // for it
} VmGlance;

static inline uint64_t gr_vm_glance_at(const VmGlance *g, unsigned lane) {
    return g->narrow ? (uint32_t)(((const uint32_t *)g->lanes)[lane] + (uint32_t)g->offset)
                     : ((const uint64_t *)g->lanes)[lane] + g->offset;
}

typedef enum VmSyncKind {
    VM_SYNC_BARRIER_ARRIVE,
    VM_SYNC_BARRIER_RELEASE,
    VM_SYNC_WARP,
    VM_SYNC_FENCE,
    VM_SYNC_CLUSTER_ARRIVE,  // in phase `barrier` of the barrier of cluster `cluster`; sem RELEASE or RELAXED
    VM_SYNC_CLUSTER_RELEASE, // the lanes were told that phase `barrier` is complete; sem ACQUIRE
    VM_SYNC_FENCE_PROXY,     // fence.proxy.*: orders proxies, see `proxy`; sem and scope as written
    VM_SYNC_GRID_WAIT,       // griddepcontrol.wait: the grids that this one depends on are complete
} VmSyncKind;

typedef enum VmProxy {
    VM_PROXY_GENERIC, // loads, stores, atomics, cp.async, st.async, red.async
    VM_PROXY_ASYNC,   // cp.async.bulk and cp.reduce.async.bulk
    VM_PROXY_ALIAS,   // fence.proxy.alias
    VM_PROXY_TENSORMAP,
} VmProxy;

typedef struct VmSyncEvent {
    VmWhere where;
    VmSyncKind kind;
    // Named barrier number; phase, from 0, of a cluster's; WARP: all lanes that met, of which where.mask are some.
    uint32_t barrier;
    uint32_t count;   // BARRIER_ARRIVE: threads that the barrier is for; 0: all that have not exited
    bool waits;       // BARRIER_ARRIVE: not bar.arrive
    bool last;        // BARRIER_ARRIVE: it completes the phase
    uint64_t cluster; // linear index, x fastest, of the block's cluster; of the block itself without clusters
    PtxSem sem;       // fences and cluster barriers
    PtxScope scope;   // fences
    VmProxy proxy;    // FENCE_PROXY: ordered with the generic one
} VmSyncEvent;

// Asynchronous operations (cp.async, cp.async.bulk, cp.reduce.async.bulk, st.async, red.async) and mbarriers. An
// operation is ISSUEd, some time later READs its source, later still WRITEs its destination; several times over, as
// large ones are done in pieces and those of a warp's lanes may be done apart. How the operation completes says which
// threads then know what (VmCompletion).
typedef enum VmAsyncKind {
    VM_ASYNC_ISSUE,
    VM_ASYNC_READ,   // like an access
    VM_ASYNC_WRITE,  // like an access
    VM_ASYNC_COMMIT, // the lanes' operations since the last one are a group now; `completes`: of which kind
    VM_ASYNC_WAIT,   // the lanes know that all but their last `count` groups are complete (wait_all: 0)
    VM_MBAR_INIT,    // for `count` arrivals
    VM_MBAR_INVAL,
    VM_MBAR_EXPECT, // `count` more bytes
    VM_MBAR_ARRIVE, // `count` arrivals. With op: of cp.async.mbarrier.arrive, for the lane's operations up to op
    VM_MBAR_DROP,  // as VM_MBAR_ARRIVE, and not expected in later phases
    VM_MBAR_TX,    // `count` bytes completed. With op: by that operation, after its WRITE
    VM_MBAR_PHASE, // the phase is over: caused by the event before this
    VM_MBAR_WAIT,  // the lane was told that a phase is over: the one before `phase`
} VmAsyncKind;

typedef enum VmCompletion {
    VM_COMPLETES_UNSEEN,   // nothing tells (st.async and red.async to global memory)
    VM_COMPLETES_GROUP,    // cp.async.wait_group, cp.async.wait_all, cp.async.mbarrier.arrive
    VM_COMPLETES_BULK,     // cp.async.bulk.wait_group
    VM_COMPLETES_MBARRIER, // transactions on an mbarrier
} VmCompletion;

typedef struct VmAsyncEvent {
    VmWhere where; // of READ, WRITE and what they cause: of the instruction that issued the operation
    VmAsyncKind kind;
    VmCompletion completes;
    VmProxy proxy;  // of the operation
    uint64_t op;    // number of the operation within its block, in order of issue, from 1; 0 none
    bool read_only; // WAIT: .read, the sources have been read
    // READ and WRITE
    PtxAccess access;        // READ, WRITE, or RMW when it reduces
    PtxSpace space;          // GLOBAL or SHARED
    uint64_t block;          // SHARED: linear index of the block whose memory it is
    uint32_t size;           // bytes per lane; lanes whose source was ignored are not in where.mask of READ
    const uint64_t *address; // [32]
    bool partial;            // writes only some bytes of each 16 (.cp_mask)
    // WRITE of at most 16 bytes per lane: the lanes that found there already what they wrote, after the lanes that come
    // before them in that order (gr_vm_commit_lane).
    bool compared;
    uint32_t unchanged, turn;
    // ISSUE: the destination as above, and the source, NULL when that is registers. Lanes may read less than `size`
    // when source_bytes is not NULL.
    PtxSpace source_space;
    uint64_t source_block;
    const uint64_t *source;
    const uint8_t *source_bytes;
    // mbarriers: where, and in which phase (modulo 4) before the event. One event per lane.
    uint64_t bar_block, bar;
    uint32_t phase;
    uint32_t count;
    PtxSem sem;
    PtxScope scope;
} VmAsyncEvent;

typedef struct VmLaunchEvent {
    uint64_t launch;
    int device; // its index
    const PtxModule *module;
    const PtxFunc *kernel;
    uint32_t grid[3], block[3], cluster[3]; // cluster: 1 x 1 x 1 unless there are some
    uint32_t shared_bytes;                  // static and dynamic
    bool orders;                            // some of the code it may reach fences, releases or acquires
    bool bulk;                              // some of the code it may reach uses the async proxy
} VmLaunchEvent;

typedef enum VmMisuse {
#define MISUSE(id, number, text, meaning) VM_MISUSE_##id,
#include "vm/misuse.def"
#undef MISUSE
    VM_MISUSE_COUNT,
    // No misuse, as the result may be thrown away: a shuffle from a lane that does not execute it. Once per place.
    VM_SHUFFLE_OF_MISSING = VM_MISUSE_COUNT,
} VmMisuse;

// What is wrong in itself (misuse.def): done by one thread, which stands for those that do the same at once.
typedef struct VmMisuseEvent {
    VmMisuse kind;
    uint32_t threads; // that did it at once
    bool ends;        // the launch, as a fault
    uint64_t launch;
    uint32_t thread[3], block[3];
    const char *kernel, *function;
    const PtxStmt *stmt; // in `module`; NULL: not known
    const PtxModule *module;
    const char *detail; // "thread (0,0,0) of block (0,0,0) …", a sentence without its end
} VmMisuseEvent;

// A thread frees memory of the device's heap, which it or another had of malloc. It is gone after this.
typedef struct VmFreeEvent {
    VmWhere where; // of the call; one lane
    uint64_t address, size;
    const char *file; // NULL: not known
    uint32_t line, ptx_line;
    const char *function;
} VmFreeEvent;

// What threads that come to an access should do, under a schedule that can make them (VM_SCHEDULE_DIRECTED).
typedef enum VmWish {
    VM_WISH_NONE,   // no observer wishes anything of this run
    VM_WISH_NEW,    // no wish now, but an earlier schedule need not be tried again
    VM_WISH_PASSES, // go on: others are waited for
    VM_WISH_STOPS,  // wait, but not for threads that stay
    VM_WISH_STAYS,  // wait for all others
} VmWish;

typedef struct VmObserver {
    void *user;
    void (*launch_begin)(void *user, const VmLaunchEvent *e);
    void (*launch_end)(void *user, const VmLaunchEvent *e, bool faulted);
    void (*block_begin)(void *user, uint64_t launch, uint64_t block_linear);
    void (*block_end)(void *user, uint64_t launch, uint64_t block_linear);
    void (*access)(void *user, const VmAccessEvent *e);
    // Called before `access`, which is then only called when this says false.
    bool (*glance)(void *user, const VmGlance *g);
    // NULL: all accesses are told. Else two numbers that may change in any callback: accesses that read need not be
    // told while the first is 0, no others either while the second is; the second is not less than the first.
    const uint32_t *interest;
    void (*window)(void *user, const VmWindowEvent *e);
    void (*sync)(void *user, const VmSyncEvent *e);
    void (*async)(void *user, const VmAsyncEvent *e);
    void (*misuse)(void *user, const VmMisuseEvent *e);
    void (*freed)(void *user, const VmFreeEvent *e);
    // An access of one lane to an address at which no memory is, or none any more: it does not happen, and its launch
    // faults or goes on (VmConfig.pass_strays).
    void (*gone)(void *user, const VmAccessEvent *e);
    // Asked of a warp at an access, made or about to be; site 0: it begins. The highest wish of all observers counts.
    VmWish (*wish)(void *user, const VmWhere *where);
} VmObserver;

#endif
