// SPDX-License-Identifier: Apache-2.0
// launch — the state of a launch: its blocks, its warps, which of them run and which sleep. Internal to the VM.
#ifndef GR_VM_CORE_LAUNCH_H
#define GR_VM_CORE_LAUNCH_H

#include "base/rng.h"
#include "base/vec.h"
#include "vm/core/block.h"

enum { TOLD_SHUFFLES = 8 };

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
    Rng rng, sleep_rng, async_rng, hold_rng, arrive_rng;
    struct VmArrivals *arrivals; // arrive.c; NULL: none yet
    struct VmHeld *held;         // hold.c; NULL: no warp ever was held
    uint32_t n_held, held_in_vain;
    uint8_t way, stay,
        late; // hold.c: which one is released; of four pauses so many stay; of eight warps so many begin late
    bool late_stay;
    uint32_t rank; // among the device's launches
    uint64_t held_ids;
    VmWarp *turn;             // the warp that runs; NULL: none
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

gr_status gr_vm_launch_reserve(VmLaunch *l,
                               gr_error *err); // what every launch and every share needs for itself
void gr_vm_launch_release(VmLaunch *l);        // that, and what its blocks took
gr_status gr_vm_begin(VmDevice *d, const VmLaunchParams *p, VmLaunch **out,
                      gr_error *err); // gr_vm_launch, of a kernel that is ready
void gr_vm_launch_finish(VmLaunch *l);
VmLaunchEvent gr_vm_launch_event(const VmLaunch *l);
gr_status gr_vm_start_cluster(VmLaunch *l, gr_error *err); // block.c: its next blocks
void *gr_vm_own(VmLaunch *l, size_t bytes); // block.c: zeroed, aligned to 64, freed with the launch
void gr_vm_draw_countdown(VmLaunch *l);     // hooks.c
void gr_vm_hold_end(VmLaunch *l);           // hold.c: no warp is held any more
// sched.c: how much virtual time, in ps, so many warp instructions take now; and a warp that is not running sleeps
// until then, as far as it is ready. False: it is not, or memory is out.
uint64_t gr_vm_time_of(const VmLaunch *l, uint64_t n);
bool gr_vm_warp_sleeps(VmWarpRest *r, uint64_t until);
bool gr_vm_sleeps_until(VmWarpRest *r, uint32_t s,
                        uint64_t until); // a split that sleeps; false: as long as before
void gr_vm_arrivals_end(VmLaunch *l);    // arrive.c: what it keeps is freed
uint64_t gr_vm_turn(VmLaunch *l);        // sched.c: the number of warp instructions executed
// sched.c: async.c's gr_vm_async_due(op, alarm) at that time. The alarm's number; 0: out of memory.
uint64_t gr_vm_alarm(VmLaunch *l, uint64_t until, VmAsyncOp *op);
void gr_vm_async_due(VmAsyncOp *op, uint64_t alarm);

#endif
