// SPDX-License-Identifier: Apache-2.0
// Inputs of the conformance rows; see values.h.
#include "values.h"

#include "../vm/alu_ref.h"
#include "../vm/alu_soft.h"

#include <stdio.h>
#include <string.h>

uint64_t value_hash(const char *text) {
    uint64_t h = 0xcbf29ce484222325;
    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * 0x100000001b3;
    return h;
}

void value_expand(const char *pattern, const char *operands, OnSpelling on, void *arg) {
    const char *open = strchr(pattern, '{');
    if (!open) {
        on(pattern, operands, arg);
        return;
    }
    const char *close = open;
    int depth = 0;
    do {
        depth += *close == '{' ? 1 : *close == '}' ? -1 : 0;
        close++;
    } while (depth);
    const char *item = open + 1;
    for (const char *p = item; p < close; p++) {
        if ((*p == ',' && depth == 0) || p == close - 1) {
            char text[512];
            snprintf(text, sizeof text, "%.*s%.*s%s", (int)(open - pattern), pattern, (int)(p - item), item,
                     close);
            value_expand(text, operands, on, arg);
            item = p + 1;
        }
        depth += *p == '{' ? 1 : *p == '}' ? -1 : 0;
    }
}

// ---- Floating point --------------------------------------------------------------------------------------

enum { FLOAT_CORNERS = 64 };

static uint64_t power(const Format *f, int e) {
    Num n = {.kind = NUM_FINITE, .m = 1, .e = e};
    return soft_encode(f, n, TO_ZERO, true);
}

static uint64_t float_corner(const Format *f, unsigned k) {
    uint64_t fraction = ((uint64_t)1 << f->fraction) - 1, top = ((uint64_t)1 << (f->bits - 1)) - 1;
    uint64_t one = (uint64_t)(-f->min_exponent) << f->fraction, sign = (uint64_t)(k & 1) << (f->bits - 1);
    uint64_t inf = f->infinity ? f->infinity : f->max_finite, quiet = f->infinity ? (fraction + 1) / 2 : 0;
    const uint64_t corner[FLOAT_CORNERS / 2] = {0,
                                                1,
                                                2,
                                                fraction / 3,
                                                fraction,
                                                fraction + 1,
                                                fraction + 2,
                                                one - 1,
                                                one,
                                                one + 1,
                                                one + fraction + 1,                      // 2
                                                one - fraction - 1,                      // 0.5
                                                one + (fraction + 1) / 2,                // 1.5
                                                one + fraction + 1 + (fraction + 1) / 4, // 2.5
                                                f->max_finite,
                                                inf,
                                                top,
                                                inf | quiet,
                                                inf | (f->infinity != 0),
                                                inf | fraction / 3,
                                                inf | quiet | fraction / 5,
                                                power(f, 7),
                                                power(f, 8) - 1,
                                                power(f, 15),
                                                power(f, 16),
                                                power(f, 24) + 1,
                                                power(f, 31),
                                                power(f, 32),
                                                power(f, 63),
                                                power(f, 64) - 1,
                                                f->max_finite / 3 * 2,
                                                power(f, f->min_exponent / 2)};
    return sign | corner[k / 2 % (FLOAT_CORNERS / 2)];
}

static uint64_t float_random(Rng *rng, const Format *f) {
    uint64_t sign = (uint64_t)gr_rng_below(rng, 2) << (f->bits - 1);
    uint64_t one = (uint64_t)(-f->min_exponent) << f->fraction, fraction = ((uint64_t)1 << f->fraction) - 1;
    uint64_t any = gr_rng_next(rng), top = ((uint64_t)1 << (f->bits - 1)) - 1;
    switch (gr_rng_below(rng, 12)) {
    case 0: return float_corner(f, gr_rng_below(rng, FLOAT_CORNERS));
    case 1: return sign | (any & fraction);                                          // subnormal
    case 2: return sign | (one + ((uint64_t)gr_rng_below(rng, 9) << f->fraction));   // powers of two
    case 3: return sign | (one + (any & fraction));                                  // [1, 2)
    case 4: return sign | ((one - ((uint64_t)1 << f->fraction)) + (any & fraction)); // [0.5, 1)
    case 5: { // near integers and halves
        Num n = {.kind = NUM_FINITE};
        n.m = gr_rng_below(rng, 2000) + 1;
        n.e = -1 - (int)gr_rng_below(rng, 3);
        return sign | soft_encode(f, n, TO_ZERO, false);
    }
    case 6: { // around the ends of the integers
        static const int ends[] = {7, 8, 15, 16, 31, 32, 63, 64};
        uint64_t near = gr_rng_below(rng, 9), ulp = gr_rng_below(rng, 3);
        Num n = {.kind = NUM_FINITE, .m = ((Wide)1 << 70) + ((Wide)near << 66) - ((Wide)4 << 66)};
        n.e = ends[gr_rng_below(rng, 8)] - 70;
        if (gr_rng_below(rng, 2))
            n.m = ((Wide)1 << 70) + ulp - 1;
        return sign | soft_encode(f, n, (Rounding)gr_rng_below(rng, 4), true);
    }
    case 7: // moderate exponents
        return sign | (one + ((uint64_t)gr_rng_below(rng, 64) << f->fraction) -
                       ((uint64_t)20 << f->fraction) + (any & fraction)) %
                          top;
    case 8: return sign | (any & top & ~(fraction >> 6)); // short fractions: ties
    default: return any & (top | (uint64_t)1 << (f->bits - 1));
    }
}

// ---- Integers --------------------------------------------------------------------------------------------

static const uint64_t integers[] = {0,
                                    1,
                                    2,
                                    ~(uint64_t)0,
                                    ~(uint64_t)1,
                                    0x7fffffffffffffff,
                                    0x8000000000000000,
                                    0x8000000000000001,
                                    0x7fffffff,
                                    0x80000000,
                                    0x80000001,
                                    0xffffffff,
                                    0x100000000,
                                    0x7fff,
                                    0x8000,
                                    0x8001,
                                    0xffff,
                                    0x10000,
                                    0x7f,
                                    0x80,
                                    0x81,
                                    0xff,
                                    0x100,
                                    15,
                                    16,
                                    17,
                                    31,
                                    32,
                                    33,
                                    63,
                                    64,
                                    65,
                                    0xffffff,
                                    0x800000,
                                    0x7fffff,
                                    0xffff0000,
                                    0x12345678,
                                    0x0123456789abcdef};
enum { INTEGERS = sizeof integers / sizeof *integers };

static uint64_t mask_of(unsigned bits) { return bits >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1; }

static uint64_t integer_random(Rng *rng, unsigned bits) {
    uint64_t any = gr_rng_next(rng), more = gr_rng_next(rng), mask = mask_of(bits);
    switch (gr_rng_below(rng, 8)) {
    case 0: return integers[gr_rng_below(rng, INTEGERS)] & mask;
    case 1: return gr_rng_below(rng, 70) & mask;
    case 2: return (0 - (uint64_t)gr_rng_below(rng, 70)) & mask;
    case 3: return ((uint64_t)1 << gr_rng_below(rng, bits)) & mask;
    case 4: return any >> gr_rng_below(rng, 64) & mask;
    case 5: return (any | more) & mask;
    default: return any & mask;
    }
}

// ---- Types -----------------------------------------------------------------------------------------------

// The type of one half of a packed type; false when it is none.
static bool half_type(const char *type, char *half) {
    strcpy(half, type);
    size_t n = strlen(half);
    if (n <= 2 || strcmp(half + n - 2, "x2"))
        return false;
    half[n - 2] = 0;
    return true;
}

uint64_t value_random(Rng *rng, const char *type) {
    char t[16];
    if (half_type(type, t)) {
        unsigned bits = ref_bits(t);
        if (bits == 0 || bits > 32) // of 8 bits and fewer: all patterns
            return gr_rng_next(rng) & mask_of(ref_bits(type));
        uint64_t low = value_random(rng, t);
        return low | value_random(rng, t) << bits;
    }
    const Format *f = soft_format(t);
    return f ? float_random(rng, f) : integer_random(rng, ref_bits(t) == 1 ? 1 : ref_bits(t));
}

unsigned value_corners(const char *type) {
    char t[16];
    half_type(type, t);
    return soft_format(t) && ref_bits(t) ? FLOAT_CORNERS : INTEGERS;
}

uint64_t value_corner(const char *type, unsigned k) {
    char t[16];
    bool packed = half_type(type, t);
    const Format *f = ref_bits(t) ? soft_format(t) : NULL;
    unsigned bits = ref_bits(type);
    if (!f)
        return integers[k % INTEGERS] & mask_of(bits ? bits : 64);
    uint64_t low = float_corner(f, k % FLOAT_CORNERS);
    return packed ? low | float_corner(f, (k * 7 + 3) % FLOAT_CORNERS) << f->bits : low;
}
