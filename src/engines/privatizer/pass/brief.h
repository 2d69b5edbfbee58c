// SPDX-License-Identifier: Apache-2.0
// brief — kernels in which accesses are calls of the device runtime, in code that is made once for blocks and once for
// warps.
//
// Everywhere else the lookup stands in the code, so that most accesses call nothing, and there are copies of the code
// for launches of which more is known. That is some hundred instructions for each access and copy, and the driver
// compiles some 2000 instructions a second: of a sort by Thrust, with 2432 accesses in 19 kernels, nothing had run
// after 280 s on an H100. So the kernels with the fewest accesses have such code, up to MOST_OF_KERNEL in one and
// MOST_OF_MODULE in all of a module, and the others are brief.
#ifndef GR_ENGINES_PRIVATIZER_PASS_BRIEF_H
#define GR_ENGINES_PRIVATIZER_PASS_BRIEF_H

#include "ptx/ptx.h"

// By the index of a function, whether it is brief: *out, in `arena`. `marked`: those that are rewritten.
gr_status gr_code_find_brief(const PtxModule *m, const bool *marked, Arena *arena, bool **out, gr_error *err);

#endif
