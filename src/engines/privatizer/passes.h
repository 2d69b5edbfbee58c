// SPDX-License-Identifier: Apache-2.0
// passes — runs a launch on private copies: both passes, for blocks or for warps, once or in rounds (LDetector, sections 4.4 and 4.5).
#ifndef GR_PRIVATIZER_PASSES_H
#define GR_PRIVATIZER_PASSES_H

#include "engines/privatizer/memory.h"

typedef struct Passes {
    const PrivatizerDriver *d;
    const GrLaunch *launch;
    GrRun *run;
    const Layout *layout;
    CUdeviceptr control;     // the module's variable
    CUfunction merge, check; // device/privatizer_kernels.c
    Buffer *copies, *lines, *log, *extents;
    uint64_t budget;      // bytes of copies
    uint64_t most_copies; // --copies; 0: as many as fit
    uint64_t most_rounds; // of a loop
    // What became of it.
    uint64_t rounds, peak; // bytes
} Passes;

uint64_t gr_passes_blocks(const GrLaunch *l); // of the grid
uint64_t gr_passes_warps(const GrLaunch *l);  // of a block

// One level: `mode` GR_OF_BLOCKS or GR_OF_WARPS. *log is what was found, in all rounds until something was. With `ask`, only the round `*round` is run; else *round becomes
// the one in which something was found. The program's memory stays as it was. CUDA_ERROR_OUT_OF_MEMORY: there is no room for two copies.
CUresult gr_passes_run(Passes *p, uint32_t mode, const GrPrivAsk *ask, uint64_t *round, GrPrivLog *log);

// Whether two copies were found different.
bool gr_log_has_found(const GrPrivLog *log);

// How many rounds n units with m copies take: ceil(log_m n).
uint64_t gr_passes_rounds(uint64_t n, uint64_t m);

#endif
