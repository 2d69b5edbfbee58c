// SPDX-License-Identifier: Apache-2.0
// reading — reads one term after the other.
#include "engines/verifier/solve/reading.h"

#include "engines/verifier/term/machine.h"

static const GrPoly *number(GrReading *r, GrWide c) { return gr_poly_const(&r->p, c); }

static const GrPoly *atom_value(GrReading *r, uint32_t atom) {
    const GrPoly *is = r->atoms.data[atom].is;
    return is ? is : gr_poly_atom(&r->p, atom);
}

// ---- Atoms -------------------------------------------------------------------------------------------------------

static GrRange signed_range(uint32_t bits) {
    GrWide half = (GrWide)1 << (bits - 1);
    return bits == 1 ? (GrRange){0, 1} : (GrRange){-half, half - 1};
}

static const GrPoly *symbol(GrReading *r, const GrSymbol *s) {
    uint32_t *there = &r->of_symbol[s->id];
    GrRange range = r->known ? r->known[s->id] : gr_reading_symbol(r, s);
    if (!*there)
        *there =
            1 + gr_reading_atom(r, (GrAtom){.kind = GR_ATOM_SYMBOL, .sym = s, .uniform = !s->thread}, range);
    return atom_value(r, *there - 1);
}

static void look_for_thread(void *user, const GrSymbol *s) { *(bool *)user |= s->thread != 0; }

GrRange gr_reading_symbol(const GrReading *r, const GrSymbol *s) {
    return r->no_sign[s->id] ? (GrRange){0, ((GrWide)1 << s->bits) - 1} : (GrRange){s->low, s->high};
}

static const GrPoly *of_term(GrReading *r, GrAtomKind kind, const GrTerm *x, GrRange range) {
    uint32_t *there = &r->of_term[x->id];
    if (!*there) {
        bool threads = false;
        if (!gr_term_symbols(x, look_for_thread, &threads))
            gr_attempt_nomem();
        *there = 1 + gr_reading_atom(r, (GrAtom){.kind = kind, .term = x, .uniform = !threads}, range);
    }
    return atom_value(r, *there - 1);
}

static const GrPoly *opaque(GrReading *r, const GrTerm *x) {
    GrRange range = signed_range(x->bits);
    if (!r->opaque)
        r->opaque = x;
    if (x->bits > 1 && x->op >= GR_TERM_LSHR && x->op <= GR_TERM_XOR) {
        const GrPoly *left = x->op == GR_TERM_ASHR ? gr_read_signed(r, x->arg[0]) : gr_read(r, x->arg[0]);
        GrRange a = gr_reading_range(r, left), b = gr_reading_range(r, gr_read(r, x->arg[1]));
        bool shifts = x->op == GR_TERM_LSHR || x->op == GR_TERM_ASHR;
        if (a.low >= 0 && (shifts || x->op == GR_TERM_AND))
            range = (GrRange){0, a.high};
        if (b.low >= 0 && x->op == GR_TERM_AND && (a.low < 0 || b.high < a.high))
            range = (GrRange){0, b.high};
        if (a.low >= 0 && b.low >= 0 && (x->op == GR_TERM_OR || x->op == GR_TERM_XOR)) {
            GrWide high = 1;
            while (high <= a.high || high <= b.high)
                high *= 2;
            range = (GrRange){0, high - 1};
        }
    }
    return of_term(r, GR_ATOM_OPAQUE, x, range);
}

// 1 where a term of one bit holds.
static const GrPoly *as_number(GrReading *r, const GrTerm *x) {
    GrRange range = {0, 1};
    switch (x->op) {
    case GR_TERM_CONST: return number(r, (GrWide)x->value);
    case GR_TERM_SYM: return symbol(r, x->sym);
    case GR_TERM_READ: return of_term(r, GR_ATOM_READ, x, range);
    case GR_TERM_AND:
    case GR_TERM_OR:
    case GR_TERM_XOR:
    case GR_TERM_NOT:
    case GR_TERM_EQ:
    case GR_TERM_SLT:
    case GR_TERM_SLE:
    case GR_TERM_ULT:
    case GR_TERM_ULE:
    case GR_TERM_ITE: return of_term(r, GR_ATOM_BOOL, x, range);
    default: return opaque(r, x);
    }
}

// ---- Numbers -----------------------------------------------------------------------------------------------------

static bool is_within(GrRange a, GrWide low, GrWide high) { return a.low >= low && a.high <= high; }

static bool joins(const GrTerm *x) {
    return x->bits >= 32 && (x->op == GR_TERM_ADD || x->op == GR_TERM_SUB || x->op == GR_TERM_MUL ||
                             (x->op == GR_TERM_SHL && x->arg[1]->op == GR_TERM_CONST));
}

static void meet(GrRange *r, GrRange with) {
    r->low = with.low > r->low ? with.low : r->low;
    r->high = with.high < r->high ? with.high : r->high;
}

// The range of an operation's result, whatever its operands. Substituted polynomials may have lost that.
static GrRange result_of(const GrTerm *x) {
    GrRange any = {-GR_ENDLESS, GR_ENDLESS};
    const GrTerm *by = x->arg[0] ? x->arg[1] : NULL;
    uint64_t k = by && by->op == GR_TERM_CONST ? by->value : 0;
    GrWide whole = (GrWide)1 << x->bits;
    if (x->bits > 1 && x->bits < 32 && x->op >= GR_TERM_ADD && x->op <= GR_TERM_SHL) // they are cut
        return signed_range(x->bits);
    switch (x->op) {
    case GR_TERM_SEXT: return x->arg[0]->bits > 1 ? signed_range(x->arg[0]->bits) : any;
    case GR_TERM_ZEXT: return (GrRange){0, ((GrWide)1 << x->arg[0]->bits) - 1};
    case GR_TERM_TRUNC: return x->bits > 1 ? signed_range(x->bits) : any;
    case GR_TERM_LSHR: return k && k < x->bits ? (GrRange){0, (whole >> k) - 1} : any;
    case GR_TERM_UDIV: return k ? (GrRange){0, (whole - 1) / k} : any;
    case GR_TERM_UREM: return k ? (GrRange){0, (GrWide)k - 1} : any;
    default: return any;
    }
}

static GrRange number_of(GrReading *r, const GrTerm *x, unsigned depth) {
    enum { DEEPEST = 8 };
    GrRange range = gr_reading_range(r, gr_read(r, x));
    const GrRange *known = gr_map_get_u64(&r->numbers, x->id);
    meet(&range, result_of(x));
    if (known)
        meet(&range, *known);
    if (!joins(x) || depth > DEEPEST)
        return range;
    GrRange a = number_of(r, x->arg[0], depth + 1), b = {0, 0};
    if (x->op != GR_TERM_SHL)
        b = number_of(r, x->arg[1], depth + 1);
    if (a.low > a.high || b.low > b.high) // facts contradict each other
        return range;
    if (x->op == GR_TERM_ADD)
        meet(&range, gr_term_range_add(a, b));
    else if (x->op == GR_TERM_SUB)
        meet(&range, gr_term_range_add(a, (GrRange){-b.high, -b.low}));
    else if (x->op == GR_TERM_MUL)
        meet(&range, gr_term_range_mul(a, b));
    else if (x->arg[1]->value < x->bits)
        meet(&range,
             gr_term_range_mul(a, (GrRange){(GrWide)1 << x->arg[1]->value, (GrWide)1 << x->arg[1]->value}));
    return range;
}

GrRange gr_reading_number(GrReading *r, const GrTerm *x) { return number_of(r, x, 0); }

// A term's integer is the same one however much is known of ranges.
static bool is_settled(const GrTerm *x, unsigned depth) {
    enum { DEEPEST = 8 };
    switch (x->op) {
    case GR_TERM_CONST:
    case GR_TERM_SYM:
    case GR_TERM_READ:
    case GR_TERM_SEXT:
    case GR_TERM_ZEXT: return true;
    default: break;
    }
    return joins(x) && depth < DEEPEST && is_settled(x->arg[0], depth + 1) &&
           is_settled(x->arg[1], depth + 1);
}

bool gr_reading_narrow_number(GrReading *r, const GrTerm *x, GrRange to) {
    if (!joins(x) || !is_settled(x, 0)) // atoms have ranges of their own
        return false;
    GrRange *known = gr_map_get_u64(&r->numbers, x->id);
    GrRange before = known ? *known : (GrRange){-GR_ENDLESS, GR_ENDLESS};
    if (!known) {
        known = GR_ATTEMPT_NEW(r->a, GrRange, 1);
        if (!gr_map_put_u64(&r->numbers, x->id, known))
            gr_attempt_nomem();
        *known = before;
    }
    meet(known, to);
    return known->low > before.low || known->high < before.high;
}

// The innermost operation of a sum that leaves its range.
static const GrTerm *leaving(GrReading *r, const GrTerm *x) {
    GrWide whole = (GrWide)1 << x->bits;
    for (bool deeper = true; deeper;) {
        deeper = false;
        for (unsigned k = 0; joins(x) && k < 2 && !deeper; k++) {
            const GrTerm *y = x->arg[k];
            deeper = y->arg[0] && !is_within(gr_reading_number(r, y), -whole / 2, whole - 1);
            x = deeper ? y : x;
        }
    }
    return x;
}

// x, which may leave its range, is assumed not to.
static bool is_trusted(GrReading *r, const GrTerm *x, unsigned how) {
    bool size = r->large && !(r->large[x->id] & how);
    if (r->left)
        r->left[x->id] |= (uint8_t)how;
    if (r->trust == GR_TRUST_NONE || (r->trust == GR_TRUST_SIZES && !size)) {
        r->cut = r->cut ? r->cut : leaving(r, x);
        return false;
    }
    for (size_t k = 0; k < r->trusted.len; k++)
        if (r->trusted.data[k].term == x && r->trusted.data[k].how == how)
            return true;
    if (!gr_vec_push(&r->trusted, ((GrLook){x, how, leaving(r, x)})))
        gr_attempt_nomem();
    return true;
}

// What a, which is between -2^bits and 2^bits, means without a sign.
static const GrPoly *without_sign(GrReading *r, const GrPoly *a, GrRange range, uint32_t bits) {
    GrWide whole = (GrWide)1 << bits;
    if (range.low >= 0)
        return a;
    if (range.high < 0)
        return gr_poly_plus(&r->p, a, whole);
    uint32_t sign = 0;
    while (sign < r->atoms.len &&
           (r->atoms.data[sign].kind != GR_ATOM_NEGATIVE || !gr_poly_same(r->atoms.data[sign].a, a)))
        sign++;
    if (sign == r->atoms.len)
        gr_reading_atom(r, (GrAtom){.kind = GR_ATOM_NEGATIVE, .a = a, .uniform = gr_reading_uniform(r, a)},
                        (GrRange){0, 1});
    return gr_poly_sum(&r->p, 1, a, whole, atom_value(r, sign));
}

const GrPoly *gr_read_signed(GrReading *r, const GrTerm *x) {
    const GrPoly *a = gr_read(r, x);
    GrWide half = (GrWide)1 << (x->bits - 1);
    if (x->bits == 1 || is_within(gr_reading_number(r, x), -half, half - 1) ||
        is_trusted(r, x, GR_LOOK_SIGNED))
        return a;
    return gr_read_cut(r, a, x->bits);
}

static const GrPoly *read_without_sign(GrReading *r, const GrTerm *x, unsigned how) {
    const GrPoly *a = gr_read(r, x), *rest;
    GrWide whole = (GrWide)1 << x->bits;
    if (x->bits == 1)
        return a;
    GrRange range = gr_reading_number(r, x);
    if (is_within(range, -whole, whole - 1) || is_trusted(r, x, how))
        return without_sign(r, a, range, x->bits);
    gr_read_division(r, a, gr_poly_const(&r->p, whole), GR_ROUND_DOWN, NULL, &rest);
    return rest;
}

const GrPoly *gr_read_unsigned(GrReading *r, const GrTerm *x) {
    return read_without_sign(r, x, GR_LOOK_UNSIGNED);
}

static const GrPoly *read_dividend(GrReading *r, const GrTerm *x) {
    return read_without_sign(r, x, GR_LOOK_DIVIDED);
}

// A polynomial that is 0 where the two terms are equal. A difference of less than 2^bits is no multiple of it.
static const GrPoly *difference(GrReading *r, const GrTerm *x, const GrTerm *y) {
    const GrPoly *a = gr_read(r, x), *b = gr_read(r, y), *d = gr_poly_sub(&r->p, a, b);
    GrWide whole = (GrWide)1 << x->bits;
    GrRange ra = gr_reading_number(r, x), rb = gr_reading_number(r, y), rd = gr_reading_range(r, d);
    meet(&rd, gr_term_range_add(ra, (GrRange){-rb.high, -rb.low}));
    if (is_within(rd, 1 - whole, whole - 1))
        return d;
    bool large = (ra.low >= 0 && ra.high >= whole / 2 && ra.high < whole) ||
                 (rb.low >= 0 && rb.high >= whole / 2 && rb.high < whole);
    if (large && r->trust != GR_TRUST_ALL)
        return gr_poly_sub(&r->p, gr_read_unsigned(r, x), gr_read_unsigned(r, y));
    return gr_poly_sub(&r->p, gr_read_signed(r, x), gr_read_signed(r, y));
}

const GrPoly *gr_read_distance(GrReading *r, const GrTerm *a, const GrTerm *b) {
    const GrPoly *e = gr_poly_sub(&r->p, gr_read(r, a), gr_read(r, b));
    GrWide half = (GrWide)1 << 63;
    GrRange range = gr_reading_range(r, e), rb = gr_reading_number(r, b);
    meet(&range, gr_term_range_add(gr_reading_number(r, a), (GrRange){-rb.high, -rb.low}));
    if (is_within(range, -half, half - 1) || is_trusted(r, a, GR_LOOK_UNSIGNED))
        return e;
    return gr_read_cut(r, e, 64);
}

// ---- Bit operations ----------------------------------------------------------------------------------------------

static bool power_of_two(uint64_t v) { return v && !(v & (v - 1)); }

static const GrPoly *rest_of(GrReading *r, const GrPoly *a, GrWide by) {
    const GrPoly *rem;
    gr_read_division(r, a, number(r, by), GR_ROUND_DOWN, NULL, &rem);
    return rem;
}
static const GrPoly *quotient(GrReading *r, const GrPoly *a, GrWide by) {
    const GrPoly *q;
    gr_read_division(r, a, number(r, by), GR_ROUND_DOWN, &q, NULL);
    return q;
}

// A mask of neighbouring bits makes a remainder, a multiple, or both.
static const GrPoly *masked(GrReading *r, const GrTerm *x) {
    if (x->arg[1]->op != GR_TERM_CONST)
        return opaque(r, x);
    uint64_t mask = x->arg[1]->value;
    uint64_t low = mask & (0 - mask),
             above = mask + low; // of the lowest bit, and the first above the highest
    const GrPoly *a = gr_read(r, x->arg[0]);
    if ((above & gr_mask_bits(x->bits)) == 0) // up to the sign
        return gr_poly_scale(&r->p, quotient(r, a, (GrWide)low), (GrWide)low);
    if (!power_of_two(above))
        return opaque(r, x);
    return gr_poly_scale(&r->p, rest_of(r, quotient(r, a, (GrWide)low), (GrWide)(above / low)), (GrWide)low);
}

// No bit is set in both: a is a multiple of a power of two above b.
static bool apart(GrReading *r, const GrPoly *a, const GrPoly *b) {
    GrRange range = gr_reading_range(r, b);
    GrWide common = 1;
    if (range.low < 0 || range.high >= GR_ENDLESS)
        return false;
    while (common <= range.high)
        common *= 2;
    return gr_poly_gcd(a) % common == 0 && gr_poly_constant(a) % common == 0;
}

static const GrPoly *joined(GrReading *r, const GrTerm *x) {
    const GrPoly *a = gr_read(r, x->arg[0]), *b = gr_read(r, x->arg[1]);
    if (apart(r, a, b) || apart(r, b, a))
        return gr_poly_add(&r->p, a, b);
    return opaque(r, x);
}

static const GrPoly *shifted(GrReading *r, const GrTerm *x) {
    uint64_t by = x->arg[1]->op == GR_TERM_CONST ? x->arg[1]->value : 0;
    if (x->arg[1]->op != GR_TERM_CONST)
        return opaque(r, x);
    if (by >= x->bits) {
        if (x->op != GR_TERM_ASHR)
            return number(r, 0);
        by = x->bits - 1;
    }
    GrWide factor = (GrWide)1 << by;
    if (x->op == GR_TERM_SHL)
        return gr_poly_scale(&r->p, gr_read(r, x->arg[0]), factor);
    return quotient(r, x->op == GR_TERM_ASHR ? gr_read_signed(r, x->arg[0]) : read_dividend(r, x->arg[0]),
                    factor);
}

// ---- Any operation -----------------------------------------------------------------------------------------------

static const GrPoly *arithmetic(GrReading *r, const GrTerm *x) {
    const GrPoly *a = gr_read(r, x->arg[0]), *b = gr_read(r, x->arg[1]);
    switch (x->op) {
    case GR_TERM_ADD: return gr_poly_add(&r->p, a, b);
    case GR_TERM_SUB: return gr_poly_sub(&r->p, a, b);
    default: return gr_poly_mul(&r->p, a, b);
    }
}

static const GrPoly *division(GrReading *r, const GrTerm *x) {
    bool is_signed = x->op == GR_TERM_SDIV || x->op == GR_TERM_SREM;
    const GrPoly *a = is_signed ? gr_read_signed(r, x->arg[0]) : read_dividend(r, x->arg[0]);
    const GrPoly *b = is_signed ? gr_read_signed(r, x->arg[1]) : read_dividend(r, x->arg[1]);
    const GrPoly *q, *rem;
    gr_read_division(r, a, b, is_signed ? GR_ROUND_TO_0 : GR_ROUND_DOWN, &q, &rem);
    return x->op == GR_TERM_SDIV || x->op == GR_TERM_UDIV ? q : rem;
}

static const GrPoly *choice(GrReading *r, const GrTerm *x) {
    GrRange a = gr_reading_range(r, gr_read(r, x->arg[1])), b = gr_reading_range(r, gr_read(r, x->arg[2]));
    return of_term(r, GR_ATOM_CHOICE, x,
                   (GrRange){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high});
}

static const GrPoly *read_new(GrReading *r, const GrTerm *x) {
    if (x->bits == 1)
        return as_number(r, x);
    switch (x->op) {
    case GR_TERM_CONST: return number(r, gr_term_signed(x));
    case GR_TERM_SYM: return symbol(r, x->sym);
    case GR_TERM_READ: return of_term(r, GR_ATOM_READ, x, signed_range(x->bits));
    case GR_TERM_ADD:
    case GR_TERM_SUB:
    case GR_TERM_MUL: {
        const GrPoly *p = arithmetic(r, x);
        return x->bits < 32 ? gr_read_cut(r, p, x->bits) : p;
    }
    case GR_TERM_SHL: {
        const GrPoly *p = shifted(r, x);
        return x->bits < 32 ? gr_read_cut(r, p, x->bits) : p;
    }
    case GR_TERM_LSHR:
    case GR_TERM_ASHR: return shifted(r, x);
    case GR_TERM_SDIV:
    case GR_TERM_SREM:
    case GR_TERM_UDIV:
    case GR_TERM_UREM: {
        const GrPoly *p = division(r, x);
        return x->bits < 32 ? gr_read_cut(r, p, x->bits) : p;
    }
    case GR_TERM_AND: return masked(r, x);
    case GR_TERM_OR:
    case GR_TERM_XOR: return joined(r, x);
    case GR_TERM_NOT: return gr_poly_plus(&r->p, gr_poly_scale(&r->p, gr_read(r, x->arg[0]), -1), -1);
    case GR_TERM_SEXT:
        return x->arg[0]->bits == 1 ? gr_poly_scale(&r->p, gr_read(r, x->arg[0]), -1)
                                    : gr_read_signed(r, x->arg[0]);
    case GR_TERM_ZEXT: return gr_read_unsigned(r, x->arg[0]);
    case GR_TERM_TRUNC: return gr_read_cut(r, gr_read(r, x->arg[0]), x->bits);
    case GR_TERM_ITE: return choice(r, x);
    default: return opaque(r, x);
    }
}

const GrPoly *gr_read(GrReading *r, const GrTerm *x) {
    if (!r->polys[x->id])
        r->polys[x->id] = read_new(r, x);
    return r->polys[x->id];
}

// ---- Comparisons -------------------------------------------------------------------------------------------------

bool gr_read_comparison(GrReading *r, const GrTerm *x, GrRelation *what, const GrPoly **p) {
    bool negated = x->op == GR_TERM_NOT;
    if (negated)
        x = x->arg[0];
    if (x->op < GR_TERM_EQ || x->op > GR_TERM_ULE || x->arg[0]->bits == 1 || (negated && x->op == GR_TERM_EQ))
        return false;
    if (x->op == GR_TERM_EQ) {
        *p = difference(r, x->arg[0], x->arg[1]);
        *what = GR_RELATION_0;
        return true;
    }
    bool is_signed = x->op == GR_TERM_SLT || x->op == GR_TERM_SLE;
    const GrPoly *side[2];
    for (unsigned k = 0; k < 2; k++)
        side[k] =
            is_signed ? gr_read_signed(r, x->arg[k]) : read_without_sign(r, x->arg[k], GR_LOOK_UNSIGNED);
    bool strict = x->op == GR_TERM_SLT || x->op == GR_TERM_ULT;
    *p = negated ? gr_poly_sub(&r->p, side[1], side[0]) : gr_poly_sub(&r->p, side[0], side[1]);
    *what = strict != negated ? GR_RELATION_NEGATIVE : GR_RELATION_AT_MOST_0;
    return true;
}
