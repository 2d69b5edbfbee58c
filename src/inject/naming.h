// SPDX-License-Identifier: Apache-2.0
// naming — notes in the results file which memory came and went, and which line of the program asked for it, so that a
// report can name an address. Never asks the driver: an execution stays the same. With the session's lock.
#ifndef GR_INJECT_NAMING_H
#define GR_INJECT_NAMING_H

#include "engines/core/memory.h"

void gr_naming_came(const GrRange *r);
// Notes that the memory at `at` went; there may be none.
void gr_naming_went(CUdeviceptr at);

#endif
