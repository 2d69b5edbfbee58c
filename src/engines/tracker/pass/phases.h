// SPDX-License-Identifier: Apache-2.0
// phases — loads of shared memory that barriers order behind and before every write: they race with nothing.
//
// If all threads of a block pass the same barriers of the whole block in the same order (uniform.h), two accesses of
// its shared memory meet only if the same barrier, or the kernel's begin, comes before both without another one
// between. A load needs no check if no write of shared memory comes behind any barrier behind which the load comes.
#ifndef GR_ENGINES_TRACKER_PASS_PHASES_H
#define GR_ENGINES_TRACKER_PASS_PHASES_H

#include "ptx/cfg.h"

// Sets still[site] of such loads of the kernel `f`; all are false before. Leaves those of other functions alone. False:
// out of memory.
bool gr_phases_find(const PtxFunc *f, const Cfg *g, Arena *arena, bool *still);

#endif
