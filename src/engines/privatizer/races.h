// SPDX-License-Identifier: Apache-2.0
// races — which accesses made private copies differ: the launch is run on them again, and accesses are asked for. And what is written of them.
#ifndef GR_PRIVATIZER_RACES_H
#define GR_PRIVATIZER_RACES_H

#include "engines/privatizer/decode.h"
#include "engines/privatizer/passes.h"

// Finds the accesses behind what `log` says of the round, and writes them into the area. *unplaced: of so many regions no pair was found. *n: so many races are new.
CUresult gr_races_find(Passes *p, const PassPlan *plan, uint64_t round, const GrPrivLog *log,
                       GrPrivateArea *area, unsigned *unplaced, unsigned *n);

#endif
