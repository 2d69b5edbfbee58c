// SPDX-License-Identifier: Apache-2.0
// wrote — which PTX texts this process's gpurace made, and which device runtimes they call but do not hold. The CPU
// device asks (gr_api_wrote, device_api/hooks.h), as what a text says of itself proves nothing.
#ifndef GR_INJECT_WROTE_H
#define GR_INJECT_WROTE_H

#include "ptx/ptx.h"

// A copy of what PtxModule.apart says, which stays as long as the process; NULL: memory is out.
struct GrApiRuntimes *gr_wrote_apart(const PtxApart *apart);

// Notes a text before the driver gets it, and what it is linked with. Any thread, no lock. False: out of memory.
bool gr_wrote(const char *text, size_t len, const struct GrApiRuntimes *runtimes);

#endif
