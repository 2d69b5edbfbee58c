// SPDX-License-Identifier: Apache-2.0
// calls — which functions of a module may be called as often as one likes: they compute alone.
#ifndef GR_ENGINES_PRIVATIZER_PASS_CALLS_H
#define GR_ENGINES_PRIVATIZER_PASS_CALLS_H

#include "ptx/ptx.h"

typedef struct GrCalls {
    bool *harmless;  // by PtxFunc.index
    bool by_address; // so are all that may be called by their address
} GrCalls;

// `out->harmless` is in `arena`. GR_ERR_NOMEM.
gr_status gr_calls_find(const PtxModule *m, Arena *arena, GrCalls *out, gr_error *err);

// Whether code for private copies calls the runtime's function of that name in place of the one without a body: it
// prints, or fails an assertion. NULL: it does not.
const char *gr_calls_instead(const PtxFunc *f);

bool gr_reads_clock(const PtxInstr *i);

// Whether it does nothing else, and half: how much of a clock of 64 bits it reads: 0: all, 1: the low half, 2: the high
// one.
bool gr_is_clock(const PtxInstr *i, unsigned *half);

#endif
