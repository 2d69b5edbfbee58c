// SPDX-License-Identifier: Apache-2.0
// machine — what an operation of a term gives on a machine.
#ifndef GR_ENGINES_VERIFIER_TERM_MACHINE_H
#define GR_ENGINES_VERIFIER_TERM_MACHINE_H

#include "engines/verifier/term/term.h"

static inline uint64_t gr_mask_bits(uint32_t bits) {
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

// `bits`: the result's width; `from`: that of operands a and b (ITE: b and c; a is the condition). All zero-extended.
uint64_t gr_machine_op(GrTermOp op, uint32_t bits, uint32_t from, uint64_t a, uint64_t b, uint64_t c);

#endif
