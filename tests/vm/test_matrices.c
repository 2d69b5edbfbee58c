// SPDX-License-Identifier: Apache-2.0
// test_matrices — wmma and mma.sync against plain products of matrices.
#include "harness.h"

#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// ---- Elements ------------------------------------------------------------------------------------------------

typedef struct Type {
    const char *name;
    unsigned bits, exponent, fraction; // of floating-point types
    bool is_signed;
    const char *reg; // registers of fragments
} Type;

static const Type types[] = {
    {"f16", 16, 5, 10, true, "b32"}, {"bf16", 16, 8, 7, true, "b32"},  {"tf32", 32, 8, 23, true, "b32"},
    {"f32", 32, 8, 23, true, "f32"}, {"f64", 64, 11, 52, true, "f64"}, {"e4m3", 8, 4, 3, true, "b32"},
    {"e5m2", 8, 5, 2, true, "b32"},  {"s8", 8, 0, 0, true, "b32"},     {"u8", 8, 0, 0, false, "b32"},
    {"s4", 4, 0, 0, true, "b32"},    {"u4", 4, 0, 0, false, "b32"},    {"b1", 1, 0, 0, false, "b32"},
    {"s32", 32, 0, 0, true, "b32"},
};

static const Type *type_of(const char *name) {
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (!strcmp(types[k].name, name))
            return &types[k];
    fail_msg("no type %s", name);
    return NULL;
}

// The value must be representable.
static uint64_t encode(const Type *t, double v) {
    if (!t->exponent)
        return (uint64_t)(int64_t)v & (t->bits == 64 ? UINT64_MAX : (UINT64_C(1) << t->bits) - 1);
    int e;
    double f = frexp(fabs(v), &e); // [0.5, 1)
    uint64_t sign = (uint64_t)(signbit(v) != 0) << (t->bits - 1);
    if (v == 0)
        return sign;
    uint64_t biased = (uint64_t)(e - 1 + (1 << (t->exponent - 1)) - 1);
    return sign | biased << t->fraction |
           ((uint64_t)ldexp(f, (int)t->fraction + 1) & ((UINT64_C(1) << t->fraction) - 1));
}

static void put(const Type *t, void *p, size_t at, double v) {
    uint64_t bits = encode(t, v), mask = t->bits == 64 ? UINT64_MAX : (UINT64_C(1) << t->bits) - 1;
    uint64_t *word = (uint64_t *)p + at * t->bits / 64;
    unsigned shift = at * t->bits % 64;
    *word = (*word & ~(mask << shift)) | bits << shift;
}

static uint32_t state;
static unsigned next(unsigned n) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % n;
}

// Small, so that all sums are exact; b1: 0 or 1.
static double any(const Type *t) {
    if (t->bits == 1)
        return next(2);
    if (!t->exponent)
        return (double)next(1u << t->bits) - (t->is_signed ? 1 << (t->bits - 1) : 0);
    return ((int)next(9) - 4) * (next(2) ? 0.5 : 1.0);
}

typedef struct Product {
    unsigned m, n, k;
    const Type *a, *b, *c, *d;
    bool or_bits; // b1: counts where bits differ
    double va[16 * 256], vb[8 * 256], vc[256], vd[256];
} Product;

static void choose(Product *p) {
    for (unsigned x = 0; x < p->m * p->k; x++)
        p->va[x] = any(p->a);
    for (unsigned x = 0; x < p->k * p->n; x++)
        p->vb[x] = any(p->b);
    for (unsigned r = 0; r < p->m; r++)
        for (unsigned c = 0; c < p->n; c++) {
            double sum = p->vc[r * p->n + c] = p->c->exponent ? any(p->c) : (double)(int)next(1000) - 500;
            for (unsigned x = 0; x < p->k; x++) {
                double u = p->va[r * p->k + x], v = p->vb[x * p->n + c];
                sum += p->or_bits ? u != v : u * v;
            }
            p->vd[r * p->n + c] = sum;
        }
}

static void shape(Product *p, const char *text) {
    assert_int_equal(sscanf(text, "m%un%uk%u", &p->m, &p->n, &p->k), 3);
}

// ---- wmma ----------------------------------------------------------------------------------------------------

typedef struct Wmma {
    const char *shape, *a, *c, *d, *mma; // mma: the instruction's types
    unsigned n[4];                       // registers of d, a, b, c
    bool rows_and_columns;               // A by rows and B by columns only
} Wmma;

static const Wmma wmmas[] = {
    {"m16n16k16", "f16", "f32", "f32", "f32.f32", {8, 8, 8, 8}, false},
    {"m16n16k16", "f16", "f16", "f32", "f32.f16", {8, 8, 8, 4}, false},
    {"m16n16k16", "f16", "f32", "f16", "f16.f32", {4, 8, 8, 8}, false},
    {"m16n16k16", "f16", "f16", "f16", "f16.f16", {4, 8, 8, 4}, false},
    {"m8n32k16", "f16", "f32", "f32", "f32.f32", {8, 8, 8, 8}, false},
    {"m8n32k16", "f16", "f16", "f16", "f16.f16", {4, 8, 8, 4}, false},
    {"m32n8k16", "f16", "f32", "f32", "f32.f32", {8, 8, 8, 8}, false},
    {"m32n8k16", "f16", "f16", "f16", "f16.f16", {4, 8, 8, 4}, false},
    {"m16n16k16", "bf16", "f32", "f32", "f32.bf16.bf16.f32", {8, 4, 4, 8}, false},
    {"m8n32k16", "bf16", "f32", "f32", "f32.bf16.bf16.f32", {8, 2, 8, 8}, false},
    {"m32n8k16", "bf16", "f32", "f32", "f32.bf16.bf16.f32", {8, 8, 2, 8}, false},
    {"m16n16k8", "tf32", "f32", "f32", "f32.tf32.tf32.f32", {8, 4, 4, 8}, false},
    {"m8n8k4", "f64", "f64", "f64", "rn.f64.f64.f64.f64", {2, 1, 1, 2}, false},
    {"m16n16k16", "s8", "s32", "s32", "s32.s8.s8.s32", {8, 2, 2, 8}, false},
    {"m8n32k16", "u8", "s32", "s32", "s32.u8.u8.s32", {8, 1, 4, 8}, false},
    {"m32n8k16", "s8", "s32", "s32", "s32.s8.s8.s32.satfinite", {8, 4, 1, 8}, false},
    {"m8n8k32", "s4", "s32", "s32", "s32.s4.s4.s32", {2, 1, 1, 2}, true},
    {"m8n8k32", "u4", "s32", "s32", "s32.u4.u4.s32.satfinite", {2, 1, 1, 2}, true},
    {"m8n8k128", "b1", "s32", "s32", "s32.b1.b1.s32", {2, 1, 1, 2}, true},
};

static void fragment(StrBuf *s, const char *prefix, unsigned n) {
    gr_str_add(s, "{");
    for (unsigned k = 0; k < n; k++)
        gr_str_addf(s, "%s%%%s%u", k ? ", " : "", prefix, k);
    gr_str_add(s, "}");
}

enum { GENERIC, GLOBAL, SHARED, GENERIC_SHARED, SPACES, AREA = 16384 };

// Loads the operands, multiplies, and stores: four matrices, each in an area of its own, by rows or by columns as the bits of
// `layouts` say for a, b, c, d; lines `pad` elements longer than they need be, or without a stride.
static void wmma_text(StrBuf *s, const Wmma *x, const char *op, unsigned layouts, unsigned space,
                      bool stride) {
    static const char *const names[SPACES] = {"", ".global", ".shared", ""};
    const char *layout[4];
    for (unsigned k = 0; k < 4; k++)
        layout[k] = layouts >> k & 1 ? "col" : "row";
    bool shared = space == SHARED || space == GENERIC_SHARED;
    unsigned width = space == SHARED ? 32 : 64;
    gr_str_addf(s, ".version 9.0\n.target sm_90\n.address_size 64\n.shared .align 32 .b8 s[%u];\n", 4 * AREA);
    gr_str_addf(
        s,
        ".visible .entry k(.param .u64 p, .param .u32 sa, .param .u32 sb, .param .u32 sc, .param .u32 sd) {\n"
        ".reg .pred %%q; .reg .b32 %%t<8>; .reg .b64 %%p<8>; .reg .b%u %%x<4>;\n",
        width);
    gr_str_addf(s, ".reg .%s %%d<8>; .reg .%s %%a<8>, %%b<8>; .reg .%s %%c<8>;\n", type_of(x->d)->reg,
                type_of(x->a)->reg, type_of(x->c)->reg);
    gr_str_add(s, "ld.param.u64 %p0, [p]; cvta.to.global.u64 %p0, %p0; ld.param.u32 %t0, [sa]; ld.param.u32 "
                  "%t1, [sb];\n"
                  "ld.param.u32 %t2, [sc]; ld.param.u32 %t3, [sd];\n");
    if (shared)
        gr_str_addf(s,
                    "mov.u32 %%t4, %%tid.x; shl.b32 %%t4, %%t4, 2;\n"
                    "IN: cvt.u64.u32 %%p1, %%t4; add.u64 %%p1, %%p0, %%p1; ld.global.u32 %%t5, [%%p1];\n"
                    "mov.u32 %%t6, s; add.u32 %%t6, %%t6, %%t4; st.shared.u32 [%%t6], %%t5;\n"
                    "add.u32 %%t4, %%t4, 128; setp.lt.u32 %%q, %%t4, %u; @%%q bra IN; bar.warp.sync -1;\n",
                    4 * AREA);
    gr_str_addf(s, "mov.u%u %%x0, %s;\n", width, shared ? "s" : "%p0");
    if (space == GENERIC_SHARED)
        gr_str_add(s, "cvta.shared.u64 %x0, %x0;\n");
    for (unsigned k = 0; k < 3; k++) {
        char name[2] = {"abc"[k], 0};
        gr_str_addf(s, "wmma.load.%s.sync.aligned.%s.%s%s.%s ", name, layout[k], x->shape, names[space],
                    k < 2 ? x->a : x->c);
        fragment(s, name, x->n[k + 1]);
        gr_str_addf(s, ", [%%x0+%u]", k * AREA);
        gr_str_addf(s, stride ? ", %%t%u;\n" : ";\n", k);
    }
    gr_str_addf(s, "wmma.mma%s.sync.aligned.%s.%s.%s.%s ", op, layout[0], layout[1], x->shape, x->mma);
    for (unsigned k = 0; k < 4; k++) {
        char name[2] = {"dabc"[k], 0};
        fragment(s, name, x->n[k]);
        gr_str_add(s, k < 3 ? ", " : ";\n");
    }
    gr_str_addf(s, "wmma.store.d.sync.aligned.%s.%s%s.%s [%%x0+%u], ", layout[3], x->shape, names[space],
                x->d, 3 * AREA);
    fragment(s, "d", x->n[0]);
    gr_str_add(s, stride ? ", %t3;\n" : ";\n");
    if (shared)
        gr_str_addf(s,
                    "bar.warp.sync -1; mov.u32 %%t4, %%tid.x; shl.b32 %%t4, %%t4, 2;\n"
                    "OUT: cvt.u64.u32 %%p1, %%t4; add.u64 %%p1, %%p0, %%p1; mov.u32 %%t6, s; add.u32 %%t6, "
                    "%%t6, %%t4;\n"
                    "ld.shared.u32 %%t5, [%%t6]; st.global.u32 [%%p1], %%t5;\n"
                    "add.u32 %%t4, %%t4, 128; setp.lt.u32 %%q, %%t4, %u; @%%q bra OUT;\n",
                    4 * AREA);
    gr_str_add(s, "ret; }\n");
}

static void run_wmma(const Wmma *x, const char *op, unsigned layouts, unsigned space, bool stride) {
    StrBuf s = {0};
    Rig r;
    Product *p = calloc(1, sizeof *p);
    assert_non_null(p);
    p->a = p->b = type_of(x->a);
    p->c = type_of(x->c);
    p->d = type_of(x->d);
    p->or_bits = !strcmp(op, ".xor.popc");
    shape(p, x->shape);
    choose(p);
    wmma_text(&s, x, op, layouts, space, stride);
    rig_open(&r, s.data, NULL);
    uint64_t at = rig_alloc(&r, 4 * AREA);
    const Type *t[4] = {p->a, p->b, p->c, p->d};
    double *v[4] = {p->va, p->vb, p->vc, p->vd};
    unsigned rows[4] = {p->m, p->k, p->m, p->m}, columns[4] = {p->k, p->n, p->n, p->n}, ld[4];
    uint8_t *expected = calloc(1, AREA);
    assert_non_null(expected);
    for (unsigned k = 0; k < 4; k++) {
        bool col = layouts >> k & 1;
        ld[k] = (col ? rows[k] : columns[k]) + (stride ? 128 * (1 + k) / t[k]->bits : 0); // 16 bytes and more
        void *to = k == 3 ? expected : rig_view(&r, at + k * AREA, AREA);
        for (unsigned y = 0; y < rows[k]; y++)
            for (unsigned c = 0; c < columns[k]; c++)
                put(t[k], to, (size_t)(col ? c * ld[k] + y : y * ld[k] + c), v[k][y * columns[k] + c]);
    }
    VmFaultKind f = RIG_RUN(&r, "k", 1, 32, at, ld[0], ld[1], ld[2], ld[3]);
    if (f != VM_FAULT_NONE)
        fail_msg("%s\n%s", r.fault.msg, s.data);
    if (memcmp(rig_view(&r, at + 3 * AREA, AREA), expected, AREA))
        fail_msg("wrong: layouts %x, space %u, stride %d of\n%s", layouts, space, (int)stride, s.data);
    assert_int_equal(r.undefined, 0);
    rig_close(&r);
    gr_str_free(&s);
    free(expected);
    free(p);
}

// EM-149: all forms, all layouts, all spaces, with and without a stride: nothing outside the matrix is written.
static void wmma_multiplies(void **unused) {
    (void)unused;
    for (size_t k = 0; k < sizeof wmmas / sizeof *wmmas; k++)
        for (unsigned layouts = 0; layouts < 16; layouts++) {
            if (wmmas[k].rows_and_columns && (layouts & 3) != 2)
                continue;
            bool bits = !strcmp(wmmas[k].a, "b1");
            for (unsigned space = 0; space < SPACES; space++) {
                run_wmma(&wmmas[k], bits ? ".xor.popc" : "", layouts, space, true);
                if (bits)
                    run_wmma(&wmmas[k], ".and.popc", layouts, space, true);
            }
            run_wmma(&wmmas[k], bits ? ".and.popc" : "", layouts, GLOBAL, false);
        }
}

// ---- mma.sync ------------------------------------------------------------------------------------------------

typedef struct Mma {
    const char *shape, *a, *b, *c,
        *text;     // text: the types of the instruction, what stands before and after them included
    unsigned n[4]; // registers of d, a, b, c
} Mma;

static const Mma mmas[] = {
    {"m16n8k8", "f16", "f16", "f16", "f16.f16.f16.f16", {2, 2, 1, 2}},
    {"m16n8k8", "f16", "f16", "f32", "f32.f16.f16.f32", {4, 2, 1, 4}},
    {"m16n8k16", "f16", "f16", "f16", "f16.f16.f16.f16", {2, 4, 2, 2}},
    {"m16n8k16", "f16", "f16", "f32", "f32.f16.f16.f32", {4, 4, 2, 4}},
    {"m16n8k8", "bf16", "bf16", "f32", "f32.bf16.bf16.f32", {4, 2, 1, 4}},
    {"m16n8k16", "bf16", "bf16", "f32", "f32.bf16.bf16.f32", {4, 4, 2, 4}},
    {"m16n8k4", "tf32", "tf32", "f32", "f32.tf32.tf32.f32", {4, 2, 1, 4}},
    {"m16n8k8", "tf32", "tf32", "f32", "f32.tf32.tf32.f32", {4, 4, 2, 4}},
    {"m8n8k4", "f64", "f64", "f64", "f64.f64.f64.f64", {2, 1, 1, 2}},
    {"m16n8k4", "f64", "f64", "f64", "rz.f64.f64.f64.f64", {4, 2, 1, 4}},
    {"m16n8k8", "f64", "f64", "f64", "f64.f64.f64.f64.rm", {4, 4, 2, 4}},
    {"m16n8k16", "f64", "f64", "f64", "f64.f64.f64.f64.rp", {4, 8, 4, 4}},
    {"m8n8k16", "s8", "u8", "s32", "s32.s8.u8.s32", {2, 1, 1, 2}},
    {"m16n8k16", "u8", "s8", "s32", "satfinite.s32.u8.s8.s32", {4, 2, 1, 4}},
    {"m16n8k32", "s8", "s8", "s32", "s32.s8.s8.s32", {4, 4, 2, 4}},
    {"m16n8k32", "u8", "u8", "s32", "s32.u8.u8.s32", {4, 4, 2, 4}},
    {"m8n8k32", "s4", "u4", "s32", "s32.s4.u4.s32", {2, 1, 1, 2}},
    {"m16n8k32", "u4", "s4", "s32", "s32.u4.s4.s32", {4, 2, 1, 4}},
    {"m16n8k64", "s4", "s4", "s32", "satfinite.s32.s4.s4.s32", {4, 4, 2, 4}},
    {"m8n8k128", "b1", "b1", "s32", "s32.b1.b1.s32.xor.popc", {2, 1, 1, 2}},
    {"m16n8k128", "b1", "b1", "s32", "s32.b1.b1.s32.and.popc", {4, 2, 1, 4}},
    {"m16n8k256", "b1", "b1", "s32", "s32.b1.b1.s32.xor.popc", {4, 4, 2, 4}},
    {"m16n8k32", "e4m3", "e5m2", "f32", "f32.e4m3.e5m2.f32", {4, 4, 2, 4}},
    {"m16n8k32", "e5m2", "e4m3", "f16", "f16.e5m2.e4m3.f16", {2, 4, 2, 2}},
    {"m16n8k16", "e4m3", "e4m3", "f32", "f32.e4m3.e4m3.f32", {4, 2, 1, 4}},
};

// As PTX ISA 9.7.14.5.2 to 13 write them, element by element: row and column of element i of lane's fragment.
static void at_a(const Product *p, unsigned lane, unsigned i, unsigned *row, unsigned *col) {
    unsigned group = lane >> 2, in_group = lane % 4, bits = p->a->bits;
    bool low = true; // row = groupID, not groupID + 8
    switch (bits) {
    case 16:
        low = i < 2 || (i >= 4 && i < 6);
        *col = in_group * 2 + (i & 1) + (i < 4 ? 0 : 8);
        break;
    case 8:
        low = i < 4 || (i >= 8 && i < 12);
        *col = in_group * 4 + (i & 3) + (i < 8 ? 0 : 16);
        break;
    case 4:
        low = i < 8 || (i >= 16 && i < 24);
        *col = in_group * 8 + (i & 7) + (i < 16 ? 0 : 32);
        break;
    case 1:
        low = i < 32 || (i >= 64 && i < 96);
        *col = in_group * 32 + (i & 31) + (i < 64 ? 0 : 128);
        break;
    default: // tf32, f64
        low = i % 2 == 0;
        *col =
            p->k == 16 ? (i % 2 == 0 ? i * 2 + in_group : i * 2 - 2 + in_group) : in_group + (i < 2 ? 0 : 4);
    }
    *row = group + (low ? 0 : 8);
    if (p->m == 8) { // one register
        *row = group;
        *col = bits >= 32 ? in_group : in_group * (32 / bits) + i;
    }
}

static void at_b(const Product *p, unsigned lane, unsigned i, unsigned *row, unsigned *col) {
    unsigned in_group = lane % 4;
    *col = lane >> 2;
    switch (p->b->bits) {
    case 16: *row = in_group * 2 + (i & 1) + (i < 2 ? 0 : 8); break;
    case 8: *row = in_group * 4 + (i & 3) + (i < 4 ? 0 : 16); break;
    case 4: *row = in_group * 8 + (i & 7) + (i < 8 ? 0 : 32); break;
    case 1: *row = in_group * 32 + (i & 31) + (i < 32 ? 0 : 128); break;
    default: *row = in_group + 4 * i;
    }
}

static void at_c(unsigned lane, unsigned i, unsigned *row, unsigned *col) {
    *row = (lane >> 2) + (i < 2 ? 0 : 8);
    *col = lane % 4 * 2 + (i & 1);
}

// Register k of a lane of operand x (d, a, b, c) is at ((x * 8 + k) * 32 + lane) * 8.
static void mma_text(StrBuf *s, const Mma *x) {
    const Type *t[4] = {type_of(x->c), type_of(x->a), type_of(x->b), type_of(x->c)};
    gr_str_add(s, ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                  ".reg .b64 %p<4>; .reg .b32 %t;\n");
    for (unsigned k = 0; k < 4; k++)
        gr_str_addf(s, ".reg .%s %%%c<8>;\n", t[k]->reg, "dabc"[k]);
    gr_str_add(
        s, "ld.param.u64 %p0, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %p1, %t, 8; add.u64 %p0, %p0, %p1;\n");
    for (unsigned k = 1; k < 4; k++)
        for (unsigned e = 0; e < x->n[k]; e++)
            gr_str_addf(s, "ld.global.%s %%%c%u, [%%p0+%u];\n", t[k]->reg, "dabc"[k], e, (k * 8 + e) * 256);
    gr_str_addf(s, "mma.sync.aligned.%s.row.col.%s ", x->shape, x->text);
    for (unsigned k = 0; k < 4; k++) {
        char name[2] = {"dabc"[k], 0};
        fragment(s, name, x->n[k]);
        gr_str_add(s, k < 3 ? ", " : ";\n");
    }
    for (unsigned e = 0; e < x->n[0]; e++)
        gr_str_addf(s, "st.global.%s [%%p0+%u], %%d%u;\n", t[0]->reg, e * 256, e);
    gr_str_add(s, "ret; }\n");
}

// The place of element i of a lane of an operand.
static void put_element(const Type *t, void *p, unsigned operand, unsigned lane, unsigned i, double v) {
    unsigned per = t->bits == 64 ? 1 : 32 / t->bits, reg = i / per;
    put(t, (uint64_t *)p + (operand * 8 + reg) * 32 + lane, i % per, v);
}

// EM-151
static void mma_multiplies(void **unused) {
    (void)unused;
    for (size_t j = 0; j < sizeof mmas / sizeof *mmas; j++) {
        const Mma *x = &mmas[j];
        StrBuf s = {0};
        Rig r;
        Product *p = calloc(1, sizeof *p);
        uint64_t *expected = calloc(8 * 32, sizeof *expected);
        assert_true(p && expected);
        p->a = type_of(x->a);
        p->b = type_of(x->b);
        p->c = p->d = type_of(x->c);
        p->or_bits = strstr(x->text, "xor") != NULL;
        shape(p, x->shape);
        if (strstr(x->text, ".rm"))
            fesetround(FE_DOWNWARD); // nothing is inexact, but x - x is -0
        choose(p);
        fesetround(FE_TONEAREST);
        mma_text(&s, x);
        rig_open(&r, s.data, NULL);
        uint64_t at = rig_alloc(&r, 4 * 8 * 256);
        void *in = rig_view(&r, at, 4 * 8 * 256);
        for (unsigned lane = 0; lane < 32; lane++) {
            unsigned row = 0, col = 0;
            for (unsigned i = 0; i < p->m * p->k / 32; i++) {
                at_a(p, lane, i, &row, &col);
                put_element(p->a, in, 1, lane, i, p->va[row * p->k + col]);
            }
            for (unsigned i = 0; i < p->k * p->n / 32; i++) {
                at_b(p, lane, i, &row, &col);
                put_element(p->b, in, 2, lane, i, p->vb[row * p->n + col]);
            }
            for (unsigned i = 0; i < p->m * p->n / 32; i++) {
                at_c(lane, i, &row, &col);
                put_element(p->c, in, 3, lane, i, p->vc[row * p->n + col]);
                put_element(p->d, expected, 0, lane, i, p->vd[row * p->n + col]);
            }
        }
        VmFaultKind f = RIG_RUN(&r, "k", 1, 32, at);
        if (f != VM_FAULT_NONE)
            fail_msg("%s\n%s", r.fault.msg, s.data);
        if (memcmp(rig_view(&r, at, 8 * 256), expected, 8 * 256))
            fail_msg("wrong:\n%s", s.data);
        assert_int_equal(r.undefined, 0);
        rig_close(&r);
        gr_str_free(&s);
        free(expected);
        free(p);
    }
}

// ---- Numbers -------------------------------------------------------------------------------------------------

// One warp multiplies: A's first row and B's first column are `a` and `b`, C is `c` throughout; D's first element.
static uint64_t first_of(const char *name, const char *text, const char *ab, const char *cd,
                         const uint64_t *a, const uint64_t *b, uint64_t c) {
    Mma x = {.text = text, .a = ab, .b = ab, .c = cd, .shape = name};
    Product p = {.a = type_of(ab), .b = type_of(ab), .c = type_of(cd)};
    StrBuf s = {0};
    Rig r;
    shape(&p, name);
    unsigned per[3] = {32 / p.c->bits, 32 / p.a->bits, 32 / p.b->bits};
    unsigned n[3] = {p.m * p.n / 32, p.m * p.k / 32, p.k * p.n / 32};
    for (unsigned k = 0; k < 3; k++)
        x.n[k] = per[k] ? n[k] / per[k] : n[k];
    x.n[3] = x.n[0];
    mma_text(&s, &x);
    rig_open(&r, s.data, NULL);
    uint64_t at = rig_alloc(&r, 4 * 8 * 256), *in = rig_view(&r, at, 4 * 8 * 256);
    for (unsigned lane = 0; lane < 32; lane++) {
        unsigned row, col;
        for (unsigned k = 0; k < 3; k++)
            for (unsigned i = 0; i < n[k]; i++) {
                const Type *t = k ? p.a : p.c;
                unsigned reg = per[k] ? i / per[k] : i, shift = per[k] ? i % per[k] * t->bits : 0;
                uint64_t v = c;
                if (k == 1)
                    at_a(&p, lane, i, &row, &col), v = row ? 0 : a[col];
                else if (k == 2)
                    at_b(&p, lane, i, &row, &col), v = col ? 0 : b[row];
                in[((k ? k : 3) * 8 + reg) * 32 + lane] |= v << shift;
            }
    }
    assert_int_equal(RIG_RUN(&r, "k", 1, 32, at), VM_FAULT_NONE);
    uint64_t d = in[0] & (p.c->bits == 64 ? UINT64_MAX : (UINT64_C(1) << p.c->bits) - 1);
    rig_close(&r);
    gr_str_free(&s);
    return d;
}

// EM-152: sums in the order of k, each rounded to f32; f16 rounded once more at the end; f64 as asked for.
static void sums_are_rounded(void **unused) {
    (void)unused;
    const Type *h = type_of("f16"), *f = type_of("f32"), *d = type_of("f64"), *t = type_of("tf32"),
               *g = type_of("bf16");
    uint64_t a[32], b[32];
    for (unsigned k = 0; k < 32; k++)
        a[k] = b[k] = encode(h, 1);
    const char *f32 = "f32.f16.f16.f32", *f16 = "f16.f16.f16.f16";
    // 2^24 + 1 is 2^24 in f32, sixteen times
    assert_int_equal(first_of("m16n8k16", f32, "f16", "f32", a, b, encode(f, 0x1p24)), encode(f, 0x1p24));
    a[0] = encode(h, 2); // comes first: 2^24 + 2, and then ties to even: + 1 is 2^24 + 4, + 1 stays
    assert_int_equal(first_of("m16n8k16", f32, "f16", "f32", a, b, encode(f, 0x1p24)), encode(f, 0x1p24 + 4));
    // f16: 2048 + 1 + 1 + … is exact until the end
    a[0] = encode(h, 2);
    assert_int_equal(first_of("m16n8k16", f16, "f16", "f16", a, b, encode(h, 2048)), encode(h, 2064)); // 2065
    a[0] = encode(h, 4);
    assert_int_equal(first_of("m16n8k16", f16, "f16", "f16", a, b, encode(h, 2048)),
                     encode(h, 2068)); // 2067: to even
    // products that f32 has not
    for (unsigned k = 0; k < 32; k++)
        a[k] = b[k] = 0;
    a[0] = encode(g, -0x1p100), b[0] = encode(g, 0x1p28);
    assert_int_equal(first_of("m16n8k8", "f32.bf16.bf16.f32", "bf16", "f32", a, b, encode(f, 0x1.8p127)),
                     encode(f, -0x1p126));
    a[0] = encode(t, 1) | 0x1fff, b[0] = encode(t, 1); // the lower bits of tf32 are not looked at
    assert_int_equal(first_of("m16n8k8", "f32.tf32.tf32.f32", "tf32", "f32", a, b, 0), encode(f, 1));
    // not a number
    a[0] = 0x7e00, b[0] = encode(h, 1);
    assert_int_equal(first_of("m16n8k16", f32, "f16", "f32", a, b, 0), 0x7fffffff);
    assert_int_equal(first_of("m16n8k16", f16, "f16", "f16", a, b, 0), 0x7fff);
    a[0] = 0x7f, b[0] = 0x38; // e4m3: NaN * 1
    assert_int_equal(first_of("m16n8k32", "f32.e4m3.e4m3.f32", "e4m3", "f32", a, b, 0), 0x7fffffff);
    a[0] = 0x7e, b[0] = 0x01; // 448 * 2^-9
    assert_int_equal(first_of("m16n8k32", "f32.e4m3.e4m3.f32", "e4m3", "f32", a, b, 0), encode(f, 0.875));
    a[0] = encode(d, 0x1p-60), b[0] = encode(d, 1);
    static const struct {
        const char *text;
        double up, down; // 1 + 2^-60, -1 - 2^-60 …
    } rounds[] = {{"f64.f64.f64.f64", 1, -1},
                  {"rz.f64.f64.f64.f64", 1, -1},
                  {"rm.f64.f64.f64.f64", 1, -1 - 0x1p-52},
                  {"rp.f64.f64.f64.f64", 1 + 0x1p-52, -1}};
    for (unsigned k = 0; k < 4; k++) {
        a[0] = encode(d, 0x1p-60);
        assert_int_equal(first_of("m8n8k4", rounds[k].text, "f64", "f64", a, b, encode(d, 1)),
                         encode(d, rounds[k].up));
        a[0] = encode(d, -0x1p-60);
        assert_int_equal(first_of("m8n8k4", rounds[k].text, "f64", "f64", a, b, encode(d, -1)),
                         encode(d, rounds[k].down));
    }
    a[0] = encode(d, 1 + 0x1p-52), b[0] = encode(d, 1 - 0x1p-52); // fused: 1 - 2^-104
    assert_int_equal(first_of("m8n8k4", "f64.f64.f64.f64", "f64", "f64", a, b, encode(d, -1)),
                     encode(d, -0x1p-104));
    a[0] = 0x7ff8000000000123;
    assert_int_equal(first_of("m8n8k4", "f64.f64.f64.f64", "f64", "f64", a, b, 0), 0xfff8000000000000);
}

// EM-153
static void integers_wrap_or_saturate(void **unused) {
    (void)unused;
    uint64_t a[32], b[32];
    for (unsigned k = 0; k < 32; k++)
        a[k] = b[k] = 127;
    assert_int_equal(first_of("m16n8k32", "s32.s8.s8.s32", "s8", "s32", a, b, INT32_MAX),
                     0x80000000u + 32 * 127 * 127 - 1);
    assert_int_equal(first_of("m16n8k32", "satfinite.s32.s8.s8.s32", "s8", "s32", a, b, INT32_MAX),
                     INT32_MAX);
    for (unsigned k = 0; k < 32; k++)
        a[k] = k % 2 ? 127 : 0x80; // passes the limit on the way, and comes back
    assert_int_equal(first_of("m16n8k32", "satfinite.s32.s8.s8.s32", "s8", "s32", a, b, 0x80000001),
                     0x80000000);
    for (unsigned k = 0; k < 32; k++)
        a[k] = k % 2 ? 127 : 0x81;
    assert_int_equal(first_of("m16n8k32", "satfinite.s32.s8.s8.s32", "s8", "s32", a, b, 0x80000001),
                     0x80000001);
}

// ---- Lanes ---------------------------------------------------------------------------------------------------

static const char divergent[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) {\n"
    ".reg .b64 %p<4>; .reg .b32 %t<4>, %a<8>, %s; .reg .f32 %c<8>; .reg .pred %q<3>;\n"
    "ld.param.u64 %p0, [p]; ld.param.u32 %t2, [n]; mov.u32 %t0, %tid.x; mov.u32 %t1, 0;\n"
    // lanes take their time, one by one; from %t2 on they leave
    "setp.ge.u32 %q1, %t0, %t2; @%q1 exit;\n"
    "L: setp.ge.u32 %q0, %t1, %t0; @%q0 bra OUT; add.u32 %t1, %t1, 1; bra L;\n"
    "OUT: wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, [%p0], "
    "16;\n"
    "wmma.load.c.sync.aligned.col.m16n16k16.global.f32 {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7}, [%p0+512];\n"
    "wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%p0+1536], {%c0, %c1, %c2, %c3, %c4, %c5, %c6, "
    "%c7}, 20;\n"
    "mul.wide.u32 %p1, %t0, 32; add.u64 %p1, %p1, %p0;\n"
    "st.global.v4.b32 [%p1+4096], {%a0, %a1, %a2, %a3}; st.global.v4.b32 [%p1+4112], {%a4, %a5, %a6, %a7};\n"
    "ret; }\n";

typedef struct Heard {
    unsigned events[64], lanes[64], size[64], n; // by site
    uint64_t base, wrong, warps;
} Heard;

static void on_access(void *user, const VmAccessEvent *e) {
    Heard *h = user;
    unsigned site = e->where.site;
    assert_true(site < 64);
    h->events[site]++;
    h->lanes[site] += (unsigned)__builtin_popcount(e->where.mask);
    h->size[site] = e->size;
    h->wrong += site == 1 && e->access != PTX_ACCESS_READ;
    h->wrong += site == 3 && e->access != PTX_ACCESS_WRITE;
    for (unsigned l = 0; l < 32; l++)
        if (site == 1 && e->where.mask >> l & 1)
            h->wrong += e->address[l] != h->base + 16 * l; // its thirty-second
}

static void on_sync(void *user, const VmSyncEvent *e) { ((Heard *)user)->warps += e->kind == VM_SYNC_WARP; }

// EM-148: lanes wait for each other, which orders nothing; EM-149: a lane's part; EM-150: what is told.
static void lanes_meet(void **unused) {
    (void)unused;
    for (uint64_t seed = 1; seed < 5; seed++) {
        Rig r;
        VmConfig c = {.seed = seed, .split_one_in = 8};
        rig_open(&r, divergent, &c);
        uint64_t at = rig_alloc(&r, 8192);
        uint16_t *in = rig_view(&r, at, 8192);
        for (unsigned k = 0; k < 256; k++)
            in[k] = (uint16_t)(k + 1);
        float *acc = rig_view(&r, at + 512, 1024), *out = rig_view(&r, at + 1536, 2048);
        for (unsigned k = 0; k < 256; k++)
            acc[k] = (float)k;
        Heard h = {.base = at};
        VmObserver o = {.user = &h, .access = on_access, .sync = on_sync};
        assert_int_equal(gr_vm_observe(r.dev, &o, NULL), GR_OK);
        assert_int_equal(RIG_RUN(&r, "k", 1, 32, at, 32), VM_FAULT_NONE);
        assert_int_equal(r.undefined, 0);
        const uint32_t *regs = rig_view(&r, at + 4096, 1024);
        for (unsigned l = 0; l < 32; l++)
            for (unsigned k = 0; k < 8; k++)
                assert_int_equal(regs[8 * l + k], (8 * l + k % 4 * 2 + 1) | (8 * l + k % 4 * 2 + 2) << 16);
        for (unsigned col = 0; col < 16; col++)
            for (unsigned row = 0; row < 20; row++)
                if (col < 15 || row < 16)
                    assert_true(out[col * 20 + row] == (row < 16 ? (float)(col * 16 + row) : 0));
        assert_int_equal(h.wrong, 0);
        assert_int_equal(h.warps, 0);
        // a by rows: one access of each lane, of the 16 bytes that it holds; an accumulator by columns: one of each element
        assert_int_equal(h.lanes[1], 32);
        assert_int_equal(h.size[1], 16);
        assert_int_equal(h.lanes[2], 256);
        assert_int_equal(h.lanes[3], 256);
        assert_int_equal(h.size[2], 4);
        assert_int_equal(h.size[3], 4);
        rig_close(&r);
    }
}

// EM-154: those that have left are not waited for, their parts stay as they are, and it is counted.
static void missing_lanes_are_counted(void **unused) {
    (void)unused;
    Rig r;
    rig_open(&r, divergent, NULL);
    uint64_t at = rig_alloc(&r, 8192);
    memset(rig_view(&r, at, 8192), 1, 8192);
    assert_int_equal(RIG_RUN(&r, "k", 1, 32, at, 31), VM_FAULT_NONE);
    assert_int_equal(r.undefined, 3);
    const uint32_t *regs = rig_view(&r, at + 4096, 1024);
    assert_int_equal(regs[8 * 30 + 7], 0x01010101);
    rig_close(&r);
    rig_open(
        &r,
        ".visible .entry k(.param .u64 p) { .reg .b64 %p<4>; .reg .b32 %t, %a<8>; ld.param.u64 %p0, [p];\n"
        "mov.u32 %t, %tid.x; and.b32 %t, %t, 16; mul.wide.u32 %p1, %t, 32; add.u64 %p0, %p0, %p1;\n"
        "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, [%p0];\n"
        "ret; }\n",
        NULL);
    at = rig_alloc(&r, 2048);
    assert_int_equal(RIG_RUN(&r, "k", 1, 32, at), VM_FAULT_NONE);
    assert_int_equal(r.undefined, 1); // two addresses
    rig_close(&r);
}

static void faults_are_named(void **unused) {
    (void)unused;
    Rig r;
    static const char text[] =
        ".visible .entry k(.param .u64 p) { .reg .b64 %p<4>; .reg .b32 %a<8>; ld.param.u64 %p0, [p];\n"
        "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, [%p0];\n"
        "ret; }\n";
    rig_open(&r, text, NULL);
    uint64_t at = rig_alloc(&r, 2048);
    assert_int_equal(RIG_RUN(&r, "k", 1, 32, at + 2), VM_FAULT_MISALIGNED);
    assert_int_equal(RIG_RUN(&r, "k", 1, 32, at + 2048 - 256), VM_FAULT_ILLEGAL_ADDRESS);
    assert_non_null(strstr(r.fault.msg, "read 16 bytes"));
    rig_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wmma_multiplies),  cmocka_unit_test(mma_multiplies),
        cmocka_unit_test(sums_are_rounded), cmocka_unit_test(integers_wrap_or_saturate),
        cmocka_unit_test(lanes_meet),       cmocka_unit_test(missing_lanes_are_counted),
        cmocka_unit_test(faults_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
