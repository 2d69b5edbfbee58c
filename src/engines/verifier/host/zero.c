// SPDX-License-Identifier: Apache-2.0
// zero — whether device memory holds only 0 when a launch begins. On every way to the launch, read backwards, something
// must set all of it to 0 before anything is met that may write it otherwise. Pointers that a kernel loads from memory
// are assumed not to point to it.
#include "engines/verifier/host/find.h"
#include "engines/verifier/host/memory.h"

#include <stdlib.h>
#include <string.h>

typedef enum Does { DOES_NOTHING, DOES_ZERO, DOES_WRITE } Does;

typedef struct Sought {
    Eval *e;
    const Pointer *memory; // NULL: the variables of the module, which begin as they are initialized
    LLVMValueRef zero;     // what sets it to 0
} Sought;

static bool begins(const char *name, const char *with) { return !strncmp(name, with, strlen(with)); }

// A pointer of the host's may point into it.
static bool may_be(const Sought *s, const Pointer *p) {
    if (!s->memory)
        return false; // the host has no pointer to a variable: cudaGetSymbolAddress counts as a write
    return p->to == POINTS_UNKNOWN || p->to == POINTS_PARAM ||
           (p->to == POINTS_DEVICE && p->base == s->memory->base);
}

// `bytes` from `p` on are all of it.
static bool is_all(const Sought *s, const Pointer *p, const GrTerm *bytes) {
    const GrTerm *size = s->memory ? s->memory->allocation->size : NULL;
    if (!size || !bytes || !gr_eval_same_base(p, s->memory) || !p->offset || !gr_term_is_const(p->offset, 0))
        return false;
    return bytes == size ||
           (bytes->op == GR_TERM_CONST && size->op == GR_TERM_CONST && bytes->value >= size->value);
}

// What a copy takes from the host's memory is 0, all of it.
static bool copies_zero(const Sought *s, LLVMValueRef call, const GrTerm *bytes) {
    Pointer from = gr_eval_pointer(s->e, LLVMGetOperand(call, 1));
    if (!bytes || bytes->op != GR_TERM_CONST || !from.offset || from.offset->op != GR_TERM_CONST)
        return false;
    if (bytes->value <= 8) {
        const GrTerm *value = gr_eval_load(s->e, &from, (unsigned)bytes->value * 8, call, call);
        return value && gr_term_is_const(value, 0);
    }
    return (from.to == POINTS_STACK || from.to == POINTS_HEAP) &&
           gr_write_before(s->e, call, &from, bytes->value).kind == WRITE_ZERO;
}

// The calls that fill or copy bytes in a row, (to, value or from, bytes, …). Others that begin so have other arguments.
static bool is_one_of(const char *name, const char *const *names, size_t n) {
    for (size_t k = 0; k < n; k++)
        if (!strcmp(name, names[k]))
            return true;
    return false;
}

static bool sets_zero(const Sought *s, LLVMValueRef call, const char *name) {
    static const char *const fills[] = {"cudaMemset", "cudaMemset_ptds", "cudaMemsetAsync",
                                        "cudaMemsetAsync_ptsz", "memset"};
    static const char *const copies[] = {"cudaMemcpy", "cudaMemcpy_ptds", "cudaMemcpyAsync",
                                         "cudaMemcpyAsync_ptsz", "memcpy"};
    bool fill = begins(name, "llvm.memset.p") || is_one_of(name, fills, sizeof fills / sizeof *fills),
         copy = begins(name, "llvm.memcpy.p") || is_one_of(name, copies, sizeof copies / sizeof *copies);
    if ((!fill && !copy) || LLVMGetNumArgOperands(call) < 3)
        return false;
    Pointer to = gr_eval_pointer(s->e, LLVMGetOperand(call, 0));
    const GrTerm *bytes = gr_eval(s->e, LLVMGetOperand(call, 2));
    if (!is_all(s, &to, bytes))
        return false;
    return fill ? LLVMIsNull(LLVMGetOperand(call, 1)) : copies_zero(s, call, bytes);
}

static Does of_launch(const Sought *s, LLVMValueRef call) {
    LLVMValueRef stub = gr_ir_callee(call);
    for (unsigned k = 0; k < LLVMGetNumArgOperands(call); k++) {
        LLVMValueRef v = LLVMGetOperand(call, k);
        if (LLVMIsAPtrToIntInst(v)) // a pointer that is handed over as a number
            v = LLVMGetOperand(v, 0);
        if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMPointerTypeKind)
            continue;
        Pointer p = gr_eval_pointer(s->e, v);
        if (gr_ir_stub_by_reference(stub, k) || may_be(s, &p))
            return DOES_WRITE;
    }
    return s->memory ? DOES_NOTHING : DOES_WRITE;
}

// What may write a variable of the module, or hand its address out.
static bool reaches_variables(const char *name) {
    return begins(name, "cudaMemcpyToSymbol") || begins(name, "cudaGetSymbolAddress");
}

static Does of_call(const Sought *s, LLVMValueRef call) {
    const char *name = gr_ir_callee_name(call);
    uint32_t writes;
    if (gr_ir_is_stub(gr_ir_callee(call)))
        return of_launch(s, call);
    if (begins(name, "cudaLaunch") || !gr_write_mask(call, &writes) ||
        (!s->memory && reaches_variables(name)) ||
        (s->memory && call == s->memory->base)) // it begins here, with anything in it
        return DOES_WRITE;
    if (sets_zero(s, call, name))
        return DOES_ZERO;
    for (unsigned k = 0; k < LLVMGetNumArgOperands(call) && k < 32; k++) {
        LLVMValueRef v = LLVMGetOperand(call, k);
        if (!(writes >> k & 1) || LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMPointerTypeKind)
            continue;
        Pointer p = gr_eval_pointer(s->e, v);
        if (may_be(s, &p))
            return DOES_WRITE;
    }
    return DOES_NOTHING;
}

// A store of the host's, to memory that the host reaches.
static Does of_store(const Sought *s, LLVMValueRef store) {
    static const char *const device_only[] = {"cudaMalloc", "cudaMallocAsync", "cudaMallocFromPoolAsync",
                                              "cudaMallocPitch"};
    for (size_t k = 0; s->memory && k < sizeof device_only / sizeof *device_only; k++)
        if (!strcmp(s->memory->allocation->call, device_only[k]))
            return DOES_NOTHING;
    LLVMValueRef value = LLVMGetOperand(store, 0);
    Pointer p = gr_eval_pointer(s->e, LLVMGetOperand(store, 1));
    uint64_t bytes = LLVMStoreSizeOfType(s->e->ir->layout, LLVMTypeOf(value));
    if (LLVMIsNull(value) && is_all(s, &p, gr_eval_const(s->e, 64, bytes)))
        return DOES_ZERO;
    return may_be(s, &p) ? DOES_WRITE : DOES_NOTHING;
}

static Does does(const Sought *s, LLVMValueRef i) {
    if (LLVMIsAStoreInst(i))
        return of_store(s, i);
    if (gr_ir_is_call(i))
        return of_call(s, i);
    if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i)) {
        Pointer p = gr_eval_pointer(s->e, LLVMGetOperand(i, 0));
        return may_be(s, &p) ? DOES_WRITE : DOES_NOTHING;
    }
    return DOES_NOTHING;
}

// What instruction `i` and those before it in its block do last.
static Does last_of(Sought *s, LLVMValueRef i) {
    for (; i; i = LLVMGetPreviousInstruction(i)) {
        Does d = does(s, i);
        if (d == DOES_ZERO)
            s->zero = i;
        if (d != DOES_NOTHING)
            return d;
    }
    return DOES_NOTHING;
}

// ---- Before main ---------------------------------------------------------------------------------------------------

typedef struct Early {
    Map seen; // functions
    bool writes, oom;
} Early;

static void look_into(Early *y, LLVMValueRef function);

static void look_at(Early *y, LLVMValueRef i) {
    LLVMValueRef to = gr_ir_callee(i);
    const char *name = gr_ir_callee_name(i);
    if (!gr_ir_is_call(i))
        return;
    y->writes |= !to || gr_ir_is_stub(to) || begins(name, "cudaLaunch") || begins(name, "cuLaunch") ||
                 reaches_variables(name);
    if (to && !LLVMIsDeclaration(to))
        look_into(y, to);
}

static void look_into(Early *y, LLVMValueRef function) {
    if (y->writes || gr_map_get_u64(&y->seen, (uintptr_t)function))
        return;
    y->oom |= !gr_map_put_u64(&y->seen, (uintptr_t)function, y);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b && !y->oom; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            look_at(y, i);
}

// Constructors of the program's variables may write to the module's.
static bool is_written_early(const Sought *s) {
    LLVMValueRef all = LLVMGetNamedGlobal(s->e->ir->module, "llvm.global_ctors");
    Early y = {0};
    all = all ? LLVMGetInitializer(all) : NULL;
    for (int k = 0; all && k < LLVMGetNumOperands(all); k++) { // priority, function, data
        LLVMValueRef entry = LLVMGetOperand(all, (unsigned)k);
        LLVMValueRef f = LLVMGetNumOperands(entry) > 1 ? LLVMIsAFunction(LLVMGetOperand(entry, 1)) : NULL;
        if (f)
            look_into(&y, f);
        else
            y.writes = true;
    }
    gr_map_free(&y.seen);
    s->e->oom |= y.oom;
    return y.writes || y.oom;
}

// The memory is 0 where the function begins; variables are, where main begins.
static bool is_zero_at_entry(const Sought *s) {
    size_t len;
    return !s->memory && !strcmp(LLVMGetValueName2(s->e->function, &len), "main") && !is_written_early(s);
}

static bool is_zero(Sought *s, LLVMValueRef launch) {
    const Flow *f = &s->e->flow;
    uint32_t at = gr_eval_block(s->e, launch), n = 0;
    if (at == FLOW_NONE)
        return false;
    bool *seen = calloc(f->n, sizeof *seen), zero = seen != NULL;
    uint32_t *todo = calloc(f->n + 1, sizeof *todo);
    s->e->oom |= !seen || !todo;
    if (!todo)
        zero = false;
    else if (zero)
        todo[n++] = at;
    for (bool first = true; n && zero; first = false) {
        uint32_t b = todo[--n];
        Does d = last_of(s, first ? LLVMGetPreviousInstruction(launch)
                                  : LLVMGetLastInstruction(f->blocks[b].block));
        zero = d != DOES_WRITE && (d == DOES_ZERO || b || is_zero_at_entry(s));
        for (uint32_t p = 0; p < f->blocks[b].n_preds && d == DOES_NOTHING; p++) {
            uint32_t pred = f->blocks[b].preds[p];
            if (!seen[pred]) {
                seen[pred] = true;
                todo[n++] = pred;
            }
        }
    }
    free(seen);
    free(todo);
    return zero;
}

void gr_find_zero(Eval *e, LLVMValueRef launch, const Open *of, size_t n, GrHostLaunch *l) {
    Sought variables = {.e = e};
    l->variables_begin = is_zero(&variables, launch);
    for (size_t k = 0; k < n; k++) {
        Sought s = {.e = e, .memory = &of[k].p};
        if (!of[k].p.allocation->distinct || of[k].p.allocation->several || !is_zero(&s, launch))
            continue;
        GrArgument *a = &l->arguments.data[of[k].argument];
        IrPlace place = s.zero ? gr_ir_place(e->ir, s.zero) : (IrPlace){0};
        a->zero = true;
        a->zero_file = gr_find_keep(e, place.file);
        a->zero_line = place.line;
    }
}
