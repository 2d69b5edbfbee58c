// SPDX-License-Identifier: Apache-2.0
// Reference floating-point arithmetic; see alu_soft.h.
#include "alu_soft.h"

#include <stddef.h>
#include <string.h>

static const Format formats[] = {
    {"f16", 16, 10, -14, 0x7bff, 0x7c00, 0x7fff},
    {"bf16", 16, 7, -126, 0x7f7f, 0x7f80, 0x7fff},
    {"tf32", 19, 10, -126, 0x3fbff, 0x3fc00, 0x3ffff},
    {"f32", 32, 23, -126, 0x7f7fffff, 0x7f800000, 0x7fffffff},
    {"f64", 64, 52, -1022, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff8000000000000},
    {"e4m3", 8, 3, -6, 0x7e, 0, 0x7f},
    {"e5m2", 8, 2, -14, 0x7b, 0x7c, 0x7f},
    {"e2m3", 6, 3, 0, 0x1f, 0, 0x1f},
    {"e3m2", 6, 2, -2, 0x1f, 0, 0x1f},
    {"e2m1", 4, 1, 0, 0x7, 0, 0x7},
};

const Format *soft_format(const char *name) {
    for (size_t j = 0; j < sizeof formats / sizeof *formats; j++)
        if (!strcmp(name, formats[j].name))
            return &formats[j];
    return NULL;
}

static int length(Wide m) {
    int n = 0;
    for (; m; m >>= 1)
        n++;
    return n;
}

// Shifts right, keeping what falls off as a sticky last bit.
static Wide jam(Wide m, int n) {
    if (n > 127)
        return m != 0;
    return m >> n | ((m & (((Wide)1 << n) - 1)) != 0);
}

Num soft_decode(const Format *f, uint64_t code) {
    uint64_t magnitude = code & (((uint64_t)1 << (f->bits - 1)) - 1);
    Num x = {.negative = code >> (f->bits - 1) & 1};
    if (magnitude > f->max_finite) {
        x.kind = f->infinity && magnitude == f->infinity ? NUM_INFINITE : NUM_NAN;
        return x;
    }
    if (!magnitude)
        return x;
    int exponent = (int)(magnitude >> f->fraction);
    x.kind = NUM_FINITE;
    x.m = magnitude & (((uint64_t)1 << f->fraction) - 1);
    if (exponent)
        x.m |= (Wide)1 << f->fraction;
    x.e = (exponent ? exponent - 1 : 0) + f->min_exponent - f->fraction;
    return x;
}

uint64_t soft_encode(const Format *f, Num x, Rounding mode, bool saturate) {
    uint64_t sign = x.negative ? (uint64_t)1 << (f->bits - 1) : 0;
    if (x.kind == NUM_NAN)
        return f->nan;
    if (x.kind == NUM_ZERO)
        return sign;
    saturate = saturate || !f->infinity;
    if (x.kind == NUM_INFINITE)
        return sign | (saturate ? f->max_finite : f->infinity);
    int exponent = x.e + length(x.m) - 1;
    int unit = (exponent > f->min_exponent ? exponent : f->min_exponent) - f->fraction;
    Wide kept = x.m;
    int twice = 0; // the discarded part in halves of a unit: 0, below 1, 1, above 1 as 0, 1, 2, 3
    if (unit <= x.e) {
        kept <<= x.e - unit;
    } else {
        int n = unit - x.e;
        Wide rest = n > 127 ? x.m : x.m & (((Wide)1 << n) - 1);
        bool half = n <= 127 && (rest >> (n - 1) & 1);
        bool more = n > 127 ? rest != 0 : (rest & (((Wide)1 << (n - 1)) - 1)) != 0;
        kept = n > 127 ? 0 : x.m >> n;
        twice = half << 1 | more;
    }
    bool up = false;
    switch (mode) {
    case TO_NEAREST: up = twice == 3 || (twice == 2 && kept & 1); break;
    case NEAREST_AWAY: up = twice >= 2; break;
    case TO_ZERO: break;
    case DOWN: up = twice && x.negative; break;
    case UP: up = twice && !x.negative; break;
    }
    kept += up;
    if (length(kept) > f->fraction + 1) {
        kept >>= 1;
        unit++;
    }
    uint64_t code;
    bool overflow = false;
    if (length(kept) <= f->fraction) {
        code = (uint64_t)kept;
    } else {
        int biased = unit + f->fraction - f->min_exponent + 1;
        uint64_t top = f->max_finite >> f->fraction;
        overflow = biased > (int)top;
        code = overflow
                   ? 0
                   : (uint64_t)biased << f->fraction | ((uint64_t)kept & (((uint64_t)1 << f->fraction) - 1));
        overflow = overflow || code > f->max_finite;
    }
    if (overflow) {
        bool inward = mode == TO_ZERO || mode == (x.negative ? UP : DOWN);
        code = saturate || inward ? f->max_finite : f->infinity;
    }
    return sign | code;
}

Num soft_integer(Wide magnitude, bool negative) {
    Num x = {.kind = magnitude ? NUM_FINITE : NUM_ZERO, .negative = magnitude && negative, .m = magnitude};
    return x;
}

Num soft_negate(Num a) {
    a.negative = !a.negative;
    return a;
}

static const Num not_a_number = {.kind = NUM_NAN};

// Brings m to exactly `bits` bits; only for shifting left.
static Num normalize(Num a, int bits) {
    int n = bits - length(a.m);
    if (n > 0) {
        a.m <<= n;
        a.e -= n;
    }
    return a;
}

Num soft_add(Num a, Num b, Rounding mode) {
    if (a.kind == NUM_NAN || b.kind == NUM_NAN)
        return not_a_number;
    if (a.kind == NUM_INFINITE || b.kind == NUM_INFINITE) {
        if (a.kind == b.kind && a.negative != b.negative)
            return not_a_number;
        return a.kind == NUM_INFINITE ? a : b;
    }
    if (a.kind == NUM_ZERO && b.kind == NUM_ZERO) {
        if (a.negative != b.negative)
            a.negative = mode == DOWN;
        return a;
    }
    if (a.kind == NUM_ZERO)
        return b;
    if (b.kind == NUM_ZERO)
        return a;
    // The one that reaches higher gets 124 bits; the other is shifted to its unit, stickily.
    if (a.e + length(a.m) < b.e + length(b.m)) {
        Num t = a;
        a = b;
        b = t;
    }
    a = normalize(a, 124);
    Wide m = b.e >= a.e ? b.m << (b.e - a.e) : jam(b.m, a.e - b.e);
    Num r = {.kind = NUM_FINITE, .negative = a.negative, .e = a.e};
    if (a.negative == b.negative) {
        r.m = a.m + m;
    } else if (a.m >= m) {
        r.m = a.m - m;
    } else {
        r.m = m - a.m;
        r.negative = b.negative;
    }
    if (!r.m)
        return (Num){.kind = NUM_ZERO, .negative = mode == DOWN};
    return r;
}

Num soft_mul(Num a, Num b) {
    bool negative = a.negative != b.negative;
    if (a.kind == NUM_NAN || b.kind == NUM_NAN)
        return not_a_number;
    if (a.kind == NUM_INFINITE || b.kind == NUM_INFINITE) {
        if (a.kind == NUM_ZERO || b.kind == NUM_ZERO)
            return not_a_number;
        return (Num){.kind = NUM_INFINITE, .negative = negative};
    }
    if (a.kind == NUM_ZERO || b.kind == NUM_ZERO)
        return (Num){.kind = NUM_ZERO, .negative = negative};
    return (Num){.kind = NUM_FINITE, .negative = negative, .m = a.m * b.m, .e = a.e + b.e};
}

Num soft_div(Num a, Num b) {
    bool negative = a.negative != b.negative;
    if (a.kind == NUM_NAN || b.kind == NUM_NAN || (a.kind == b.kind && a.kind != NUM_FINITE))
        return not_a_number;
    if (a.kind == NUM_INFINITE || b.kind == NUM_ZERO)
        return (Num){.kind = NUM_INFINITE, .negative = negative};
    if (b.kind == NUM_INFINITE || a.kind == NUM_ZERO)
        return (Num){.kind = NUM_ZERO, .negative = negative};
    a = normalize(a, 124);
    Wide q = a.m / b.m;
    q = q << 1 | (a.m % b.m != 0);
    return (Num){.kind = NUM_FINITE, .negative = negative, .m = q, .e = a.e - b.e - 1};
}

Num soft_sqrt(Num a) {
    if (a.kind == NUM_ZERO || a.kind == NUM_NAN)
        return a;
    if (a.negative)
        return not_a_number;
    if (a.kind == NUM_INFINITE)
        return a;
    a = normalize(a, 124);
    if (a.e & 1) {
        a.m <<= 1;
        a.e--;
    }
    Wide root = 0;
    for (int bit = 62; bit >= 0; bit--) {
        Wide try = root | (Wide)1 << bit;
        if (try * try <= a.m)
            root = try;
    }
    bool exact = root * root == a.m;
    return (Num){.kind = NUM_FINITE, .m = root << 1 | !exact, .e = a.e / 2 - 1};
}

int soft_compare(Num a, Num b) {
    if (a.kind == NUM_NAN || b.kind == NUM_NAN)
        return 2;
    if (a.kind == NUM_INFINITE && b.kind == NUM_INFINITE)
        return a.negative == b.negative ? 0 : a.negative ? -1 : 1;
    if (a.kind == NUM_INFINITE)
        return a.negative ? -1 : 1;
    if (b.kind == NUM_INFINITE)
        return b.negative ? 1 : -1;
    Num d = soft_add(a, soft_negate(b), TO_NEAREST);
    return d.kind == NUM_ZERO ? 0 : d.negative ? -1 : 1;
}

Num soft_integral(Num a, Rounding mode) {
    if (a.kind != NUM_FINITE || a.e >= 0)
        return a;
    int n = -a.e;
    Wide whole = n > 127 ? 0 : a.m >> n, rest = n > 127 ? a.m : a.m & (((Wide)1 << n) - 1);
    Wide half = n > 127 ? 0 : (Wide)1 << (n - 1);
    bool up = false;
    switch (mode) {
    case TO_NEAREST: up = n <= 127 && (rest > half || (rest == half && whole & 1)); break;
    case DOWN: up = rest && a.negative; break;
    case UP: up = rest && !a.negative; break;
    default: break;
    }
    Num r = soft_integer(whole + up, a.negative);
    r.negative = a.negative; // -0.3 becomes -0
    return r;
}
