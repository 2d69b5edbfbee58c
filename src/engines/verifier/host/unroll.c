// SPDX-License-Identifier: Apache-2.0
// unroll — writes out loops that allocate. `for (double **p : {&a, &b}) cudaMalloc(p, n)` makes one allocation for each
// round, which the loop's one call does not show. LLVM writes a loop out if it goes round a constant number of times
// and is not large. Loops that launch stay loops: each of their launches is looked at once, for all rounds.
#include "engines/verifier/host/eval.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

static bool is_launch(LLVMValueRef i) {
    const char *name = gr_ir_callee_name(i);
    return gr_ir_is_stub(gr_ir_callee(i)) || !strncmp(name, "cudaLaunch", 10) ||
           !strncmp(name, "__cudaPush", 10);
}

static bool only_allocates(const Flow *f, const bool *in_loop) {
    bool allocates = false;
    for (uint32_t b = 0; b < f->n; b++) {
        LLVMValueRef i = in_loop[b] ? LLVMGetFirstInstruction(f->blocks[b].block) : NULL;
        for (; i; i = LLVMGetNextInstruction(i)) {
            unsigned slot;
            if (is_launch(i))
                return false;
            allocates |= gr_ir_is_call(i) && gr_eval_allocates(i, &slot);
        }
    }
    return allocates;
}

// What LLVM's pass shall do with the loop of a back edge: the loop's metadata, whose first operand is itself.
static void mark(LLVMContextRef c, LLVMValueRef end, const char *what) {
    LLVMMetadataRef text = LLVMMDStringInContext2(c, what, strlen(what)),
                    hint = LLVMMDNodeInContext2(c, &text, 1), self = LLVMTemporaryMDNode(c, NULL, 0),
                    parts[] = {self, hint}, loop = LLVMMDNodeInContext2(c, parts, 2);
    LLVMMetadataReplaceAllUsesWith(self, loop);
    LLVMSetMetadata(end, LLVMGetMDKindIDInContext(c, "llvm.loop", strlen("llvm.loop")),
                    LLVMMetadataAsValue(c, loop));
}

static bool mark_loops(LLVMContextRef c, const Flow *f) {
    bool any = false;
    for (uint32_t header = 0; header < f->n; header++) {
        const FlowBlock *b = &f->blocks[header];
        bool wanted = b->loop && only_allocates(f, b->loop);
        any |= wanted;
        for (uint32_t k = 0; b->loop && k < b->n_preds; k++)
            if (gr_flow_is_back_edge(f, b->preds[k], header))
                mark(c, LLVMGetBasicBlockTerminator(f->blocks[b->preds[k]].block),
                     wanted ? "llvm.loop.unroll.enable" : "llvm.loop.unroll.disable");
    }
    return any;
}

bool gr_ir_mark_loops(Ir *ir, bool *any) {
    *any = false;
    for (LLVMValueRef f = LLVMGetFirstFunction(ir->module); f; f = LLVMGetNextFunction(f)) {
        Flow flow = {0};
        bool ok = LLVMIsDeclaration(f) || gr_flow_init(&flow, f);
        if (ok && !LLVMIsDeclaration(f))
            *any |= mark_loops(ir->context, &flow);
        gr_flow_free(&flow);
        if (!ok)
            return false;
    }
    return true;
}
