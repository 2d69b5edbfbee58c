// SPDX-License-Identifier: Apache-2.0
// ir — host code as LLVM IR: reads, links and simplifies bitcode, so that launches stand in main with their values.
#ifndef GR_ENGINES_VERIFIER_HOST_IR_H
#define GR_ENGINES_VERIFIER_HOST_IR_H

#include "base/arena.h"
#include "base/map.h"
#include "base/status.h"
#include "base/vec.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Ir {
    Arena arena;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetDataRef layout; // of the module
    Map kernels;              // host symbol of a kernel (function) -> the entry's name in PTX
    Map called;               // functions that other functions called before inlining
    Map variables;            // value -> name of the program's variable that has it
} Ir;

// Reads these bitcode files as one program.
gr_status gr_ir_read(Ir *ir, const char *const *bitcode, size_t n, gr_error *err);
void gr_ir_free(Ir *ir);
// Gives what an allocating call writes a variable of its own (slots.c).
void gr_ir_own_slots(Ir *ir);
// Marks for LLVM the loops to unroll: those without allocation or launch (unroll.c). *any: there are some. False: no
// memory.
bool gr_ir_mark_loops(Ir *ir, bool *any);
// Code that is elsewhere: a declaration, or a copy of a library's own inline function (atoi).
bool gr_ir_is_elsewhere(LLVMValueRef function);
// Whether the bitcode file defines main.
gr_status gr_ir_has_main(const char *bitcode, bool *has, gr_error *err);

// The function that an instruction calls; NULL: no call, or not known.
LLVMValueRef gr_ir_callee(LLVMValueRef instruction);
// The callee's name, "" where there is none.
const char *gr_ir_callee_name(LLVMValueRef instruction);
bool gr_ir_is_call(LLVMValueRef instruction);
// A kernel's stub, which host code calls to launch it.
bool gr_ir_is_stub(LLVMValueRef function);
// The PTX name of the kernel that a stub launches; NULL: not registered.
const char *gr_ir_stub_kernel(const Ir *ir, LLVMValueRef stub);
// Whether the stub gets parameter `k` by reference (structures).
bool gr_ir_stub_by_reference(LLVMValueRef stub, unsigned k);

static inline void *gr_ir_get(const Map *m, const void *key) {
    return gr_map_get_u64(m, (uint64_t)(uintptr_t)key);
}
static inline bool gr_ir_put(Map *m, const void *key, void *value) {
    return gr_map_put_u64(m, (uint64_t)(uintptr_t)key, value);
}

// Where an instruction stands in the user's own code: the innermost frame outside of the system's headers.
typedef struct IrPlace {
    const char *file, *function; // in the arena; NULL: not known
    uint32_t line;
} IrPlace;
IrPlace gr_ir_place(Ir *ir, LLVMValueRef instruction);

#endif
