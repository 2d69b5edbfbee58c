// SPDX-License-Identifier: Apache-2.0
// arguments — what a launch hands to the kernel: numbers, and places in allocations.
#include "engines/verifier/host/find.h"

#include <llvm-c/Target.h>
#include <string.h>

static void add(Eval *e, GrHostLaunch *l, uint32_t param, uint32_t offset, uint32_t bits, const GrTerm *value,
                const Pointer *p) {
    GrArgument a = {.param = param, .offset = offset, .bits = bits, .value = value};
    if (p) {
        a.allocation = p->allocation;
        a.at = p->allocation ? p->offset : NULL;
        if (p->to == POINTS_NULL && p->offset && gr_term_is_const(p->offset, 0))
            a.value = p->offset;
        if (p->to == POINTS_DEVICE && p->allocation)
            e->oom |= !gr_vec_push(&e->made_by, ((Open){l->arguments.len, *p}));
        if (p->to == POINTS_UNKNOWN && p->base && p->offset)
            e->oom |= !gr_vec_push(&e->open, ((Open){l->arguments.len, *p}));
    }
    e->oom |= !gr_vec_push(&l->arguments, a);
}

// Adds the bytes that a parameter has in memory.
static void add_pieces(Eval *e, GrHostLaunch *l, LLVMValueRef call, uint32_t param, const Pointer *at,
                       uint32_t size) {
    for (uint32_t o = 0; o < size && !e->oom;) {
        Pointer p = *at;
        bool pointer;
        p.offset = gr_eval_op(e, GR_TERM_ADD, p.offset, gr_eval_const(e, 64, o));
        uint32_t most = size - o < 8 ? size - o : 8;
        while (o % most)
            most /= 2;
        unsigned n = p.offset ? gr_eval_piece(e, &p, most, call, &pointer) : 0;
        if (n && pointer) {
            Pointer to = gr_eval_load_pointer(e, &p, call, p.base);
            add(e, l, param, o, 64, NULL, &to);
        } else if (n) {
            add(e, l, param, o, n * 8, gr_eval_load(e, &p, n * 8, call, p.base), NULL);
        }
        o += n ? n : most >= 4 ? 4 : 1;
    }
}

void gr_find_stub_arguments(Eval *e, LLVMValueRef call, LLVMValueRef stub, GrHostLaunch *l) {
    unsigned kind = LLVMGetEnumAttributeKindForName("dereferenceable", strlen("dereferenceable"));
    for (unsigned k = 0; k < LLVMGetNumArgOperands(call) && k < LLVMCountParams(stub); k++) {
        LLVMValueRef v = LLVMGetOperand(call, k);
        LLVMTypeKind type = LLVMGetTypeKind(LLVMTypeOf(v));
        if (type == LLVMIntegerTypeKind) {
            const GrTerm *a = gr_eval(e, v);
            if (a && a->bits < 8)
                a = gr_term_resize(e->t, 8, false, a);
            if (a)
                add(e, l, k, 0, a->bits, a, NULL);
        } else if (type == LLVMPointerTypeKind) {
            Pointer p = gr_eval_pointer(e, v);
            LLVMAttributeRef size = LLVMGetEnumAttributeAtIndex(stub, k + 1, kind);
            if (!gr_ir_stub_by_reference(stub, k))
                add(e, l, k, 0, 64, NULL, &p);
            else if (size && p.offset && LLVMGetEnumAttributeValue(size) <= 4096)
                add_pieces(e, l, call, k, &p, (uint32_t)LLVMGetEnumAttributeValue(size));
        }
    }
}

// Adds a parameter that an element of the array points to: a variable, or a part of one, such as a member. Only the
// kernel knows the parameter's size, so bytes behind a part are added, too, as bytes that the parameter lacks.
static void add_element(Eval *e, GrHostLaunch *l, LLVMValueRef call, uint32_t param, const Pointer *to) {
    if (to->to != POINTS_STACK || !to->offset || to->offset->op != GR_TERM_CONST)
        return;
    LLVMTypeRef type = LLVMGetAllocatedType(to->base);
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    uint64_t size = LLVMABISizeOfType(e->ir->layout, type), from = to->offset->value;
    if (from) {
        if (from < size && size - from <= 4096)
            add_pieces(e, l, call, param, to, (uint32_t)(size - from));
    } else if (kind == LLVMPointerTypeKind) {
        Pointer p = gr_eval_load_pointer(e, to, call, to->base);
        add(e, l, param, 0, 64, NULL, &p);
    } else if (kind == LLVMIntegerTypeKind && size <= 8) {
        add(e, l, param, 0, (uint32_t)size * 8, gr_eval_load(e, to, (unsigned)size * 8, call, to->base),
            NULL);
    } else if (size <= 4096) {
        add_pieces(e, l, call, param, to, (uint32_t)size);
    }
}

void gr_find_array_arguments(Eval *e, LLVMValueRef call, LLVMValueRef array, GrHostLaunch *l) {
    Pointer p = gr_eval_pointer(e, array);
    if (p.to == POINTS_NULL)
        return;
    bool known = p.to == POINTS_STACK && p.offset && p.offset->op == GR_TERM_CONST;
    uint64_t size = known ? LLVMABISizeOfType(e->ir->layout, LLVMGetAllocatedType(p.base)) : 0;
    const char *gap = known ? NULL : gr_find_keep(e, "the array of arguments was not found");
    if (gap)
        e->oom |= !gr_vec_push(&l->gaps, gap);
    for (uint32_t k = 0; known && 8 * (k + 1) + p.offset->value <= size && k < 512; k++) {
        Pointer element = p;
        element.offset = gr_eval_op(e, GR_TERM_ADD, p.offset, gr_eval_const(e, 64, 8 * k));
        if (!element.offset)
            return;
        Pointer to = gr_eval_load_pointer(e, &element, call, p.base);
        add_element(e, l, call, k, &to);
    }
}
