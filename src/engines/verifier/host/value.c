// SPDX-License-Identifier: Apache-2.0
// value — instructions of LLVM IR as terms.
#include "engines/verifier/host/eval.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 400 };

const GrTerm *gr_eval_const(Eval *e, unsigned bits, uint64_t value) {
    const GrTerm *a = gr_term_const(e->t, bits, value);
    e->oom |= !a;
    return a;
}

const GrTerm *gr_eval_op(Eval *e, GrTermOp op, const GrTerm *a, const GrTerm *b) {
    if (!a || !b)
        return NULL;
    const GrTerm *r = gr_term_2(e->t, op, a, b);
    e->oom |= !r;
    return r;
}

static const GrTerm *resize(Eval *e, unsigned bits, bool is_signed, const GrTerm *a) {
    if (!a)
        return NULL;
    const GrTerm *r = gr_term_resize(e->t, bits, is_signed, a);
    e->oom |= !r;
    return r;
}

static const GrTerm *not_of(Eval *e, const GrTerm *a) {
    const GrTerm *r = a ? gr_term_1(e->t, GR_TERM_NOT, a->bits, a) : NULL;
    e->oom |= a && !r;
    return r;
}

static const GrTerm *choose(Eval *e, const GrTerm *c, const GrTerm *a, const GrTerm *b) {
    if (!c || !a || !b)
        return NULL;
    const GrTerm *r = gr_term_ite(e->t, c, a, b);
    e->oom |= !r;
    return r;
}

static unsigned width(LLVMValueRef v) {
    LLVMTypeRef type = LLVMTypeOf(v);
    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind)
        return 0;
    unsigned bits = LLVMGetIntTypeWidth(type);
    return bits <= 64 ? bits : 0;
}

static bool constant(LLVMValueRef v, uint64_t *out) {
    if (!LLVMIsAConstantInt(v) || !width(v))
        return false;
    *out = LLVMConstIntGetZExtValue(v);
    return true;
}

// ---- Names ----------------------------------------------------------------------------------------------------------

// Without the suffixes that inlining adds: "n.i.i23" is n.
static char *short_name(Eval *e, const char *name) {
    size_t len = strlen(name);
    for (const char *dot = name; (dot = strchr(dot, '.')); dot++) {
        if (dot > name &&
            (strspn(dot + 1, "0123456789i") || !strncmp(dot, ".addr", 5) || !strncmp(dot, ".sroa", 5))) {
            len = (size_t)(dot - name);
            break;
        }
    }
    return gr_arena_strndup(&e->arena, name, len);
}

const char *gr_eval_name(Eval *e, LLVMValueRef v) {
    const char *variable = gr_ir_get(&e->ir->variables, v);
    size_t len;
    // Not the name of a parameter that points to it.
    const char *own = LLVMIsAAllocaInst(v) ? LLVMGetValueName2(v, &len) : "";
    if (*own && (variable || *own != '_') && (own = short_name(e, own)))
        return own;
    if (variable)
        return variable;
    if (gr_ir_is_call(v)) {
        const char *name = gr_ir_callee_name(v);
        uint32_t line = gr_ir_place(e->ir, v).line;
        const char *text = gr_arena_printf(&e->arena, "%s:%u", *name ? name : "call", line);
        return text ? text : "call";
    }
    if (LLVMIsALoadInst(v)) {
        LLVMValueRef from = LLVMGetOperand(v, 0);
        const char *name = gr_ir_get(&e->ir->variables, from);
        if (!name && (LLVMIsAGlobalVariable(from) || LLVMIsAAllocaInst(from)))
            name = short_name(e, LLVMGetValueName2(from, &len));
        if (name)
            return name;
    }
    const char *name = LLVMGetValueName2(v, &len);
    name = *name ? short_name(e, name) : NULL;
    return name ? name : "value";
}

const GrTerm *gr_eval_symbol(Eval *e, LLVMValueRef v, unsigned bits, const void *owner) {
    GrSymbol *s = gr_symbol(e->t, GR_SYM_HOST, GR_SYM_LAUNCH, bits, gr_eval_name(e, v));
    const GrTerm *a = s ? gr_term_sym(e->t, s) : NULL;
    e->oom |= !a;
    if (s)
        s->owner = owner;
    if (a && gr_ir_is_call(v) && !strncmp(gr_ir_callee_name(v), "cuda", 4))
        e->oom |= !gr_vec_push(&e->statuses, s);
    return a;
}

// ---- Packed pairs ---------------------------------------------------------------------------------------------------

static const GrTerm *half_of_binary(Eval *e, LLVMValueRef v, LLVMOpcode op, bool high) {
    LLVMValueRef x = LLVMGetOperand(v, 0), y = LLVMGetOperand(v, 1);
    uint64_t c;
    if (op == LLVMOr || op == LLVMXor) { // what both have bits in is rare: only a half where one side is 0
        const GrTerm *a = gr_eval_half(e, x, high), *b = gr_eval_half(e, y, high);
        if (a && gr_term_is_const(a, 0))
            return b;
        return b && gr_term_is_const(b, 0) ? a : gr_eval_op(e, op == LLVMOr ? GR_TERM_OR : GR_TERM_XOR, a, b);
    }
    if (op == LLVMShl && constant(y, &c) && c == 32)
        return high ? gr_eval_half(e, x, false) : gr_eval_const(e, 32, 0);
    if (op == LLVMAnd && constant(y, &c) && (c == 0xffffffff || c == 0xffffffff00000000))
        return high == (c != 0xffffffff) ? gr_eval_half(e, x, high) : gr_eval_const(e, 32, 0);
    if (op == LLVMMul && constant(y, &c) && c == 0x100000001 && gr_term_is_const(gr_eval_half(e, x, true), 0))
        return gr_eval_half(e, x, false);
    return NULL;
}

const GrTerm *gr_eval_half(Eval *e, LLVMValueRef v, bool high) {
    const GrTerm *r = NULL;
    uint64_t c;
    if (width(v) != 64)
        return NULL;
    if (constant(v, &c))
        return gr_eval_const(e, 32, high ? c >> 32 : c);
    if (LLVMIsAInstruction(v)) {
        LLVMOpcode op = LLVMGetInstructionOpcode(v);
        if (op == LLVMZExt && width(LLVMGetOperand(v, 0)) && width(LLVMGetOperand(v, 0)) <= 32)
            return high ? gr_eval_const(e, 32, 0) : resize(e, 32, false, gr_eval(e, LLVMGetOperand(v, 0)));
        if (op == LLVMOr || op == LLVMXor || op == LLVMShl || op == LLVMAnd || op == LLVMMul)
            r = half_of_binary(e, v, op, high);
        if (op == LLVMSelect)
            r = choose(e, gr_eval(e, LLVMGetOperand(v, 0)), gr_eval_half(e, LLVMGetOperand(v, 1), high),
                       gr_eval_half(e, LLVMGetOperand(v, 2), high));
        if (op == LLVMFreeze)
            return gr_eval_half(e, LLVMGetOperand(v, 0), high);
        if (op == LLVMLoad) {
            Pointer p = gr_eval_pointer(e, LLVMGetOperand(v, 0));
            if (high)
                p.offset = gr_eval_op(e, GR_TERM_ADD, p.offset, gr_eval_const(e, 64, 4));
            bool pointer;
            if (p.offset && gr_eval_piece(e, &p, 4, v, &pointer) == 4)
                r = gr_eval_load(e, &p, 32, v, v);
        }
    }
    if (r)
        return r;
    r = gr_eval(e, v);
    return resize(e, 32, false, high ? gr_eval_op(e, GR_TERM_LSHR, r, gr_eval_const(e, 64, 32)) : r);
}

// ---- Instructions ---------------------------------------------------------------------------------------------------

static bool power_of_two(uint64_t c) { return c && !(c & (c - 1)); }

// Turns back what instcombine made of products, quotients and remainders: solvers decide about these.
static const GrTerm *with_constant(Eval *e, LLVMOpcode op, const GrTerm *a, uint64_t c) {
    unsigned bits = a->bits;
    uint64_t all = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    if (bits == 1)
        return NULL;
    if (op == LLVMShl && c < bits)
        return gr_eval_op(e, GR_TERM_MUL, a, gr_eval_const(e, bits, 1ull << c));
    if (op == LLVMLShr && c < bits)
        return gr_eval_op(e, GR_TERM_UDIV, a, gr_eval_const(e, bits, 1ull << c));
    if (op == LLVMAnd && c != all && power_of_two(c + 1))
        return gr_eval_op(e, GR_TERM_UREM, a, gr_eval_const(e, bits, c + 1));
    if (op == LLVMAnd && c && power_of_two((~c & all) + 1)) // clears low bits
        return gr_eval_op(e, GR_TERM_SUB, a,
                          gr_eval_op(e, GR_TERM_UREM, a, gr_eval_const(e, bits, (~c & all) + 1)));
    if (op == LLVMXor && c == all)
        return not_of(e, a);
    return NULL;
}

// end - begin of one object (std::vector).
static const GrTerm *distance_of(Eval *e, LLVMValueRef x, LLVMValueRef y) {
    if (!LLVMIsAPtrToIntInst(x) || !LLVMIsAPtrToIntInst(y))
        return NULL;
    Pointer a = gr_eval_pointer(e, LLVMGetOperand(x, 0)), b = gr_eval_pointer(e, LLVMGetOperand(y, 0));
    return gr_eval_same_base(&a, &b) ? gr_eval_op(e, GR_TERM_SUB, a.offset, b.offset) : NULL;
}

static const GrTerm *binary(Eval *e, LLVMValueRef v, LLVMOpcode op) {
    static const struct {
        LLVMOpcode op;
        GrTermOp term;
    } table[] = {{LLVMAdd, GR_TERM_ADD},   {LLVMSub, GR_TERM_SUB},   {LLVMMul, GR_TERM_MUL},
                 {LLVMUDiv, GR_TERM_UDIV}, {LLVMSDiv, GR_TERM_SDIV}, {LLVMURem, GR_TERM_UREM},
                 {LLVMSRem, GR_TERM_SREM}, {LLVMShl, GR_TERM_SHL},   {LLVMLShr, GR_TERM_LSHR},
                 {LLVMAShr, GR_TERM_ASHR}, {LLVMAnd, GR_TERM_AND},   {LLVMOr, GR_TERM_OR},
                 {LLVMXor, GR_TERM_XOR}};
    const GrTerm *distance =
        op == LLVMSub ? distance_of(e, LLVMGetOperand(v, 0), LLVMGetOperand(v, 1)) : NULL;
    if (distance)
        return distance;
    const GrTerm *a = gr_eval(e, LLVMGetOperand(v, 0)), *b = gr_eval(e, LLVMGetOperand(v, 1));
    if (!a || !b)
        return NULL;
    const GrTerm *r = b->op == GR_TERM_CONST ? with_constant(e, op, a, b->value) : NULL;
    if (r)
        return r;
    if (op == LLVMOr && LLVMGetIsDisjoint(v))
        return gr_eval_op(e, a->bits == 1 ? GR_TERM_OR : GR_TERM_ADD, a, b);
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        if (table[k].op == op)
            return gr_eval_op(e, table[k].term, a, b);
    }
    return NULL;
}

static const GrTerm *compare_pointers(Eval *e, LLVMValueRef v) {
    LLVMIntPredicate p = LLVMGetICmpPredicate(v);
    if (p != LLVMIntEQ && p != LLVMIntNE)
        return NULL;
    Pointer a = gr_eval_pointer(e, LLVMGetOperand(v, 0)), b = gr_eval_pointer(e, LLVMGetOperand(v, 1));
    const GrTerm *r = NULL;
    if (gr_eval_same_base(&a, &b) && a.to != POINTS_NULL)
        r = gr_eval_op(e, GR_TERM_EQ, a.offset, b.offset);
    return r && p == LLVMIntNE ? not_of(e, r) : r;
}

// x + c <u n is how instcombine writes low <= x && x <= high.
static const GrTerm *in_range(Eval *e, const GrTerm *a, const GrTerm *b, bool or_equal) {
    if (!a || !b || a->op != GR_TERM_ADD || b->op != GR_TERM_CONST || a->bits < 2)
        return NULL;
    const GrTerm *x = a->arg[0], *c = a->arg[1];
    if (c->op != GR_TERM_CONST) {
        x = a->arg[1];
        c = a->arg[0];
    }
    uint64_t n = b->value + or_equal;
    if (c->op != GR_TERM_CONST || !n)
        return NULL;
    unsigned bits = a->bits;
    const GrTerm *low = gr_eval_const(e, bits, 0 - c->value),
                 *high = gr_eval_const(e, bits, n - c->value - 1);
    if (!low || !high)
        return NULL;
    if (gr_term_signed(low) <= gr_term_signed(high))
        return gr_eval_op(e, GR_TERM_AND, gr_eval_op(e, GR_TERM_SLE, low, x),
                          gr_eval_op(e, GR_TERM_SLE, x, high));
    // All values outside of that range.
    return gr_eval_op(e, GR_TERM_OR, gr_eval_op(e, GR_TERM_SLE, low, x), gr_eval_op(e, GR_TERM_SLE, x, high));
}

static const GrTerm *unsigned_less(Eval *e, const GrTerm *a, const GrTerm *b, bool or_equal) {
    const GrTerm *r = in_range(e, a, b, or_equal);
    return r ? r : gr_eval_op(e, or_equal ? GR_TERM_ULE : GR_TERM_ULT, a, b);
}

static const GrTerm *compare(Eval *e, LLVMValueRef v) {
    LLVMValueRef x = LLVMGetOperand(v, 0), y = LLVMGetOperand(v, 1);
    if (LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMPointerTypeKind)
        return compare_pointers(e, v);
    const GrTerm *a = gr_eval(e, x), *b = gr_eval(e, y);
    switch (LLVMGetICmpPredicate(v)) {
    case LLVMIntEQ: return gr_eval_op(e, GR_TERM_EQ, a, b);
    case LLVMIntNE: return not_of(e, gr_eval_op(e, GR_TERM_EQ, a, b));
    case LLVMIntSLT: return gr_eval_op(e, GR_TERM_SLT, a, b);
    case LLVMIntSLE: return gr_eval_op(e, GR_TERM_SLE, a, b);
    case LLVMIntSGT: return gr_eval_op(e, GR_TERM_SLT, b, a);
    case LLVMIntSGE: return gr_eval_op(e, GR_TERM_SLE, b, a);
    case LLVMIntULT: return unsigned_less(e, a, b, false);
    case LLVMIntULE: return unsigned_less(e, a, b, true);
    case LLVMIntUGT: return not_of(e, unsigned_less(e, a, b, true));
    case LLVMIntUGE: return not_of(e, unsigned_less(e, a, b, false));
    }
    return NULL;
}

static const GrTerm *call(Eval *e, LLVMValueRef v) {
    const char *name = gr_ir_callee_name(v);
    static const struct {
        const char *name;
        GrTermOp less;
        bool least;
    } table[] = {{"llvm.smin.", GR_TERM_SLT, true},
                 {"llvm.smax.", GR_TERM_SLT, false},
                 {"llvm.umin.", GR_TERM_ULT, true},
                 {"llvm.umax.", GR_TERM_ULT, false}};
    if (!strncmp(name, "llvm.expect", 11))
        return gr_eval(e, LLVMGetOperand(v, 0));
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        if (!strncmp(name, table[k].name, strlen(table[k].name))) {
            const GrTerm *a = gr_eval(e, LLVMGetOperand(v, 0)), *b = gr_eval(e, LLVMGetOperand(v, 1));
            const GrTerm *less = gr_eval_op(e, table[k].less, a, b);
            return table[k].least ? choose(e, less, a, b) : choose(e, less, b, a);
        }
    }
    if (!strncmp(name, "llvm.abs.", 9)) {
        const GrTerm *a = gr_eval(e, LLVMGetOperand(v, 0));
        const GrTerm *zero = a ? gr_eval_const(e, a->bits, 0) : NULL;
        return choose(e, gr_eval_op(e, GR_TERM_SLT, a, zero), gr_eval_op(e, GR_TERM_SUB, zero, a), a);
    }
    return NULL;
}

// The product of an operation that tells whether it wrapped (new T[n]).
static LLVMValueRef with_overflow(LLVMValueRef v, unsigned part) {
    if (!LLVMIsAExtractValueInst(v) || LLVMGetNumIndices(v) != 1 || LLVMGetIndices(v)[0] != part)
        return NULL;
    LLVMValueRef from = LLVMGetOperand(v, 0);
    return strstr(gr_ir_callee_name(from), ".with.overflow.") ? from : NULL;
}

static const GrTerm *extracted(Eval *e, LLVMValueRef v) {
    LLVMValueRef from = with_overflow(v, 0);
    if (!from)
        return NULL;
    const char *name = gr_ir_callee_name(from);
    const GrTerm *a = gr_eval(e, LLVMGetOperand(from, 0)), *b = gr_eval(e, LLVMGetOperand(from, 1));
    return gr_eval_op(e,
                      strstr(name, "mul.")   ? GR_TERM_MUL
                      : strstr(name, "add.") ? GR_TERM_ADD
                                             : GR_TERM_SUB,
                      a, b);
}

// (unsigned)ceil(n / c) of doubles, n of up to 32 bits and c a positive whole number, is exact: n / c rounded up.
static const GrTerm *rounded_up(Eval *e, LLVMValueRef v) {
    LLVMValueRef up = LLVMGetOperand(v, 0);
    const char *name = gr_ir_callee_name(up);
    if (strcmp(name, "ceil") && strcmp(name, "llvm.ceil.f64"))
        return NULL;
    LLVMValueRef quotient = LLVMGetOperand(up, 0);
    if (!LLVMIsABinaryOperator(quotient))
        return NULL;
    LLVMOpcode op = LLVMGetInstructionOpcode(quotient);
    LLVMValueRef n = LLVMGetOperand(quotient, 0), by = LLVMGetOperand(quotient, 1);
    LLVMBool lost;
    double c = LLVMIsAConstantFP(by) ? LLVMConstRealGetDouble(by, &lost) : 0;
    if (op == LLVMFMul && c > 0) // by a power of two
        c = 1 / c;
    else if (op != LLVMFDiv)
        return NULL;
    bool is_signed = LLVMIsASIToFPInst(n) != NULL;
    if (!(c >= 1 && c <= 1 << 20) || c != (double)(uint32_t)c || (!is_signed && !LLVMIsAUIToFPInst(n)) ||
        width(LLVMGetOperand(n, 0)) > 32 || (op == LLVMFMul && !power_of_two((uint64_t)c)))
        return NULL;
    const GrTerm *a = resize(e, 64, is_signed, gr_eval(e, LLVMGetOperand(n, 0)));
    const GrTerm *by_c = gr_eval_const(e, 64, (uint64_t)c);
    const GrTerm *more = gr_eval_op(e, GR_TERM_ADD, a, gr_eval_const(e, 64, (uint64_t)c - 1));
    const GrTerm *r = gr_eval_op(e, GR_TERM_SDIV, more, by_c);
    if (is_signed) // below 0, truncation rounds up
        r = choose(e, gr_eval_op(e, GR_TERM_SLT, a, gr_eval_const(e, 64, 0)),
                   gr_eval_op(e, GR_TERM_SDIV, a, by_c), r);
    return resize(e, width(v), false, r);
}

// a && b is a ? b : false.
static const GrTerm *selected(Eval *e, const GrTerm *c, const GrTerm *a, const GrTerm *b) {
    if (a && b && b->bits == 1 && gr_term_is_const(b, 0))
        return gr_eval_op(e, GR_TERM_AND, c, a);
    if (a && b && a->bits == 1 && gr_term_is_const(a, 1))
        return gr_eval_op(e, GR_TERM_OR, c, b);
    return choose(e, c, a, b);
}

static const GrTerm *computed(Eval *e, LLVMValueRef v) {
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    LLVMValueRef x = LLVMGetNumOperands(v) ? LLVMGetOperand(v, 0) : NULL;
    unsigned bits = width(v);
    switch (op) {
    case LLVMPHI: return gr_eval_phi(e, v);
    case LLVMICmp: return compare(e, v);
    case LLVMSExt: return resize(e, bits, true, gr_eval(e, x));
    case LLVMTrunc:
        if (bits == 32 && width(x) == 64)
            return gr_eval_half(e, x, false);
        return resize(e, bits, false, gr_eval(e, x));
    case LLVMZExt: return resize(e, bits, false, gr_eval(e, x));
    case LLVMFreeze: return gr_eval(e, x);
    case LLVMSelect:
        if (with_overflow(x, 1)) // a product that wraps is too large to be allocated
            return gr_eval(e, LLVMGetOperand(v, 2));
        return selected(e, gr_eval(e, x), gr_eval(e, LLVMGetOperand(v, 1)), gr_eval(e, LLVMGetOperand(v, 2)));
    case LLVMLoad: {
        Pointer p = gr_eval_pointer(e, x);
        return LLVMGetVolatile(v) ? NULL : gr_eval_load(e, &p, bits, v, v);
    }
    case LLVMCall:
    case LLVMInvoke: return call(e, v);
    case LLVMExtractValue: return extracted(e, v);
    case LLVMFPToUI:
    case LLVMFPToSI: return rounded_up(e, v);
    default: return LLVMIsABinaryOperator(v) ? binary(e, v, op) : NULL;
    }
}

// What an instruction computes; terms are of its line.
static const GrTerm *instruction(Eval *e, LLVMValueRef v) {
    GrOrigin before = e->t->now;
    IrPlace place = LLVMIsAInstruction(v) ? gr_ir_place(e->ir, v) : (IrPlace){0};
    if (place.file && place.line)
        gr_terms_at(e->t, place.file, place.line);
    const GrTerm *a = computed(e, v);
    e->t->now = before;
    return a;
}

// What the call gives may be computed from numbers of the program's: the program has the function, and hands it some.
static bool computes(LLVMValueRef call) {
    LLVMValueRef f = gr_ir_callee(call);
    bool numbers = false;
    for (unsigned k = 0; k < LLVMGetNumArgOperands(call); k++)
        numbers |= LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, k))) != LLVMPointerTypeKind;
    return f && !gr_ir_is_elsewhere(f) && numbers;
}

// The owner of an unknown value (launch.h). What comes into the program may be anything: parameters, results of
// functions elsewhere, the caller's memory; and a condition may be true or not. What else the program computes may not,
// even if it was not followed here: an address, a number that was a float, an element of its own arrays.
static const void *owner_of(Eval *e, LLVMValueRef v) {
    if (!LLVMIsAInstruction(v) || width(v) == 1)
        return NULL;
    if (gr_ir_is_call(v))
        return computes(v) ? gr_host_derived : NULL;
    if (LLVMIsALoadInst(v)) {
        PointsTo to = gr_eval_pointer(e, LLVMGetOperand(v, 0)).to;
        return to == POINTS_PARAM || to == POINTS_GLOBAL ? NULL : gr_host_derived;
    }
    return gr_host_derived;
}

const GrTerm *gr_eval(Eval *e, LLVMValueRef v) {
    unsigned bits = width(v);
    if (!bits)
        return NULL;
    if (LLVMIsAConstantInt(v))
        return gr_eval_const(e, bits, LLVMConstIntGetZExtValue(v));
    const GrTerm *r = gr_ir_get(&e->terms, v);
    if (r)
        return r;
    if (LLVMIsAInstruction(v) && e->depth < DEEPEST) {
        e->depth++;
        r = instruction(e, v);
        e->depth--;
        const GrTerm *meanwhile = gr_ir_get(&e->terms, v); // a phi names itself before it looks around
        if (meanwhile)
            return meanwhile;
    }
    if (!r || r->bits != bits)
        r = gr_eval_symbol(e, v, bits, owner_of(e, v));
    if (r)
        e->oom |= !gr_ir_put(&e->terms, v, (void *)(uintptr_t)r);
    return r;
}
