// SPDX-License-Identifier: Apache-2.0
// origin — which parameter of a kernel an address comes from.
//
// This goes by the text: what a register may hold is joined over all instructions that write it, whatever the order of
// execution. It is a guess, if a good one, as a kernel may make an address out of any number. An engine that relies on
// it has the kernel check that the address lies where it should.
#ifndef GR_PASSES_ORIGIN_H
#define GR_PASSES_ORIGIN_H

#include "ptx/ptx.h"

enum { ORIGIN_ROOTS = 32 };

// A parameter of the kernel, or 8 bytes of one, that holds a pointer; or a variable of the module.
typedef struct OriginRoot {
    const PtxVar *var;
    int64_t offset; // within the parameter
    bool pointer;   // the kernel takes it for a pointer to global memory
} OriginRoot;

typedef struct Origins {
    uint8_t *regs; // by PtxReg.index; an implementation's business
    uint32_t n_regs;
    OriginRoot roots[ORIGIN_ROOTS];
    uint32_t n_roots;
} Origins;

typedef enum OriginKind {
    ORIGIN_UNKNOWN,
    ORIGIN_ROOT,
    ORIGIN_PRIVATE, // a variable in local, shared, const or param space
} OriginKind;

// Follows the program's own statements of the kernel `f`. *out lives as long as `arena`. False: out of memory.
bool gr_origins_find(const PtxFunc *f, Arena *arena, Origins *out);

// Where the address operand comes from; *root: the number of an ORIGIN_ROOT.
OriginKind gr_origin_of(const Origins *o, const PtxOperand *address, uint32_t *root);

#endif
