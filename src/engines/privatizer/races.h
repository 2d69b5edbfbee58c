// SPDX-License-Identifier: Apache-2.0
// races — which accesses made private copies differ: the launch is run on them again, and accesses are asked for. And what is written of them.
#ifndef GR_PRIVATIZER_RACES_H
#define GR_PRIVATIZER_RACES_H

#include "engines/privatizer/decode.h"
#include "engines/privatizer/passes.h"

// What became of the regions of a log in which copies differ.
typedef struct RacesFound {
    unsigned placed, unplaced; // regions with a pair of accesses that race, and without
    unsigned races;            // pairs of instructions that no launch had before
    unsigned cut;              // runs that asked for accesses and did not come to their end
    bool outside;              // one of them went to memory without private copies
} RacesFound;

// Finds the accesses behind what `log` says, writes them into the area, and adds to *found.
CUresult gr_races_find(Passes *p, const PassPlan *plan, const GrPrivLog *log, GrPrivateArea *area,
                       RacesFound *found);

#endif
