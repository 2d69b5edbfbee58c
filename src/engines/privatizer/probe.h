// SPDX-License-Identifier: Apache-2.0
// probe — what the engine does in place of a launch: runs it on private copies, and then as the program asked.
#ifndef GR_ENGINES_PRIVATIZER_PROBE_H
#define GR_ENGINES_PRIVATIZER_PROBE_H

#include "engines/privatizer/prove.h"
#include "engines/privatizer/races.h"
#include "engines/privatizer/streams.h"

#include <pthread.h>

// A kernel's function in one context. The driver takes long to name it, so the last answer is kept.
typedef struct ProbedFunction {
    CUcontext context;  // NULL: none was
    uint64_t ended;     // contexts by then: another one may have the same address
    CUfunction of, its; // of: of a launch, which may be a CUkernel
    uint32_t shared;    // bytes of its variables
} ProbedFunction;

// A kernel as the pass left it.
typedef struct ProbedKernel {
    char *name, *shown; // shown: demangled
    char *why[2];       // why not for blocks, for warps; NULL: the code is there
    bool has_shared, writes_global, by_warps, orders, results, stages, tracks, pretends;
    bool meets, takes_turns, lanes, mbarriers;
    unsigned early_copies;           // as in PrivatizedKernel
    bool early_told;                 // the verdict names it
    uint32_t granule;                // as in GrPrivControl
    uint32_t near_shift, near_entry; // as in GrPrivNear
    bool dense, windows, whole; // it has code for GrPrivNear.units; for GrPrivWindow; for GrPrivControl.whole
    bool pads;                  // as in PrivatizedKernel
    bool far;                   // nothing is to be near
    bool wild[2];               // it goes elsewhere than what is known, as blocks, as warps
    bool told[2];               // the verdict names it
    uint32_t cluster[3];        // as its code says; zeros: it does not
    bool cut[2];                // the verdict says that it was not checked to its end
    bool reaches;               // more memory than its parameters point into
    PassRoom room[2];           // what its launches get, of blocks and of warps; 0: none came so far
    GrPlaces *places;           // NULL: nothing of its launches can be proved
    Proofs proofs;              // with Probe.lock
    KnownRaces known;           // with Probe.lock
    ProbedFunction function;    // with Probe.lock
} ProbedKernel;

// The variable of the module in one context.
typedef struct ProbedControl {
    CUcontext context;
    CUdeviceptr at;
} ProbedControl;

typedef struct ProbedModule {
    ProbedKernel *kernels;
    uint32_t n_kernels;
    bool *left_out;              // by site: races of it are not told
    uint8_t *targets;            // by site: Target
    VEC(ProbedControl) controls; // with Probe.memory
} ProbedModule;

// What there is of one context.
typedef struct ProbeContext {
    CUcontext context;
    CUfunction set, merge, check, merge_window, check_window, commit, gate;
    uint64_t budget, changes; // bytes of rows and tables; of Probe.ranges when that was found
    // Of the device; 0: the driver does not say. Of a block's shared memory: what the system has at its begin, and how
    // much a block can have.
    uint32_t reserved_shared, most_shared, multiprocessors, most_threads; // most_threads: of one of these
    Memory memory;
    bool failed;
} ProbeContext;

typedef struct Probe {
    GrSession *session;
    PrivatizerDriver driver;
    uint64_t copies; // --copies
    const Targets *targets;
    bool same_value, stop, proves;
    bool by_warps; // units are warps where they would be threads: of a block of one warp nothing is compared
    enum { PROBE_DETECT, PROBE_RACE_FREE, PROBE_DETERMINISTIC } what_for; // --privatize
    pthread_mutex_t lock;                                                 // of all below
    bool impatient;                                                       // work was not over in time
    VEC(ProbeContext *) contexts;
    uint64_t ended; // contexts
    ProbeStreams streams;
    pthread_mutex_t memory; // of `ranges` and of modules' controls
    Ranges ranges;
    // For the remarks at the end.
    bool tells; // --verbose: what blocks spend their time with
    uint64_t spent[GR_SPENT];
    uint64_t rounds, peak;
    uint64_t waited_ns,
        searched_ns; // the host's time with private runs; and, of that, with looking for accesses that race
    Proved known;    // of the launch that comes
    uint64_t proved; // launches of which something was proved
} Probe;

// Drops what was made in the context, which has ended.
void gr_probe_context_ended(Probe *p, CUcontext context);
CUresult gr_probe_launch(Probe *p, const GrLaunch *l, GrRun *run);
void gr_probe_finish(Probe *p);

#endif
