// SPDX-License-Identifier: Apache-2.0
// indirect — launches through a pointer to a kernel, as from a table of kernels: `way.kernel<<<grid, block>>>(d, n)`.
// The host code then has a configuration and, if it was taken, a call of a value. Each kernel with these parameters
// whose address the program takes may be meant.
#include "engines/verifier/host/find.h"

#include <string.h>

static bool is_push(LLVMValueRef v) { return !strcmp(gr_ir_callee_name(v), "__cudaPushCallConfiguration"); }

// The successor that a branch takes if the configuration that it looks at was taken; NULL: it looks at none.
static LLVMBasicBlockRef taken_side(LLVMValueRef end, LLVMValueRef *push) {
    LLVMValueRef c =
        LLVMIsABranchInst(end) && LLVMIsConditional(end) ? LLVMIsAICmpInst(LLVMGetCondition(end)) : NULL;
    if (!c || !is_push(LLVMGetOperand(c, 0)) || !LLVMIsNull(LLVMGetOperand(c, 1)))
        return NULL;
    *push = LLVMGetOperand(c, 0);
    LLVMIntPredicate p = LLVMGetICmpPredicate(c);
    return p == LLVMIntEQ ? LLVMGetSuccessor(end, 0) : p == LLVMIntNE ? LLVMGetSuccessor(end, 1) : NULL;
}

bool gr_find_is_indirect(const Eval *e, LLVMValueRef call) {
    LLVMValueRef push;
    if (!gr_ir_is_call(call) || gr_ir_callee(call) || LLVMIsAInlineAsm(LLVMGetCalledValue(call)) ||
        LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind)
        return false;
    uint32_t block = gr_eval_block(e, call);
    for (uint32_t b = block; b && b != FLOW_NONE;) {
        b = e->flow.blocks[b].idom;
        LLVMBasicBlockRef to = taken_side(LLVMGetBasicBlockTerminator(e->flow.blocks[b].block), &push);
        if (to)
            return gr_flow_edge_dominates(&e->flow, b, gr_flow_number(&e->flow, to), block);
    }
    return false;
}

// The stub that a kernel's own symbol calls.
static LLVMValueRef stub_in(LLVMValueRef f) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (gr_ir_is_stub(gr_ir_callee(i)))
                return gr_ir_callee(i);
    return NULL;
}

// A kernel's symbol may come into a pointer: the program does not only call, register or launch it.
static bool is_taken(LLVMValueRef f) {
    for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        const char *name = gr_ir_callee_name(user);
        if (gr_ir_callee(user) != f && strcmp(name, "__cudaRegisterFunction") &&
            strncmp(name, "cudaLaunch", 10))
            return true;
    }
    return false;
}

LLVMValueRef gr_find_meant(const Eval *e, LLVMValueRef call, LLVMValueRef after, const char **kernel,
                           LLVMValueRef *stub) {
    LLVMTypeRef type = LLVMGetCalledFunctionType(call);
    for (LLVMValueRef f = after ? LLVMGetNextFunction(after) : LLVMGetFirstFunction(e->ir->module); f;
         f = LLVMGetNextFunction(f)) {
        *kernel = gr_ir_get(&e->ir->kernels, f);
        if (!*kernel || LLVMGlobalGetValueType(f) != type || !is_taken(f))
            continue;
        // The stub gets what its caller got, if no structure is among it.
        *stub = stub_in(f);
        bool alike = *stub && LLVMGlobalGetValueType(*stub) == type;
        for (unsigned k = 0; alike && k < LLVMCountParams(*stub); k++)
            alike = !gr_ir_stub_by_reference(*stub, k);
        *stub = alike ? *stub : NULL;
        return f;
    }
    return NULL;
}
