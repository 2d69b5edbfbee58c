// SPDX-License-Identifier: Apache-2.0
// slots — makes a value of what an allocating call writes. `cudaMalloc(&p, n)` takes the address of p, so p stays in
// memory, and what p is after a loop that swaps pointers would have to be followed there. With a variable of the call's
// own, and a copy to p behind the call, LLVM's passes make values of all of them.
#include "engines/verifier/host/eval.h"

#include <llvm-c/Core.h>
#include <string.h>

// Where the copy goes; NULL: nowhere that only this call leads to.
static LLVMValueRef behind(LLVMValueRef call) {
    if (!LLVMIsAInvokeInst(call))
        return LLVMGetNextInstruction(call);
    LLVMBasicBlockRef to = LLVMGetNormalDest(call);
    LLVMValueRef first = LLVMGetFirstInstruction(to);
    unsigned n = 0;
    for (LLVMUseRef u = LLVMGetFirstUse(LLVMBasicBlockAsValue(to)); u; u = LLVMGetNextUse(u))
        n++;
    return n == 1 && first && !LLVMIsAPHINode(first) ? first : NULL;
}

static LLVMValueRef variable_of(LLVMValueRef slot) {
    while (LLVMIsAGetElementPtrInst(slot))
        slot = LLVMGetOperand(slot, 0);
    return LLVMIsAAllocaInst(slot);
}

// The variable is this call's alone already.
static bool is_own(LLVMValueRef slot) {
    size_t len;
    return LLVMIsAAllocaInst(slot) && strstr(LLVMGetValueName2(slot, &len), ".sroa.slot");
}

static void give_own(LLVMBuilderRef b, LLVMValueRef call, unsigned k, LLVMTypeRef type) {
    LLVMValueRef slot = LLVMGetOperand(call, k), variable = variable_of(slot), next = behind(call);
    if (!variable || !next || is_own(slot))
        return;
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    char name[256];
    size_t len;
    const char *of = LLVMGetValueName2(variable, &len);
    snprintf(name, sizeof name, "%.200s.sroa.slot", of); // the part behind the dot is not for people
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    LLVMValueRef own = LLVMBuildAlloca(b, type, name);
    LLVMSetOperand(call, k, own);
    LLVMPositionBuilderBefore(b, next);
    LLVMBuildStore(b, LLVMBuildLoad2(b, type, own, of), slot);
}

void gr_ir_own_slots(Ir *ir) {
    LLVMBuilderRef b = LLVMCreateBuilderInContext(ir->context);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(ir->context, 0);
    for (LLVMValueRef f = LLVMGetFirstFunction(ir->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef at = LLVMGetFirstBasicBlock(f); at; at = LLVMGetNextBasicBlock(at))
            for (LLVMValueRef i = LLVMGetFirstInstruction(at); i; i = LLVMGetNextInstruction(i)) {
                unsigned k;
                if (gr_ir_is_call(i) && gr_eval_allocates(i, &k))
                    give_own(b, i, k, pointer);
            }
    LLVMDisposeBuilder(b);
}
