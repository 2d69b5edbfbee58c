// SPDX-License-Identifier: Apache-2.0
// named — which variable or parameter the address of an access comes from, for people who read a report.
//
// This goes by the text, from the address backwards over what wrote its registers: sums with numbers keep a name,
// anything else loses it, and two different names make none. (passes/origin.h follows pointers forwards, for engines
// that rely on the answer.)
#ifndef GR_PASSES_NAMED_H
#define GR_PASSES_NAMED_H

#include "ptx/ptx.h"

// One function, indexed.
typedef struct Named {
    const PtxFunc *f;
    uint32_t *first; // by PtxReg.index: 1 + the first of `defs` that writes it; 0: none
    uint32_t *next;  // of defs: 1 + another that writes the same register
    const PtxInstr **defs;
    uint32_t n_defs;
    struct NamedValue *values; // by PtxReg.index: what has been found out
} Named;

// Either may be unknown: NULL, 0.
typedef struct NamedAs {
    const PtxVar *variable; // of the module or the function
    uint32_t argument;      // of a kernel, from 1
} NamedAs;

// Indexes the program's own statements of `f`. *out lives as long as `arena`. False: out of memory.
bool gr_named_index(const PtxFunc *f, Arena *arena, Named *out);

// What the address that `s` accesses comes from; for a copy, the address that it writes.
NamedAs gr_named_at(const Named *n, const PtxStmt *s);

#endif
