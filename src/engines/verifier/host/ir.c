// SPDX-License-Identifier: Apache-2.0
#include "engines/verifier/host/ir.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 400 }; // instructions: a function up to that is inlined although it launches nothing

static void quiet(LLVMDiagnosticInfoRef info, void *user) {
    (void)info;
    (void)user;
}

static gr_status read_module(LLVMContextRef context, const char *file, LLVMModuleRef *out, gr_error *err) {
    LLVMMemoryBufferRef buffer = NULL;
    char *text = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(file, &buffer, &text)) {
        gr_status st = gr_fail(err, GR_ERR_IO, "%s: %s", file, text ? text : "cannot be read");
        LLVMDisposeMessage(text);
        return st;
    }
    int failed = LLVMParseBitcodeInContext2(context, buffer, out);
    LLVMDisposeMemoryBuffer(buffer);
    return failed ? gr_fail(err, GR_ERR_FORMAT, "%s: no LLVM bitcode that LLVM 19 reads", file) : GR_OK;
}

gr_status gr_ir_has_main(const char *bitcode, bool *has, gr_error *err) {
    LLVMContextRef context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(context, quiet, NULL);
    LLVMModuleRef m = NULL;
    gr_status st = read_module(context, bitcode, &m, err);
    if (st == GR_OK) {
        LLVMValueRef f = LLVMGetNamedFunction(m, "main");
        *has = f && !LLVMIsDeclaration(f);
        LLVMDisposeModule(m);
    }
    LLVMContextDispose(context);
    return st;
}

// ---- Calls ---------------------------------------------------------------------------------------------------------

bool gr_ir_is_elsewhere(LLVMValueRef f) {
    return LLVMIsDeclaration(f) || LLVMGetLinkage(f) == LLVMAvailableExternallyLinkage;
}

bool gr_ir_is_call(LLVMValueRef i) { return LLVMIsACallInst(i) || LLVMIsAInvokeInst(i); }

LLVMValueRef gr_ir_callee(LLVMValueRef i) {
    return gr_ir_is_call(i) ? LLVMIsAFunction(LLVMGetCalledValue(i)) : NULL;
}

const char *gr_ir_callee_name(LLVMValueRef i) {
    LLVMValueRef f = gr_ir_callee(i);
    size_t len;
    return f ? LLVMGetValueName2(f, &len) : "";
}

bool gr_ir_is_stub(LLVMValueRef f) {
    size_t len;
    return f && strstr(LLVMGetValueName2(f, &len), "__device_stub__");
}

#define EACH_INSTRUCTION(i, function)                                                                        \
    for (LLVMBasicBlockRef block_ = LLVMGetFirstBasicBlock(function); block_;                                \
         block_ = LLVMGetNextBasicBlock(block_))                                                             \
        for (LLVMValueRef i = LLVMGetFirstInstruction(block_); i; i = LLVMGetNextInstruction(i))

const char *gr_ir_stub_kernel(const Ir *ir, LLVMValueRef stub) {
    EACH_INSTRUCTION(i, stub) {
        for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(i); k++) {
            const char *name = gr_ir_get(&ir->kernels, LLVMGetOperand(i, k));
            if (name)
                return name;
        }
    }
    return NULL;
}

// A parameter by value is stored in a variable, whose address goes into the array of arguments. A parameter by
// reference goes there itself.
bool gr_ir_stub_by_reference(LLVMValueRef stub, unsigned k) {
    LLVMValueRef p = LLVMGetParam(stub, k);
    if (LLVMGetTypeKind(LLVMTypeOf(p)) != LLVMPointerTypeKind)
        return false;
    for (LLVMUseRef u = LLVMGetFirstUse(p); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef store = LLVMIsAStoreInst(LLVMGetUser(u));
        if (!store || LLVMGetOperand(store, 0) != p)
            continue;
        LLVMValueRef slot = LLVMIsAAllocaInst(LLVMGetOperand(store, 1));
        if (!slot || LLVMGetTypeKind(LLVMGetAllocatedType(slot)) != LLVMPointerTypeKind)
            return true; // an element of the array
    }
    return false;
}

// A constant string; NULL: none.
static const char *text_of(LLVMValueRef v) {
    v = LLVMIsAGlobalVariable(v);
    v = v ? LLVMGetInitializer(v) : NULL;
    size_t len;
    return v && LLVMIsAConstantDataArray(v) && LLVMIsConstantString(v) ? LLVMGetAsString(v, &len) : NULL;
}

static bool see_function(Ir *ir, LLVMValueRef f) {
    EACH_INSTRUCTION(i, f) {
        LLVMValueRef callee = gr_ir_callee(i);
        if (!callee)
            continue;
        if (callee != f && !gr_ir_put(&ir->called, callee, callee))
            return false;
        const char *name = gr_ir_callee_name(i), *kernel;
        if (strcmp(name, "__cudaRegisterFunction") || LLVMGetNumArgOperands(i) < 3 ||
            !(kernel = text_of(LLVMGetOperand(i, 2))))
            continue;
        if (!(kernel = gr_arena_strdup(&ir->arena, kernel)) ||
            !gr_ir_put(&ir->kernels, LLVMGetOperand(i, 1), (void *)(uintptr_t)kernel))
            return false;
    }
    return true;
}

// ---- Simplification ------------------------------------------------------------------------------------------------

static unsigned size_of(LLVMValueRef f) {
    unsigned n = 0;
    EACH_INSTRUCTION(i, f)
    n++;
    return n;
}

static bool calls_cuda(LLVMValueRef f, const Map *of) {
    EACH_INSTRUCTION(i, f) {
        LLVMValueRef callee = gr_ir_callee(i);
        const char *name = gr_ir_callee_name(i);
        if (!strncmp(name, "cuda", 4) || !strncmp(name, "__cudaPush", 10) || gr_ir_is_stub(callee) ||
            (callee && gr_ir_get(of, callee)))
            return true;
    }
    return false;
}

// Finds functions that come to the CUDA runtime, however far down.
static bool find_cuda(const Ir *ir, Map *of) {
    for (bool more = true; more;) {
        more = false;
        for (LLVMValueRef f = LLVMGetFirstFunction(ir->module); f; f = LLVMGetNextFunction(f)) {
            if (LLVMIsDeclaration(f) || gr_ir_get(of, f) || !calls_cuda(f, of))
                continue;
            if (!gr_ir_put(of, f, f))
                return false;
            more = true;
        }
    }
    return true;
}

static void set_attribute(Ir *ir, LLVMValueRef f, const char *name, bool on) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (on)
        LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(ir->context, kind, 0));
    else
        LLVMRemoveEnumAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind);
}

static bool mark_for_inlining(Ir *ir) {
    Map cuda = {0};
    bool ok = find_cuda(ir, &cuda);
    for (LLVMValueRef f = LLVMGetFirstFunction(ir->module); f && ok; f = LLVMGetNextFunction(f)) {
        size_t len;
        if (gr_ir_is_elsewhere(f)) {
            if (!LLVMIsDeclaration(f))
                set_attribute(ir, f, "noinline", true);
            continue;
        }
        if (!strcmp(LLVMGetValueName2(f, &len), "main"))
            continue;
        set_attribute(ir, f, "optnone", false);
        if (gr_ir_is_stub(f)) {
            set_attribute(ir, f, "alwaysinline", false);
            set_attribute(ir, f, "noinline", true);
        } else if (gr_ir_get(&cuda, f) || size_of(f) <= SMALL) {
            set_attribute(ir, f, "noinline", false);
            set_attribute(ir, f, "alwaysinline", true);
        }
    }
    gr_map_free(&cuda);
    return ok;
}

static gr_status run_passes(Ir *ir, const char *passes, gr_error *err) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef failed = LLVMRunPasses(ir->module, passes, NULL, options);
    LLVMDisposePassBuilderOptions(options);
    if (!failed)
        return GR_OK;
    char *text = LLVMGetErrorMessage(failed);
    gr_status st = gr_fail(err, GR_ERR_INTERNAL, "LLVM's passes: %s", text);
    LLVMDisposeErrorMessage(text);
    return st;
}

static gr_status simplify(Ir *ir, gr_error *err) {
#define CLEAN "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg)"
    // Inlined twice: a call by a pointer becomes a direct one when the function that makes it is inlined.
    gr_status st = run_passes(ir, "always-inline," CLEAN ",always-inline," CLEAN, err);
    bool unroll = false;
    if (st == GR_OK && !gr_ir_mark_loops(ir, &unroll))
        st = gr_fail(err, GR_ERR_NOMEM, "reading host code");
    if (st == GR_OK && unroll)
        st = run_passes(ir, "function(loop(loop-unroll-full))," CLEAN, err);
    if (st == GR_OK) {
        gr_ir_own_slots(ir);
        st = run_passes(ir, CLEAN, err);
    }
    return st;
}

// ---- Names of variables ---------------------------------------------------------------------------------------------

// The name in a DILocalVariable.
static const char *variable_name(Ir *ir, LLVMValueRef node) {
    unsigned n = (unsigned)LLVMGetMDNodeNumOperands(node), len;
    LLVMValueRef parts[16];
    if (n < 2 || n > 16)
        return NULL;
    LLVMGetMDNodeOperands(node, parts);
    const char *text = parts[1] ? LLVMGetMDString(parts[1], &len) : NULL;
    return text ? gr_arena_strndup(&ir->arena, text, len) : NULL;
}

static bool name_variable(Ir *ir, LLVMValueRef i) {
    const char *name = gr_ir_callee_name(i);
    if (strcmp(name, "llvm.dbg.value") && strcmp(name, "llvm.dbg.declare"))
        return true;
    LLVMValueRef what = LLVMGetOperand(i, 0), value = NULL;
    if (LLVMGetMetadataKind(LLVMValueAsMetadata(what)) !=
        LLVMLocalAsMetadataMetadataKind) // several values, or none
        return true;
    LLVMGetMDNodeOperands(what, &value);
    const char *variable = value && !LLVMIsConstant(value) ? variable_name(ir, LLVMGetOperand(i, 1)) : NULL;
    // The first named one: later ones are parameters of inlined functions, or copies.
    if (!variable || !strncmp(variable, "__", 2) || !strcmp(variable, "this") ||
        gr_ir_get(&ir->variables, value))
        return true;
    return gr_ir_put(&ir->variables, value, (void *)(uintptr_t)variable);
}

static bool name_variables(Ir *ir) {
    LLVMSetIsNewDbgInfoFormat(ir->module, 0); // as calls, which the C interface shows
    for (LLVMValueRef f = LLVMGetFirstFunction(ir->module); f; f = LLVMGetNextFunction(f)) {
        EACH_INSTRUCTION(i, f) {
            if (!name_variable(ir, i))
                return false;
        }
    }
    return true;
}

// ---- All of it ------------------------------------------------------------------------------------------------------

gr_status gr_ir_read(Ir *ir, const char *const *bitcode, size_t n, gr_error *err) {
    *ir = (Ir){0};
    gr_arena_init(&ir->arena);
    ir->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(ir->context, quiet, NULL);
    for (size_t k = 0; k < n; k++) {
        LLVMModuleRef m = NULL;
        GR_MUST(read_module(ir->context, bitcode[k], &m, err));
        if (!ir->module)
            ir->module = m;
        else if (LLVMLinkModules2(ir->module, m)) // takes m in every case
            return gr_fail(err, GR_ERR_FORMAT, "%s does not link with the files before it", bitcode[k]);
    }
    ir->layout = LLVMGetModuleDataLayout(ir->module);
    for (LLVMValueRef f = LLVMGetFirstFunction(ir->module); f; f = LLVMGetNextFunction(f)) {
        if (!see_function(ir, f))
            return gr_fail(err, GR_ERR_NOMEM, "reading host code");
    }
    if (!mark_for_inlining(ir))
        return gr_fail(err, GR_ERR_NOMEM, "reading host code");
    GR_MUST(simplify(ir, err));
    if (!name_variables(ir))
        return gr_fail(err, GR_ERR_NOMEM, "reading host code");
    return GR_OK;
}

void gr_ir_free(Ir *ir) {
    gr_map_free(&ir->kernels);
    gr_map_free(&ir->called);
    gr_map_free(&ir->variables);
    if (ir->module)
        LLVMDisposeModule(ir->module);
    if (ir->context)
        LLVMContextDispose(ir->context);
    gr_arena_free(&ir->arena);
}
