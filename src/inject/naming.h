// SPDX-License-Identifier: Apache-2.0
// naming — notes in the results file which memory came and went, and which line of the program asked for it, so that a
// report can say what an address is in. It never asks the driver: an execution stays the same. With the session's lock.
#ifndef GR_INJECT_NAMING_H
#define GR_INJECT_NAMING_H

#include "engines/core/memory.h"

void gr_naming_came(const GrRange *r);
// What began at `at` goes; none may.
void gr_naming_went(CUdeviceptr at);

#endif
