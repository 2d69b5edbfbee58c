// SPDX-License-Identifier: Apache-2.0
// bits — terms as bit strings of Z3: exact, whatever wraps, but for what the integers trusted.
#include "engines/verifier/solve/attempt.h"
#include "engines/verifier/term/machine.h"

typedef struct Bits {
    GrAttempt *a;
    Z3_context z;
    Z3_ast *bools, *strings; // by term id
    Z3_ast *symbols;         // by symbol id
    Z3_model model;
} Bits;

static Z3_ast string_of(Bits *b, const GrTerm *x);
static Z3_ast bool_of(Bits *b, const GrTerm *x);

static Z3_ast number(Bits *b, uint32_t bits, uint64_t v) {
    return Z3_mk_unsigned_int64(b->z, v, Z3_mk_bv_sort(b->z, bits));
}

static Z3_ast fresh(Bits *b, const char *prefix, uint32_t bits) {
    return Z3_mk_fresh_const(b->z, prefix, bits == 1 ? Z3_mk_bool_sort(b->z) : Z3_mk_bv_sort(b->z, bits));
}

static Z3_ast symbol(Bits *b, const GrSymbol *s) {
    if (!b->symbols[s->id])
        b->symbols[s->id] = fresh(b, s->name, s->bits);
    return b->symbols[s->id];
}

// ---- One bit -----------------------------------------------------------------------------------------------------

static Z3_ast compared(Bits *b, const GrTerm *x) {
    Z3_ast l = string_of(b, x->arg[0]), r = string_of(b, x->arg[1]);
    switch (x->op) {
    case GR_TERM_SLT: return Z3_mk_bvslt(b->z, l, r);
    case GR_TERM_SLE: return Z3_mk_bvsle(b->z, l, r);
    case GR_TERM_ULT: return Z3_mk_bvult(b->z, l, r);
    case GR_TERM_ULE: return Z3_mk_bvule(b->z, l, r);
    default: return Z3_mk_eq(b->z, l, r);
    }
}

static Z3_ast arithmetic(Bits *b, const GrTerm *x);

static Z3_ast new_bool(Bits *b, const GrTerm *x) {
    switch (x->op) {
    case GR_TERM_CONST: return x->value ? Z3_mk_true(b->z) : Z3_mk_false(b->z);
    case GR_TERM_SYM: return symbol(b, x->sym);
    case GR_TERM_READ: return fresh(b, x->sym->name, 1);
    case GR_TERM_NOT: return Z3_mk_not(b->z, bool_of(b, x->arg[0]));
    case GR_TERM_AND: return Z3_mk_and(b->z, 2, (Z3_ast[]){bool_of(b, x->arg[0]), bool_of(b, x->arg[1])});
    case GR_TERM_OR: return Z3_mk_or(b->z, 2, (Z3_ast[]){bool_of(b, x->arg[0]), bool_of(b, x->arg[1])});
    case GR_TERM_XOR: return Z3_mk_xor(b->z, bool_of(b, x->arg[0]), bool_of(b, x->arg[1]));
    case GR_TERM_ITE:
        return Z3_mk_ite(b->z, bool_of(b, x->arg[0]), bool_of(b, x->arg[1]), bool_of(b, x->arg[2]));
    case GR_TERM_EQ:
        if (x->arg[0]->bits == 1)
            return Z3_mk_iff(b->z, bool_of(b, x->arg[0]), bool_of(b, x->arg[1]));
        return compared(b, x);
    case GR_TERM_SLT:
    case GR_TERM_SLE:
    case GR_TERM_ULT:
    case GR_TERM_ULE: return compared(b, x);
    default: return Z3_mk_eq(b->z, arithmetic(b, x), number(b, 1, 1));
    }
}

static Z3_ast bool_of(Bits *b, const GrTerm *x) {
    if (!b->bools[x->id])
        b->bools[x->id] = new_bool(b, x);
    return b->bools[x->id];
}

// ---- More bits ---------------------------------------------------------------------------------------------------

static Z3_ast arithmetic(Bits *b, const GrTerm *x) {
    Z3_ast l = string_of(b, x->arg[0]), r = x->arg[1] ? string_of(b, x->arg[1]) : NULL;
    uint32_t from = x->arg[0]->bits;
    switch (x->op) {
    case GR_TERM_ADD: return Z3_mk_bvadd(b->z, l, r);
    case GR_TERM_SUB: return Z3_mk_bvsub(b->z, l, r);
    case GR_TERM_MUL: return Z3_mk_bvmul(b->z, l, r);
    case GR_TERM_SDIV: // by 0: Z3 has 1 for negative dividends, term.def all bits
        return Z3_mk_ite(b->z, Z3_mk_eq(b->z, r, number(b, from, 0)), number(b, from, gr_mask_bits(from)),
                         Z3_mk_bvsdiv(b->z, l, r));
    case GR_TERM_UDIV: return Z3_mk_bvudiv(b->z, l, r);
    case GR_TERM_SREM: return Z3_mk_bvsrem(b->z, l, r);
    case GR_TERM_UREM: return Z3_mk_bvurem(b->z, l, r);
    case GR_TERM_SHL: return Z3_mk_bvshl(b->z, l, r);
    case GR_TERM_LSHR: return Z3_mk_bvlshr(b->z, l, r);
    case GR_TERM_ASHR: return Z3_mk_bvashr(b->z, l, r);
    case GR_TERM_AND: return Z3_mk_bvand(b->z, l, r);
    case GR_TERM_OR: return Z3_mk_bvor(b->z, l, r);
    case GR_TERM_XOR: return Z3_mk_bvxor(b->z, l, r);
    case GR_TERM_NOT: return Z3_mk_bvnot(b->z, l);
    case GR_TERM_SEXT: return Z3_mk_sign_ext(b->z, x->bits - from, l);
    case GR_TERM_ZEXT: return Z3_mk_zero_ext(b->z, x->bits - from, l);
    case GR_TERM_TRUNC: return Z3_mk_extract(b->z, x->bits - 1, 0, l);
    default: return NULL; // leaves and comparisons are elsewhere
    }
}

static Z3_ast new_string(Bits *b, const GrTerm *x) {
    if (x->bits == 1)
        return Z3_mk_ite(b->z, bool_of(b, x), number(b, 1, 1), number(b, 1, 0));
    switch (x->op) {
    case GR_TERM_CONST: return number(b, x->bits, x->value);
    case GR_TERM_SYM: return symbol(b, x->sym);
    case GR_TERM_READ: return fresh(b, x->sym->name, x->bits);
    case GR_TERM_ITE:
        return Z3_mk_ite(b->z, bool_of(b, x->arg[0]), string_of(b, x->arg[1]), string_of(b, x->arg[2]));
    default: return arithmetic(b, x);
    }
}

static Z3_ast string_of(Bits *b, const GrTerm *x) {
    if (!b->strings[x->id])
        b->strings[x->id] = new_string(b, x);
    return b->strings[x->id];
}

// ---- The query ---------------------------------------------------------------------------------------------------

static void assert_ranges(Bits *b, Z3_solver s, int64_t cap) {
    for (uint32_t k = 0; k < b->a->t->n_symbols; k++) {
        const GrSymbol *y = b->a->t->symbols[k];
        if (!b->symbols[k] || y->bits == 1)
            continue;
        int64_t end = (int64_t)(gr_mask_bits(y->bits) >> 1), high = y->high;
        if (cap && y->scope == GR_SYM_LAUNCH && high > cap && y->low <= cap)
            high = cap;
        if (y->low != -end - 1)
            Z3_solver_assert(b->z, s, Z3_mk_bvsle(b->z, number(b, y->bits, (uint64_t)y->low), b->symbols[k]));
        if (high != end)
            Z3_solver_assert(b->z, s, Z3_mk_bvsle(b->z, b->symbols[k], number(b, y->bits, (uint64_t)high)));
    }
}

// Asserts that equal offsets of an object have equal values.
static void assert_reads(Bits *b, Z3_solver s) {
    for (size_t k = 0; k < b->a->n_reads; k++)
        for (size_t j = 0; j < k; j++) {
            const GrTerm *x = b->a->reads[k], *y = b->a->reads[j];
            if (x->sym != y->sym || x->bits != y->bits || x->arg[0]->bits != y->arg[0]->bits)
                continue;
            Z3_ast same = Z3_mk_eq(b->z, string_of(b, x->arg[0]), string_of(b, y->arg[0]));
            Z3_solver_assert(b->z, s,
                             Z3_mk_implies(b->z, same, Z3_mk_eq(b->z, string_of(b, x), string_of(b, y))));
        }
}

// The number that x is before it is cut to its bits, in a string that is long enough for a product.
static Z3_ast uncut(Bits *b, const GrTerm *x, bool is_signed, unsigned wider, unsigned depth) {
    enum { DEEPEST = 12 };
    bool joins = depth < DEEPEST && (x->op == GR_TERM_ADD || x->op == GR_TERM_SUB || x->op == GR_TERM_MUL ||
                                     (x->op == GR_TERM_SHL && x->arg[1]->op == GR_TERM_CONST));
    if (!joins) {
        is_signed |= x->op == GR_TERM_CONST;
        return is_signed ? Z3_mk_sign_ext(b->z, wider, string_of(b, x))
                         : Z3_mk_zero_ext(b->z, wider, string_of(b, x));
    }
    Z3_ast l = uncut(b, x->arg[0], is_signed, wider, depth + 1),
           r = uncut(b, x->arg[1], is_signed, wider, depth + 1);
    return x->op == GR_TERM_ADD   ? Z3_mk_bvadd(b->z, l, r)
           : x->op == GR_TERM_SUB ? Z3_mk_bvsub(b->z, l, r)
           : x->op == GR_TERM_MUL ? Z3_mk_bvmul(b->z, l, r)
                                  : Z3_mk_bvshl(b->z, l, r);
}

// Asserts that what the integers assumed to stay in its range does.
static void assert_trusted(Bits *b, Z3_solver s) {
    for (size_t k = 0; k < b->a->trusted.len; k++) {
        const GrLook *l = &b->a->trusted.data[k];
        bool is_signed = l->how == GR_LOOK_SIGNED;
        unsigned wider = l->term->bits + 8;
        Z3_ast x = string_of(b, l->term), whole = uncut(b, l->term, is_signed, wider, 0);
        Z3_ast cut = is_signed ? Z3_mk_sign_ext(b->z, wider, x) : Z3_mk_zero_ext(b->z, wider, x);
        Z3_solver_assert(b->z, s, Z3_mk_eq(b->z, whole, cut));
    }
}

static Z3_ast overlap(Bits *b, const GrOverlap *o) {
    Z3_ast l = string_of(b, o->a), r = string_of(b, o->b);
    uint32_t bits = o->a->bits;
    return Z3_mk_or(b->z, 2,
                    (Z3_ast[]){Z3_mk_bvult(b->z, Z3_mk_bvsub(b->z, r, l), number(b, bits, o->a_size)),
                               Z3_mk_bvult(b->z, Z3_mk_bvsub(b->z, l, r), number(b, bits, o->b_size))});
}

static bool value_of(void *user, const GrTerm *read, const GrSymbol *s, uint64_t *out) {
    Bits *b = user;
    bool one = (read ? read->bits : s->bits) == 1;
    Z3_ast x = !read ? b->symbols[s->id] : one ? b->bools[read->id] : b->strings[read->id], v;
    if (!x)
        return false;
    if (!Z3_model_eval(b->z, b->model, x, true, &v))
        return false;
    if (one) {
        *out = Z3_get_bool_value(b->z, v) == Z3_L_TRUE;
        return true;
    }
    return Z3_get_numeral_uint64(b->z, v, out);
}

GrAnswer gr_attempt_bits(GrAttempt *a, unsigned ms, int64_t cap) {
    Bits b = {.a = a,
              .z = a->z,
              .bools = GR_ATTEMPT_NEW(a, Z3_ast, a->t->n_terms),
              .strings = GR_ATTEMPT_NEW(a, Z3_ast, a->t->n_terms),
              .symbols = GR_ATTEMPT_NEW(a, Z3_ast, a->t->n_symbols)};
    Z3_solver s = Z3_mk_solver_for_logic(a->z, Z3_mk_string_symbol(a->z, "QF_BV"));
    Z3_solver_inc_ref(a->z, s);
    for (size_t k = 0; k < a->q->n_terms; k++)
        Z3_solver_assert(a->z, s, bool_of(&b, a->q->terms[k]));
    if (a->q->overlap)
        Z3_solver_assert(a->z, s, overlap(&b, a->q->overlap));
    assert_trusted(&b, s);
    assert_reads(&b, s);
    assert_ranges(&b, s, cap);
    Z3_lbool r = gr_attempt_check(a, s, ms);
    if (r != Z3_L_TRUE)
        return r == Z3_L_FALSE ? GR_ANSWER_NO : GR_ANSWER_UNKNOWN;
    b.model = Z3_solver_get_model(a->z, s);
    Z3_model_inc_ref(a->z, b.model);
    if (gr_attempt_model(a, value_of, &b))
        return GR_ANSWER_YES;
    if (!cap)
        gr_attempt_why(a, "a byte of memory is read in two widths, of which the solver knows nothing");
    return GR_ANSWER_UNKNOWN;
}
