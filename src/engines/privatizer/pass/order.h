// SPDX-License-Identifier: Apache-2.0
// order — which strong accesses of a kernel may order what its threads do, besides the barriers that end regions.
//
// PTX ISA, "Causality order": what a thread did comes before what another one does if the first one fences, or
// releases, and then writes by a strong access, and the other one reads that, or what was made of it, by a strong
// access, and then fences, or acquires. So such a write needs an access before it, and such a read one behind it, all
// within one region.
#ifndef GR_ENGINES_PRIVATIZER_PASS_ORDER_H
#define GR_ENGINES_PRIVATIZER_PASS_ORDER_H

#include "engines/privatizer/pass/grid.h"
#include "engines/privatizer/pass/suits.h"

// By site of the module, GR_ORDERS_... (device/control.h) of a kernel's: [0] for clusters of the launch, by operations
// whose scope goes beyond one; [1] for warps, between barriers of the block, in all memory.
typedef struct GrRoles {
    uint8_t *of[2]; // NULL: there are none that matter
    bool orders[2]; // there are such reads and writes, so that units may order each other
} GrRoles;

// In `arena`. GR_ERR_NOMEM.
gr_status gr_code_find_order(const PtxFunc *f, const Liveness *live, uint64_t *set, const GrGrid *grid,
                             Arena *arena, GrRoles *out, gr_error *err);

#endif
