// SPDX-License-Identifier: Apache-2.0
// passes — runs a launch on private copies: both passes, for blocks or for warps, once or in rounds (LDetector,
// sections 4.4 and 4.5).
#ifndef GR_ENGINES_PRIVATIZER_PASSES_H
#define GR_ENGINES_PRIVATIZER_PASSES_H

#include "engines/privatizer/prove.h"
#include "engines/privatizer/targets.h"

// What is compared: blocks (GR_OF_BLOCKS); warps or threads of a block (GR_OF_WARPS); and, third (GR_LEVEL_LANES),
// threads: from barrier to barrier of their warp where the units were warps, or once more in kernels with mbarriers.
enum { GR_LEVEL_LANES = GR_OF_WARPS + 1, GR_LEVELS = GR_LOGS };

// Device memory of one context that is kept from launch to launch.
typedef struct Memory {
    Buffer rows, copies, marks, lists, numbers, notes, stage, shared, window, small, log, spent;
    uint64_t clean_numbers; // bytes of `numbers` that are 0
    bool logs_are_empty;
    GrPrivHeads *heads;   // of the logs, in the host's memory
    CUdeviceptr heads_at; // the GPU's address of heads
    uint64_t number;      // of launches so far
    struct Tables {       // for blocks, and for warps, whose layouts have shared memory
        Buffer tables, extents;
        uint64_t layout;  // the number of the layout that they are for, and of rows that are ready
        uint64_t n_clean; // of `tables`: no line has a row
    } of[2];
} Memory;

typedef struct Passes {
    const PrivatizerDriver *d;
    const GrLaunch *launch;
    const char *kernel; // as the verdict names it
    GrRun *run;
    CUfunction function; // the launch's, never a CUkernel
    CUevent behind;      // of the launch's stream; is recorded behind the launch itself
    const Layout *layout;
    CUdeviceptr control;                                                    // the module's variable
    CUfunction set, merge, check, merge_window, check_window, commit, gate; // device/privatizer_kernels.c
    Memory *memory;
    uint64_t budget;                       // bytes of rows and tables
    bool all;                              // all memory that is known has private copies
    uint64_t most_copies;                  // --copies; 0: as many as fit
    uint64_t clusters;                     // of the launch, which are its units; blocks, if there are none
    uint32_t cluster[3];                   // blocks of one
    uint64_t most_rounds;                  // of a loop
    uint32_t granule;                      // as in GrPrivControl
    bool meets;                            // blocks do, at barriers of the grid
    bool exchanges;                        // as in GrPrivControl, if there is room
    uint32_t block_shared, block_reserved; // then: as in GrPrivControl
    bool same_value;                       // stores of one value are races
    const Proved *proved;                  // of the launch
    bool known;                            // of all of the kernel's groups of loads
    bool dense, pads;     // it has code for copies of all near memory; as in PrivatizedKernel
    bool windows, whole;  // it has code for GrPrivWindow; as in GrPrivControl
    bool stores_known;    // GR_OF_WARPS: all stores to memory that is not shared are left out
    const bool *left_out; // by site: its races are not told
    const Targets *targets;
    const uint8_t *target_of; // by site: Target
    // Bytes of shared memory: what the driver reserves at its begin, where what the block has ends, and where what it
    // can have ends. The last is 0: nothing is to be near.
    uint32_t reserved_shared, own_shared, most_shared;
    uint32_t near_shift, near_entry;    // as in GrPrivNear; near_entry 0: nothing is near
    uint64_t most_slots;                // blocks that run at once, of whose warps or threads there are copies
    unsigned groups;                    // blocks of merge and check
    uint64_t *spent;                    // [GR_SPENT]: clock cycles are added; NULL: nobody wants to know
    GrPrivExpected expected[GR_LEVELS]; // of gr_passes_end(), by level
    // What came of the run.
    uint64_t again[GR_LEVELS]; // bits: which of these a launch that was not held has found
    uint64_t rounds, peak;     // bytes
    bool submitted[2];         // something has, for blocks, and for warps
} Passes;

uint64_t gr_passes_blocks(const GrLaunch *l);  // of the grid
uint64_t gr_passes_threads(const GrLaunch *l); // of a block

// How much there is room for: lines that the launch (GR_OF_BLOCKS) or a block (GR_OF_WARPS) writes; private copies of
// them; and notes.
typedef struct PassRoom {
    uint64_t rows, copies;
    uint64_t notes; // results that a thread notes in a region; 0: the kernel has none
    bool stage;     // and memory of each warp for matrices
} PassRoom;

// A thread that notes more in a region may wait for what never comes, and gets no more room.
enum { GR_MOST_NOTES = 2048 };

// Gets eight times as much of what `full` (GR_FULL_...) names. False: nothing needs so much.
bool gr_room_more(PassRoom *r, uint32_t full);
bool gr_room_exceeds(const PassRoom *r, const PassRoom *other); // in one of the three

// How one level is run: `units` share `copies`, in rounds of smaller and smaller groups.
typedef struct PassPlan {
    uint32_t mode, threads; // the level; threads: in a unit within a block, 32 or 1
    uint64_t units, copies, slots, rounds;
    uint32_t ready; // rows that each slot has from the begin
    bool exchanges; // GR_OF_WARPS: as in GrPrivControl
    // Each unit has a copy of all near memory (GrPrivNear.units), or of a window (GrPrivWindow), except in runs that
    // ask.
    bool dense;
    PassRoom room;
} PassPlan;

// Plans a level with that room, or with less if it cannot use more, and with fewer private copies if the device's
// memory is too small. False: it is too small for any.
bool gr_passes_plan(const Passes *p, uint32_t mode, uint32_t threads, PassRoom room, PassPlan *out);

// Plans the same level with more of what `full` names. False: there is no more, and the plan is as it was.
bool gr_passes_more(const Passes *p, PassPlan *plan, uint32_t full);

// Runs both passes of `rounds` rounds, from `first` on. *log is what they found; with `ask`, in one round of one block,
// what was asked for. The program's memory stays as it was.
CUresult gr_passes_run(Passes *p, const PassPlan *plan, uint64_t first, uint64_t rounds, const GrPrivAsk *ask,
                       GrPrivLog *log);

// Submits all rounds of one level, and does not wait.
CUresult gr_passes_submit(Passes *p, const PassPlan *plan);
// Behind all levels: submits the program's launch, which runs if the logs say only what is expected. With *held it did
// nothing, and the host can read the logs.
CUresult gr_passes_end(Passes *p, bool *held);
// Behind gr_passes_end(), with *held: sets *log to what the level says, but for what was asked for. False: nothing.
bool gr_passes_says(Passes *p, uint32_t mode, GrPrivLog *log);
// Launches run again behind it, after one was held.
CUresult gr_passes_release(Passes *p);
// Something failed, and its traces are unknown: the next launch makes anew all that is kept from launch to launch.
void gr_passes_forget(Passes *p);

// Plans a copy for each unit of all blocks. False: there is no room for them.
bool gr_passes_plan_once(const Passes *p, uint32_t threads, PassRoom room, PassPlan *out);
// Runs the launch itself, on private copies: each region once; what units wrote is merged in their order (section 4.6).
// The program's memory stays as it was if log->outside, log->over, log->apart or log->full say so, or the launch fails.
CUresult gr_passes_once(Passes *p, const PassPlan *plan, GrPrivLog *log);

// Adds the cycles that blocks have spent since the last call.
CUresult gr_passes_spent(Passes *p);

// The log has a difference between two copies.
bool gr_log_has_found(const GrPrivLog *log);

#endif
