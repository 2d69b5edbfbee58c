// SPDX-License-Identifier: Apache-2.0
// Reference for integers, bits and selection; see alu_ref.h.
#include "alu_ref.h"

#include <stdio.h>
#include <string.h>

unsigned ref_bits(const char *t) {
    static const struct {
        const char *name;
        unsigned bits;
    } odd[] = {{"pred", 1},    {"f16x2", 32},  {"bf16", 16},  {"bf16x2", 32}, {"tf32", 32},
               {"f32x2", 64},  {"u16x2", 32},  {"s16x2", 32}, {"e4m3x2", 16}, {"e5m2x2", 16},
               {"e2m3x2", 16}, {"e3m2x2", 16}, {"e2m1x2", 8}, {"ue8m0x2", 16}};
    for (unsigned j = 0; j < sizeof odd / sizeof *odd; j++)
        if (!strcmp(t, odd[j].name))
            return odd[j].bits;
    unsigned bits = 0;
    char kind, end;
    if (sscanf(t, "%c%u%c", &kind, &bits, &end) == 2 && strchr("busf", kind) &&
        (bits == 2 || bits == 4 || bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128))
        return bits;
    return 0;
}

void ref_parse(const char *spelling, RefInsn *r) {
    memset(r, 0, sizeof *r);
    snprintf(r->text, sizeof r->text, "%s", spelling);
    char copy[96];
    snprintf(copy, sizeof copy, "%s", spelling);
    char *save, *word = strtok_r(copy, ".", &save);
    snprintf(r->op, sizeof r->op, "%s", word);
    while ((word = strtok_r(NULL, ".", &save)) && r->n_mods < 12) {
        snprintf(r->mods[r->n_mods++], sizeof r->mods[0], "%s", word);
        if (ref_bits(word) && r->n_types < 4 && strcmp(word, "b0") && strcmp(word, "b2"))
            snprintf(r->type[r->n_types++], sizeof r->type[0], "%s", word);
    }
}

bool ref_has(const RefInsn *r, const char *mod) {
    for (unsigned m = 0; m < r->n_mods; m++)
        if (!strcmp(r->mods[m], mod))
            return true;
    return false;
}

static bool is(const RefInsn *r, const char *op) { return !strcmp(r->op, op); }

static uint64_t low(uint64_t x, unsigned bits) { return bits >= 64 ? x : x & (((uint64_t)1 << bits) - 1); }

// x read as an integer of the type.
static __int128 value(uint64_t x, const char *type, unsigned bits) {
    x = low(x, bits);
    if (type[0] == 's' && x >> (bits - 1) & 1)
        return (__int128)x - ((__int128)1 << bits);
    return x;
}

static __int128 clamp(__int128 x, __int128 min, __int128 max) { return x < min ? min : x > max ? max : x; }

// ---- Arithmetic ------------------------------------------------------------------------------------------

static bool with_carry(const RefInsn *r, const RefIn *in, RefOut *out) {
    unsigned bits = ref_bits(r->type[0]);
    bool reads = r->op[strlen(r->op) - 1] == 'c', subtract = !strncmp(r->op, "sub", 3);
    uint64_t x = low(in->src[0], bits), y = low(in->src[1], bits);
    if (!strncmp(r->op, "mad", 3)) {
        __int128 p = (__int128)((unsigned __int128)value(x, r->type[0], bits) *
                                (unsigned __int128)value(y, r->type[0], bits));
        x = low((uint64_t)(ref_has(r, "hi") ? (unsigned __int128)p >> bits : (unsigned __int128)p), bits);
        y = low(in->src[2], bits);
    }
    // Subtraction adds the complement: the flag then says that there is no borrow, as a GPU has it.
    unsigned __int128 carry = reads ? in->carry : subtract,
                      sum = (unsigned __int128)x + (subtract ? low(~y, bits) : y) + carry;
    out->d = low((uint64_t)sum, bits);
    out->carry = ref_has(r, "cc") ? (bool)(sum >> bits & 1) : in->carry;
    return true;
}

static bool packed16(const RefInsn *r, const RefIn *in, RefOut *out) {
    RefInsn half = *r;
    RefOut o[2] = {0};
    half.type[0][3] = 0; // u16x2 to u16
    for (unsigned h = 0; h < 2; h++) {
        RefIn part = *in;
        for (unsigned j = 0; j < 4; j++)
            part.src[j] = part.src[j] >> 16 * h & 0xffff;
        if (!ref_integer(&half, &part, &o[h]))
            return false;
    }
    out->d = o[0].d | o[1].d << 16;
    return true;
}

static int64_t byte_of(uint64_t x, unsigned j, bool is_signed) {
    return is_signed ? (int8_t)(x >> 8 * j) : (int64_t)(uint8_t)(x >> 8 * j);
}

bool ref_integer(const RefInsn *r, const RefIn *in, RefOut *out) {
    const char *t = r->type[0];
    unsigned bits = ref_bits(t);
    if (!strcmp(t + 1, "16x2"))
        return packed16(r, in, out);
    if (is(r, "dp4a") || is(r, "dp2a")) {
        bool sa = t[0] == 's', sb = r->type[1][0] == 's';
        int64_t sum = (int64_t)in->src[2];
        for (unsigned j = 0; j < (is(r, "dp4a") ? 4 : 2); j++) {
            int64_t x = is(r, "dp4a") ? byte_of(in->src[0], j, sa)
                        : sa          ? (int16_t)(in->src[0] >> 16 * j)
                                      : (int64_t)(uint16_t)(in->src[0] >> 16 * j);
            sum += x * byte_of(in->src[1], is(r, "dp2a") && ref_has(r, "hi") ? j + 2 : j, sb);
        }
        out->d = (uint32_t)sum;
        return true;
    }
    if (!bits || t[0] == 'f' || strchr("b", t[0]) || r->n_types != 1)
        return false;
    if (ref_has(r, "cc") || is(r, "addc") || is(r, "subc") || is(r, "madc"))
        return with_carry(r, in, out);
    __int128 a = value(in->src[0], t, bits), b = value(in->src[1], t, bits), c = value(in->src[2], t, bits),
             d;
    __int128 min = t[0] == 's' ? -((__int128)1 << (bits - 1)) : 0;
    __int128 max = t[0] == 's' ? ((__int128)1 << (bits - 1)) - 1 : ((__int128)1 << bits) - 1;
    bool sat = ref_has(r, "sat");
    unsigned width = bits;
    if (is(r, "add")) {
        d = a + b;
    } else if (is(r, "sub")) {
        d = a - b;
    } else if (is(r, "mul") || is(r, "mad")) {
        // The product of two u64 needs all 128 bits: unsigned arithmetic wraps to the right bits.
        d = (__int128)((unsigned __int128)a * (unsigned __int128)b);
        if (ref_has(r, "hi"))
            d = t[0] == 's' ? d >> bits : (__int128)((unsigned __int128)d >> bits);
        if (ref_has(r, "wide")) {
            width = 2 * bits;
            c = (__int128)in->src[2];
        }
        if (is(r, "mad"))
            d = (__int128)((unsigned __int128)d + (unsigned __int128)c);
    } else if (is(r, "mul24") || is(r, "mad24")) {
        int64_t x = (int64_t)(in->src[0] & 0xffffff), y = (int64_t)(in->src[1] & 0xffffff);
        if (t[0] == 's') {
            x = x & 0x800000 ? x - 0x1000000 : x;
            y = y & 0x800000 ? y - 0x1000000 : y;
        }
        uint64_t p = (uint64_t)(x * y) & 0xffffffffffff;
        uint64_t part = ref_has(r, "hi") ? p >> 16 : p & 0xffffffff;
        d = value(part, t, 32);
        if (is(r, "mad24"))
            d += c;
    } else if (is(r, "sad")) {
        d = c + (a < b ? b - a : a - b);
    } else if (is(r, "div")) {
        d = b ? a / b : -1;
    } else if (is(r, "rem")) {
        d = b ? a % b : -1;
    } else if (is(r, "abs")) {
        d = a < 0 ? -a : a;
    } else if (is(r, "neg")) {
        d = -a;
    } else if (is(r, "min")) {
        d = a < b ? a : b;
    } else if (is(r, "max")) {
        d = a > b ? a : b;
    } else {
        return false;
    }
    if (sat)
        d = clamp(d, min, max);
    if (ref_has(r, "relu") && d < 0)
        d = 0;
    out->d = low((uint64_t)d, width);
    return true;
}

// ---- Video -----------------------------------------------------------------------------------------------

static bool ref_video(const RefInsn *r, const RefIn *in, RefOut *out) {
    if (r->op[0] != 'v')
        return false;
    size_t n = strlen(r->op);
    unsigned parts = r->op[n - 1] == '2' || r->op[n - 1] == '4' ? (unsigned)(r->op[n - 1] - '0') : 1,
             bits = 32 / parts;
    bool set = !strncmp(r->op, "vset", 4);
    const char *td = set ? "u32" : r->type[0], *ta = r->type[!set], *tb = r->type[1 + !set];
    __int128 max = ((__int128)1 << (bits - (td[0] == 's'))) - 1, min = td[0] == 's' ? -max - 1 : 0, sum = 0,
             exact = 0;
    uint64_t d = 0;
    for (unsigned j = 0; j < parts; j++) {
        __int128 a = value(in->src[0] >> bits * j, ta, bits), b = value(in->src[1] >> bits * j, tb, bits), t;
        if (set)
            t = ref_has(r, "eq")   ? a == b
                : ref_has(r, "ne") ? a != b
                : ref_has(r, "lt") ? a < b
                : ref_has(r, "le") ? a <= b
                : ref_has(r, "gt") ? a > b
                                   : a >= b;
        else if (!strncmp(r->op, "vadd", 4))
            t = a + b;
        else if (!strncmp(r->op, "vsub", 4))
            t = a - b;
        else if (!strncmp(r->op, "vavrg", 5))
            t = a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
        else if (!strncmp(r->op, "vabsdiff", 8))
            t = a > b ? a - b : b - a;
        else if (!strncmp(r->op, "vmin", 4))
            t = a < b ? a : b;
        else
            t = a > b ? a : b;
        if (ref_has(r, "sat") && parts == 1 && td[0] != 's')
            t = t < 0 ? 0 : t; // a GPU does not saturate upwards
        else if (ref_has(r, "sat"))
            t = clamp(t, min, max);
        sum += t;
        exact = t;
        d |= low((uint64_t)t, bits) << bits * j;
    }
    if (parts > 1) {
        out->d = ref_has(r, "add") ? (uint32_t)(in->src[2] + (uint64_t)sum) : d;
        return true;
    }
    // A GPU compares c as signed, and keeps the sign that minima, maxima and differences have.
    bool keeps =
        td[0] == 's' && (!strcmp(r->op, "vmin") || !strcmp(r->op, "vmax") || !strcmp(r->op, "vabsdiff"));
    __int128 x = keeps ? exact : value(d, td, 32), y;
    y = value(in->src[2], td[0] == 's' || (set && ta[0] == 's') ? "s32" : "u32", 32);
    bool less = x < y;
    if (ref_has(r, "add"))
        x += y;
    else if (ref_has(r, "min"))
        x = less ? x : y;
    else if (ref_has(r, "max"))
        x = less ? y : x;
    out->d = (uint32_t)x;
    return true;
}

// ---- Bits ------------------------------------------------------------------------------------------------

static bool bit_of(uint64_t x, unsigned j) { return x >> j & 1; }

static uint64_t prmt(const RefInsn *r, const RefIn *in) {
    static const struct {
        const char *mode;
        uint16_t selector[4];
    } modes[] = {
        {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
        {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}}, {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
        {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}},
    };
    uint64_t bytes = in->src[0] | in->src[1] << 32, d = 0;
    uint32_t selector = (uint32_t)in->src[2] & 0xffff;
    for (unsigned j = 0; j < 6; j++)
        if (ref_has(r, modes[j].mode))
            selector = modes[j].selector[in->src[2] & 3];
    for (unsigned j = 0; j < 4; j++) {
        unsigned s = selector >> 4 * j & 15;
        uint64_t byte = bytes >> 8 * (s & 7) & 255;
        if (s & 8)
            byte = bit_of(byte, 7) ? 255 : 0;
        d |= byte << 8 * j;
    }
    return d;
}

bool ref_bit(const RefInsn *r, const RefIn *in, RefOut *out) {
    const char *t = r->type[0];
    unsigned bits = ref_bits(t);
    uint64_t a = low(in->src[0], bits), b = low(in->src[1], bits), c = low(in->src[2], bits), d = 0;
    uint64_t n = in->src[1];
    if (is(r, "mov")) {
        d = a;
    } else if (is(r, "and")) {
        d = a & b;
    } else if (is(r, "or")) {
        d = a | b;
    } else if (is(r, "xor")) {
        d = a ^ b;
    } else if (is(r, "not")) {
        d = ~a;
    } else if (is(r, "cnot")) {
        d = a == 0;
    } else if (is(r, "lop3")) {
        for (unsigned j = 0; j < 32; j++)
            d |= (uint64_t)bit_of(in->lut, 4u * bit_of(a, j) + 2u * bit_of(b, j) + bit_of(c, j)) << j;
        bool q = (in->src[3] & 1) != in->negated, p = d != 0;
        out->d2 = ref_has(r, "and") ? p && q : ref_has(r, "or") ? p || q : p != q;
    } else if (is(r, "shl")) {
        d = n >= bits ? 0 : a << n;
    } else if (is(r, "shr")) {
        __int128 v = value(a, t, bits);
        d = (uint64_t)(v >> (n > bits ? bits : n));
    } else if (is(r, "shf")) {
        uint64_t s = in->src[2];
        s = ref_has(r, "wrap") ? s & 31 : s > 32 ? 32 : s;
        unsigned __int128 both = (unsigned __int128)b << 32 | a;
        d = ref_has(r, "l") ? (uint64_t)(both << s >> 32) : (uint64_t)(both >> s);
    } else if (is(r, "prmt")) {
        d = prmt(r, in);
    } else if (is(r, "popc")) {
        for (unsigned j = 0; j < bits; j++)
            d += bit_of(a, j);
        bits = 32;
    } else if (is(r, "clz")) {
        while (d < bits && !bit_of(a, bits - 1 - (unsigned)d))
            d++;
        bits = 32;
    } else if (is(r, "bfind")) {
        bool sign = t[0] == 's' && bit_of(a, bits - 1);
        d = 0xffffffff;
        for (unsigned j = 0; j < bits; j++)
            if (bit_of(a, j) != sign)
                d = ref_has(r, "shiftamt") ? bits - 1 - j : j;
        bits = 32;
    } else if (is(r, "brev")) {
        for (unsigned j = 0; j < bits; j++)
            d |= (uint64_t)bit_of(a, j) << (bits - 1 - j);
    } else if (is(r, "fns")) {
        // the ISA's own pseudocode
        int32_t offset = (int32_t)in->src[2];
        d = 0xffffffff;
        if (b < 32 && offset == 0 && bit_of(a, (unsigned)b))
            d = b;
        if (offset == INT32_MIN) { // a GPU's answer
            d = 0;
        } else if (b < 32 && offset != 0) {
            int64_t count = (offset > 0 ? (int64_t)offset : -(int64_t)offset) - 1;
            for (int pos = (int)b; pos >= 0 && pos<32; pos += offset> 0 ? 1 : -1)
                if (bit_of(a, (unsigned)pos) && count-- == 0) {
                    d = (uint64_t)pos;
                    break;
                }
        }
    } else if (is(r, "bfe")) {
        // 32 bits: the low bytes, as the ISA says; of 64 bits a GPU takes position and length as they are.
        uint64_t byte = bits == 32 ? 255 : UINT32_MAX, msb = bits - 1;
        uint64_t pos = in->src[1] & byte, len = in->src[2] & byte;
        bool sign = t[0] == 's' && len && bit_of(a, (unsigned)(pos + len - 1 < msb ? pos + len - 1 : msb));
        for (unsigned j = 0; j < bits; j++)
            d |= (uint64_t)(j < len && pos + j <= msb ? bit_of(a, (unsigned)pos + j) : sign) << j;
    } else if (is(r, "bfi")) {
        uint64_t byte = bits == 32 ? 255 : UINT32_MAX, pos = in->src[2] & byte, len = in->src[3] & byte;
        d = b;
        for (unsigned j = 0; j < len && pos + j < bits; j++)
            d = (d & ~((uint64_t)1 << (pos + j))) | (uint64_t)bit_of(a, j) << (pos + j);
    } else if (is(r, "szext")) {
        bool large = in->src[1] >= 32 && ref_has(r, "clamp");
        unsigned len = in->src[1] & 31;
        uint64_t mask = large ? 0 : 0xffffffffu << len;
        bool sign = !large && len && t[0] == 's' && bit_of(a, len - 1);
        d = (a & ~mask) | (sign ? mask : 0);
    } else if (is(r, "bmsk")) {
        uint64_t pos = in->src[0], len = in->src[1];
        if (ref_has(r, "wrap"))
            pos &= 31, len &= 31;
        for (unsigned j = 0; j < 32; j++)
            d |= (uint64_t)(j >= pos && j - pos < len) << j;
    } else if (is(r, "selp")) {
        d = in->src[2] & 1 ? a : b;
    } else if (is(r, "slct")) {
        uint32_t s = (uint32_t)in->src[2];
        bool first;
        if (r->type[1][0] == 's')
            first = (int32_t)s >= 0;
        else if ((s & 0x7fffffff) > 0x7f800000)
            first = false;
        else
            first = s >> 31 == 0 || s == 0x80000000 || (ref_has(r, "ftz") && (s & 0x7f800000) == 0);
        d = first ? a : b;
    } else {
        return false;
    }
    out->d = low(d, bits);
    return true;
}

bool ref_run(const RefInsn *r, const RefIn *in, RefOut *out) {
    memset(out, 0, sizeof *out);
    out->carry = in->carry;
    if (is(r, "cvt"))
        return ref_cvt(r, in, out);
    if (ref_video(r, in, out))
        return true;
    return ref_integer(r, in, out) || ref_compare(r, in, out) || ref_float(r, in, out) || ref_bit(r, in, out);
}
