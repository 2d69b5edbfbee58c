// SPDX-License-Identifier: Apache-2.0
// place — from debug information to a line of the user's.
#include "engines/verifier/host/ir.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

static const char *file_of(Ir *ir, LLVMMetadataRef scope) {
    LLVMMetadataRef file = scope ? LLVMDIScopeGetFile(scope) : NULL;
    unsigned len = 0, in_len = 0;
    const char *name = file ? LLVMDIFileGetFilename(file, &len) : NULL;
    if (!name || !len)
        return NULL;
    const char *in = LLVMDIFileGetDirectory(file, &in_len);
    if (*name == '/' || !in || !in_len)
        return gr_arena_strndup(&ir->arena, name, len);
    return gr_arena_printf(&ir->arena, "%.*s/%.*s", (int)in_len, in, (int)len, name);
}

static bool is_users(const char *file) {
    // What cudafe++ writes, and headers of the toolkit and the system.
    static const char *const others[] = {
        ".cudafe1.",      ".stub.c", "/usr/include/", "/usr/lib/",       "/targets/x86_64-linux/include",
        "/cuda/include/", "/cccl/",  "/crt/",         "/cuda_runtime.h", "/lib/gcc/"};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        if (strstr(file, others[k]))
            return false;
    }
    return true;
}

// The name of the function that a scope is in: DISubprogram {file, scope, name, …}, DILexicalBlock {file, scope}.
static const char *function_of(Ir *ir, LLVMMetadataRef scope) {
    for (int depth = 0; scope && depth < 64; depth++) {
        LLVMMetadataKind kind = LLVMGetMetadataKind(scope);
        LLVMValueRef node = LLVMMetadataAsValue(ir->context, scope), parts[32];
        unsigned n = (unsigned)LLVMGetMDNodeNumOperands(node), len;
        if (n < 2 || n > 32)
            return NULL;
        LLVMGetMDNodeOperands(node, parts);
        if (kind == LLVMDISubprogramMetadataKind) {
            const char *text = n > 2 && parts[2] ? LLVMGetMDString(parts[2], &len) : NULL;
            return text ? gr_arena_strndup(&ir->arena, text, len) : NULL;
        }
        scope = parts[1] ? LLVMValueAsMetadata(parts[1]) : NULL;
    }
    return NULL;
}

IrPlace gr_ir_place(Ir *ir, LLVMValueRef i) {
    IrPlace first = {0};
    LLVMMetadataRef at = LLVMInstructionGetDebugLoc(i);
    for (int depth = 0; at && depth < 256; depth++, at = LLVMDILocationGetInlinedAt(at)) {
        LLVMMetadataRef scope = LLVMDILocationGetScope(at);
        const char *file = file_of(ir, scope);
        uint32_t line = LLVMDILocationGetLine(at);
        if (!file || !line)
            continue;
        bool users = is_users(file);
        if (users || !first.file)
            first = (IrPlace){file, function_of(ir, scope), line};
        if (users)
            break;
    }
    return first;
}
