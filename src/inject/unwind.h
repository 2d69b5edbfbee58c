// SPDX-License-Identifier: Apache-2.0
// unwind — the return addresses of the program's functions that lead to a call.
//
// Frames are unwound by their tables once. What is learnt is how far a function's return address lies from that of the
// function it called: this is the same each time for nearly all call sites. So a stack whose call sites are all known
// is walked from return address to return address. A call site at which the distance was seen to vary (alloca) is
// always unwound.
#ifndef GR_INJECT_UNWIND_H
#define GR_INJECT_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

enum { GR_UNWIND_MOST = 64 };

typedef struct GrUnwound {
    unsigned n;
    uintptr_t pc[GR_UNWIND_MOST]; // return addresses, the innermost first
} GrUnwound;

// The functions that lead to the one with the frame at `frame`. Any thread; takes no lock.
// False: tables were needed.
bool gr_unwind(const void *frame, GrUnwound *out);

// How often tables were needed.
uint64_t gr_unwindings(void);

#endif
