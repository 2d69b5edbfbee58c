// SPDX-License-Identifier: Apache-2.0
// alu — instructions that compute: integers become terms, all else is free.
#include "engines/verifier/kernel/exec.h"

// ---- Special registers ------------------------------------------------------------------------------------------

static const GrTerm *special(KWalk *w, const char *name) {
    const GrSymbol *s = gr_kernel_special(w->t, name);
    return s ? gr_term_sym(w->t, s) : NULL;
}

// tid.x + ntid.x * (tid.y + ntid.y * tid.z), from which lanes and warps come.
static const GrTerm *linear(KWalk *w) {
    GrTerms *t = w->t;
    const GrTerm *yz = gr_term_2(t, GR_TERM_ADD, special(w, "%tid.y"),
                                 gr_term_2(t, GR_TERM_MUL, special(w, "%ntid.y"), special(w, "%tid.z")));
    return gr_term_2(t, GR_TERM_ADD, special(w, "%tid.x"),
                     gr_term_2(t, GR_TERM_MUL, special(w, "%ntid.x"), yz));
}

static const GrTerm *sreg(KWalk *w, const KStmt *s, const char *name) {
    GrTerms *t = w->t;
    const GrTerm *warp = gr_term_const(t, 32, 32);
    if (!strcmp(name, "WARP_SZ"))
        return warp;
    if (!strcmp(name, "%laneid"))
        return gr_term_2(t, GR_TERM_UREM, linear(w), warp);
    if (!strcmp(name, "%warpid"))
        return gr_term_2(t, GR_TERM_UDIV, linear(w), warp);
    if (!strncmp(name, "%lanemask_", 10)) {
        const GrTerm *one = gr_term_const(t, 32, 1),
                     *bit = gr_term_2(t, GR_TERM_SHL, one, gr_term_2(t, GR_TERM_UREM, linear(w), warp));
        const GrTerm *below = gr_term_2(t, GR_TERM_SUB, bit, one);
        if (!strcmp(name, "%lanemask_eq"))
            return bit;
        if (!strcmp(name, "%lanemask_lt"))
            return below;
        if (!strcmp(name, "%lanemask_le"))
            return gr_term_2(t, GR_TERM_OR, bit, below);
        if (!strcmp(name, "%lanemask_ge"))
            return gr_term_1(t, GR_TERM_NOT, 32, below);
        return gr_term_1(t, GR_TERM_NOT, 32, gr_term_2(t, GR_TERM_OR, bit, below));
    }
    const char *dot = strrchr(name, '.');
    bool plain = dot &&
                 (!strncmp(name, "%tid", 4) || !strncmp(name, "%ntid", 5) || !strncmp(name, "%ctaid", 6) ||
                  !strncmp(name, "%nctaid", 7)) &&
                 (dot[1] >= 'x' && dot[1] <= 'z');
    if (plain || !strncmp(name, "%envreg", 7) || !strncmp(name, "%reserved_smem", 14) ||
        !strcmp(name, "%dynamic_smem_size") || !strcmp(name, "%total_smem_size"))
        return special(w, name);
    bool wide = strstr(name, "64") || !strcmp(name, "%globaltimer") || !strcmp(name, "%gridid");
    return gr_walk_free_value(w, s, gr_hash_bytes(name, strlen(name)), wide ? 64 : 32, name);
}

// ---- Operands ------------------------------------------------------------------------------------------------------

static const GrTerm *value(KWalk *w, const KStmt *s, const PtxOperand *o, uint32_t bits) {
    GrTerms *t = w->t;
    switch (o->kind) {
    case PTX_O_REG:
        if (o->elem) // a component of a vector register
            return gr_walk_free_value(w, s, (uint64_t)(uintptr_t)o->reg->index << 8 | (uint8_t)o->elem, bits,
                                      "a vector register");
        return gr_walk_reg(w, s, o->reg);
    case PTX_O_SREG: return sreg(w, s, o->text ? o->text : "?");
    case PTX_O_INT: return gr_term_const(t, bits, o->bits);
    case PTX_O_F32:
    case PTX_O_F64: return gr_term_const(t, bits, o->bits);
    case PTX_O_VAR: {
        const GrTerm *at = o->var ? gr_variable(w, s, o->var) : NULL;
        return gr_term_2(t, GR_TERM_ADD, at, gr_term_const(t, 64, (uint64_t)o->offset));
    }
    case PTX_O_FUNC:
    case PTX_O_LABEL:
    case PTX_O_ADDRESS:
    case PTX_O_VECTOR:
    case PTX_O_PAREN:
    case PTX_O_PAIR:
    case PTX_O_SINK:
    case PTX_O_RAW: break;
    }
    return gr_walk_free_value(w, s, (uint64_t)(o - s->stmt.instr->operands) + 50, bits, "an operand");
}

const GrTerm *gr_operand(KWalk *w, const KStmt *s, const PtxOperand *o, uint32_t bits) {
    const GrTerm *a = gr_term_resize(w->t, bits, false, value(w, s, o, bits));
    if (o->negated && o->kind == PTX_O_REG && bits == 1)
        a = gr_bool_not(w->t, a);
    if (!a)
        w->nomem = true;
    return a;
}

const GrTerm *gr_predicate(KWalk *w, const KStmt *s) {
    const PtxInstr *i = s->stmt.instr;
    if (!i->guard)
        return gr_term_true(w->t);
    const GrTerm *p = gr_term_resize(w->t, 1, false, gr_walk_reg(w, s, i->guard));
    return i->guard_negated ? gr_bool_not(w->t, p) : p;
}

static void assign_reg(KWalk *w, const KStmt *s, const PtxOperand *dst, const GrTerm *v) {
    if (dst->elem)
        return; // reading such a component gives anything
    uint32_t bits = gr_walk_reg_bits(dst->reg);
    v = gr_term_resize(w->t, bits, false, v);
    if (s->stmt.instr->guard && w->n_assigns[gr_flat_reg(s, dst->reg)] > 1)
        v = gr_bool_ite(w->t, gr_predicate(w, s), v, gr_walk_reg(w, s, dst->reg));
    gr_walk_set_reg(w, s, dst->reg, v);
}

void gr_assign(KWalk *w, const KStmt *s, const PtxOperand *dst, const GrTerm *v) {
    if (dst->kind == PTX_O_PAIR)
        dst = &dst->sub[0];
    if (dst->kind == PTX_O_REG && v)
        assign_reg(w, s, dst, v);
    else if (dst->kind == PTX_O_VECTOR || dst->kind == PTX_O_PAREN)
        gr_assign_free(w, s, dst, "a vector");
    else if (!v)
        w->nomem = true;
}

void gr_assign_free(KWalk *w, const KStmt *s, const PtxOperand *dst, const char *why) {
    for (unsigned k = 0; k < dst->n_sub; k++)
        gr_assign_free(w, s, &dst->sub[k], why);
    if (dst->kind == PTX_O_REG)
        assign_reg(w, s, dst,
                   gr_walk_free_value(w, s, 1000 + dst->reg->index, gr_walk_reg_bits(dst->reg), why));
}

// ---- Operations -----------------------------------------------------------------------------------------------------

typedef struct Alu {
    KWalk *w;
    GrTerms *t;
    const KStmt *s;
    const PtxInstr *i;
    uint32_t bits;
    bool is_signed;
} Alu;

// Text may have fewer operands than the instruction takes: what is missing may be anything.
static const GrTerm *operand(const Alu *a, unsigned k, uint32_t bits) {
    return k < a->i->n_operands ? gr_operand(a->w, a->s, &a->i->operands[k], bits)
                                : gr_walk_free_value(a->w, a->s, 50 + k, bits, "an operand");
}

static const GrTerm *in(const Alu *a, unsigned k) {
    return k < a->i->n_operands ? gr_operand(a->w, a->s, &a->i->operands[k], a->bits) : NULL;
}
static const GrTerm *constant(const Alu *a, uint64_t v) { return gr_term_const(a->t, a->bits, v); }
static const GrTerm *two(const Alu *a, GrTermOp op) { return gr_term_2(a->t, op, in(a, 1), in(a, 2)); }

static const GrTerm *less(const Alu *a, const GrTerm *x, const GrTerm *y) {
    return gr_term_2(a->t, a->is_signed ? GR_TERM_SLT : GR_TERM_ULT, x, y);
}

// mul, and the product of mad: .lo, .hi or .wide.
static const GrTerm *product(const Alu *a) {
    const GrTerm *x = in(a, 1), *y = in(a, 2);
    bool wide = gr_ptx_instr_has(a->i, PTX_MOD_wide), high = gr_ptx_instr_has(a->i, PTX_MOD_hi);
    if (!wide && !high)
        return gr_term_2(a->t, GR_TERM_MUL, x, y);
    if (a->bits > 32)
        return NULL;
    x = gr_term_resize(a->t, a->bits * 2, a->is_signed, x);
    y = gr_term_resize(a->t, a->bits * 2, a->is_signed, y);
    const GrTerm *both = gr_term_2(a->t, GR_TERM_MUL, x, y);
    if (wide)
        return both;
    both = gr_term_2(a->t, GR_TERM_LSHR, both, gr_term_const(a->t, a->bits * 2, a->bits));
    return gr_term_resize(a->t, a->bits, false, both);
}

static const GrTerm *mad(const Alu *a) {
    const GrTerm *p = product(a);
    return p ? gr_term_2(a->t, GR_TERM_ADD, p, operand(a, 3, p->bits)) : NULL;
}

// Shifts take 32 bits and clamp; so do those of terms.
static const GrTerm *shift(const Alu *a, GrTermOp op) {
    const GrTerm *by = operand(a, 2, 32);
    if (a->bits < 32 && by && by->op != GR_TERM_CONST)
        by = gr_bool_ite(a->t, gr_term_2(a->t, GR_TERM_ULT, by, gr_term_const(a->t, 32, a->bits)), by,
                         gr_term_const(a->t, 32, a->bits));
    else if (a->bits < 32 && by && by->value > a->bits)
        by = gr_term_const(a->t, 32, a->bits);
    return gr_term_2(a->t, op, in(a, 1), gr_term_resize(a->t, a->bits, false, by));
}

static const GrTerm *compare(const Alu *a, const GrTerm *x, const GrTerm *y) {
    GrTerms *t = a->t;
    bool sign = a->is_signed;
    for (unsigned k = 0; k < a->i->n_mods; k++) {
        switch (a->i->mods[k].id) {
        case PTX_MOD_eq: return gr_bool_equal(t, x, y);
        case PTX_MOD_ne: return gr_bool_not(t, gr_bool_equal(t, x, y));
        case PTX_MOD_lt: return less(a, x, y);
        case PTX_MOD_gt: return less(a, y, x);
        case PTX_MOD_le: return gr_term_2(t, sign ? GR_TERM_SLE : GR_TERM_ULE, x, y);
        case PTX_MOD_ge: return gr_term_2(t, sign ? GR_TERM_SLE : GR_TERM_ULE, y, x);
        case PTX_MOD_lo: return gr_term_2(t, GR_TERM_ULT, x, y);
        case PTX_MOD_ls: return gr_term_2(t, GR_TERM_ULE, x, y);
        case PTX_MOD_hi: return gr_term_2(t, GR_TERM_ULT, y, x);
        case PTX_MOD_hs: return gr_term_2(t, GR_TERM_ULE, y, x);
        default: break;
        }
    }
    return NULL;
}

// The comparison of setp or set; combined with a third predicate.
static const GrTerm *compared(const Alu *a, bool opposite) {
    const GrTerm *c = compare(a, in(a, 1), in(a, 2));
    if (!c)
        return NULL;
    c = opposite ? gr_bool_not(a->t, c) : c;
    if (a->i->n_operands < 4)
        return c;
    const GrTerm *p = operand(a, 3, 1);
    if (gr_ptx_instr_has(a->i, PTX_MOD_and))
        return gr_bool_and(a->t, c, p);
    if (gr_ptx_instr_has(a->i, PTX_MOD_or))
        return gr_bool_or(a->t, c, p);
    return gr_ptx_instr_has(a->i, PTX_MOD_xor) ? gr_term_2(a->t, GR_TERM_XOR, c, p) : NULL;
}

static const GrTerm *cvt(const Alu *a) {
    PtxType to = a->i->type[0], from = a->i->type[1];
    if (gr_ptx_type_is_float(to) || gr_ptx_type_is_float(from) || gr_ptx_instr_has(a->i, PTX_MOD_sat))
        return NULL;
    uint32_t bits = gr_ptx_type_bits(to), of = gr_ptx_type_bits(from);
    const GrTerm *x = of ? operand(a, 1, of) : NULL;
    if (!x || !bits)
        return NULL;
    // A 32-bit address of shared memory is the 64-bit one.
    if (x->op == GR_TERM_TRUNC && bits == 64 && x->bits == 32 && !gr_ptx_type_is_signed(from) &&
        x->arg[0]->op == GR_TERM_SYM && x->arg[0]->sym->kind == GR_SYM_OBJECT &&
        x->arg[0]->sym->scope == GR_SYM_BLOCK)
        return x->arg[0];
    const GrTerm *v = gr_term_resize(a->t, bits, gr_ptx_type_is_signed(from), x);
    // A register wider than the type is extended by the type's sign.
    uint32_t wide = a->i->operands[0].kind == PTX_O_REG ? gr_walk_reg_bits(a->i->operands[0].reg) : bits;
    return wide > bits ? gr_term_resize(a->t, wide, gr_ptx_type_is_signed(to), v) : v;
}

static const GrTerm *bfe(const Alu *a) {
    const GrTerm *at = operand(a, 2, 32), *len = operand(a, 3, 32);
    if (!at || !len || at->op != GR_TERM_CONST || len->op != GR_TERM_CONST)
        return NULL;
    uint64_t from = at->value & 255, n = len->value & 255;
    if (!n || from + n > a->bits)
        return NULL;
    const GrTerm *v = gr_term_2(a->t, GR_TERM_SHL, in(a, 1), constant(a, a->bits - from - n));
    return gr_term_2(a->t, a->is_signed ? GR_TERM_ASHR : GR_TERM_LSHR, v, constant(a, a->bits - n));
}

static const GrTerm *bfi(const Alu *a) {
    const GrTerm *at = operand(a, 3, 32), *len = operand(a, 4, 32);
    if (!at || !len || at->op != GR_TERM_CONST || len->op != GR_TERM_CONST ||
        at->value + len->value > a->bits)
        return NULL;
    uint64_t ones = len->value >= 64 ? UINT64_MAX : (UINT64_C(1) << len->value) - 1,
             field = ones << at->value;
    const GrTerm *low = gr_term_2(a->t, GR_TERM_SHL, in(a, 1), constant(a, at->value));
    return gr_term_2(a->t, GR_TERM_OR, gr_term_2(a->t, GR_TERM_AND, low, constant(a, field)),
                     gr_term_2(a->t, GR_TERM_AND, in(a, 2), constant(a, ~field)));
}

static const GrTerm *lop3(const Alu *a) {
    if (a->i->n_operands != 5 || a->i->operands[4].kind != PTX_O_INT)
        return NULL;
    const PtxOperand *table = &a->i->operands[4];
    const GrTerm *v[3] = {in(a, 1), in(a, 2), in(a, 3)}, *out = constant(a, 0);
    for (unsigned row = 0; row < 8; row++) {
        if (!(table->bits >> row & 1))
            continue;
        const GrTerm *all = constant(a, UINT64_MAX);
        for (unsigned k = 0; k < 3; k++)
            all = gr_term_2(a->t, GR_TERM_AND, all,
                            row >> (2 - k) & 1 ? v[k] : gr_term_1(a->t, GR_TERM_NOT, a->bits, v[k]));
        out = gr_term_2(a->t, GR_TERM_OR, out, all);
    }
    return out;
}

static const GrTerm *choose(const Alu *a, bool smaller) {
    const GrTerm *x = in(a, 1), *y = in(a, 2);
    return gr_bool_ite(a->t, smaller ? less(a, x, y) : less(a, y, x), x, y);
}

static const GrTerm *joined(const Alu *a) { // mov.b64 %rd, {lo, hi}
    const PtxOperand *v = &a->i->operands[1];
    const GrTerm *out = NULL;
    uint32_t each = v->n_sub ? a->bits / v->n_sub : 0;
    for (unsigned k = v->n_sub; each && k--;) {
        const GrTerm *e = gr_term_resize(a->t, a->bits, false, gr_operand(a->w, a->s, &v->sub[k], each));
        out = out ? gr_term_2(a->t, GR_TERM_OR, gr_term_2(a->t, GR_TERM_SHL, out, constant(a, each)), e) : e;
    }
    return out;
}

static bool split(const Alu *a) { // mov.b64 {lo, hi}, %rd
    const PtxOperand *v = &a->i->operands[0];
    if (v->kind != PTX_O_VECTOR || !v->n_sub || a->bits % v->n_sub)
        return false;
    uint32_t each = a->bits / v->n_sub;
    for (unsigned k = 0; k < v->n_sub; k++) {
        const GrTerm *e = gr_term_2(a->t, GR_TERM_LSHR, in(a, 1), constant(a, each * k));
        if (v->sub[k].kind == PTX_O_REG)
            gr_assign(a->w, a->s, &v->sub[k], gr_term_resize(a->t, each, false, e));
    }
    return true;
}

static const GrTerm *mov(const Alu *a) {
    return a->i->operands[1].kind == PTX_O_VECTOR ? joined(a) : in(a, 1);
}

// The address of a variable of the source in the frame's local memory.
static const GrTerm *piece(const Alu *a) {
    const GrTerm *sp =
        a->i->n_operands == 3 && gr_flat_is_stack(&a->i->operands[1]) && a->i->operands[2].kind == PTX_O_INT
            ? in(a, 1)
            : NULL;
    if (!sp || sp->op != GR_TERM_SYM || sp->sym->kind != GR_SYM_OBJECT || sp->sym->scope != GR_SYM_THREAD)
        return NULL;
    int64_t at = (int64_t)a->i->operands[2].bits;
    const KVar *v = gr_flat_piece(sp->sym->owner, &at);
    return gr_term_2(a->t, GR_TERM_ADD, gr_term_sym(a->t, v->base), gr_term_const(a->t, 64, (uint64_t)at));
}

static const GrTerm *sum(const Alu *a) {
    const GrTerm *v = piece(a);
    return v ? v : two(a, GR_TERM_ADD);
}

// NULL: not an operation of terms.
static const GrTerm *result(const Alu *a) {
    GrTerms *t = a->t;
    bool sign = a->is_signed;
    switch (a->i->op) {
    case PTX_OP_ADD: return sum(a);
    case PTX_OP_SUB: return two(a, GR_TERM_SUB);
    case PTX_OP_MUL: return product(a);
    case PTX_OP_MAD: return mad(a);
    case PTX_OP_DIV: return two(a, sign ? GR_TERM_SDIV : GR_TERM_UDIV);
    case PTX_OP_REM: return two(a, sign ? GR_TERM_SREM : GR_TERM_UREM);
    case PTX_OP_ABS:
        return gr_bool_ite(t, less(a, in(a, 1), constant(a, 0)),
                           gr_term_2(t, GR_TERM_SUB, constant(a, 0), in(a, 1)), in(a, 1));
    case PTX_OP_NEG: return gr_term_2(t, GR_TERM_SUB, constant(a, 0), in(a, 1));
    case PTX_OP_MIN: return choose(a, true);
    case PTX_OP_MAX: return choose(a, false);
    case PTX_OP_BFE: return bfe(a);
    case PTX_OP_BFI: return bfi(a);
    case PTX_OP_AND: return a->bits == 1 ? gr_bool_and(t, in(a, 1), in(a, 2)) : two(a, GR_TERM_AND);
    case PTX_OP_OR: return a->bits == 1 ? gr_bool_or(t, in(a, 1), in(a, 2)) : two(a, GR_TERM_OR);
    case PTX_OP_XOR: return two(a, GR_TERM_XOR);
    case PTX_OP_NOT: return gr_term_1(t, GR_TERM_NOT, a->bits, in(a, 1));
    case PTX_OP_CNOT:
        return gr_term_resize(t, a->bits, false, gr_term_2(t, GR_TERM_EQ, in(a, 1), constant(a, 0)));
    case PTX_OP_LOP3: return lop3(a);
    case PTX_OP_SHL: return shift(a, GR_TERM_SHL);
    case PTX_OP_SHR: return shift(a, sign ? GR_TERM_ASHR : GR_TERM_LSHR);
    case PTX_OP_MOV: return mov(a);
    case PTX_OP_CVTA: return in(a, 1);
    case PTX_OP_SETP: return compared(a, false);
    default: return NULL;
    }
}

// isspacep: whether an address lies in a space. NULL: not known.
static const GrTerm *in_space(KWalk *w, const KStmt *s, PtxSpace asked) {
    KTarget to[K_MOST_TARGETS];
    const GrTerm *all = gr_term_false(w->t);
    unsigned n = gr_address(w, s, gr_operand(w, s, &s->stmt.instr->operands[1], 64), to);
    bool shared = asked == PTX_SHARED || asked == PTX_SHARED_CTA || asked == PTX_SHARED_CLUSTER;
    if (!n || (!shared && asked != PTX_GLOBAL && asked != PTX_LOCAL))
        return NULL;
    for (unsigned k = 0; k < n && all; k++) {
        if (!to[k].local && (!to[k].object || to[k].object->kind == GR_OBJECT_UNKNOWN))
            return NULL;
        bool of_shared = !to[k].local && to[k].object->kind == GR_OBJECT_SHARED;
        if (shared ? of_shared : asked == PTX_LOCAL ? to[k].local != NULL : !to[k].local && !of_shared)
            all = gr_bool_or(w->t, all, to[k].when);
    }
    return all;
}

static bool all_operands_float(const PtxInstr *i) {
    return gr_ptx_type_is_float(i->type[0]) && i->op != PTX_OP_MOV && i->op != PTX_OP_SELP;
}

static void lose(KWalk *w, const KStmt *s) {
    const PtxInstr *i = s->stmt.instr;
    bool no_dst = gr_ptx_instr_flags(i) & PTX_F_NO_DST;
    for (unsigned k = 1; k < i->n_operands; k++)
        if (i->operands[k].kind == PTX_O_REG && !i->operands[k].elem &&
            gr_walk_reg_bits(i->operands[k].reg) >= 32)
            gr_walk_escape(w, gr_walk_reg(w, s, i->operands[k].reg));
    if (i->n_operands && !no_dst)
        gr_assign_free(w, s, &i->operands[0], i->opcode);
}

void gr_exec_alu(KWalk *w, const KStmt *s) {
    const PtxInstr *i = s->stmt.instr;
    if (!i->n_operands)
        return;
    Alu a = {w, w->t, s, i, gr_ptx_type_bits(i->type[0]), gr_ptx_type_is_signed(i->type[0])};
    const PtxOperand *dst = &i->operands[0];
    if (i->op == PTX_OP_MOV && i->type[0] == PTX_PRED && i->n_operands == 2 &&
        i->operands[1].kind == PTX_O_INT) {
        gr_assign(w, s, dst, gr_term_const(w->t, 1, i->operands[1].bits ? 1 : 0));
        return;
    }
    if (i->op == PTX_OP_ISSPACEP && i->n_operands == 2) {
        const GrTerm *is = in_space(w, s, i->space);
        if (is)
            gr_assign(w, s, dst, is);
        else
            lose(w, s);
        return;
    }
    if (!a.bits || a.bits > 64 || all_operands_float(i) || gr_ptx_instr_has(i, PTX_MOD_cc) ||
        i->n_operands < 2) {
        lose(w, s);
        return;
    }
    if (i->op == PTX_OP_MOV && dst->kind == PTX_O_VECTOR) {
        if (!split(&a))
            lose(w, s);
        return;
    }
    const GrTerm *v = NULL;
    bool packed = i->type[0] >= PTX_U16X2 && i->type[0] <= PTX_S8X4;
    if (i->op == PTX_OP_SELP)
        v = gr_bool_ite(w->t, operand(&a, 3, 1), in(&a, 1), in(&a, 2));
    else if (i->op == PTX_OP_SET)
        v = NULL;
    else if (i->op == PTX_OP_CVT)
        v = cvt(&a);
    else if (!packed && !gr_ptx_instr_has(i, PTX_MOD_sat))
        v = result(&a);
    if (!v) {
        lose(w, s);
        return;
    }
    if (i->op == PTX_OP_SETP && dst->kind == PTX_O_PAIR) {
        const GrTerm *other = compared(&a, true);
        if (dst->sub[1].kind == PTX_O_REG)
            gr_assign(w, s, &dst->sub[1], other);
        dst = &dst->sub[0];
    }
    gr_assign(w, s, dst, v);
}
