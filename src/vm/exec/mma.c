// SPDX-License-Identifier: Apache-2.0
// mma — D = A * B + C: puts the fragments of all lanes together to matrices, multiplies, and hands out D.
//
// PTX ISA 9.7.14.4.5 and 9.7.14.5.14 leave the order of the sums and their rounding open, but for "at least single
// precision" (of f16 alone: half). Here each element starts from C, and gets the products in the order of k. Products
// are exact, each sum is rounded to the nearest f32, and D of f16 once more at the end. So every device gives this
// result if all sums are representable. Products of f64 are fused with the sum, by the wanted rounding. Integers: the
// exact sum, cut to 32 bits or, with .satfinite, clamped. NaN: the canonical one.
#include "vm/exec/mma.h"

#include "vm/alu/alu_half.h"
#include "vm/core/matrix.h"
#include "vm/core/warp.h"

#include <fenv.h>
#include <math.h>

enum { MAX_A = 16 * 256, MAX_B = 8 * 256, MAX_C = 256 }; // elements: m16n8k256; all wmma.mma are smaller

// ---- Elements ------------------------------------------------------------------------------------------------

// The 8-bit formats: e5m2 is the upper half of an f16; e4m3 has one NaN, all ones, and no infinity (PTX ISA 5.2.3).
static float float_of_e4m3(uint8_t v) {
    unsigned exponent = v >> 3 & 15, fraction = v & 7;
    float r = (v & 0x7f) == 0x7f ? bits_float(0x7fffffff)
              : exponent         ? ldexpf((float)(8 + fraction), (int)exponent - 10)
                                 : ldexpf((float)fraction, -9);
    return v & 0x80 ? -r : r;
}

static float to_float(VmElement element, uint32_t v) {
    switch (element) {
    case VM_ELEM_F16: return float_of_f16((uint16_t)v);
    case VM_ELEM_BF16: return float_of_bf16((uint16_t)v);
    case VM_ELEM_TF32: return bits_float(v & 0xffffe000); // the rest is not looked at
    case VM_ELEM_E4M3: return float_of_e4m3((uint8_t)v);
    case VM_ELEM_E5M2: return float_of_f16((uint16_t)(v << 8));
    default: return bits_float(v);
    }
}

static int32_t to_int(VmElement element, uint32_t v) {
    switch (element) {
    case VM_ELEM_S8: return (int8_t)v;
    case VM_ELEM_S4: return (int32_t)(v ^ 8) - 8;
    default: return (int32_t)v;
    }
}

// The bits of all elements, which become a matrix by rows.
static void gather(const VmWarp *w, const VmMmaOperand *x, uint32_t *out) {
    unsigned per = x->f.per_reg, bits = x->f.bits;
    uint32_t mask = UINT32_MAX >> (32 - bits);
    for (unsigned r = 0; r < x->f.regs; r++)
        for (unsigned l = 0; l < VM_LANES; l++) {
            const uint16_t *place = x->place + (l * x->f.n + r * per);
            uint32_t v = VM_U32(w, x->slot[r])[l];
            for (unsigned e = 0; e < per; e++)
                out[place[e]] = v >> e * bits & mask;
        }
}

static void gather_floats(const VmWarp *w, const VmMmaOperand *x, float *out) {
    uint32_t raw[MAX_A];
    gather(w, x, raw);
    for (unsigned k = 0; k < (unsigned)x->f.rows * x->f.columns; k++)
        out[k] = to_float(x->f.element, raw[k]);
}

static void gather_ints(const VmWarp *w, const VmMmaOperand *x, int32_t *out) {
    uint32_t raw[MAX_A];
    gather(w, x, raw);
    for (unsigned k = 0; k < (unsigned)x->f.rows * x->f.columns; k++)
        out[k] = to_int(x->f.element, raw[k]);
}

#define PLACE(x, l, e) (x)->place[(l) * (x)->f.n + (e)]

static void gather_doubles(const VmWarp *w, const VmMmaOperand *x, double *out) {
    for (unsigned e = 0; e < x->f.n; e++)
        for (unsigned l = 0; l < VM_LANES; l++)
            out[PLACE(x, l, e)] = VM_F64(w, x->slot[e])[l];
}

static void scatter_floats(VmWarp *w, const VmMmaOperand *x, const float *in) {
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        for (unsigned e = 0; e < x->f.n; e += x->f.per_reg) {
            float v = in[PLACE(x, l, e)];
            VM_U32(w, x->slot[e / x->f.per_reg])
            [l] = x->f.element == VM_ELEM_F32
                      ? (v == v ? float_bits(v) : 0x7fffffff)
                      : f16_of_float(v) | (uint32_t)f16_of_float(in[PLACE(x, l, e + 1)]) << 16;
        }
    }
}

// ---- Products --------------------------------------------------------------------------------------------------

// sum += a * b, of m by k and k by n elements. wide: products may have an exponent that f32 has not.
static inline __attribute__((always_inline)) void sum_floats(const VmMma *p, const float *a, const float *b,
                                                             float *sum, bool wide) {
    unsigned n = p->b.f.columns, k = p->a.f.columns;
    for (unsigned r = 0; r < p->a.f.rows; r++)
        for (unsigned x = 0; x < k; x++) {
            float u = a[r * k + x];
            for (unsigned c = 0; c < n; c++)
                sum[r * n + c] = wide ? __builtin_fmaf(u, b[x * n + c], sum[r * n + c])
                                      : sum[r * n + c] + u * b[x * n + c];
        }
}

static void sum_plain(const VmMma *p, const float *a, const float *b, float *sum, bool wide) {
    if (wide)
        sum_floats(p, a, b, sum, true);
    else
        sum_floats(p, a, b, sum, false);
}

// Equal bits: a fused product that is exact does not differ.
#ifdef __x86_64__
static __attribute__((target("avx2,fma"))) void sum_fused(const VmMma *p, const float *a, const float *b,
                                                          float *sum) {
    sum_floats(p, a, b, sum, true);
}
#endif

static void multiply_floats(VmWarp *w, const VmMma *p) {
    float a[MAX_A], b[MAX_B], sum[MAX_C];
    gather_floats(w, &p->a, a);
    gather_floats(w, &p->b, b);
    gather_floats(w, &p->c, sum);
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        sum_fused(p, a, b, sum);
    else
#endif
        sum_plain(p, a, b, sum, p->a.f.element == VM_ELEM_BF16 || p->a.f.element == VM_ELEM_TF32);
    scatter_floats(w, &p->d, sum);
}

static void multiply_ints(VmWarp *w, const VmMma *p) {
    int32_t a[MAX_A], b[MAX_B], old[MAX_C], sum[MAX_C] = {0}; // of products alone: at most 2^21
    unsigned n = p->b.f.columns, k = p->a.f.columns, m = p->a.f.rows;
    bool differ = p->a.f.element == VM_ELEM_B1 && !p->bit_and;
    gather_ints(w, &p->a, a);
    gather_ints(w, &p->b, b);
    gather_ints(w, &p->c, old);
    for (unsigned r = 0; r < m; r++)
        for (unsigned x = 0; x < k; x++) {
            int32_t u = a[r * k + x], *s = sum + r * n;
            const int32_t *v = b + x * n;
            for (unsigned c = 0; c < n; c++)
                s[c] += differ ? u ^ v[c] : u * v[c];
        }
    for (uint32_t left = w->mask; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        for (unsigned e = 0; e < p->d.f.n; e++) {
            unsigned at = PLACE(&p->d, l, e);
            int64_t v = (int64_t)old[at] + sum[at];
            if (p->satfinite)
                v = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
            VM_U32(w, p->d.slot[e])[l] = (uint32_t)(uint64_t)v;
        }
    }
}

static int rounding(PtxMod round) {
    switch (round) {
    case PTX_MOD_rz: return FE_TOWARDZERO;
    case PTX_MOD_rm: return FE_DOWNWARD;
    case PTX_MOD_rp: return FE_UPWARD;
    default: return FE_TONEAREST;
    }
}

// Not inlined: the compiler does not know of rounding modes.
static __attribute__((noinline)) void sum_doubles(const VmMma *p, const double *a, const double *b,
                                                  double *sum) {
    unsigned n = p->b.f.columns, k = p->a.f.columns;
    for (unsigned r = 0; r < p->a.f.rows; r++)
        for (unsigned x = 0; x < k; x++)
            for (unsigned c = 0; c < n; c++)
                sum[r * n + c] = fma(a[r * k + x], b[x * n + c], sum[r * n + c]);
    __asm__ volatile("" : : : "memory");
}

static void multiply_doubles(VmWarp *w, const VmMma *p) {
    double a[16 * 16], b[16 * 8], sum[16 * 8];
    gather_doubles(w, &p->a, a);
    gather_doubles(w, &p->b, b);
    gather_doubles(w, &p->c, sum);
    int old = fegetround(), mode = rounding(p->round);
    if (mode != old)
        fesetround(mode);
    sum_doubles(p, a, b, sum);
    if (mode != old)
        fesetround(old);
    for (uint32_t m = w->mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        for (unsigned e = 0; e < p->d.f.n; e++) {
            double v = sum[PLACE(&p->d, l, e)];
            VM_U64(w, p->d.slot[e])[l] = v == v ? double_bits(v) : UINT64_C(0xfff8000000000000);
        }
    }
}

VM_HANDLER(gr_vm_x_mma) {
    const VmMma *p = i->extra;
    gr_vm_matrix_whole(w, i);
    switch (p->a.f.element) {
    case VM_ELEM_F64: multiply_doubles(w, p); break;
    case VM_ELEM_S8:
    case VM_ELEM_U8:
    case VM_ELEM_S4:
    case VM_ELEM_U4:
    case VM_ELEM_B1: multiply_ints(w, p); break;
    default: multiply_floats(w, p);
    }
    return i + 1;
}
