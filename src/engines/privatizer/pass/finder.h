// SPDX-License-Identifier: Apache-2.0
// finder — what the parts of places.c share while they look at a kernel.
#ifndef GR_ENGINES_PRIVATIZER_PASS_FINDER_H
#define GR_ENGINES_PRIVATIZER_PASS_FINDER_H

#include "base/vec.h"
#include "engines/privatizer/pass/places.h"

// What a register's value may have been computed from: pointers among the parameters, the address of a variable.
typedef struct Origin {
    uint64_t params;
    uint32_t var;
    bool lost; // it may be any address
} Origin;

typedef struct Finder {
    const Cfg *g;
    const PtxFunc *f;
    const GrGrid *grid;
    GrPlaces *out;
    VEC(GrPlaceNode) nodes;
    VEC(const PtxVar *) vars;
    const PtxStmt **def; // by PtxReg.index: its only definition
    bool *many;          // it has several
    uint32_t *node;      // of its value, and one; 0: not looked at
    Origin *origin;
    const PtxStmt *at; // where a number is used
    uint32_t steps;
    bool nomem;
} Finder;

// The destinations of an instruction: its first operand, if it has such; else NULL.
const PtxOperand *gr_find_destination(const PtxInstr *i);

// Of a register with several definitions, the one that comes last in front of f->at, if it is on the only way there.
// NULL: it is not known.
const PtxStmt *gr_find_definition(const Finder *f, const PtxReg *r);

// Which parameter a load of parameters reads; UINT32_MAX: none.
uint32_t gr_find_param(const Finder *f, const PtxInstr *i);

// numbers.c: the node of an operand, of so many bits, as f->at finds it; 0: not known.
uint32_t gr_find_number(Finder *f, const PtxOperand *o, unsigned bits);
// The node of the sum of an operand and a number.
uint32_t gr_find_sum(Finder *f, const PtxOperand *o, int64_t n, unsigned bits);

#endif
