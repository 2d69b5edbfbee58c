// SPDX-License-Identifier: Apache-2.0
#ifndef GR_INJECT_FUNCTIONS_H
#define GR_INJECT_FUNCTIONS_H

#include "base/arena.h"
#include "findings/module_record.h"
#include "ptx/ptx.h"

// Sets m->functions, in `arena`, from the original module; m->n_kernels is known.
gr_status gr_describe_functions(const PtxModule *ptx, Arena *arena, GrModuleInfo *m, gr_error *err);

#endif
