// SPDX-License-Identifier: Apache-2.0
// order — which strong accesses of a kernel may order what its threads do, besides the barriers that end regions.
//
// PTX ISA, "Causality order": what a thread did comes before what another one does if the first one fences, or releases, and then writes by a strong access, and the other one reads that,
// or what was made of it, by a strong access, and then fences, or acquires. So such a write needs an access before it, and such a read one behind it, all within one region.
#ifndef GR_PRIVATIZER_PASS_ORDER_H
#define GR_PRIVATIZER_PASS_ORDER_H

#include "engines/privatizer/pass/suits.h"

// Sets roles[site] |= GR_ORDERS_READ, GR_ORDERS_WRITE (device/control.h) of the kernel's sites; `roles` has one for each site of the module. `warps`: between barriers of the block, in all memory;
// else in the whole launch, in memory that clusters share, by operations whose scope goes beyond a cluster. Gives whether there are both, so that threads may order each other.
bool gr_order_roles(const PtxFunc *f, const Liveness *live, uint64_t *set, bool warps, uint8_t *roles);

#endif
