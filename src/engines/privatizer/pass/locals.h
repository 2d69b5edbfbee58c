// SPDX-License-Identifier: Apache-2.0
// locals — the kernel's local memory where regions begin and end: two more copies of each variable, one for what it was
// and one for what it became.
#ifndef GR_ENGINES_PRIVATIZER_PASS_LOCALS_H
#define GR_ENGINES_PRIVATIZER_PASS_LOCALS_H

#include "base/vec.h"
#include "engines/privatizer/pass/code.h"

typedef struct Locals {
    VEC(const PtxVar *) vars; // the owner frees it
} Locals;

typedef enum LocalCopy { GR_LOCALS_OWN, GR_LOCALS_KEPT, GR_LOCALS_NOTED } LocalCopy;

// Declares the copies, for this copy of the kernel's code. GR_ERR_NOMEM.
gr_status gr_locals_find(const Code *c, Locals *out);

// In front of `at`: all variables of one kind become what another kind is.
gr_status gr_locals_copy(const Code *c, const Locals *l, PtxStmt *at, LocalCopy to, LocalCopy from);

#endif
