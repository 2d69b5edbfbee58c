// SPDX-License-Identifier: Apache-2.0
// nvtx — the ranges of NVTX that a thread of the program stands in: nvtxRangePush and nvtxRangePop, of domains too.
// NVTX loads what NVTX_INJECTION64_PATH names, which is libgpurace.so, and asks it for its functions.
#ifndef GR_INJECT_NVTX_H
#define GR_INJECT_NVTX_H

#include "base/str.h"

// Whether the calling thread stands in a range with one of these names, with commas between.
bool gr_nvtx_is_in(const char *names);
// Appends the names of the calling thread's ranges, the outermost first, with / between.
void gr_nvtx_ranges(StrBuf *out);

#endif
