// SPDX-License-Identifier: Apache-2.0
// late — loads that the device tells late, in the oracle's trace: where they were made, and whether they are accesses
// at all.
//
// The device holds a load back until it is known whether the thread uses the value (ptx/speculate.h). The trace does
// not take its word for when that was. The kernel marks each such load and each choice by a load of its own, which the
// device tells at once (emit_meet.c). So the load has its place in the thread's program order. It is an access if the
// thread chose the value, or came to something that orders first.
#ifndef GR_TEST_ORACLE_LATE_H
#define GR_TEST_ORACLE_LATE_H

#include "kernel.h"
#include "trace.h"

typedef enum Fate { FATE_OPEN, FATE_USED, FATE_THROWN_AWAY } Fate;

typedef struct LateLoad {
    uint32_t thread, event, number;
    uint32_t way; // which of Late.coming the thread came to it with
    Fate fate;
    bool told;
} LateLoad;

// Lanes of a warp that come to one place, in one part or in several.
typedef struct Coming {
    uint64_t launch, block;
    uint32_t warp, site, lanes, parts;
    bool holds; // one of them holds a load back
} Coming;

typedef struct Late {
    VEC(LateLoad) loads;
    VEC(Coming) coming;
    // A bit for each MeetKind at which lanes came in parts, and one of them held a load back.
    uint64_t meetings;
    const char *wrong; // what the device told that cannot be; NULL: nothing
} Late;

Late *late_new(void);
void late_free(Late *l);
// Takes marks, and accesses that are told late. False: it is another access.
bool late_access(Trace *t, const VmAccessEvent *e);
// The thread comes to something that orders what it did.
void late_orders(Trace *t, uint32_t thread);
// An operation of the thread's arrives at an mbarrier.
void late_arrives(Trace *t, uint32_t thread);
// All has been told: what is an access becomes one.
void late_end(Trace *t);

#endif
