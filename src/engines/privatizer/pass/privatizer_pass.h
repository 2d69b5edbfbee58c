// SPDX-License-Identifier: Apache-2.0
// privatizer_pass — the rewriting: each kernel gets up to five more copies of its code, which work on private copies of
// memory.
//
//     kernel:  which mode? ---> its own code, as it is
//              |  |
//              |  +-----------> code for blocks: global memory goes to the block's private copy
//              +--------------> code for warps: global and shared memory go to the warp's private copy;
//                             it runs from barrier to barrier, twice.
//                             There are two of it: for launches of which all is known (Code.known), and for all others
//
// Of both there may be one more, for units that have private copies of all memory that is written, at a constant
// distance (Code.dense). Kernels of very many accesses have just one of each (brief.h).
//
// The mode is a variable of the module, which the host sets before each launch (device/control.h). So the program's
// parameters, functions and launches stay what they are.
#ifndef GR_ENGINES_PRIVATIZER_PASS_PRIVATIZER_PASS_H
#define GR_ENGINES_PRIVATIZER_PASS_PRIVATIZER_PASS_H

#include "engines/privatizer/pass/places.h"
#include "engines/privatizer/pass/suits.h"
#include "ptx/ptx.h"
#include "ptx/site_status.h"

typedef struct PrivatizedKernel {
    const PtxFunc *f;
    GrSuits blocks, warps; // no code was made for those that do not suit
    bool has_shared;       // it accesses shared memory, maybe by generic addresses
    bool writes_global;    // likewise it writes global memory
    bool updates;          // by atomic operations, or strong stores
    bool tracks;           // threads of a block may order what they do by strong accesses
    bool results;          // it uses what they give, or loads by strong loads
    bool orders;  // whose order decides what memory ends up with: sums of floating-point numbers, exchanges
    bool gathers; // lanes of a warp wait for each other: barriers of a warp, shuffles, votes
    // Units are warps: it has barriers of a warp, which order lanes, or matrices that its lanes have together; or it
    // was asked for.
    bool by_warps;
    // It runs once more as threads: with by_warps, its barriers of a warp can end regions; else it has mbarriers.
    bool lanes;
    bool mbarriers; // its threads arrive and wait at such
    bool meets;     // at barriers of the grid, which end regions of blocks
    // It uses results of atomic operations on memory that other blocks have. Between barriers of the grid these tell of
    // other blocks.
    bool takes_turns;
    // Of its cp.async, so many are done when they are started: races with them are not seen between threads.
    unsigned early_copies;
    bool pretends;    // on private copies it prints nothing, or has another clock
    bool stages;      // its warps need memory for matrices
    uint32_t granule; // as in GrPrivControl: the largest access, as a power of two
    uint32_t near_shift,
        near_entry; // as in GrPrivNear, by the smallest access to shared memory; near_entry 0: nothing is near
    bool dense;     // it has code for copies of all near memory (GrPrivNear.units)
    bool pads;      // likewise, and no shared memory: so that there is near memory a block gets some
    bool windows;   // it has code for blocks that have copies of windows (GrPrivWindow)
    bool whole;     // likewise, and for warps it is one region (GrPrivControl.whole)
    GrPlaces *places; // where its accesses go, in the module's arena; NULL: its text says too little
} PrivatizedKernel;

typedef struct PrivatizerOptions {
    const char *runtime, *suffix; // runtime.h
    bool by_warps;                // units are warps in all kernels
    // Sets marked[index] of the functions that are wanted. NULL: all are.
    void (*mark)(void *user, const PtxModule *m, bool *marked);
    // Whether the site's file is wanted: races of others are not told. NULL: all are.
    bool (*wanted)(void *user, const PtxModule *m, const PtxSite *site);
    void *user;
} PrivatizerOptions;

// "__gr7_control" of suffix "7", in `buf`.
const char *gr_privatizer_control_name(const char *suffix, char *buf, size_t size);

// Rewrites the module. *kernels: its kernels that are wanted, *n of them, in the module's arena. Sites of code that was
// made are GR_SITE_CHECKED.
gr_status gr_privatizer_rewrite(PtxModule *m, const PrivatizerOptions *o, GrSiteStatus *status,
                                PrivatizedKernel **kernels, uint32_t *n, gr_error *err);

#endif
