// SPDX-License-Identifier: Apache-2.0
// ears — runs a small random kernel with both the causality engine and the oracle's trace listening to the same
// execution.
#ifndef GR_TEST_ORACLE_EARS_H
#define GR_TEST_ORACLE_EARS_H

#include "engines/exact/exact.h"
#include "kernel.h"
#include "model.h"
#include "vm/vm.h"

// Both hear of everything through one observer, because only one that is alone is given glances.
typedef struct Ears {
    VmObserver trace, exact;
    bool told; // the trace has the access already
} Ears;

VmObserver ears_observer(Ears *e, bool glances);
void ears_occurred(void *user, const ExactOccurrence *o); // user: RaceSet
VmConfig ears_config(uint64_t seed);                      // a schedule
void ears_launch(VmDevice *d, VmModule *m, const Kernel *k, uint64_t memory, bool *faulted);
_Noreturn void ears_die(const char *what, const gr_error *err);

#endif
