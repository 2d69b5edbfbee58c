// SPDX-License-Identifier: Apache-2.0
// Reference for floating point, comparisons and conversions; see alu_ref.h.
#include "alu_ref.h"
#include "alu_soft.h"

#include <math.h>
#include <string.h>

static bool is(const RefInsn *r, const char *op) { return !strcmp(r->op, op); }

static Rounding rounding(const RefInsn *r) {
    return ref_has(r, "rz") ? TO_ZERO : ref_has(r, "rm") ? DOWN : ref_has(r, "rp") ? UP : TO_NEAREST;
}

static bool is_subnormal(const Format *f, uint64_t code) {
    uint64_t magnitude = code & (((uint64_t)1 << (f->bits - 1)) - 1);
    return magnitude && magnitude >> f->fraction == 0;
}
static uint64_t flush(const Format *f, uint64_t code, bool ftz) {
    return ftz && is_subnormal(f, code) ? code & (uint64_t)1 << (f->bits - 1) : code;
}

// .sat and .relu on an exact result.
static Num limit(const RefInsn *r, Num x) {
    if (ref_has(r, "sat")) {
        if (x.kind == NUM_NAN || x.negative || x.kind == NUM_ZERO)
            return (Num){.kind = NUM_ZERO};
        Num one = {.kind = NUM_FINITE, .m = 1};
        if (soft_compare(x, one) > 0)
            return one;
    }
    if (ref_has(r, "relu") && x.kind != NUM_NAN && x.negative)
        return (Num){.kind = NUM_ZERO};
    return x;
}

static uint64_t finish(const RefInsn *r, const Format *f, Num x, bool ftz) {
    return flush(f, soft_encode(f, limit(r, x), rounding(r), ref_has(r, "satfinite")), ftz);
}

static double number(const Format *f, uint64_t code) {
    Num x = soft_decode(f, code);
    double s = x.negative ? -1 : 1;
    switch (x.kind) {
    case NUM_ZERO: return s * 0.0;
    case NUM_INFINITE: return s * INFINITY;
    case NUM_NAN: return NAN;
    default: return s * ldexp((double)(uint64_t)x.m, x.e);
    }
}

static bool min_max(const RefInsn *r, const Format *f, const uint64_t *src, RefOut *out, unsigned n) {
    uint64_t sign = (uint64_t)1 << (f->bits - 1), best = 0, signs = 0;
    bool seen = false, any_nan = false, is_max = is(r, "max");
    for (unsigned j = 0; j < n; j++) {
        uint64_t x = src[j];
        signs ^= x & sign;
        if (ref_has(r, "abs"))
            x &= ~sign;
        Num v = soft_decode(f, x);
        if (v.kind == NUM_NAN) {
            any_nan = true;
            continue;
        }
        int order = seen ? soft_compare(v, soft_decode(f, best)) : 0;
        if (order == 0 && seen && v.kind == NUM_ZERO)
            order = (int)!(x & sign) - (int)!(best & sign); // -0 below +0
        if (!seen || (is_max ? order > 0 : order < 0))
            best = x;
        seen = true;
    }
    if (!seen || (any_nan && ref_has(r, "NaN"))) {
        out->d = f->nan;
        if (f->bits == 64) // both NaN: the second one's payload
            out->d = src[1] | 0x8000000000000;
        return true;
    }
    out->d = flush(f, ref_has(r, "xorsign") ? best | signs : best, ref_has(r, "ftz"));
    return true;
}

// Approximate functions: value and allowed errors.
static const struct {
    const char *op, *mods, *type;
    double relative, absolute, own_ulp;
} bounds[] = {
#define BOUND(op, mods, type, relative, absolute, isa, own) {op, mods, type, relative, absolute, own},
#include "vm/alu/alu_bounds.def"
#undef BOUND
};

// A row with more modifiers goes before one with fewer.
static int find_bound(const RefInsn *r, const Format *f) {
    int best = -1;
    for (int j = 0; j < (int)(sizeof bounds / sizeof *bounds); j++) {
        bool ftz = strstr(bounds[j].mods, "ftz");
        if (!strcmp(bounds[j].op, r->op) && !strcmp(bounds[j].type, f->name) &&
            ref_has(r, strstr(bounds[j].mods, "full") ? "full" : "approx") && (!ftz || ref_has(r, "ftz")) &&
            (best < 0 || ftz))
            best = j;
    }
    return best;
}

static bool approximate(const RefInsn *r, const Format *f, const uint64_t *src, RefOut *out) {
    // The f64 forms with .ftz see upper halves only.
    bool upper = f->bits == 64 && ref_has(r, "ftz");
    double x = number(f, upper ? src[0] & ~(uint64_t)UINT32_MAX : src[0]), y = number(f, src[1]), v;
    if (is(r, "rcp"))
        v = 1 / x;
    else if (is(r, "rsqrt"))
        v = 1 / sqrt(x);
    else if (is(r, "sqrt"))
        v = sqrt(x);
    else if (is(r, "div")) {
        v = x / y;
        if (ref_has(r, "approx") && fabs(y) > 0x1p126 && !isinf(y) && !isnan(y) && !isnan(x))
            v = isinf(x) ? NAN : copysign(0, x) * copysign(1, y);
    } else if (is(r, "sin") || is(r, "cos"))
        v = is(r, "sin") ? sin(x) : cos(x);
    else if (is(r, "lg2"))
        v = log2(x);
    else if (is(r, "ex2"))
        v = exp2(x);
    else if (is(r, "tanh"))
        v = tanh(x);
    else
        return false;
    int bound = find_bound(r, f);
    if (bound < 0)
        return false;
    // What overflows or underflows the format does so in the result too; subnormal results have a fixed unit.
    double smallest = ldexp(1, f->min_exponent), unit = ldexp(1, f->min_exponent - f->fraction);
    if (fabs(v) > ldexp(2 - ldexp(1, -f->fraction), 1 - f->min_exponent))
        v = copysign(INFINITY, v);
    bool exact = isinf(v) || v == 0;
    double absolute = bounds[bound].absolute;
    if ((is(r, "sin") || is(r, "cos")) && fabs(x) > 2 * 3.1415926)
        absolute = fabs(x) <= 314.15927 ? 0x1.3b2bp-15 : 2; // 2^-14.7, and beyond no bound is stated
    out->error = exact ? 0 : fabs(v) * bounds[bound].relative + absolute + unit;
    out->own_error = exact || fabs(v) < smallest || v != v
                         ? out->error
                         : bounds[bound].own_ulp * ldexp(1, ilogb(v) - f->fraction);
    if (v == 0 && (is(r, "sin") || is(r, "ex2")))
        out->error = out->own_error = absolute;
    if (ref_has(r, "ftz") && fabs(v) < smallest) { // may be flushed
        out->error += smallest;
        out->own_error += smallest;
    }
    out->approximate = true;
    out->value = v;
    return true;
}

static bool one_float(const RefInsn *r, const RefIn *in, RefOut *out, const Format *f, unsigned n_src) {
    bool ftz = ref_has(r, "ftz") && f->bits != 64;
    uint64_t src[3], sign = (uint64_t)1 << (f->bits - 1);
    Num v[3];
    for (unsigned j = 0; j < 3; j++) {
        src[j] = flush(f, f->bits == 64 ? in->src[j] : in->src[j] & ((sign << 1) - 1), ftz);
        v[j] = soft_decode(f, src[j]);
    }
    if (is(r, "rcp") && ref_has(r, "approx") && f->bits == 64)
        ftz = true;
    if (ref_has(r, "approx") || ref_has(r, "full")) {
        if (f->bits == 64 && ref_has(r, "ftz"))
            src[0] = flush(f, src[0], true);
        return approximate(r, f, src, out);
    }
    Num x;
    unsigned used = 2;
    if (is(r, "add")) {
        x = soft_add(v[0], v[1], rounding(r));
    } else if (is(r, "sub")) {
        x = soft_add(v[0], soft_negate(v[1]), rounding(r));
    } else if (is(r, "mul")) {
        x = soft_mul(v[0], v[1]);
    } else if (ref_has(r, "oob") && ((src[0] & 0x7fff) == 0x7ff7 || (src[1] & 0x7fff) == 0x7ff7)) {
        out->d = 0; // out of bounds: neither the product nor c
        return true;
    } else if (is(r, "fma") || is(r, "mad")) {
        x = soft_add(soft_mul(v[0], v[1]), v[2], rounding(r));
        used = 3;
    } else if (is(r, "div")) {
        x = soft_div(v[0], v[1]);
    } else if (is(r, "rcp")) {
        x = soft_div((Num){.kind = NUM_FINITE, .m = 1}, v[0]);
        used = 1;
    } else if (is(r, "sqrt")) {
        x = soft_sqrt(v[0]);
        used = 1;
    } else if (is(r, "neg") || is(r, "abs")) {
        out->d = is(r, "neg") ? src[0] ^ sign : src[0] & ~sign;
        if (v[0].kind == NUM_NAN) // f64 keeps sign and payload
            out->d = f->bits != 64 ? f->nan : src[0] | 0x8000000000000;
        return true;
    } else if (is(r, "copysign")) {
        out->d = (src[0] & sign) | (src[1] & ~sign);
        return true;
    } else if (is(r, "min") || is(r, "max")) {
        return min_max(r, f, src, out, n_src);
    } else {
        return false;
    }
    out->d = finish(r, f, x, ftz);
    if (x.kind == NUM_NAN && f->bits == 64) {
        // A source's payload, made quiet. With several NaN a GPU takes the second source, then the third, then the
        // first; its division, which is software, the first.
        static const unsigned orders[2][3] = {{1, 2, 0}, {0, 1, 2}};
        const unsigned *order = orders[is(r, "div")];
        for (unsigned j = 3; j-- > 0;)
            if (order[j] < used && v[order[j]].kind == NUM_NAN)
                out->d = src[order[j]] | 0x8000000000000;
    }
    return true;
}

static bool testp(const RefInsn *r, const RefIn *in, RefOut *out) {
    const Format *f = soft_format(r->type[0]);
    Num x = soft_decode(f, in->src[0]);
    bool subnormal = is_subnormal(f, in->src[0]), finite = x.kind == NUM_ZERO || x.kind == NUM_FINITE;
    out->d = ref_has(r, "finite")       ? finite
             : ref_has(r, "infinite")   ? x.kind == NUM_INFINITE
             : ref_has(r, "number")     ? x.kind != NUM_NAN
             : ref_has(r, "notanumber") ? x.kind == NUM_NAN
             : ref_has(r, "normal")     ? finite && !subnormal // zero, too
                                        : subnormal;
    return true;
}

bool ref_float(const RefInsn *r, const RefIn *in, RefOut *out) {
    char name[16];
    strcpy(name, r->type[0]);
    size_t n = strlen(name);
    unsigned n_src = in->src_bits; // min and max: how many sources were written
    if (n > 2 && !strcmp(name + n - 2, "x2")) {
        name[n - 2] = 0;
        const Format *f = soft_format(name);
        if (!f)
            return false;
        RefOut o[2] = {0};
        for (unsigned h = 0; h < 2; h++) {
            RefIn part = *in;
            for (unsigned j = 0; j < 3; j++)
                part.src[j] = part.src[j] >> (unsigned)f->bits * h & (((uint64_t)1 << f->bits) - 1);
            if (!one_float(r, &part, &o[h], f, n_src))
                return false;
        }
        out->approximate = o[0].approximate;
        out->value = o[0].value, out->error = o[0].error;
        out->value_hi = o[1].value, out->error_hi = o[1].error;
        out->own_error = o[0].own_error, out->own_error_hi = o[1].own_error;
        out->d = o[0].d | o[1].d << f->bits;
        return true;
    }
    const Format *f = soft_format(name);
    if (!f || is(r, "mov") || is(r, "selp") || is(r, "slct"))
        return false;
    if (is(r, "testp"))
        return testp(r, in, out);
    if (r->n_types == 2) { // mixed precision: f32 result and last addend
        const Format *small = soft_format(r->type[1]);
        Num a = soft_decode(small, in->src[0]), b = soft_decode(is(r, "fma") ? small : f, in->src[1]);
        Num x = is(r, "fma")   ? soft_add(soft_mul(a, b), soft_decode(f, in->src[2]), rounding(r))
                : is(r, "add") ? soft_add(a, b, rounding(r))
                               : soft_add(a, soft_negate(b), rounding(r));
        out->d = finish(r, f, x, false);
        return true;
    }
    return one_float(r, in, out, f, n_src);
}

// ---- Comparisons -----------------------------------------------------------------------------------------

// -1, 0, 1, or 2 for unordered
static int order(const RefInsn *r, const char *type, uint64_t a, uint64_t b) {
    const Format *f = soft_format(type);
    unsigned bits = ref_bits(type);
    if (f) {
        bool ftz = ref_has(r, "ftz") && bits != 64;
        return soft_compare(soft_decode(f, flush(f, a, ftz)), soft_decode(f, flush(f, b, ftz)));
    }
    if (type[0] == 's') {
        int64_t x = (int64_t)(a << (64 - bits)), y = (int64_t)(b << (64 - bits));
        return x < y ? -1 : x > y;
    }
    return a < b ? -1 : a > b;
}

static bool holds(const RefInsn *r, int o) {
    static const struct {
        const char *name;
        bool less, equal, greater, unordered;
    } table[] = {
        {"eq", 0, 1, 0, 0},  {"ne", 1, 0, 1, 0},  {"lt", 1, 0, 0, 0},  {"le", 1, 1, 0, 0},
        {"gt", 0, 0, 1, 0},  {"ge", 0, 1, 1, 0},  {"lo", 1, 0, 0, 0},  {"ls", 1, 1, 0, 0},
        {"hi", 0, 0, 1, 0},  {"hs", 0, 1, 1, 0},  {"equ", 0, 1, 0, 1}, {"neu", 1, 0, 1, 1},
        {"ltu", 1, 0, 0, 1}, {"leu", 1, 1, 0, 1}, {"gtu", 0, 0, 1, 1}, {"geu", 0, 1, 1, 1},
        {"num", 1, 1, 1, 0}, {"nan", 0, 0, 0, 1},
    };
    for (unsigned j = 0; j < sizeof table / sizeof *table; j++)
        if (!strcmp(r->mods[0], table[j].name))
            return o == 2  ? table[j].unordered
                   : o < 0 ? table[j].less
                   : o     ? table[j].greater
                           : table[j].equal;
    return false;
}

static bool combine(const RefInsn *r, const RefIn *in, bool t) {
    bool c = (in->src[2] & 1) != in->negated;
    return ref_has(r, "and") ? t && c : ref_has(r, "or") ? t || c : ref_has(r, "xor") ? t != c : t;
}

bool ref_compare(const RefInsn *r, const RefIn *in, RefOut *out) {
    if (!is(r, "setp") && !is(r, "set"))
        return false;
    char type[16];
    strcpy(type, r->type[is(r, "set")]);
    bool packed = strlen(type) > 2 && !strcmp(type + strlen(type) - 2, "x2");
    bool t[2], raw[2];
    if (packed)
        type[strlen(type) - 2] = 0;
    unsigned bits = ref_bits(type);
    uint64_t mask = bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
    for (unsigned h = 0; h <= packed; h++) {
        raw[h] = holds(r, order(r, type, in->src[0] >> 16 * h & mask, in->src[1] >> 16 * h & mask));
        t[h] = combine(r, in, raw[h]);
    }
    if (is(r, "setp")) {
        out->d = t[0];
        out->d2 = packed ? t[1] : combine(r, in, !raw[0]);
        return true;
    }
    const char *d = r->type[0];
    uint64_t yes = !strcmp(d, "f32")   ? 0x3f800000
                   : strstr(d, "bf16") ? 0x3f80
                   : strstr(d, "f16")  ? 0x3c00
                   : ref_bits(d) == 16 ? 0xffff
                                       : 0xffffffff;
    if (packed)
        out->d = (t[0] ? yes & 0xffff : 0) | (t[1] ? (yes & 0xffff) << 16 : 0);
    else
        out->d = t[0] ? yes : 0;
    return true;
}

// ---- Conversions -----------------------------------------------------------------------------------------

static Num load(const RefInsn *r, const char *type, uint64_t x) {
    const Format *f = soft_format(type);
    if (f)
        return soft_decode(f, flush(f, x, ref_has(r, "ftz") && f->bits == 32));
    unsigned bits = ref_bits(type);
    x &= bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
    bool negative = type[0] == 's' && x >> (bits - 1) & 1;
    return soft_integer(negative ? ((Wide)1 << bits) - x : x, negative);
}

// An integral number into an integer type of `bits` bits, in a register of `reg` bits.
static uint64_t to_integer(Num x, const char *type, unsigned bits, unsigned reg, bool saturate) {
    bool is_signed = type[0] == 's';
    Wide max = ((Wide)1 << (bits - is_signed)) - 1, min = is_signed ? (Wide)1 << (bits - 1) : 0;
    Wide m = x.kind == NUM_INFINITE ? ~(Wide)0
             : x.kind == NUM_ZERO   ? 0
             : x.e > 70             ? ~(Wide)0 >> 1
                                    : x.m << x.e;
    if (saturate)
        m = x.negative ? (m > min ? min : m) : (m > max ? max : m);
    uint64_t v = x.negative ? 0 - (uint64_t)m : (uint64_t)m;
    uint64_t mask = bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
    v &= mask;
    if (is_signed && v >> (bits - 1) & 1)
        v |= ~mask;
    return reg == 64 ? v : v & (((uint64_t)1 << reg) - 1);
}

static uint64_t encode(const RefInsn *r, const Format *f, Num x) {
    Rounding mode = ref_has(r, "rna") ? NEAREST_AWAY : rounding(r);
    uint64_t code = soft_encode(f, limit(r, x), mode, ref_has(r, "satfinite"));
    return flush(f, code, ref_has(r, "ftz") && f->bits == 32);
}

static uint64_t ue8m0(const RefInsn *r, Num x) {
    if (x.kind == NUM_NAN)
        return 255;
    if (x.kind == NUM_ZERO)
        return 0;
    int code = x.kind == NUM_INFINITE ? 999 : 127 + x.e;
    if (x.kind == NUM_FINITE) {
        Wide m = x.m;
        bool inexact = false;
        for (; m > 1; m >>= 1, code++)
            inexact |= m & 1;
        code += inexact && ref_has(r, "rp");
    }
    return code > 254 ? (ref_has(r, "satfinite") ? 254 : 255) : code < 0 ? 0 : (uint64_t)code;
}

static bool cvt_packed(const RefInsn *r, const RefIn *in, RefOut *out) {
    const char *d = r->type[0], *s = r->type[1];
    char dst[16], src[16];
    strcpy(dst, d);
    strcpy(src, s);
    unsigned src_step = 0, dst_step;
    if (!strcmp(dst + strlen(dst) - 2, "x2"))
        dst[strlen(dst) - 2] = 0;
    if (!strcmp(src + strlen(src) - 2, "x2")) {
        src[strlen(src) - 2] = 0;
        src_step = !strcmp(src, "f16") || !strcmp(src, "bf16") ? 16 : !strcmp(src, "e2m1") ? 4 : 8;
    }
    dst_step = !strcmp(dst, "f16") || !strcmp(dst, "bf16") ? 16 : !strcmp(dst, "e2m1") ? 4 : 8;
    for (unsigned h = 0; h < 2; h++) {
        // two sources: the second is the lower half
        uint64_t x = src_step ? in->src[0] >> src_step * h & (((uint64_t)1 << src_step) - 1) : in->src[1 - h];
        uint64_t y;
        if (!strcmp(dst, "ue8m0")) {
            y = ue8m0(r, load(r, src, x));
        } else if (!strcmp(src, "ue8m0")) {
            Num v = {.kind = x == 255 ? NUM_NAN : NUM_FINITE, .m = 1, .e = (int)x - 127};
            y = encode(r, soft_format(dst), v);
        } else {
            if (src_step == 8 && soft_format(src)->bits == 6)
                x &= 63;
            Num v = soft_decode(soft_format(src), x);
            y = encode(r, soft_format(dst), v);
        }
        out->d |= y << dst_step * h;
    }
    return true;
}

bool ref_cvt(const RefInsn *r, const RefIn *in, RefOut *out) {
    const char *d = r->type[0], *s = r->type[1];
    if (ref_has(r, "pack")) {
        unsigned n = ref_bits(d);
        uint64_t mask = ((uint64_t)1 << n) - 1;
        uint64_t a = to_integer(load(r, "s32", in->src[0]), d, n, 64, true) & mask;
        uint64_t b = to_integer(load(r, "s32", in->src[1]), d, n, 64, true) & mask;
        out->d = (uint32_t)(a << n | b | (n < 16 ? in->src[2] << 2 * n : 0));
        return true;
    }
    if (strstr(d, "x2") || strstr(s, "x2"))
        return cvt_packed(r, in, out);
    const Format *to = soft_format(d), *from = soft_format(s);
    Num x = load(r, s, in->src[0]);
    bool integral = ref_has(r, "rni") || ref_has(r, "rzi") || ref_has(r, "rmi") || ref_has(r, "rpi");
    if (integral)
        x = soft_integral(x, ref_has(r, "rni")   ? TO_NEAREST
                             : ref_has(r, "rzi") ? TO_ZERO
                             : ref_has(r, "rmi") ? DOWN
                                                 : UP);
    if (!to) {
        unsigned bits = ref_bits(d);
        if (from && x.kind == NUM_NAN) {
            x = (Num){.kind = NUM_ZERO};
            if (!strcmp(s, "f64") || bits == 64)
                x = (Num){.kind = NUM_FINITE, .m = (Wide)1 << (bits - 1), .negative = d[0] == 's'};
        }
        out->d = to_integer(x, d, bits, in->dst_bits, from || ref_has(r, "sat"));
        return true;
    }
    out->d = encode(r, to, x);
    if (!strcmp(d, "tf32")) {
        out->d <<= 13;
        if (x.kind == NUM_NAN) // .rna only cuts
            out->d = ref_has(r, "rna") ? in->src[0] & 0xffffe000 : 0x7fffe000;
        if (ref_has(r, "rna") && ref_has(r, "satfinite") && (in->src[0] & 0x7f800000) == 0x7f800000)
            out->d = (in->src[0] & 0xffffe000) - 0x2000;
    }
    bool ftz = ref_has(r, "ftz"), same = !strcmp(d, s);
    if (x.kind == NUM_NAN && !ref_has(r, "sat")) {
        // NaN payloads are kept to, from and within f64, and where nothing is computed
        unsigned bits = (unsigned)from->bits, fraction = (unsigned)from->fraction;
        uint64_t sign = in->src[0] >> (bits - 1) & 1, payload = in->src[0] & (((uint64_t)1 << fraction) - 1);
        if (!strcmp(d, "f64"))
            out->d = sign << 63 | (uint64_t)0x7ff8 << 48 | payload << (52 - fraction);
        if (!strcmp(d, "f64") && !strcmp(s, "f32") && ftz)
            out->d = 0x7fffffffe0000000;
        if (!strcmp(d, "f64") && same && !integral)
            out->d = in->src[0];
        if (!strcmp(s, "f64") && !same)
            out->d = sign << (to->bits - 1) | to->infinity | (uint64_t)1 << (to->fraction - 1) |
                     payload >> (52 - to->fraction);
        if (!strcmp(d, "f32") && same && !ftz && !integral)
            out->d = in->src[0];
        if (!strcmp(d, "f32") && !strcmp(s, "bf16") && !ftz && !integral)
            out->d = in->src[0] << 16;
    }
    return true;
}
