// SPDX-License-Identifier: Apache-2.0
// registers — how many registers each thread may have, so that every launch that the program may make still fits a multiprocessor.
#ifndef GR_PASSES_REGISTERS_H
#define GR_PASSES_REGISTERS_H

#include "ptx/ptx.h"

// Kernels that say nothing of their blocks get .maxnreg 64. Changes nothing in a module with instructions that need more registers at once.
gr_status gr_registers_limit(PtxModule *m, gr_error *err);

// With how many registers for each thread every function of the module can be compiled on its own, so that each kernel may call it (for ptxas -c
// -maxrregcount). 255 where there is no kernel. 0: some kernel leaves too few, or needs more at once.
unsigned gr_registers_most(const PtxModule *m);

#endif
