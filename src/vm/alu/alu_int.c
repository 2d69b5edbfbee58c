// SPDX-License-Identifier: Apache-2.0
// alu_int — integer arithmetic: the operations of alu_int.def as vector and lane kernels. Condition code CC.CF is one
// bit per lane in w->cc: the carry out of the sum. A subtraction adds the complement, so that after it 1 means no
// borrow, as on a GPU. Lanes that are not active keep theirs in every case: the frame a full-mask handler may write
// garbage into is its activation's, but w->cc is the warp's.

#include "vm/alu/alu_kernel.h"

// ---- Building blocks -------------------------------------------------------------------------------------

// The product of the even lanes, 64 bits each; what vpmuludq does.
INLINE VU64 even_u32(VU32 a, VU32 b) {
#if defined(ALU_AVX512)
    return (VU64)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(ALU_AVX2)
    return (VU64)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (VU64)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
    return ((VU64)a & 0xffffffff) * ((VU64)b & 0xffffffff);
#endif
}

INLINE VU32 hi_u32(VU32 a, VU32 b) {
    VU64 even = even_u32(a, b), odd = even_u32((VU32)((VU64)a >> 32), (VU32)((VU64)b >> 32));
    return (VU32)((even >> 32) | (odd & ~SPLAT(VU64, 0xffffffffu)));
}

// High half of the signed product, from the unsigned one.
INLINE VU32 hi_s32(VU32 a, VU32 b) {
    VU32 a_neg = (VU32)((VS32)a >> 31), b_neg = (VU32)((VS32)b >> 31);
    return hi_u32(a, b) - (a_neg & b) - (b_neg & a);
}

INLINE VU64 mul64(VU64 a, VU64 b) {
#ifdef ALU_AVX512
    return a * b;
#else
    VU64 cross = even_u32((VU32)(a >> 32), (VU32)b) + even_u32((VU32)a, (VU32)(b >> 32));
    return even_u32((VU32)a, (VU32)b) + (cross << 32);
#endif
}

INLINE VU64 hi_u64(VU64 a, VU64 b) {
    for (unsigned l = 0; l < L64; l++)
        a[l] = (uint64_t)((unsigned __int128)a[l] * b[l] >> 64);
    return a;
}

INLINE VU64 hi_s64(VU64 a, VU64 b) {
    for (unsigned l = 0; l < L64; l++)
        a[l] = (uint64_t)((__int128)(int64_t)a[l] * (int64_t)b[l] >> 64);
    return a;
}

// Overflow happened where the result's sign differs from what both operands agree on.
INLINE VS32 add_sat(VS32 a, VS32 b) {
    VS32 r = (VS32)((VU32)a + (VU32)b);
    return BLEND(VS32, ((a ^ r) & (b ^ r)) < 0, (a >> 31) ^ 0x7fffffff, r);
}

INLINE VS32 sub_sat(VS32 a, VS32 b) {
    VS32 r = (VS32)((VU32)a - (VU32)b);
    return BLEND(VS32, ((a ^ b) & (a ^ r)) < 0, (a >> 31) ^ 0x7fffffff, r);
}

#define absdiff(U, S, a, b) BLEND(U, (S)(a) < (S)(b), (U)(b) - (U)(a), (U)(a) - (U)(b))
#define relu(V, x)          (BLEND(V, (x) > 0, (x), SPLAT(V, 0)))

INLINE uint64_t u24(uint32_t x) { return x & 0xffffff; }
INLINE uint64_t s24(uint32_t x) { return (uint64_t)(int64_t)((int32_t)(x << 8) >> 8); }
INLINE int32_t clamp_s32(int64_t x) {
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}

// Through double, which vector units divide: the quotient of two 32-bit integers, when it is not an integer, is
// at least 2^-32 of itself below the next one, so rounding to 53 bits cannot cross it. -2^31 / -1 is 2^31, which
// wraps.
INLINE uint32_t div_u32(uint32_t a, uint32_t b) {
    double q = (double)a / (double)(b ? b : 1);
    bool high = q >= 0x1p31;
    uint32_t r = (uint32_t)(int32_t)(high ? q - 0x1p31 : q) ^ (high ? 0x80000000 : 0);
    return b ? r : ~0u;
}
INLINE int32_t div_s32(int32_t a, int32_t b) {
    double q = (double)a / (double)(b ? b : 1);
    int32_t r = q >= 0x1p31 ? INT32_MIN : (int32_t)q;
    return b ? r : -1;
}
INLINE uint64_t div_s64(int64_t a, int64_t b) {
    if (b == 0)
        return ~(uint64_t)0;
    return b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b);
}

INLINE uint32_t dp4a(uint32_t a, uint32_t b, uint32_t c, bool sa, bool sb) {
    for (unsigned j = 0; j < 32; j += 8) {
        int32_t x = sa ? (int8_t)(a >> j) : (int32_t)(uint8_t)(a >> j);
        int32_t y = sb ? (int8_t)(b >> j) : (int32_t)(uint8_t)(b >> j);
        c += (uint32_t)(x * y);
    }
    return c;
}
INLINE uint32_t dp2a(uint32_t a, uint32_t b, uint32_t c, bool sa, bool sb) {
    for (unsigned j = 0; j < 2; j++) {
        int32_t x = sa ? (int16_t)(a >> 16 * j) : (int32_t)(uint16_t)(a >> 16 * j);
        int32_t y = sb ? (int8_t)(b >> 8 * j) : (int32_t)(uint8_t)(b >> 8 * j);
        c += (uint32_t)(x * y);
    }
    return c;
}

// ---- Kernels of the table --------------------------------------------------------------------------------

// Packed halves: a 32-bit register seen as vectors of 16-bit lanes, two per lane of the warp.
#define ALU_X2(op, type, V, expr)                                                                            \
    ALU_BODY(k_##op##_##type) {                                                                              \
        for (unsigned k = 0; k < N32; k++) {                                                                 \
            V a = GET(V, i->a, k), b = GET(V, i->b, k);                                                      \
            PUT32(expr);                                                                                     \
        }                                                                                                    \
    }                                                                                                        \
    ALU_HANDLER(k_##op##_##type)

// The sum or difference of x and y with CC.CF: at most one of the two steps carries.
#define CARRY(op, type, W, V, load, x, y, reads, writes, subtracts)                                          \
    ALU_BODY(k_##op##_##type) {                                                                              \
        uint32_t cc = w->cc, out = 0;                                                                        \
        for (unsigned k = 0; k < N##W; k++) {                                                                \
            load V s = (x), t = (y),                                                                         \
                   minus_cf = (reads) ? (V)mask##W((subtracts) ? ~cc : cc, k) : SPLAT(V, 0), r, carry;       \
            if (subtracts) {                                                                                 \
                V r1 = s - t;                                                                                \
                r = r1 + minus_cf;                                                                           \
                carry = (V)(s < t) | (V)(r1 < r);                                                            \
                if (!(reads))                                                                                \
                    carry = (V)(s < t);                                                                      \
            } else {                                                                                         \
                V r1 = s + t;                                                                                \
                r = r1 - minus_cf;                                                                           \
                carry = (V)(r1 < s) | (V)(r < r1);                                                           \
            }                                                                                                \
            if (writes)                                                                                      \
                out |= bits##W((VS##W)((subtracts) ? ~carry : carry), k);                                    \
            PUT##W(r);                                                                                       \
        }                                                                                                    \
        if (writes)                                                                                          \
            w->cc = (cc & ~w->mask) | (out & w->mask);                                                       \
    }                                                                                                        \
    ALU_HANDLER_CC(k_##op##_##type)
#define LOAD2(V) V a = GET(V, i->a, k), b = GET(V, i->b, k);
#define LOAD3(V) V a = GET(V, i->a, k), b = GET(V, i->b, k), c = GET(V, i->c, k);
#define ALU_C(op, type, W, V, x, y, reads, writes, subtracts)                                                \
    CARRY(op, type, W, V, LOAD2(V), x, y, reads, writes, subtracts)
#define ALU_CM(op, type, W, V, x, y, reads, writes, subtracts)                                               \
    CARRY(op, type, W, V, LOAD3(V), x, y, reads, writes, subtracts)

#define V1 ALU_V1
#define V2 ALU_V2
#define V3 ALU_V3
#define S2 ALU_S2
#define S3 ALU_S3
#define L2 ALU_L2
#define L3 ALU_L3
#define X2 ALU_X2
#define C  ALU_C
#define CM ALU_CM
#include "vm/alu/alu_int.def"
#undef V1
#undef V2
#undef V3
#undef S2
#undef S3
#undef L2
#undef L3
#undef X2
#undef C
#undef CM

// mul.wide and mad.wide of 32 bits: half vectors widened, so that one multiplication yields whole lanes.
#define WIDE(op, type, H, V, widen, product, addend)                                                         \
    ALU_BODY(k_##op##_##type) {                                                                              \
        for (unsigned k = 0; k < N64; k++) {                                                                 \
            V a = widen(GET(H, i->a, k));                                                                    \
            V b = widen(GET(H, i->b, k));                                                                    \
            PUT64((VU64)(product) + (addend));                                                               \
        }                                                                                                    \
    }                                                                                                        \
    ALU_HANDLER(k_##op##_##type)

INLINE VU64 wide_s32(VS64 a, VS64 b) {
#if defined(ALU_AVX512)
    return (VU64)_mm512_mul_epi32((__m512i)a, (__m512i)b);
#elif defined(ALU_AVX2)
    return (VU64)_mm256_mul_epi32((__m256i)a, (__m256i)b);
#else
    return mul64((VU64)a, (VU64)b);
#endif
}
WIDE(mul_wide, u32, HU32, VU64, widen_u32, even_u32((VU32)a, (VU32)b), 0)
WIDE(mul_wide, s32, HS32, VS64, widen_s32, wide_s32(a, b), 0)
WIDE(mad_wide, u32, HU32, VU64, widen_u32, even_u32((VU32)a, (VU32)b), GET(VU64, i->c, k))
WIDE(mad_wide, s32, HS32, VS64, widen_s32, wide_s32(a, b), GET(VU64, i->c, k))

static const AluKernel rows[] = {
    ALU_ROW(mul_wide, u32) // clang-format off
    ALU_ROW(mul_wide, s32)
    ALU_ROW(mad_wide, u32)
    ALU_ROW(mad_wide, s32)
#define ROW(op, type, ...) ALU_ROW(op, type)
#define V1 ROW
#define V2 ROW
#define V3 ROW
#define S2 ROW
#define S3 ROW
#define L2 ROW
#define L3 ROW
#define X2 ROW
#define C  ROW
#define CM ROW
#include "vm/alu/alu_int.def"
    // clang-format on
};
ALU_EXPORT(int);
