// SPDX-License-Identifier: Apache-2.0
// range — intervals, from a term's leaves to its root. A guard's comparison with a constant bounds the compared term.
#include "engines/verifier/term/range.h"

// Terms share their operands: questions about each of them again and again must end.
enum { DEEPEST = 40, MOST_STEPS = 20000 };

typedef struct Bounds {
    const GrTerm *guard; // NULL: nothing is known
    unsigned steps;
} Bounds;

static GrTermRange whole(uint32_t bits) {
    return bits >= 64 ? (GrTermRange){INT64_MIN, INT64_MAX}
                      : (GrTermRange){-((int64_t)1 << (bits - 1)), ((int64_t)1 << (bits - 1)) - 1};
}

static bool is_within(GrTermRange a, GrTermRange b) { return b.low <= a.low && a.high <= b.high; }

// ---- What a guard says -----------------------------------------------------------------------------------------

static bool is_constant(const GrTerm *a) { return a->op == GR_TERM_CONST; }

// `is`: the comparison holds; else its contrary does.
static void see_comparison(const GrTerm *c, bool is, const GrTerm *of, GrTermRange *r) {
    if (c->op == GR_TERM_EQ && is && c->arg[0]->bits > 1) {
        for (unsigned k = 0; k < 2; k++)
            if (c->arg[k] == of && is_constant(c->arg[1 - k]))
                r->low = r->high = gr_term_signed(c->arg[1 - k]);
        return;
    }
    bool strict = c->op == GR_TERM_SLT || c->op == GR_TERM_ULT;
    bool is_unsigned = c->op == GR_TERM_ULT || c->op == GR_TERM_ULE;
    if (!strict && !is_unsigned && c->op != GR_TERM_SLE)
        return;
    const GrTerm *less = c->arg[is ? 0 : 1], *more = c->arg[is ? 1 : 0]; // !(a < b) is b <= a
    strict = strict == is;
    if (less == of && is_constant(more)) {
        int64_t most = gr_term_signed(more);
        if (is_unsigned && most < 0) // a number with the highest bit
            return;
        if (is_unsigned && r->low < 0) // of those only what is not below 0
            r->low = 0;
        if (strict && most == INT64_MIN)
            return;
        most -= strict;
        r->high = most < r->high ? most : r->high;
    } else if (more == of && is_constant(less) && (!is_unsigned || r->low >= 0)) {
        int64_t least = gr_term_signed(less);
        if ((is_unsigned && least < 0) || (strict && least == INT64_MAX))
            return;
        least += strict;
        r->low = least > r->low ? least : r->low;
    }
}

static void see_guard(Bounds *b, const GrTerm *guard, bool is, const GrTerm *of, GrTermRange *r,
                      unsigned depth) {
    if (depth > DEEPEST || guard->bits != 1 || ++b->steps > MOST_STEPS)
        return;
    if (guard->op == GR_TERM_NOT) {
        see_guard(b, guard->arg[0], !is, of, r, depth + 1);
    } else if (guard->op == (is ? GR_TERM_AND : GR_TERM_OR)) {
        see_guard(b, guard->arg[0], is, of, r, depth + 1);
        see_guard(b, guard->arg[1], is, of, r, depth + 1);
    } else {
        see_comparison(guard, is, of, r);
    }
}

// ---- Terms -----------------------------------------------------------------------------------------------------

static GrTermRange range_of(Bounds *b, const GrTerm *a, unsigned depth);

static GrTermRange sum(const GrTerm *a, GrTermRange x, GrTermRange y, bool minus) {
    GrTermRange r, all = whole(a->bits);
    bool over =
        minus
            ? __builtin_sub_overflow(x.low, y.high, &r.low) || __builtin_sub_overflow(x.high, y.low, &r.high)
            : __builtin_add_overflow(x.low, y.low, &r.low) || __builtin_add_overflow(x.high, y.high, &r.high);
    return over || !is_within(r, all) ? all : r;
}

static GrTermRange product(const GrTerm *a, GrTermRange x, int64_t by) {
    GrTermRange r, all = whole(a->bits);
    bool over = __builtin_mul_overflow(by < 0 ? x.high : x.low, by, &r.low) ||
                __builtin_mul_overflow(by < 0 ? x.low : x.high, by, &r.high);
    return over || !is_within(r, all) ? all : r;
}

// Operations that a constant on the right makes simple.
static GrTermRange by_constant(const GrTerm *a, GrTermRange x) {
    int64_t by = gr_term_signed(a->arg[1]);
    switch (a->op) {
    case GR_TERM_MUL: return product(a, x, by);
    case GR_TERM_SHL:
        return by >= 0 && by < 62 && by < a->bits ? product(a, x, (int64_t)1 << by) : whole(a->bits);
    case GR_TERM_AND: return by >= 0 ? (GrTermRange){0, by} : whole(a->bits);
    case GR_TERM_UREM: return by > 0 ? (GrTermRange){0, by - 1} : whole(a->bits);
    case GR_TERM_SREM: return by > 0 ? (GrTermRange){x.low < 0 ? 1 - by : 0, by - 1} : whole(a->bits);
    case GR_TERM_LSHR:
    case GR_TERM_ASHR:
        if (by < 0 || by >= a->bits || (a->op == GR_TERM_LSHR && x.low < 0))
            return whole(a->bits);
        return (GrTermRange){x.low >> by, x.high >> by};
    case GR_TERM_SDIV:
    case GR_TERM_UDIV:
        if (by <= 0 || (a->op == GR_TERM_UDIV && x.low < 0))
            return whole(a->bits);
        return (GrTermRange){x.low / by, x.high / by};
    default: return whole(a->bits);
    }
}

static GrTermRange computed(Bounds *b, const GrTerm *a, unsigned depth) {
    GrTermRange all = whole(a->bits), x, y;
    if (depth > DEEPEST || ++b->steps > MOST_STEPS)
        return all;
    switch (a->op) {
    case GR_TERM_CONST: return (GrTermRange){gr_term_signed(a), gr_term_signed(a)};
    case GR_TERM_SYM: return (GrTermRange){a->sym->low, a->sym->high};
    case GR_TERM_SEXT: return range_of(b, a->arg[0], depth + 1);
    case GR_TERM_ZEXT:
        x = range_of(b, a->arg[0], depth + 1);
        if (x.low >= 0)
            return x;
        return a->arg[0]->bits < 63 ? (GrTermRange){0, ((int64_t)1 << a->arg[0]->bits) - 1} : all;
    case GR_TERM_TRUNC: x = range_of(b, a->arg[0], depth + 1); return is_within(x, all) ? x : all;
    case GR_TERM_ITE:
        x = range_of(b, a->arg[1], depth + 1);
        y = range_of(b, a->arg[2], depth + 1);
        return (GrTermRange){x.low < y.low ? x.low : y.low, x.high > y.high ? x.high : y.high};
    case GR_TERM_ADD:
    case GR_TERM_SUB:
        x = range_of(b, a->arg[0], depth + 1);
        y = range_of(b, a->arg[1], depth + 1);
        return sum(a, x, y, a->op == GR_TERM_SUB);
    default:
        if (!a->arg[1] || a->arg[1]->op != GR_TERM_CONST)
            return all;
        return by_constant(a, range_of(b, a->arg[0], depth + 1));
    }
}

static GrTermRange range_of(Bounds *b, const GrTerm *a, unsigned depth) {
    GrTermRange r = computed(b, a, depth);
    if (b->guard && a->op != GR_TERM_CONST && a->bits > 1)
        see_guard(b, b->guard, true, a, &r, 0);
    if (r.low > r.high) // the guard never holds
        r.high = r.low;
    return r;
}

GrTermRange gr_term_range(const GrTerm *a, const GrTerm *guard) {
    Bounds b = {.guard = guard};
    return range_of(&b, a, 0);
}

// The term is always as `is` says.
static bool always(Bounds *b, const GrTerm *a, bool is, unsigned depth) {
    if (a->op == GR_TERM_CONST)
        return (a->value != 0) == is;
    if (depth > DEEPEST || ++b->steps > MOST_STEPS)
        return false;
    if (a->op == GR_TERM_NOT)
        return always(b, a->arg[0], !is, depth + 1);
    if (a->bits == 1 && (a->op == GR_TERM_AND || a->op == GR_TERM_OR)) {
        bool x = always(b, a->arg[0], is, depth + 1), y = always(b, a->arg[1], is, depth + 1);
        return (a->op == GR_TERM_AND) == is ? x && y : x || y;
    }
    bool is_unsigned = a->op == GR_TERM_ULT || a->op == GR_TERM_ULE, equal = a->op == GR_TERM_EQ;
    if (!is_unsigned && !equal && a->op != GR_TERM_SLT && a->op != GR_TERM_SLE)
        return false;
    GrTermRange x = range_of(b, a->arg[0], depth + 1), y = range_of(b, a->arg[1], depth + 1);
    if (is_unsigned && (x.low < 0 || y.low < 0))
        return false;
    if (equal)
        return !is && (x.high < y.low || y.high < x.low);
    bool strict = a->op == GR_TERM_SLT || a->op == GR_TERM_ULT;
    if (is)
        return strict ? x.high < y.low : x.high <= y.low;
    return strict ? y.high <= x.low : y.high < x.low;
}

bool gr_term_never(const GrTerm *a, const GrTerm *guard) {
    Bounds b = {.guard = guard};
    return always(&b, a, false, 0);
}
