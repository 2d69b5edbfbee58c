// SPDX-License-Identifier: Apache-2.0
// order — what stands in a block of the graph that orders accesses, and the accesses, in program order.
#ifndef GR_ENGINES_VERIFIER_KERNEL_ORDER_H
#define GR_ENGINES_VERIFIER_KERNEL_ORDER_H

#include "engines/verifier/kernel/values.h"

typedef struct Event {
    const KStmt *stmt;
    GrBarrier *barrier; // NULL: none
    // NULL: none. Neither: cp.async.commit_group, cp.async.wait_group, cp.async.wait_all.
    GrKernelAccess *access;
} Event;

typedef struct Events {
    VEC(Event) list;
} Events;

// Finds what may run during a copy: barriers for its `after`, its thread's accesses for its `flights`. False: no
// memory.
bool gr_flights(KWalk *w, const Events *events);

#endif
