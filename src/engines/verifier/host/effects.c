// SPDX-License-Identifier: Apache-2.0
// effects — what an instruction may write, and which objects only its own function reaches.
#include "engines/verifier/host/memory.h"

#include <string.h>

typedef struct Effect {
    const char *name;
    uint32_t writes, bytes;
} Effect;

static const Effect effects[] = {
#define EFFECT(name, writes, bytes) {name, writes, bytes},
#include "engines/verifier/host/effects.def"
#undef EFFECT
};

static const Effect stub = {"", 0, 0};

static const Effect *effect_of(LLVMValueRef call) {
    LLVMValueRef f = gr_ir_callee(call);
    const char *name = gr_ir_callee_name(call);
    if (gr_ir_is_stub(f))
        return &stub;
    if (!f || !gr_ir_is_elsewhere(f))
        return NULL;
    for (size_t k = 0; k < sizeof effects / sizeof *effects; k++) {
        size_t len = strlen(effects[k].name);
        bool prefix = effects[k].name[len - 1] == '*';
        if (prefix ? !strncmp(name, effects[k].name, len - 1) : !strcmp(name, effects[k].name))
            return &effects[k];
    }
    return NULL;
}

// LLVM's attribute memory(...) says so: it has two bits for each kind of memory, of which the second is writing.
static bool only_reads(LLVMValueRef call) {
    LLVMValueRef f = gr_ir_callee(call);
    unsigned kind = LLVMGetEnumAttributeKindForName("memory", 6);
    LLVMAttributeRef a =
        f ? LLVMGetEnumAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind) : NULL;
    return a && !(LLVMGetEnumAttributeValue(a) & 0x2a);
}

bool gr_write_mask(LLVMValueRef call, uint32_t *mask) {
    const Effect *effect = effect_of(call);
    *mask = effect ? effect->writes : 0;
    return effect ? strcmp(effect->name, "cuda*") != 0 : only_reads(call);
}

// ---- Capture --------------------------------------------------------------------------------------------------------

// What is stored in the variable only goes to launches: the variable is an array of arguments.
static bool only_launches_read(LLVMValueRef container, int depth) {
    for (LLVMUseRef u = LLVMGetFirstUse(container); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        const char *name = gr_ir_callee_name(user);
        bool fine = LLVMIsAStoreInst(user) ? LLVMGetOperand(user, 1) == container
                    : LLVMIsAGetElementPtrInst(user)
                        ? depth < 8 && only_launches_read(user, depth + 1)
                        : !strncmp(name, "cudaLaunch", 10) || !strncmp(name, "llvm.lifetime.", 14) ||
                              !strncmp(name, "llvm.dbg.", 9) || !strncmp(name, "llvm.memset.", 12);
        if (!fine)
            return false;
    }
    return true;
}

static bool store_captures(Eval *e, LLVMValueRef store) {
    Pointer to = gr_eval_pointer(e, LLVMGetOperand(store, 1));
    return to.to != POINTS_STACK || !only_launches_read(to.base, 0);
}

// A use of a pointer keeps it where others find it. `seen`: pointers whose uses are looked at already, as a loop moves
// pointers round through phis.
static bool use_captures(Eval *e, LLVMValueRef user, LLVMValueRef v, const Pointer *object, Map *seen) {
    if (LLVMIsALoadInst(user) || LLVMIsAICmpInst(user))
        return false;
    if (LLVMIsAStoreInst(user))
        return LLVMGetOperand(user, 0) == v && store_captures(e, user);
    if (gr_ir_is_call(user))
        return !effect_of(user) && !only_reads(user);
    if (LLVMIsAGetElementPtrInst(user) || LLVMIsABitCastInst(user) || LLVMIsAPHINode(user) ||
        LLVMIsASelectInst(user)) {
        Pointer p = gr_eval_pointer(e, user);
        if (!gr_eval_same_base(&p, object))
            return true;
        if (gr_ir_get(seen, user))
            return false;
        e->oom |= !gr_ir_put(seen, user, user);
        for (LLVMUseRef u = LLVMGetFirstUse(user); u && !e->oom; u = LLVMGetNextUse(u))
            if (use_captures(e, LLVMGetUser(u), user, object, seen))
                return true;
        return false;
    }
    return true;
}

static bool find_captured(Eval *e, const Pointer *p) {
    if (p->to == POINTS_GLOBAL)
        return LLVMGetLinkage(p->base) != LLVMInternalLinkage &&
               LLVMGetLinkage(p->base) != LLVMPrivateLinkage;
    Map seen = {0};
    bool r = false;
    for (LLVMUseRef u = LLVMGetFirstUse(p->base); u && !r; u = LLVMGetNextUse(u))
        r = use_captures(e, LLVMGetUser(u), p->base, p, &seen);
    gr_map_free(&seen);
    return r;
}

bool gr_eval_is_captured(Eval *e, const Pointer *p) {
    static const char yes, no;
    if (p->to != POINTS_STACK && p->to != POINTS_HEAP && p->to != POINTS_GLOBAL)
        return true;
    const char *known = gr_ir_get(&e->captured, p->base);
    if (known)
        return known == &yes;
    e->oom |= !gr_ir_put(&e->captured, p->base, (void *)(uintptr_t)&yes); // while it is looked at
    bool r = e->depth > 300 || find_captured(e, p);
    e->oom |= !gr_ir_put(&e->captured, p->base, (void *)(uintptr_t)(r ? &yes : &no));
    return r;
}

// Whether a pointer with another base may point to the object.
static bool may_alias(Eval *e, const Pointer *a, const Pointer *object) {
    if (a->to == POINTS_NULL)
        return false;
    bool made = a->to == POINTS_STACK || a->to == POINTS_HEAP || a->to == POINTS_DEVICE;
    switch (object->to) {
    case POINTS_STACK:
    case POINTS_HEAP: return a->to == POINTS_UNKNOWN && gr_eval_is_captured(e, object);
    case POINTS_GLOBAL: return a->to == POINTS_UNKNOWN || a->to == POINTS_PARAM;
    case POINTS_PARAM: return !made;
    default: return a->to != POINTS_STACK && a->to != POINTS_HEAP ? true : gr_eval_is_captured(e, a);
    }
}

// ---- Writes ---------------------------------------------------------------------------------------------------------

static const Write nothing = {WRITE_NONE, NULL, NULL, 0, 0};

static bool in_loop(const Eval *e, LLVMValueRef i) {
    uint32_t block = gr_eval_block(e, i);
    return block == FLOW_NONE || e->flow.blocks[block].outer != FLOW_NONE;
}

// A write of `bytes` (0: not known) at `p`.
static Write ranged(Eval *e, LLVMValueRef i, WriteKind kind, const Pointer *p, uint64_t bytes,
                    const Pointer *to, uint64_t size) {
    const Write some = {WRITE_SOME, i, i, 0, 0};
    if (!gr_eval_same_base(p, to))
        return may_alias(e, p, to) ? some : nothing;
    if (!p->offset || p->offset->op != GR_TERM_CONST)
        return some;
    uint64_t first = p->offset->value, wanted = to->offset->value;
    // A pointer that a loop changes was another one in earlier rounds, where its places were others.
    bool moves = p->to == POINTS_UNKNOWN && LLVMIsAInstruction(p->base) && in_loop(e, p->base);
    if (first >= wanted + size || (bytes && wanted >= first + bytes))
        return moves ? some : nothing;
    if (!bytes || wanted < first || wanted + size > first + bytes)
        return some;
    return (Write){kind, i, i, wanted - first, 0};
}

static uint64_t length(LLVMValueRef call, unsigned argument) {
    LLVMValueRef n =
        LLVMGetNumArgOperands(call) > argument ? LLVMIsAConstantInt(LLVMGetOperand(call, argument)) : NULL;
    return n ? LLVMConstIntGetZExtValue(n) : 0;
}

static Write of_known_call(Eval *e, LLVMValueRef i, const Effect *effect, const Pointer *to, uint64_t size) {
    const char *name = gr_ir_callee_name(i);
    WriteKind kind = WRITE_CALL;
    uint64_t bytes = effect->bytes;
    if (!strncmp(name, "llvm.mem", 8) || !strcmp(name, "memcpy") || !strcmp(name, "memset")) {
        bytes = length(i, 2);
        bool copies = strstr(name, "memcpy") || strstr(name, "memmove");
        kind = copies                                                          ? WRITE_COPY
               : length(i, 1) == 0 && LLVMIsAConstantInt(LLVMGetOperand(i, 1)) ? WRITE_ZERO
                                                                               : WRITE_SOME;
        if (!bytes && LLVMIsAConstantInt(LLVMGetOperand(i, 2)))
            return nothing;
    } else if (!strncmp(name, "cudaMemcpy", 10)) {
        bytes = length(i, 2);
    }
    for (unsigned k = 0; k < LLVMGetNumArgOperands(i) && k < 32; k++) {
        LLVMValueRef argument = LLVMGetOperand(i, k);
        if (!(effect->writes >> k & 1) || LLVMGetTypeKind(LLVMTypeOf(argument)) != LLVMPointerTypeKind)
            continue;
        Pointer p = gr_eval_pointer(e, argument);
        Write w = ranged(e, i, kind, &p, bytes, to, size);
        w.argument = k;
        if (w.kind != WRITE_NONE)
            return w;
    }
    return nothing;
}

static Write of_call(Eval *e, LLVMValueRef i, const Pointer *to, uint64_t size) {
    const Effect *effect = effect_of(i);
    const Write some = {WRITE_SOME, i, i, 0, 0};
    if (to->base == i)
        return (Write){WRITE_ENTRY, i, i, 0, 0}; // the object is made here
    if (effect)
        return effect->writes ? of_known_call(e, i, effect, to, size) : nothing;
    if (only_reads(i))
        return nothing;
    if (to->to == POINTS_GLOBAL || gr_eval_is_captured(e, to))
        return some;
    for (unsigned k = 0; k < LLVMGetNumArgOperands(i); k++) {
        LLVMValueRef argument = LLVMGetOperand(i, k);
        if (LLVMGetTypeKind(LLVMTypeOf(argument)) != LLVMPointerTypeKind)
            continue;
        Pointer p = gr_eval_pointer(e, argument);
        if (gr_eval_same_base(&p, to))
            return some;
    }
    return nothing;
}

Write gr_write_of(Eval *e, LLVMValueRef i, const Pointer *to, uint64_t size) {
    if (LLVMIsAStoreInst(i)) {
        Pointer p = gr_eval_pointer(e, LLVMGetOperand(i, 1));
        uint64_t bytes = LLVMStoreSizeOfType(e->ir->layout, LLVMTypeOf(LLVMGetOperand(i, 0)));
        return ranged(e, i, WRITE_STORE, &p, bytes, to, size);
    }
    if (gr_ir_is_call(i))
        return of_call(e, i, to, size);
    if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i)) {
        Pointer p = gr_eval_pointer(e, LLVMGetOperand(i, 0));
        return ranged(e, i, WRITE_SOME, &p, 0, to, size);
    }
    return nothing;
}
