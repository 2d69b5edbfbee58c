// SPDX-License-Identifier: Apache-2.0
// registers — how many registers a thread may have so that every launch the program may make fits a multiprocessor.
#ifndef GR_PASSES_REGISTERS_H
#define GR_PASSES_REGISTERS_H

#include "ptx/ptx.h"

// Kernels that say nothing of their blocks get .maxnreg 64, unless some instruction needs more registers at once.
gr_status gr_registers_limit(PtxModule *m, gr_error *err);

// How many registers per thread every function of the module may have when it is compiled on its own, for all kernels
// to call (ptxas -c -maxrregcount). 255: there is no kernel. 0: some kernel leaves too few, or needs more at once.
unsigned gr_registers_most(const PtxModule *m);

#endif
