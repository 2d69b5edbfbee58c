// SPDX-License-Identifier: Apache-2.0
// alu_bit — logic, shifts, bit fields, selection, moves: the operations of alu_bit.def.

#include "vm/alu/alu_kernel.h"

// The table of the three-input function is `lut`: bit 4a+2b+c. A tree of seven multiplexers, whose leaves are
// the table's bits spread over the lanes.
INLINE VU32 lop3(VU32 a, VU32 b, VU32 c, uint64_t lut) {
    VU32 leaf[8];
    for (unsigned j = 0; j < 8; j++)
        leaf[j] = SPLAT(VU32, 0u - (uint32_t)(lut >> j & 1));
    for (unsigned j = 0; j < 4; j++)
        leaf[j] = leaf[2 * j] ^ (c & (leaf[2 * j] ^ leaf[2 * j + 1]));
    for (unsigned j = 0; j < 2; j++)
        leaf[j] = leaf[2 * j] ^ (b & (leaf[2 * j] ^ leaf[2 * j + 1]));
    return leaf[0] ^ (a & (leaf[0] ^ leaf[1]));
}

INLINE uint64_t pair(uint32_t hi, uint32_t lo) { return (uint64_t)hi << 32 | lo; }

// Bytes of x picked by the nibbles of `selector`; bit 3 of a nibble replicates the byte's sign instead.
// In 32 bits and without branches, so that the loop over the lanes vectorizes.
INLINE uint32_t prmt(uint32_t a, uint32_t b, uint32_t selector) {
    uint32_t r = 0;
    for (unsigned j = 0; j < 4; j++) {
        uint32_t s = selector >> 4 * j, byte = (s & 4 ? b : a) >> 8 * (s & 3) & 255;
        uint32_t sign = (0 - (byte >> 7)) & 255;
        r |= (s & 8 ? sign : byte) << 8 * j;
    }
    return r;
}
// The special modes of prmt, as selectors of its normal mode (PTX ISA 9.7.9.7, second table).
INLINE uint32_t f4e_selector(uint32_t s) { return 0x3210 + s * 0x1111; }
INLINE uint32_t b4e_selector(uint32_t s) {
    return s | ((s - 1) & 7) << 4 | ((s - 2) & 7) << 8 | ((s - 3) & 7) << 12;
}
INLINE uint32_t ecl_selector(uint32_t s) { return s | (s > 1 ? s : 1) << 4 | (s > 2 ? s : 2) << 8 | 3 << 12; }
INLINE uint32_t ecr_selector(uint32_t s) { return (s < 1 ? s : 1) << 4 | (s < 2 ? s : 2) << 8 | s << 12; }

// Position of the highest bit, or, with a width, how far to shift left to bring it to the top.
INLINE uint32_t bfind(uint64_t x, uint32_t width) {
    if (!x)
        return ~0u;
    uint32_t top = 63 - (uint32_t)__builtin_clzll(x);
    return width ? width - 1 - top : top;
}

INLINE uint64_t brev(uint64_t x) {
    x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
    return __builtin_bswap64(x);
}

// The n-th set bit of the mask counted from `base`, upwards or downwards; PTX ISA 9.7.1.16.
INLINE uint32_t fns(uint32_t mask, uint32_t base, int32_t offset) {
    if (offset == INT32_MIN)
        return 0; // whose magnitude is no int32_t: an H200's answer
    if (base > 31)
        return ~0u;
    if (offset == 0)
        return mask >> base & 1 ? base : ~0u;
    uint32_t n = offset > 0 ? (uint32_t)offset : 0u - (uint32_t)offset;
    uint32_t m = offset > 0 ? mask >> base << base : mask << (31 - base) >> (31 - base);
    if ((uint32_t)__builtin_popcount(m) < n)
        return ~0u;
    for (n--; n; n--)
        m = offset > 0 ? m & (m - 1) : m & ~(0x80000000u >> __builtin_clz(m));
    return offset > 0 ? (uint32_t)__builtin_ctz(m) : 31 - (uint32_t)__builtin_clz(m);
}

INLINE uint64_t low_bits64(uint32_t n) { return n >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1; }
INLINE uint32_t low_bits(uint32_t n) { return n >= 32 ? ~0u : (1u << n) - 1; }
INLINE uint32_t sign_extend(uint32_t x, uint32_t n) {
    return n ? (uint32_t)((int32_t)(x << (32 - n)) >> (32 - n)) : 0;
}
INLINE uint32_t bmsk_clamp(uint32_t pos, uint32_t len) { return pos >= 32 ? 0 : low_bits(len) << pos; }

// Bit fields: position and length are 0 to 255 (PTX ISA 9.7.1.18, 9.7.1.19); of fields in 64 bits an H200 does not cut
// them to a byte.
INLINE uint64_t bfe(uint64_t x, uint32_t pos, uint32_t len, uint32_t width) {
    return pos >= width ? 0 : x >> pos & low_bits64(len);
}
// In 32 bits and without branches, so that the loop over the lanes vectorizes.
INLINE uint32_t bfe32(uint32_t x, uint32_t pos, uint32_t len) {
    pos &= 255, len &= 255;
    uint32_t keep = len < 32 ? (UINT32_C(1) << (len & 31)) - 1 : UINT32_MAX;
    return (pos < 32 ? x >> (pos & 31) : 0) & keep;
}
INLINE uint64_t bfe_signed(uint64_t x, uint32_t pos, uint32_t len, uint32_t width) {
    if (width == 32)
        pos &= 255, len &= 255;
    if (!len)
        return 0;
    uint32_t top = (uint64_t)pos + len - 1 < width - 1 ? pos + len - 1 : width - 1;
    uint64_t fill = x >> top & 1 ? ~(uint64_t)0 : 0, keep = low_bits64(pos >= width ? 0 : top - pos + 1);
    return (pos >= width ? 0 : x >> pos & keep) | (fill & ~keep);
}
INLINE uint32_t bfi32(uint32_t x, uint32_t into, uint32_t pos, uint32_t len) {
    pos &= 255, len &= 255;
    uint32_t keep = len < 32 ? (UINT32_C(1) << (len & 31)) - 1 : UINT32_MAX;
    uint32_t field = pos < 32 ? keep << (pos & 31) : 0;
    return (x << (pos & 31) & field) | (into & ~field);
}
INLINE uint64_t bfi(uint64_t x, uint64_t into, uint32_t pos, uint32_t len) {
    if (pos >= 64)
        return into;
    uint64_t field = low_bits64(len) << pos;
    return (x << pos & field) | (into & ~field);
}

INLINE bool select_a(float c, uint64_t flags) {
    uint32_t u = ((union {
                     float f;
                     uint32_t u;
                 }){c})
                     .u;
    if (flags & ALU_FTZ && !(u & 0x7f800000))
        return true;
    return c >= 0;
}

// ---- Kernels of the table --------------------------------------------------------------------------------

#define ALU_P1(op, type, expr)                                                                               \
    ALU_BODY(k_##op##_##type) {                                                                              \
        uint32_t a = VM_PRED(w, i->a);                                                                       \
        put_pred(w, i->d, expr, part);                                                                       \
    }                                                                                                        \
    ALU_HANDLER(k_##op##_##type)
#define ALU_P2(op, type, expr)                                                                               \
    ALU_BODY(k_##op##_##type) {                                                                              \
        uint32_t a = VM_PRED(w, i->a), b = VM_PRED(w, i->b);                                                 \
        put_pred(w, i->d, expr, part);                                                                       \
    }                                                                                                        \
    ALU_HANDLER(k_##op##_##type)

#define ALU_SEL(op, type, W, V)                                                                              \
    ALU_BODY(k_##op##_##type) {                                                                              \
        uint32_t p = VM_PRED(w, i->c);                                                                       \
        for (unsigned k = 0; k < N##W; k++)                                                                  \
            PUT##W(BLEND(V, mask##W(p, k), GET(V, i->a, k), GET(V, i->b, k)));                               \
    }                                                                                                        \
    ALU_HANDLER(k_##op##_##type)

// Shift counts, brought to the width of the shifted lanes.
INLINE VU32 count32(VmWarp *w, uint32_t off, unsigned k) { return GET(VU32, off, k); }
INLINE VU64 count64(VmWarp *w, uint32_t off, unsigned k) { return widen_u32(GET(HU32, off, k)); }
INLINE VU16 count16(VmWarp *w, uint32_t off, unsigned k) {
    VU16 n;
    for (unsigned l = 0; l < L16; l++) {
        uint32_t c = VM_U32(w, off)[k * L16 + l];
        n[l] = (uint16_t)(c < 16 ? c : 16);
    }
    return n;
}
// `past`: the result of a count that is not below the width.
#define ALU_SHIFT(op, type, W, V, expr, past)                                                                \
    ALU_BODY(k_##op##_##type) {                                                                              \
        for (unsigned k = 0; k < N##W; k++) {                                                                \
            V a = GET(V, i->a, k), count = count##W(w, i->b, k), n = count & (W - 1);                        \
            PUT##W(BLEND(V, count < W, expr, SPLAT(V, 0) + (past)));                                         \
        }                                                                                                    \
    }                                                                                                        \
    ALU_HANDLER(k_##op##_##type)

#define P1    ALU_P1
#define P2    ALU_P2
#define V1    ALU_V1
#define V2    ALU_V2
#define V3    ALU_V3
#define S1    ALU_S1
#define S2    ALU_S2
#define S3    ALU_S3
#define S4    ALU_S4
#define L1    ALU_L1
#define L3    ALU_L3
#define SEL   ALU_SEL
#define SHIFT ALU_SHIFT
#include "vm/alu/alu_bit.def"
#undef P1
#undef P2
#undef V1
#undef V2
#undef V3
#undef S1
#undef S2
#undef S3
#undef S4
#undef L1
#undef L3
#undef SEL
#undef SHIFT

ALU_BODY(k_mov_b128) {
    for (unsigned half = 0; half < 2; half++)
        for (unsigned k = 0; k < N64; k++)
            put64(w, i->d + half * 256, k, GET(VU64, i->a + half * 256, k), part);
}
ALU_HANDLER(k_mov_b128)

// lop3 with a predicate (9.7.8.6): whether d is not zero, combined with q.
ALU_BODY(k_lop3_pred_b32) {
    uint32_t q = VM_PRED(w, i->e), bits = 0;
    for (unsigned k = 0; k < N32; k++) {
        VU32 d = lop3(GET(VU32, i->a, k), GET(VU32, i->b, k), GET(VU32, i->c, k), i->imm);
        bits |= bits32((VS32)(d != 0), k);
        PUT32(d);
    }
    unsigned op = i->imm >> 8 & ALU_BOOL_OP;
    bits = op == ALU_BOOL_AND ? bits & q : op == ALU_BOOL_OR ? bits | q : bits ^ q;
    put_pred(w, i->d2, bits, part);
}
ALU_HANDLER(k_lop3_pred_b32)

static const AluKernel rows[] = {
    // clang-format off
    ALU_ROW(lop3_pred, b32)
    ALU_ROW(mov, b128)
#define ROW(op, type, ...) ALU_ROW(op, type)
#define P1    ROW
#define P2    ROW
#define V1    ROW
#define V2    ROW
#define V3    ROW
#define S1    ROW
#define S2    ROW
#define S3    ROW
#define S4    ROW
#define L1    ROW
#define L3    ROW
#define SEL   ROW
#define SHIFT ROW
#include "vm/alu/alu_bit.def"
    // clang-format on
};
ALU_EXPORT(bit);
