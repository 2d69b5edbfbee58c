// SPDX-License-Identifier: Apache-2.0
// matrix_ref — see the header.
#include "matrix_ref.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const Type types[] = {
    {"f16", 16, 5, 10, true, "b32"}, {"bf16", 16, 8, 7, true, "b32"},  {"tf32", 32, 8, 23, true, "b32"},
    {"f32", 32, 8, 23, true, "f32"}, {"f64", 64, 11, 52, true, "f64"}, {"e4m3", 8, 4, 3, true, "b32"},
    {"e5m2", 8, 5, 2, true, "b32"},  {"s8", 8, 0, 0, true, "b32"},     {"u8", 8, 0, 0, false, "b32"},
    {"s4", 4, 0, 0, true, "b32"},    {"u4", 4, 0, 0, false, "b32"},    {"b1", 1, 0, 0, false, "b32"},
    {"s32", 32, 0, 0, true, "b32"},
};

const Type *ref_type(const char *name) {
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (!strcmp(types[k].name, name))
            return &types[k];
    abort();
}

// The value must be representable.
uint64_t ref_encode(const Type *t, double v) {
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

void ref_put(const Type *t, void *p, size_t at, double v) {
    uint64_t bits = ref_encode(t, v), mask = t->bits == 64 ? UINT64_MAX : (UINT64_C(1) << t->bits) - 1;
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

void ref_choose(Product *p, const char *shape, const char *a, const char *b, const char *c, const char *d,
                uint32_t seed) {
    state = seed;
    p->a = ref_type(a);
    p->b = ref_type(b);
    p->c = ref_type(c);
    p->d = ref_type(d);
    if (sscanf(shape, "m%un%uk%u", &p->m, &p->n, &p->k) != 3)
        abort();
    for (unsigned x = 0; x < p->m * p->k; x++)
        p->va[x] = any(p->a);
    for (unsigned x = 0; x < p->k * p->n; x++)
        p->vb[x] = any(p->b);
    for (unsigned r = 0; r < p->m; r++)
        for (unsigned x = 0; x < p->n; x++) {
            double sum = p->vc[r * p->n + x] = p->c->exponent ? any(p->c) : (double)(int)next(1000) - 500;
            for (unsigned y = 0; y < p->k; y++) {
                double u = p->va[r * p->k + y], v = p->vb[y * p->n + x];
                sum += p->or_bits ? u != v : u * v;
            }
            p->vd[r * p->n + x] = sum;
        }
}

// As PTX ISA 9.7.14.5.2 to 13 write them, element by element: row and column of element i of lane's fragment.
void ref_at_a(const Product *p, unsigned lane, unsigned i, unsigned *row, unsigned *col) {
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

void ref_at_b(const Product *p, unsigned lane, unsigned i, unsigned *row, unsigned *col) {
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

void ref_at_c(unsigned lane, unsigned i, unsigned *row, unsigned *col) {
    *row = (lane >> 2) + (i < 2 ? 0 : 8);
    *col = lane % 4 * 2 + (i & 1);
}

char *ref_fragment(char to[64], char name, unsigned n) {
    size_t at = 0;
    for (unsigned k = 0; k < n; k++)
        at += (size_t)snprintf(to + at, 64 - at, "%s%%%c%u", k ? ", " : "{", name, k);
    snprintf(to + at, 64 - at, "}");
    return to;
}

// ---- Forms ---------------------------------------------------------------------------------------------------

const Wmma ref_wmmas[] = {
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

const Mma ref_mmas[] = {
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

const size_t ref_n_wmmas = sizeof ref_wmmas / sizeof *ref_wmmas,
             ref_n_mmas = sizeof ref_mmas / sizeof *ref_mmas;
