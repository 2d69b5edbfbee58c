// SPDX-License-Identifier: Apache-2.0
// order — which instructions order accesses, and how (PTX ISA 8.8 and 9.7.13).
#ifndef GR_ENGINES_TRACKER_PASS_ORDER_H
#define GR_ENGINES_TRACKER_PASS_ORDER_H

#include "ptx/ptx.h"

// The GR_ORDER_ bits of the instruction (device/record.h); 0: it orders nothing. What PTX leaves open orders more
// rather than less: a scope that is not written is the system's, and a barrier of a counted number of threads is one of
// some threads.
uint32_t gr_tracker_order(const PtxInstr *i);

// The instruction may order anything, or calls what may.
bool gr_tracker_synchronizes(const PtxModule *m, const PtxStmt *s);

#endif
