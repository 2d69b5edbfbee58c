// SPDX-License-Identifier: Apache-2.0
// pointer — where pointers of host code point: an object, and bytes into it.
#include "engines/verifier/host/eval.h"

#include <llvm-c/Target.h>
#include <string.h>

static const GrTerm *zero64(Eval *e) { return gr_eval_const(e, 64, 0); }

bool gr_eval_same_base(const Pointer *a, const Pointer *b) {
    return a->to == b->to && a->base == b->base && a->allocation == b->allocation;
}

// ---- Allocations ----------------------------------------------------------------------------------------------------

static const struct {
    const char *name;
    int size, times; // arguments: bytes, and how often
} allocators[] = {{"cudaMalloc", 1, -1},     {"cudaMallocManaged", 1, -1}, {"cudaMallocAsync", 1, -1},
                  {"cudaMallocHost", 1, -1}, {"cudaHostAlloc", 1, -1},     {"cudaMallocFromPoolAsync", 1, -1},
                  {"cudaMallocPitch", 2, 3}};
enum { ALLOCATORS = sizeof allocators / sizeof *allocators };

static int allocator(LLVMValueRef call) {
    const char *name = gr_ir_callee_name(call);
    for (int k = 0; k < ALLOCATORS; k++) {
        if (!strcmp(name, allocators[k].name))
            return k;
    }
    return -1;
}

bool gr_eval_allocates(LLVMValueRef call, unsigned *slot) {
    *slot = 0;
    return allocator(call) >= 0;
}

static GrAllocation *new_allocation(Eval *e, LLVMValueRef v, const char *call, const char *name) {
    GrAllocation *a = GR_NEW(&e->out->arena, GrAllocation);
    if (a) {
        IrPlace place = LLVMIsAInstruction(v) ? gr_ir_place(e->ir, v) : (IrPlace){0};
        *a = (GrAllocation){.id = (uint32_t)e->out->allocations.len,
                            .call = gr_arena_strdup(&e->out->arena, call),
                            .name = name ? gr_arena_strdup(&e->out->arena, name) : NULL,
                            .file = place.file ? gr_arena_strdup(&e->out->arena, place.file) : NULL,
                            .line = place.line};
    }
    e->oom |= !a || !gr_vec_push(&e->out->allocations, a) || !gr_ir_put(&e->made, v, a);
    return a;
}

const GrAllocation *gr_eval_allocation(Eval *e, LLVMValueRef call) {
    const GrAllocation *known = gr_ir_get(&e->made, call);
    int k = allocator(call);
    if (known || k < 0)
        return known;
    LLVMValueRef slot = LLVMGetOperand(call, 0);
    const char *name = LLVMIsAInstruction(slot) || LLVMIsAGlobalVariable(slot) ? gr_eval_name(e, slot) : NULL;
    GrAllocation *a = new_allocation(e, call, allocators[k].name, name);
    if (!a)
        return NULL;
    a->distinct = true;
    if (allocators[k].times < 0) {
        a->size = gr_eval(e, LLVMGetOperand(call, (unsigned)allocators[k].size));
    } else { // the pitch is not the width, but the second argument's target
        Pointer p = gr_eval_pointer(e, LLVMGetOperand(call, 1));
        LLVMValueRef next = LLVMIsAInvokeInst(call) ? LLVMGetFirstInstruction(LLVMGetNormalDest(call))
                                                    : LLVMGetNextInstruction(call);
        if (p.offset && next)
            a->size = gr_eval_op(e, GR_TERM_MUL, gr_eval_load(e, &p, 64, next, call),
                                 gr_eval(e, LLVMGetOperand(call, (unsigned)allocators[k].times)));
    }
    return a;
}

const GrAllocation *gr_eval_older(Eval *e, const GrAllocation *a) {
    GrAllocation *older = gr_ir_get(&e->older, a);
    if (older)
        return older;
    if (!(older = GR_NEW(&e->out->arena, GrAllocation))) {
        e->oom = true;
        return NULL;
    }
    *older = *a;
    older->id = (uint32_t)e->out->allocations.len;
    older->several = true;
    e->oom |= !gr_vec_push(&e->out->allocations, older) || !gr_ir_put(&e->older, a, older);
    return older;
}

static const GrAllocation *of_parameter(Eval *e, LLVMValueRef v) {
    const GrAllocation *known = gr_ir_get(&e->made, v);
    if (known)
        return known;
    size_t len;
    const char *text = gr_arena_printf(&e->arena, "a parameter of %s", LLVMGetValueName2(e->function, &len));
    return new_allocation(e, v, text ? text : "a parameter", gr_eval_name(e, v));
}

// ---- Values ---------------------------------------------------------------------------------------------------------

static Pointer unknown(LLVMValueRef v) { return (Pointer){POINTS_UNKNOWN, v, NULL, NULL}; }

static Pointer at_start(Eval *e, PointsTo to, LLVMValueRef base) {
    return (Pointer){to, base, NULL, zero64(e)};
}

static bool is_gep(LLVMValueRef v) {
    return LLVMIsAGetElementPtrInst(v) ||
           (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMGetElementPtr);
}

// Bytes that a getelementptr adds.
static const GrTerm *gep_offset(Eval *e, LLVMValueRef v) {
    LLVMTypeRef type = LLVMGetGEPSourceElementType(v);
    const GrTerm *sum = zero64(e);
    for (unsigned k = 1; k < (unsigned)LLVMGetNumOperands(v); k++) {
        const GrTerm *index = gr_eval(e, LLVMGetOperand(v, k));
        if (!index || !sum)
            return NULL;
        if (k > 1) {
            LLVMTypeKind kind = LLVMGetTypeKind(type);
            if (kind == LLVMStructTypeKind) {
                if (index->op != GR_TERM_CONST)
                    return NULL;
                unsigned field = (unsigned)index->value;
                sum = gr_eval_op(e, GR_TERM_ADD, sum,
                                 gr_eval_const(e, 64, LLVMOffsetOfElement(e->ir->layout, type, field)));
                type = LLVMStructGetTypeAtIndex(type, field);
                continue;
            }
            if (kind != LLVMArrayTypeKind && kind != LLVMVectorTypeKind)
                return NULL;
            type = LLVMGetElementType(type);
        }
        const GrTerm *wide = gr_term_resize(e->t, 64, true, index);
        sum = gr_eval_op(
            e, GR_TERM_ADD, sum,
            gr_eval_op(e, GR_TERM_MUL, wide, gr_eval_const(e, 64, LLVMABISizeOfType(e->ir->layout, type))));
    }
    return sum;
}

static LLVMValueRef without_geps(LLVMValueRef v) {
    while (is_gep(v))
        v = LLVMGetOperand(v, 0);
    return v;
}

// Joins several pointers: the pointer, if all are equal; else the object, if all point into it.
static Pointer joined(Eval *e, LLVMValueRef v, const LLVMValueRef *from, unsigned n) {
    Pointer r = {0};
    bool any = false;
    for (unsigned k = 0; k < n; k++) {
        if (without_geps(from[k]) == v) {
            if (from[k] != v && any)
                r.offset = NULL;
            if (from[k] != v && !any)
                return unknown(v);
            continue;
        }
        Pointer p = gr_eval_pointer(e, from[k]);
        if (p.to == POINTS_NULL) // nothing is accessed there
            continue;
        if (any && !gr_eval_same_base(&p, &r))
            return unknown(v);
        if (any && p.offset != r.offset)
            p.offset = NULL;
        r = p;
        any = true;
    }
    return any ? r : unknown(v);
}

static Pointer of_phi(Eval *e, LLVMValueRef v) {
    LLVMValueRef from[16];
    unsigned n = LLVMCountIncoming(v);
    if (n > 16)
        return unknown(v);
    for (unsigned k = 0; k < n; k++)
        from[k] = LLVMGetIncomingValue(v, k);
    // Outside values first: what comes from the loop itself may only move the pointer.
    for (unsigned k = 0, to = 0; k < n; k++) {
        if (without_geps(from[k]) != v) {
            LLVMValueRef moved = from[to];
            from[to++] = from[k];
            from[k] = moved;
        }
    }
    return joined(e, v, from, n);
}

static Pointer of_call(Eval *e, LLVMValueRef v) {
    const char *name = gr_ir_callee_name(v);
    if (!strcmp(name, "malloc") || !strcmp(name, "calloc") || !strcmp(name, "_Znwm") ||
        !strcmp(name, "_Znam") || !strcmp(name, "aligned_alloc"))
        return at_start(e, POINTS_HEAP, v);
    return unknown(v);
}

static Pointer find(Eval *e, LLVMValueRef v) {
    if (LLVMIsNull(v))
        return at_start(e, POINTS_NULL, NULL);
    if (LLVMIsAGlobalValue(v))
        return at_start(e, POINTS_GLOBAL, v);
    if (is_gep(v)) {
        Pointer p = gr_eval_pointer(e, LLVMGetOperand(v, 0));
        p.offset = gr_eval_op(e, GR_TERM_ADD, p.offset, gep_offset(e, v));
        return p;
    }
    if (LLVMIsAArgument(v)) {
        Pointer p = at_start(e, POINTS_PARAM, v);
        p.allocation = of_parameter(e, v);
        return p;
    }
    if (LLVMIsAAllocaInst(v))
        return at_start(e, POINTS_STACK, v);
    if (gr_ir_is_call(v))
        return of_call(e, v);
    if (LLVMIsAPHINode(v))
        return of_phi(e, v);
    if (LLVMIsASelectInst(v)) {
        LLVMValueRef from[2] = {LLVMGetOperand(v, 1), LLVMGetOperand(v, 2)};
        Pointer r = joined(e, v, from, 2), a = gr_eval_pointer(e, from[0]), b = gr_eval_pointer(e, from[1]);
        if (!r.offset && gr_eval_same_base(&a, &b) && a.offset && b.offset) {
            const GrTerm *c = gr_eval(e, LLVMGetCondition(v));
            r.offset = c ? gr_term_ite(e->t, c, a.offset, b.offset) : NULL;
            e->oom |= c && !r.offset;
        }
        return r;
    }
    if (LLVMIsAFreezeInst(v) || LLVMIsABitCastInst(v))
        return gr_eval_pointer(e, LLVMGetOperand(v, 0));
    if (LLVMIsALoadInst(v) && !LLVMGetVolatile(v)) {
        Pointer p = gr_eval_pointer(e, LLVMGetOperand(v, 0));
        return gr_eval_load_pointer(e, &p, v, v);
    }
    Pointer r = unknown(v);
    r.offset = zero64(e);
    return r;
}

Pointer gr_eval_pointer(Eval *e, LLVMValueRef v) {
    Pointer *known = gr_ir_get(&e->pointers, v);
    if (known)
        return *known;
    Pointer *p = GR_NEW(&e->arena, Pointer);
    if (!p) {
        e->oom = true;
        return unknown(v);
    }
    *p = unknown(v); // for ways that come back to it
    p->offset = zero64(e);
    e->oom |= !gr_ir_put(&e->pointers, v, p);
    if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind && e->depth < 400) {
        e->depth++;
        Pointer found = find(e, v);
        e->depth--;
        *p = found;
        if (p->to == POINTS_UNKNOWN && p->base == v)
            p->offset = zero64(e);
    }
    return *p;
}
