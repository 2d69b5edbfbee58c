// SPDX-License-Identifier: Apache-2.0
// memory — which instruction last wrote what host code reads: a walk backwards along the dominators.
#ifndef GR_ENGINES_VERIFIER_HOST_MEMORY_H
#define GR_ENGINES_VERIFIER_HOST_MEMORY_H

#include "engines/verifier/host/eval.h"

typedef enum WriteKind {
    WRITE_NONE,  // does not touch the bytes
    WRITE_STORE, // a store has all of them
    WRITE_COPY,  // a memcpy of known length has all of them
    WRITE_ZERO,  // a memset to 0
    WRITE_CALL,  // a call that writes them through its argument number `argument`, from there on
    WRITE_SOME,  // may have written them
    WRITE_MERGE, // several ways come together, and at least one of them writes: `block`
    WRITE_ENTRY, // nothing since the function began
} WriteKind;

typedef struct Write {
    WriteKind kind;
    const void *at; // the instruction, the block or the function: with the bytes it says which value this is
    LLVMValueRef instruction;
    uint64_t delta; // of the bytes, from the first that the instruction writes
    unsigned argument;
} Write;

// Which of its arguments a call writes through, a bit each. False: not known, the call may do anything. Functions of
// the CUDA runtime without a row in effects.def may: they copy what structures say, or capture launches that run more
// than once.
bool gr_write_mask(LLVMValueRef call, uint32_t *mask);
// What instruction `i` does to `size` bytes at `to` (a known offset).
Write gr_write_of(Eval *e, LLVMValueRef i, const Pointer *to, uint64_t size);
// The last write before instruction `before`.
Write gr_write_before(Eval *e, LLVMValueRef before, const Pointer *to, uint64_t size);

#endif
