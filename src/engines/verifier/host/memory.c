// SPDX-License-Identifier: Apache-2.0
#include "engines/verifier/host/memory.h"

#include <stdlib.h>
#include <string.h>

// ---- The walk -------------------------------------------------------------------------------------------------------

static Write in_block(Eval *e, LLVMValueRef from, const Pointer *to, uint64_t size) {
    for (LLVMValueRef i = from; i; i = LLVMGetPreviousInstruction(i)) {
        Write w = gr_write_of(e, i, to, size);
        if (w.kind != WRITE_NONE)
            return w;
    }
    return (Write){0};
}

// Whether a block between `dom` (without it) and the begin of `block` writes. Blocks of a loop around `block` count.
static bool written_between(Eval *e, uint32_t dom, uint32_t block, const Pointer *to, uint64_t size) {
    const FlowBlock *at = &e->flow.blocks[block];
    if (at->n_preds == 1 && at->preds[0] == dom)
        return false;
    // Not of the arena: this is done for each step of each walk.
    bool *seen = calloc(e->flow.n, sizeof *seen), written = false;
    uint32_t *work = calloc(e->flow.n + 1, sizeof *work), n = 0;
    if (!seen || !work)
        e->oom = written = true;
    else
        work[n++] = block;
    for (bool first = true; n && !written; first = false) {
        uint32_t b = work[--n];
        written = !first &&
                  in_block(e, LLVMGetLastInstruction(e->flow.blocks[b].block), to, size).kind != WRITE_NONE;
        for (uint32_t p = 0; p < e->flow.blocks[b].n_preds; p++) {
            uint32_t pred = e->flow.blocks[b].preds[p];
            if (pred != dom && !seen[pred]) {
                seen[pred] = true;
                work[n++] = pred;
            }
        }
    }
    free(seen);
    free(work);
    return written;
}

Write gr_write_before(Eval *e, LLVMValueRef before, const Pointer *to, uint64_t size) {
    uint32_t block = gr_eval_block(e, before);
    LLVMValueRef from = LLVMGetPreviousInstruction(before);
    while (block != FLOW_NONE) {
        Write w = from ? in_block(e, from, to, size) : (Write){0};
        if (w.kind != WRITE_NONE)
            return w;
        if (!block)
            break;
        uint32_t dom = e->flow.blocks[block].idom;
        if (written_between(e, dom, block, to, size))
            return (Write){WRITE_MERGE, e->flow.blocks[block].block, NULL, 0, 0};
        block = dom;
        from = LLVMGetLastInstruction(e->flow.blocks[block].block);
    }
    return (Write){WRITE_ENTRY, e->function, NULL, 0, 0};
}

// ---- Values ---------------------------------------------------------------------------------------------------------

static char *cell_key(Eval *e, const Write *w, const Pointer *p, unsigned bits) {
    char *key = gr_arena_printf(&e->arena, "%p %d %p %p %llu %u", w->at, (int)p->to, (void *)p->base,
                                (const void *)p->allocation, (unsigned long long)p->offset->value, bits);
    e->oom |= !key;
    return key;
}

// An integer in a constant; false: none at that place.
static bool constant_at(Eval *e, LLVMValueRef c, uint64_t offset, unsigned bits, uint64_t *out) {
    LLVMTypeRef type = LLVMTypeOf(c);
    for (int depth = 0; depth < 16; depth++) {
        LLVMTypeKind kind = LLVMGetTypeKind(type);
        if (LLVMIsNull(c)) {
            *out = 0;
            return offset + bits / 8 <= LLVMABISizeOfType(e->ir->layout, type);
        }
        if (LLVMIsAConstantInt(c)) {
            unsigned has = LLVMGetIntTypeWidth(type);
            if (has > 64 || offset * 8 + bits > has)
                return false;
            *out = LLVMConstIntGetZExtValue(c) >> offset * 8;
            return true;
        }
        unsigned element;
        if (kind == LLVMStructTypeKind) {
            element = LLVMElementAtOffset(e->ir->layout, type, offset);
            offset -= LLVMOffsetOfElement(e->ir->layout, type, element);
            type = LLVMStructGetTypeAtIndex(type, element);
        } else if (kind == LLVMArrayTypeKind) {
            type = LLVMGetElementType(type);
            uint64_t size = LLVMABISizeOfType(e->ir->layout, type);
            if (!size)
                return false;
            element = (unsigned)(offset / size);
            offset %= size;
        } else {
            return false;
        }
        if (!(c = LLVMGetAggregateElement(c, element)))
            return false;
    }
    return false;
}

// Whether the program only reads the variable.
static bool only_read(LLVMValueRef global) {
    if (!LLVMGetInitializer(global))
        return false;
    if (LLVMIsGlobalConstant(global))
        return true;
    if (LLVMGetLinkage(global) != LLVMInternalLinkage)
        return false;
    for (LLVMUseRef u = LLVMGetFirstUse(global); u; u = LLVMGetNextUse(u)) {
        if (!LLVMIsALoadInst(LLVMGetUser(u)))
            return false;
    }
    return true;
}

// The owner (launch.h) of memory's contents: functions elsewhere write anything, unfollowed code of the program not.
static const void *owner_of(const Write *w) {
    if (w->kind == WRITE_NONE || w->kind == WRITE_ENTRY || w->kind == WRITE_CALL)
        return NULL;
    if (w->kind != WRITE_SOME || !gr_ir_is_call(w->instruction))
        return gr_host_derived;
    LLVMValueRef f = gr_ir_callee(w->instruction);
    return !f || gr_ir_is_elsewhere(f) ? NULL : gr_host_derived;
}

static const GrTerm *cell(Eval *e, const Write *w, const Pointer *p, unsigned bits, LLVMValueRef load) {
    char *key = cell_key(e, w, p, bits);
    const GrTerm *known = key ? gr_map_get(&e->cells, key) : NULL;
    if (known || !key)
        return known;
    LLVMValueRef named = p->base && (p->to == POINTS_STACK || p->to == POINTS_GLOBAL) ? p->base : load;
    if (w->kind == WRITE_CALL && w->instruction &&
        !strcmp(gr_ir_callee_name(w->instruction), "cudaMallocPitch"))
        named = p->base;
    const GrTerm *a = named ? gr_eval_symbol(e, named, bits, owner_of(w)) : NULL;
    if (a)
        e->oom |= !gr_map_put(&e->cells, key, (void *)(uintptr_t)a);
    return a;
}

// A part of what a store wrote.
static const GrTerm *stored(Eval *e, const Write *w, unsigned bits) {
    LLVMValueRef v = LLVMGetOperand(w->instruction, 0);
    if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMIntegerTypeKind)
        return NULL;
    if (bits == 32 && LLVMGetIntTypeWidth(LLVMTypeOf(v)) == 64 && w->delta % 4 == 0)
        return gr_eval_half(e, v, w->delta == 4);
    const GrTerm *a = gr_eval(e, v);
    if (!a || w->delta * 8 + bits > ((a->bits + 7) & ~7u))
        return NULL;
    if (w->delta)
        a = gr_eval_op(e, GR_TERM_LSHR, a, gr_eval_const(e, a->bits, w->delta * 8));
    return a ? gr_term_resize(e->t, bits, false, a) : NULL;
}

static bool known_place(const Pointer *p) {
    return p->offset && p->offset->op == GR_TERM_CONST && p->to != POINTS_NULL && p->to != POINTS_DEVICE;
}

// Where a copy read what is at `p` now.
static Pointer copied_from(Eval *e, const Write *w) {
    Pointer from = gr_eval_pointer(e, LLVMGetOperand(w->instruction, 1));
    from.offset = gr_eval_op(e, GR_TERM_ADD, from.offset, gr_eval_const(e, 64, w->delta));
    return from;
}

const GrTerm *gr_eval_load(Eval *e, const Pointer *p, unsigned bits, LLVMValueRef before, LLVMValueRef load) {
    if (!known_place(p) || e->depth > 300)
        return NULL;
    uint64_t value;
    if (p->to == POINTS_GLOBAL && LLVMIsAGlobalVariable(p->base) && only_read(p->base) &&
        constant_at(e, LLVMGetInitializer(p->base), p->offset->value, bits, &value))
        return gr_eval_const(e, bits, value);
    e->depth++;
    Write w = gr_write_before(e, before, p, (bits + 7) / 8);
    const GrTerm *r = NULL;
    if (w.kind == WRITE_STORE) {
        r = stored(e, &w, bits);
    } else if (w.kind == WRITE_ZERO) {
        r = gr_eval_const(e, bits, 0);
    } else if (w.kind == WRITE_COPY) {
        Pointer from = copied_from(e, &w);
        r = gr_eval_load(e, &from, bits, w.instruction, load);
    }
    e->depth--;
    return r ? r : cell(e, &w, p, bits, load);
}

static Pointer pointer_cell(Eval *e, const Write *w, const Pointer *p, LLVMValueRef load) {
    Pointer fresh = {POINTS_UNKNOWN, load, NULL, gr_eval_const(e, 64, 0)};
    char *key = cell_key(e, w, p, 0);
    Pointer *known = key ? gr_map_get(&e->cells, key) : NULL;
    if (known || !key)
        return known ? *known : fresh;
    if ((known = GR_NEW(&e->arena, Pointer)))
        *known = fresh;
    e->oom |= !known || !gr_map_put(&e->cells, key, known);
    return fresh;
}

static bool of_allocator(Eval *e, const Write *w, Pointer *out) {
    unsigned slot;
    if (w->kind != WRITE_CALL || w->delta)
        return false;
    if (gr_eval_allocates(w->instruction, &slot) && w->argument == slot) {
        *out = (Pointer){POINTS_DEVICE, w->instruction, gr_eval_allocation(e, w->instruction),
                         gr_eval_const(e, 64, 0)};
        return true;
    }
    if (!strcmp(gr_ir_callee_name(w->instruction), "cudaHostGetDevicePointer") && w->argument == 0) {
        *out = gr_eval_pointer(e, LLVMGetOperand(w->instruction, 1));
        return true;
    }
    return false;
}

Pointer gr_eval_load_pointer(Eval *e, const Pointer *p, LLVMValueRef before, LLVMValueRef load) {
    Pointer r = {POINTS_UNKNOWN, load, NULL, gr_eval_const(e, 64, 0)};
    if (!known_place(p) || e->depth > 300)
        return r;
    e->depth++;
    Write w = gr_write_before(e, before, p, 8);
    bool found = true;
    if (w.kind == WRITE_STORE && !w.delta &&
        LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(w.instruction, 0))) == LLVMPointerTypeKind) {
        r = gr_eval_pointer(e, LLVMGetOperand(w.instruction, 0));
    } else if (w.kind == WRITE_COPY) {
        Pointer from = copied_from(e, &w);
        r = gr_eval_load_pointer(e, &from, w.instruction, load);
    } else {
        found = of_allocator(e, &w, &r);
    }
    e->depth--;
    return found ? r : pointer_cell(e, &w, p, load);
}

unsigned gr_eval_piece(Eval *e, const Pointer *p, unsigned most, LLVMValueRef before, bool *pointer) {
    static const unsigned sizes[] = {8, 4, 2, 1};
    *pointer = false;
    if (!known_place(p) || e->depth > 300)
        return 0;
    for (int k = 0; k < 4; k++) {
        if (sizes[k] > most)
            continue;
        Write w = gr_write_before(e, before, p, sizes[k]);
        if (w.kind == WRITE_COPY) {
            Pointer from = copied_from(e, &w);
            e->depth++;
            unsigned n = gr_eval_piece(e, &from, sizes[k], w.instruction, pointer);
            e->depth--;
            return n;
        }
        if (w.kind == WRITE_STORE && !w.delta) {
            LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(w.instruction, 0));
            *pointer = LLVMGetTypeKind(type) == LLVMPointerTypeKind;
            if (LLVMStoreSizeOfType(e->ir->layout, type) == sizes[k])
                return sizes[k];
        }
        if (w.kind == WRITE_CALL && !w.delta && sizes[k] == 8) {
            Pointer to;
            *pointer = of_allocator(e, &w, &to);
            return 8;
        }
    }
    return 0;
}
