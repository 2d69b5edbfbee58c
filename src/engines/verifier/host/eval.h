// SPDX-License-Identifier: Apache-2.0
// eval — what values of host code are, as terms, and where its pointers point.
//
// A value of LLVM IR stands for what it was when it was last computed before the launch. For all values that dominate
// the launch these go together: the last branch, the last phi and the last call are on one way to the launch. An
// unknown value is a symbol, and the same value is always the same symbol. So parameters and dimensions share what they
// share in the program.
#ifndef GR_ENGINES_VERIFIER_HOST_EVAL_H
#define GR_ENGINES_VERIFIER_HOST_EVAL_H

#include "engines/verifier/host/flow.h"
#include "engines/verifier/host/ir.h"
#include "engines/verifier/host/launch.h"

typedef enum PointsTo {
    POINTS_UNKNOWN, // base: the value that is the pointer
    POINTS_NULL,
    POINTS_STACK,  // base: an alloca
    POINTS_GLOBAL, // base: a variable
    POINTS_HEAP,   // base: a call of malloc or new
    POINTS_DEVICE, // base: a call of cudaMalloc and the like; `allocation`
    POINTS_PARAM,  // base: a parameter of the function; `allocation`
} PointsTo;

typedef struct Pointer {
    PointsTo to;
    LLVMValueRef base;
    const GrAllocation *allocation;
    const GrTerm *offset; // 64 bits; NULL: not known
} Pointer;

// What is known of a value that a loop changes, once control is behind `block`, the loop's header.
typedef struct LoopFact {
    uint32_t block;
    GrFact fact;
} LoopFact;

// A pointer argument of a launch.
typedef struct Open {
    size_t argument; // number of the launch's
    Pointer p;
} Open;

// What is known of one function that launches kernels. It lives while the function is looked at.
typedef struct Eval {
    Arena arena;
    GrTerms *t;
    GrHost *out;
    Ir *ir;
    Flow flow;
    LLVMValueRef function;
    unsigned classes;
    bool oom;
    int depth;
    Map terms;    // value -> term
    Map pointers; // value -> Pointer
    Map cells;    // key of what memory holds -> symbol or Pointer
    Map made;     // value -> allocation
    Map older;    // allocation -> the same of earlier rounds of a loop
    Map captured; // base -> YES or NO
    VEC(LoopFact) loops;
    VEC(Open) open;                 // of the present launch: of which nothing is known yet
    VEC(Open) made_by;              // of the present launch: to an allocation
    VEC(const GrSymbol *) statuses; // what calls of the runtime returned
} Eval;

// value.c
const GrTerm *gr_eval(Eval *e, LLVMValueRef v);                 // NULL: no integer of up to 64 bits
const GrTerm *gr_eval_half(Eval *e, LLVMValueRef v, bool high); // 32 bits of an i64 that packs two
// A fresh symbol, named after v; owner: launch.h.
const GrTerm *gr_eval_symbol(Eval *e, LLVMValueRef v, unsigned bits, const void *owner);
const GrTerm *gr_eval_op(Eval *e, GrTermOp op, const GrTerm *a, const GrTerm *b);
const GrTerm *gr_eval_const(Eval *e, unsigned bits, uint64_t value);
const char *gr_eval_name(Eval *e, LLVMValueRef v); // for people
// phi.c
const GrTerm *gr_eval_phi(Eval *e, LLVMValueRef phi);
// The number of a block of the function, which is reachable.
uint32_t gr_eval_block(const Eval *e, LLVMValueRef instruction);
bool gr_eval_condition(Eval *e, uint32_t from, uint32_t to,
                       const GrTerm **out); // what the edge needs; NULL: nothing known
void gr_eval_add_loop_fact(Eval *e, uint32_t header, const GrTerm *fact, const char *text);
// pointer.c
Pointer gr_eval_pointer(Eval *e, LLVMValueRef v);
bool gr_eval_same_base(const Pointer *a, const Pointer *b);
bool gr_eval_is_captured(Eval *e, const Pointer *p);
// The allocation that a call of the runtime makes in slot number `slot` of its arguments; NULL: it makes none.
const GrAllocation *gr_eval_allocation(Eval *e, LLVMValueRef call);
bool gr_eval_allocates(LLVMValueRef call, unsigned *slot);
// The allocation in earlier rounds of the loop that makes it.
const GrAllocation *gr_eval_older(Eval *e, const GrAllocation *a);
// memory.c
const GrTerm *gr_eval_load(Eval *e, const Pointer *at, unsigned bits, LLVMValueRef before, LLVMValueRef load);
Pointer gr_eval_load_pointer(Eval *e, const Pointer *at, LLVMValueRef before, LLVMValueRef load);
// How many bytes, at most `most`, one store wrote from `at` on; 0: not known. *pointer: the store wrote a pointer.
unsigned gr_eval_piece(Eval *e, const Pointer *at, unsigned most, LLVMValueRef before, bool *pointer);

#endif
