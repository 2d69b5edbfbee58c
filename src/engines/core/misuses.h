// SPDX-License-Identifier: Apache-2.0
// misuses — writes misuses to the results file, as the CPU device tells them: wrong synchronization, stray accesses.
// Each kind and place has a record, written when it is first seen, and a count of threads in the file.
#ifndef GR_ENGINES_CORE_MISUSES_H
#define GR_ENGINES_CORE_MISUSES_H

#include "base/map.h"
#include "engines/core/race_writer.h"
#include "engines/core/selection.h"
#include "vm/observer.h"

// Ends with number 0.
extern const GrClass gr_misuse_classes[];

typedef struct Misuses {
    RaceWriter *writer;           // whose counts they share
    const GrSelection *selection; // of kernels; NULL: all
    Map places;                   // kind and place -> uint64_t *, what to count in
    Map shuffles;                 // places of those from missing lanes
    StrBuf shuffled;              // the first few of them, for the remark
    bool strays;                  // only misuses of accesses (VM_MISUSE_STRAY) are heard
    bool no_faults;               // misuses that end a launch, which is told as a fault, are left out
    bool incomplete;              // memory ran out
} Misuses;

// VmObserver.misuse of an observer whose user is a Misuses.
void gr_misuses_hear(void *misuses, const VmMisuseEvent *e);
// Listens with an observer of its own, from now on. Nothing happens where the device is another one.
gr_status gr_misuses_listen(Misuses *m, gr_error *err);
// The program ends: remarks on what is undefined and no misuse.
void gr_misuses_finish(Misuses *m);

#endif
